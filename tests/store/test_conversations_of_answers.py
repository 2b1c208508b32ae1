"""The conversation of a thread goes on with the service of its own project."""

from __future__ import annotations

from bot.answers.model import Inquiry, InquiryId, InquiryState
from bot.answers.store import Inquiries
from bot.ids import MessageTs, ProjectId, RequestKey
from bot.store import Store
from tests.builders import ANA, CHANNEL, NOW, PROJECT

THREAD = MessageTs("1.1")


async def test_conversation_is_of_one_project(store: Store) -> None:
    inquiry = Inquiry(
        InquiryId(0),
        RequestKey("message:1"),
        PROJECT,
        CHANNEL,
        ANA,
        "How do I rotate a key?",
        "0" * 16,
        InquiryState.ANSWERED,
        asked_at=NOW,
        due_at=NOW,
        thread_ts=THREAD,
        conversation="conversation-1",
    )
    await store.write(lambda tx: Inquiries(tx).add(inquiry))
    other = ProjectId("other-docs")
    found = await store.read(
        lambda tx: [
            Inquiries(tx).conversation_in(project, CHANNEL, THREAD) for project in (PROJECT, other)
        ]
    )
    assert found == ["conversation-1", None]

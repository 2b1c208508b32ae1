"""The status message of a job, and the attachments of a prompt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.messages import agent_text, status_message
from bot.jobs.model.jobs import TrackedJob
from bot.messages.plain_text import visible
from bot.messages.quotations import Quotation, QuoteSource
from tests.messages.anything import ANY_TEXT, built
from tests.messages.samples import job
from tests.messages.slack_limits import modal_problems


@given(built(TrackedJob))
def test_status_message_has_no_link_buttons(tracked: TrackedJob) -> None:
    """An edit keeps the blocks of its post, and the plain form of a message has no link buttons."""
    message = status_message.format_status_message(tracked)
    rows = [block["elements"] for block in message.blocks if block["type"] == "actions"]
    assert not [button for row in rows for button in row if "url" in button]


@given(conversation=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=30))
def test_attached_messages_stay_inside_the_quotation(conversation: list[tuple[str, str]]) -> None:
    messages = agent_text.fit_newest(conversation)
    assert len(messages) <= agent_text.MAX_EARLIER_MESSAGES
    assert len("\n".join(messages)) <= agent_text.MAX_EARLIER_CHARACTERS
    quotation = Quotation(QuoteSource.THREAD, "\n".join(messages))
    attached = agent_text.attachments("Asked by Ana.", [quotation])
    signed, _, rest = attached.partition("\n\n")
    assert signed == "Asked by Ana."
    assert all(line.startswith("> ") for line in rest.splitlines()[1:])
    assert attached == visible(attached)


@given(name=ANY_TEXT, channel=ANY_TEXT)
def test_signature_is_one_line(name: str, channel: str) -> None:
    assert len(agent_text.signature(name, channel).splitlines()) <= 1


@given(texts=st.lists(ANY_TEXT, max_size=8))
def test_attached_messages_fit_into_a_view(texts: list[str]) -> None:
    assert modal_problems(status_message.prompt_view(job(), texts)) == []

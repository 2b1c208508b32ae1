"""Forwarded messages and files within a message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.ports import SharedFile
from bot.slack.message_text import MOST_CHARACTERS, files_of, text_of
from tests.talk import Talk

SHARED = {"is_share": True, "author_name": "Ben <b>", "text": "The page\nis wrong"}
HOSTED = {"name": "a.txt", "mimetype": "text/plain", "size": 10, "mode": "hosted"}
URL = "https://files.slack.com/files-pri/T1-F1/download/a.txt"
KEYS = [
    "text",
    "files",
    "attachments",
    "is_share",
    "message_blocks",
    "message",
    "blocks",
    "elements",
    "type",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inside, max_size=4)
    ),
)


def rich(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a forwarded message of blocks, without a text."""
    blocks = [{"type": "rich_text", "elements": list(parts)}]
    return {"is_share": True, "message_blocks": [{"message": {"blocks": blocks}}]}


SECTION = {
    "type": "rich_text_section",
    "elements": [{"type": "text", "text": "See <this> of "}, {"type": "user", "user_id": "U02BEN"}],
}
QUOTE = {"type": "rich_text_quote", "elements": [{"type": "link", "url": "https://a.example"}]}


@pytest.mark.parametrize(
    ("attachments", "added"),
    [
        ([SHARED], "\n\nForwarded from Ben <b>:\n> The page\n> is wrong"),
        (
            [rich(SECTION, QUOTE)],
            "\n\nForwarded from somebody:\n> See <this> of @Ben Okafor\n> https://a.example",
        ),
        ([{"title": "A web page", "text": "About"}], ""),
    ],
)
async def test_forwarded_message_is_quoted_in_the_prompt(
    talk: Talk, attachments: list[dict[str, Any]], added: str
) -> None:
    message = await talk.ana.says("good morning")
    event = {
        "type": "app_mention",
        "channel": message["channel"],
        "user": talk.ana.id,
        "ts": message["ts"],
    }
    event |= {"text": "<@U0DOCSBOT> Fix this", "attachments": attachments}
    await talk.receives(
        {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event}
    )
    await talk.time.passes()
    assert talk.agent_got() == [f"Fix this{added}"]
    talk.everything()


@pytest.mark.parametrize(
    ("values", "is_text", "url"),
    [
        ({"url_private_download": URL}, True, URL),
        ({"url_private": URL, "mode": "snippet", "mimetype": "application/x-sql"}, True, URL),
        ({"url_private": URL, "mimetype": "image/png"}, False, URL),
        ({"url_private": URL, "mode": "external", "is_external": True}, True, None),
        ({"url_private": URL, "file_access": "check_file_info"}, True, None),
        ({"url_private": URL, "mode": "tombstone"}, True, None),
        ({}, True, None),
    ],
)
def test_file_has_its_type_and_its_address(
    values: dict[str, Any], is_text: bool, url: str | None
) -> None:
    assert files_of({"files": [HOSTED | values]}) == (SharedFile("a.txt", 10, is_text, url),)


@example(message={"text": "Fix this", "attachments": [{**SHARED, "text": "word " * 10_000}] * 2})
@given(message=st.dictionaries(st.sampled_from(["text", "files", "attachments"]), JSON))
def test_attachment_of_any_shape_is_no_error(message: dict[str, Any]) -> None:
    message = message | {"text": str(message.get("text") or "")}
    assert text_of(message).startswith(message["text"] if message["text"].strip() else "")
    assert len(text_of(message)) <= MOST_CHARACTERS
    assert isinstance(files_of(message), tuple)

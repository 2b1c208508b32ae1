"""What a message says besides its text: forwarded messages and files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ports import SharedFile
from bot.slack.rooms import MOST_CHARACTERS, files_of, text_of

SHARED = {"is_share": True, "author_name": "Ben <b>", "text": "The page\nis wrong"}
HOSTED = {"name": "a.txt", "mimetype": "text/plain", "size": 10, "mode": "hosted"}
URL = "https://files.slack.com/files-pri/T1-F1/download/a.txt"
NAMES = [
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
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inside, max_size=4),
)


def test_a_forwarded_message_becomes_quoted_text_under_the_name_of_its_author() -> None:
    said = text_of({"text": "Fix this", "attachments": [SHARED]})
    assert said == "Fix this\n\nForwarded from Ben &lt;b&gt;:\n&gt; The page\n&gt; is wrong"


def test_a_forwarded_message_of_blocks_becomes_text() -> None:
    words = [{"type": "text", "text": "See <this> of "}, {"type": "user", "user_id": "U1"}]
    quote = {"type": "rich_text_quote", "elements": [{"type": "link", "url": "https://a.example"}]}
    section = {"type": "rich_text_section", "elements": words}
    blocks = [{"type": "rich_text", "elements": [section, quote]}]
    shared = {"is_share": True, "message_blocks": [{"message": {"blocks": blocks}}]}
    said = text_of({"attachments": [shared]})
    assert said == "Forwarded from somebody:\n&gt; See &lt;this&gt; of <@U1>\n&gt; https://a.example"


def test_the_preview_of_a_web_page_is_not_what_somebody_said() -> None:
    assert text_of({"text": "Look", "attachments": [{"title": "Page", "text": "About"}]}) == "Look"


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
def test_a_file_is_known_by_its_type_and_by_where_it_is(
    values: dict[str, Any], is_text: bool, url: str | None
) -> None:
    assert files_of({"files": [HOSTED | values]}) == (SharedFile("a.txt", 10, is_text, url),)


@given(message=st.dictionaries(st.sampled_from(["text", "files", "attachments"]), JSON))
def test_no_attachment_or_file_of_any_shape_is_an_error(message: dict[str, Any]) -> None:
    message = message | {"text": str(message.get("text") or "")}
    assert text_of(message).startswith(message["text"] if message["text"].strip() else "")
    assert isinstance(files_of(message), tuple)


def test_a_text_with_what_was_forwarded_in_it_is_no_longer_than_a_message() -> None:
    shared = {**SHARED, "text": "word " * 10_000}
    said = text_of({"text": "Fix this", "attachments": [shared, shared]})
    assert len(said) == MOST_CHARACTERS
    assert said.endswith("…")

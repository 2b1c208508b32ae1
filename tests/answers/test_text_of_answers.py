"""The text of an answer: no link to strangers, no lost words, no empty message."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.answers.conftest import asks
from tests.services import answer_stream
from tests.talk import Talk
from tests.talk_people import Shown

PASSAGE = {"content": "Press Rotate", "path": "https://docs.example/keys", "metadata": None}


def markdown_of(answer: Shown) -> str:
    """Return the text of the answer's Markdown block."""
    [text] = [block["text"] for block in answer.message["blocks"] if block["type"] == "markdown"]
    return str(text)


def addresses_in(markdown: str) -> set[str]:
    """Return the addresses that a reader of this Markdown could follow; Slack links bare ones, too."""
    inline = [token for token in MarkdownIt("commonmark").parse(markdown) if token.children]
    children = [child for token in inline for child in token.children or []]
    targets = {str(child.attrs.get("href") or child.attrs.get("src") or "") for child in children}
    return {*targets, *re.findall(r"(?i)https?://[^\s<>()]+", markdown)} - {""}


@pytest.mark.parametrize(
    "text",
    [
        "[sign in](https://evil.example/x)",
        "[sign in](HTTPS://evil.example/x)",
        "[sign in](//evil.example/x)",
        "[sign in](https&colon;//evil.example/x)",
        r"[sign in](https:\//evil.example/x)",
        "[sign in](https://docs.example@evil.example/x)",
        "[https://docs.example/keys](https://evil.example/x)",
        "[sign in][1]\n\n[1]: HTTPS://evil.example/x",
        "<HTTPS://evil.example/x>",
        "!![sign in](https://evil.example/x.png)",
    ],
)
async def test_answer_has_no_link_to_another_site(talk: Talk, text: str) -> None:
    talk.service.answer = answer_stream(f"{text} and more")
    markdown = markdown_of(await asks(talk))
    assert not [address for address in addresses_in(markdown) if "evil.example" in address]


@pytest.mark.parametrize(
    "separator",
    ["\u2028", "\u2029", "\x85"],
)
async def test_answer_keeps_words_beside_odd_line_ends(talk: Talk, separator: str) -> None:
    deltas = ["Do not ", f"delete{separator}the key", " before noon."]
    parts = [{"type": "text-start", "id": "t"}]
    parts += [{"type": "text-delta", "id": "t", "delta": delta} for delta in deltas]
    parts += [{"type": "text-end", "id": "t"}, {"type": "finish"}]
    events = [f"data: {json.dumps(part, ensure_ascii=False)}\n\n" for part in parts]
    talk.service.answer = "".join([*events, "data: [DONE]\n\n"])
    words = markdown_of(await asks(talk)).replace(separator, " ").split()
    assert " ".join(words) == "Do not delete the key before noon."


async def test_answer_without_a_visible_word_is_left_to_the_search(talk: Talk) -> None:
    talk.service.passages = [PASSAGE]
    talk.service.answer = answer_stream("\u200b\u2060")
    assert (await asks(talk)).startswith("From the docs:")


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({}, id="no field"),
        pytest.param({"content": "", "path": "", "metadata": {}}, id="empty fields"),
        pytest.param({"content": None, "path": None}, id="null fields"),
        pytest.param({"content": 7, "path": ["/a"]}, id="fields of other types"),
        pytest.param({"content": "x", "metadata": "title"}, id="metadata of another type"),
        pytest.param({"content": "x" * 5_000, "metadata": {"title": "&" * 400}}, id="long fields"),
        pytest.param("text", id="text"),
        pytest.param(None, id="null"),
    ],
)
async def test_odd_search_result_hides_no_other(talk: Talk, odd: Any) -> None:
    talk.process.settings["ANSWERS"] = "search"
    talk.service.passages = [odd, PASSAGE]
    assert "Press Rotate" in await asks(talk)

"""The checks of ``slack_limits`` find broken and harmful messages."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from bot.ids import Message
from bot.messages import blocks as b
from bot.visitors.messages.answers import build_page_table
from tests.messages.slack_limits import Allowed, problems_of
from tests.visitors.visitor_samples import page

MENU = b.menu("Improve a page…", b.Action.IMPROVE, [("/a", "page:1")])
LINK = b.button("Open", b.Action.OPEN_PREVIEW, "1", url="https://good.example/1")


def sound() -> list[dict[str, Any]]:
    """Return a valid section, table, menu and link."""
    pages = build_page_table("Pages", [page("/a", (1, 2, 3)), page("/b", (1, 2, 3))])
    return copy.deepcopy([b.section("*People*"), pages, *b.actions([MENU, LINK])])


def problems(blocks: list[dict[str, Any]]) -> list[str]:
    return problems_of(
        Message("words", tuple(blocks)), Allowed(("U1",), ["https://good.example/1"])
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda made: made[0]["text"].update(text="<!channel>"),
        lambda made: made[0]["text"].update(text="<@U2>"),
        lambda made: made[0]["text"].update(text="<https://evil.example|here>"),
        lambda made: made[0]["text"].update(verbatim=False),
        lambda made: made[1].update(caption="a\u202eb"),
        lambda made: made[1]["rows"][1][0].update(text="a\u200bb"),
        lambda made: made[1]["rows"][1].pop(),
        lambda made: made[2]["elements"][0].update(options=[]),
        lambda made: made[2]["elements"][1].update(url="https://evil.example/1"),
    ],
)
def test_refused_and_harmful_blocks_are_found(spoil: Callable[[Any], Any]) -> None:
    blocks = sound()
    assert problems(blocks) == []
    spoil(blocks)
    assert problems(blocks) != []


def test_words_in_tables_and_menus_count_as_characters() -> None:
    blocks = sound()
    for row in blocks[1]["rows"]:
        row[0]["text"] = "x" * 2_900
    assert problems(blocks) == []
    text = {"type": "plain_text", "text": "x" * 70}
    blocks[2]["elements"][0]["options"] = [{"text": text, "value": str(at)} for at in range(50)]
    assert any("characters in all" in problem for problem in problems(blocks))

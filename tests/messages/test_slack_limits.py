"""The rules that tests hold messages against do find what is wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from bot.messages import blocks as b
from bot.messages.charts import page_table, visitors_chart
from bot.model.message import Message
from bot.model.visitors import Counts
from tests.messages.slack_limits import Allowed, problems_of
from tests.messages.visitor_samples import WEEK, page

Spoil = Callable[[Any], Any]
PAGES = [page("/a", (1, 2, 3)), page("/b", (1, 2, 3))]
MENU = b.menu("Improve a page…", "improve", [("/a", "page:1")])


def sound() -> list[dict[str, Any]]:
    """Fields, a chart, a table and a menu with which nothing is wrong."""
    points = [(step, Counts(1, 2, 3)) for step in WEEK.steps()]
    made = [
        b.fields("*People*"),
        visitors_chart("Visitors", points),
        page_table("Pages", PAGES, compared=True),
    ]
    return copy.deepcopy([*made, *b.actions([MENU]), b.section("Or", accessory=MENU)])


def found(blocks: list[dict[str, Any]]) -> list[str]:
    """What the rules say."""
    return problems_of(Message("words", tuple(blocks)), Allowed(()))


def test_sound_blocks_pass() -> None:
    assert found(sound()) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda made: made[0].update(fields=made[0]["fields"] * 11),
        lambda made: made[0]["fields"][0].update(text="x" * 2_001),
        lambda made: made[0]["fields"][0].update(text="<!channel>"),
        lambda made: made[1].update(title="x" * 51),
        lambda made: made[1]["chart"].update(series=[]),
        lambda made: made[1]["chart"]["series"][0].update(name="x" * 21),
        lambda made: made[1]["chart"]["series"][0].update(name="AI agents"),
        lambda made: made[1]["chart"]["series"][0]["data"].pop(),
        lambda made: made[1]["chart"]["series"][0]["data"][0].update(value="3"),
        lambda made: made[1]["chart"]["axis_config"].update(categories=["Mon"] * 7),
        lambda made: made[1]["chart"]["axis_config"].update(y_label="x" * 51),
        lambda made: made.extend([made[1], made[1]]),
        lambda made: made[2].update(caption=""),
        lambda made: made[2].update(page_size=0),
        lambda made: made[2].update(row_header_column_index=5),
        lambda made: made[2].update(rows=made[2]["rows"][:1]),
        lambda made: made[2].update(rows=made[2]["rows"] * 70),
        lambda made: made[2]["rows"][1].pop(),
        lambda made: made[2]["rows"][1][0].update(text=""),
        lambda made: made[2]["rows"][1][1].update(value=None),
        lambda made: made[2]["rows"][1].__setitem__(1, {"type": "raw_text", "text": "many"}),
        lambda made: made[2]["rows"][1][0].update(text="&" * 2_500),
        lambda made: made[3]["elements"][0].update(options=[]),
        lambda made: made[3]["elements"][0].update(options=made[3]["elements"][0]["options"] * 101),
        lambda made: made[3]["elements"][0]["options"][0]["text"].update(text="x" * 76),
        lambda made: made[3]["elements"][0]["options"][0].update(value="x" * 151),
        lambda made: made[3]["elements"][0]["placeholder"].update(text="x" * 151),
        lambda made: made[3]["elements"].append(made[3]["elements"][0]),
        lambda made: made[4]["accessory"].update(action_id=""),
        lambda made: made[4].update(accessory={"type": "datepicker", "action_id": "day"}),
        lambda made: made[4].pop("text"),
    ],
)
def test_what_slack_refuses_is_found(spoil: Spoil) -> None:
    blocks = sound()
    spoil(blocks)
    assert found(blocks) != []


def test_words_in_tables_menus_and_charts_count_into_the_size_of_a_message() -> None:
    blocks = sound()
    for row in blocks[2]["rows"]:
        row[0]["text"] = "x" * 2_900
    assert found(blocks) == []
    blocks[3]["elements"][0]["options"] = [MENU["options"][0] | {"text": {"text": "x" * 70}}] * 50
    assert any("characters in all" in each for each in found(blocks))

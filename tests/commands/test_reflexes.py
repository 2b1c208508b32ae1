"""Whole texts that are a word of the bot's commands, or nearly one."""

from __future__ import annotations

import pytest

from bot.commands.reflexes import judge
from bot.model.reflexes import Reflex
from tests.model.blind_texts import FREE, PROMPTS
from tests.model.reflex_texts import TEXTS


@pytest.mark.parametrize("kind", TEXTS)
def test_each_text_is_what_the_table_says(kind: str) -> None:
    taken = {text: judge(text) for text in TEXTS[kind]}
    found = {text: each.reflex if each else "prompt" for text, each in taken.items()}
    assert {text: each for text, each in found.items() if each != kind} == {}


def test_what_people_write_costs_nothing_unless_it_has_something_to_change() -> None:
    assert [text for text in FREE if judge(text) is None] == []
    assert [text for text in PROMPTS if judge(text) is not None] == []


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("project achme", "/docs-agent project"),
        ("projects", "/docs-agent project"),
        ("limit", "/docs-agent limits"),
        ("statuss 12", "/docs-agent status 42"),
        ("replies off", "/docs-agent replies off"),
        ("subscribe munday 9:00", "/docs-visitors subscribe monday 09:00"),
        ("Subscribe fridays at 10am please!", "/docs-visitors subscribe monday 09:00"),
        ("digest now", "/docs-visitors digest now"),
        ("visitors last weeek", "/docs-visitors last month path /api csv"),
        ("visitors 1 oct to 5 oct csv", "/docs-visitors last month path /api csv"),
    ],
)
def test_what_is_nearly_a_command_is_told_by_the_command(text: str, command: str) -> None:
    taken = judge(text)
    assert taken is not None
    assert (taken.reflex, taken.command) == (Reflex.COMMAND, command)


@pytest.mark.parametrize(
    "text",
    [
        *("project setup is missing a step", "projects need a page of their own", "limits page is wrong"),
        *(
            "jobs in the navigation are out of date",
            "status codes are missing",
            "status 404 is not documented",
        ),
        *("subscribe button is missing", "digest emails are wrong", "unsubscribe link is dead, fix it"),
        *("visitors page: add a chart", "visitors top pages are wrong", "replies to the forum are slow"),
    ],
)
def test_a_prompt_that_begins_like_a_command_is_a_prompt(text: str) -> None:
    assert judge(text) is None

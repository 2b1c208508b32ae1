"""Which whole texts nobody means as a prompt, and that everything else is one."""

from __future__ import annotations

from time import perf_counter

import pytest

from bot.commands.reflexes import taken_for
from bot.messages.job_answers import Reflex

TAKEN = {
    Reflex.STATUS: (
        *("status", "Status?", "status please", "job", "job #7", "42", "#7", "jobs failed", "jobs review"),
        *("jobs?", "What is the status?", "what’s the status of job 12?", "any updates?", "list jobs"),
    ),
    Reflex.STOP: (
        *("stop", "Stop!", "STOP.", "cancel 1", "cancel job 12", "cancel #3", "abort it", "wait", "hold on"),
        *("never mind", "please stop", "`stop`", "stop watching 7"),
    ),
    Reflex.PROJECT: ("project acme", "projects", "project"),
    Reflex.LIMITS: ("limits?", "quota"),
    Reflex.VISITORS: ("visitors", "visitors last week", "subscribe monday 09:00", "digest now"),
    Reflex.HELP: (*("?", "??", "...", "help me?", "Help!", "/help", "--help", "what can you do?", "please"),),
    Reflex.GREETING: ("hi", "Hello!", "hey :)", "good morning"),
    Reflex.COMMAND: ("settings", "templates", "search x", "ping", "retry 7"),
}
PROMPTS = (
    *("status codes are missing on the errors page", "done is spelled wrong, fix it"),
    *("stop using the word simply", "cancel buttons need a page of their own"),
    *("jobs in the navigation are out of date", "project setup is missing a step"),
    *("help pages link to the old site", "hi is a bad first word of the home page"),
    *("search does not find webhooks", "subscribe button is missing", "visitors page: add a chart"),
    *("job 42 is described twice", "wait times are wrong in the limits page", "Add a quickstart"),
    *("fix it", "shorter", "404 page", "! stop", "!", "", "  ", ":tada:", "ok"),
)


@pytest.mark.parametrize(
    ("text", "reflex"), [(text, each) for each, texts in TAKEN.items() for text in texts]
)
def test_what_people_type_by_reflex_is_known(text: str, reflex: Reflex) -> None:
    assert taken_for(text) is reflex


@pytest.mark.parametrize("text", PROMPTS)
def test_everything_else_is_a_prompt(text: str) -> None:
    assert taken_for(text) is None


@pytest.mark.parametrize("text", ["stop " * 20_000, "?" * 100_000, "(" * 100_000, " " * 100_000 + "stop"])
def test_a_long_text_is_a_prompt_and_takes_no_time(text: str) -> None:
    began = perf_counter()
    assert taken_for(text) is None
    assert perf_counter() - began < 0.1

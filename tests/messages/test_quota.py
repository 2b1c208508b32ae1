"""Messages about the key and the hourly limits: clear, valid and harmless."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.messages import face, job_answers
from bot.model.ids import Message, ProjectId
from bot.model.jobs import JobState, QueueWhy
from bot.model.projects import Project
from bot.model.visitors import Budget
from tests.builders import NOW, PROJECT
from tests.messages.samples import buttons, job

HALF_PAST = NOW + timedelta(minutes=30)


def analytics(used: int = 0, free_at: datetime | None = None) -> Budget:
    """The other hourly limit."""
    return Budget(used=used, limit=100, free_at=free_at)


def limits(
    used: int, limit: int, at: datetime | None, waiting: int, mine: int, calls: Budget, **more: Any
) -> Message:
    return job_answers.limits([job_answers.Limits(used, limit, at, waiting, mine, calls, **more)])


def test_limits_are_said_in_one_look() -> None:
    said = limits(63, 100, HALF_PAST, 0, 2, analytics()).text
    assert said == (
        "*37 of 100 left this hour* (2 of the 63 spent are yours). Visitors: 100 of 100 reads left.\n"
        "One job or follow-up is one use."
    )


def test_a_spent_limit_says_when_it_frees_and_how_many_wait() -> None:
    said = limits(100, 100, HALF_PAST, 3, 0, analytics()).text
    frees = "*0 of 100 left this hour*; the next frees at <!date^1793611800^{time}|2026-11-02 09:30 UTC>."
    assert said.startswith(f"{frees} 3 prompts wait; people take turns.")


def test_a_spent_analytics_budget_says_when_the_next_call_is_possible() -> None:
    said = limits(0, 100, None, 0, 0, analytics(100, HALF_PAST)).text
    assert "Visitors: 0 of 100 reads left; the next at <!date^1793611800" in said


def test_the_limits_of_several_projects_stand_under_their_labels() -> None:
    acme, beta = (Project(ProjectId(f"p-{name}"), name, f"<{name}>") for name in ("acme", "beta"))
    parts = [
        job_answers.Limits(used, 100, None, 0, 0, analytics(), shown=each)
        for used, each in ((1, acme), (2, beta))
    ]
    said = job_answers.limits(parts).text
    assert said.index("*&lt;acme&gt;*: *99 of") < said.index("*&lt;beta&gt;*: *98 of")
    assert said.count("One job or follow-up is one use") == 1


def test_admins_hear_which_of_several_keys_is_refused() -> None:
    shown = Project(PROJECT, "acme", "Acme docs")
    said = job_answers.key_refused(PROJECT, forbidden=False, shown=shown, entry=shown).text
    assert "the key for *Acme docs* (`acme-docs`)" in said
    assert "the entry `acme` of `DOCS_PROJECTS`" in said
    assert "*Acme docs*" in job_answers.key_accepted(PROJECT, shown).text


@pytest.mark.parametrize("forbidden", [True, False])
def test_admins_are_told_what_to_do_about_the_key(forbidden: bool) -> None:
    said = job_answers.key_refused(PROJECT, forbidden=forbidden).text
    assert ("403" in said, "401" in said) == (forbidden, not forbidden)
    assert ("may read" in said) == forbidden
    assert "{" not in said
    for word in ("`DOCS_API_KEY`", "docs-bot doctor", "nothing is lost", "I'll also try again by myself"):
        assert word in said


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (QueueWhy.LIMIT, "It starts at about <!date^"),
        (
            QueueWhy.SHARE,
            "It waits: whoever asked has had their share of the hourly limit. It goes",
        ),
        (QueueWhy.KEY, "It waits: the docs service refuses the bot's key. I'll try again at <!date^"),
        (QueueWhy.SERVICE, "It waits: I can't reach the docs service. I'll try again at <!date^"),
    ],
)
def test_the_root_says_what_it_waits_for(why: QueueWhy, words: str) -> None:
    waiting = job(JobState.WAITING, queue_until=HALF_PAST, queue_why=why)
    root = face.face(waiting)
    assert words in root.text
    assert buttons(root) == [("Withdraw", "withdraw", "42")]


def test_a_waiting_follow_up_has_its_own_button_beside_the_pull_request() -> None:
    root = face.face(job(queue_until=HALF_PAST, queue_why=QueueWhy.LIMIT))
    shown = [words for words, _, _ in buttons(root)]
    assert shown == ["Reviewed", "Not needed", "Withdraw follow-up"]


def test_an_ended_job_that_takes_no_follow_up_shows_no_queue() -> None:
    root = face.face(job(JobState.ARCHIVED, queue_until=HALF_PAST, queue_why=QueueWhy.LIMIT))
    assert "waits" not in root.text
    assert buttons(root) == []

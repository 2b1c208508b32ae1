"""The audit: each act of a person once, with its end, as an operator reads it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from tests.talk import START, Talk

SECRET = "the launch of Project Heron"


async def audit(talk: Talk) -> list[dict[str, str]]:
    """Return the rows of the audit, the oldest first."""
    return list(csv.DictReader(io.StringIO(await talk.operator("audit"))))


async def acts(talk: Talk) -> list[tuple[str, str, str]]:
    """Return the acts, each with the person and the end, which is empty while it is open."""
    people = {person.id: person.name for person in (talk.ana, talk.ben)} | {"": ""}
    return [(row["act"], people[row["user"]], row["outcome"]) for row in await audit(talk)]


async def test_request_is_recorded_with_its_end_without_its_text(talk: Talk) -> None:
    await talk.started(f"Write about {SECRET}")
    assert await acts(talk) == [("asked", "Ana", "")]
    await talk.ends()
    [row] = await audit(talk)
    assert row == {
        "acted_at": f"{START:%Y-%m-%dT%H:%M:%SZ}",
        "user": talk.ana.id,
        "act": "asked",
        "project": "acme-docs",
        "channel": talk.room("docs").id,
        "job": "1",
        "subscription": "",
        "outcome": "pull_request",
        "app": "",
    }
    assert not [column for column in talk.kept(SECRET) if column.startswith("audit")]
    talk.everything()


async def test_each_follow_up_has_the_end_of_its_iteration(talk: Talk) -> None:
    await talk.finished()
    await talk.ben.replies("And a diagram")
    await talk.time.passes(20)
    assert await acts(talk) == [("asked", "Ana", "pull_request"), ("steered", "Ben", "")]
    await talk.ends("failed")
    assert await acts(talk) == [("asked", "Ana", "pull_request"), ("steered", "Ben", "failed")]
    talk.everything()


async def test_people_without_access_are_not_in_the_audit(talk: Talk) -> None:
    assert "Guests can't" in await talk.gus.answer_to("/docs-agent Add a page on keys")
    assert await audit(talk) == []


async def test_withdrawal_names_its_person(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started()
    await talk.started("Add a guide", by=talk.ben)
    await talk.ben.presses("Withdraw")
    assert (await acts(talk))[1:] == [("asked", "Ben", "withdrawn"), ("withdrew", "Ben", "")]
    await talk.time.passes()
    talk.everything()


@pytest.mark.parametrize(
    ("label", "act", "end"),
    [("Send again", "sent_again", "pull_request"), ("Dismiss", "dismissed", "")],
)
async def test_decision_about_unconfirmed_request_names_its_person(
    talk: Talk, label: str, act: str, end: str
) -> None:
    await talk.process.starts(admins=talk.ben.id)
    talk.service.says("create", 502)
    await talk.started()
    await talk.ben.presses(label)
    await talk.time.passes()
    await talk.ends()
    assert await acts(talk) == [("asked", "Ana", end or "withdrawn"), (act, "Ben", end)]
    talk.everything()


async def test_subscriptions_and_their_ends_are_recorded_once(talk: Talk) -> None:
    for _ in range(2):
        await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC path /secret")
    await talk.ben.types("/docs-visitors unsubscribe")
    found = [(row["act"], row["user"], row["subscription"]) for row in await audit(talk)]
    assert found == [("subscribed", talk.ana.id, "1"), ("unsubscribed", talk.ben.id, "1")]
    assert not [column for column in talk.kept("/secret") if column.startswith("audit")]
    talk.everything()


async def test_nothing_is_posted_that_cannot_be_recorded(talk: Talk) -> None:
    """Both are written in one transaction."""
    talk.process.timeouts = replace(talk.process.timeouts, database_seconds=0.1)
    await talk.ana.asks("Add a page on keys")
    with talk.database_fails("audit"), pytest.raises(Exception, match="audit"):
        await talk.time.passes()
    assert talk.channel() == talk.agent_got() == []
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_old_rows_lose_the_person_and_keep_the_end(talk: Talk) -> None:
    await talk.process.starts(keep_days=180)
    await talk.finished()
    talk.time.is_set(days=180)
    await talk.started("Add another page")
    await talk.time.passes(60)
    assert await acts(talk) == [("asked", "", "pull_request"), ("asked", "Ana", "")]
    assert (await audit(talk))[0]["acted_at"] == f"{START:%Y-%m-%dT%H:%M:%SZ}"
    talk.everything()


async def test_forgotten_person_is_in_no_finished_row(talk: Talk) -> None:
    for person in (talk.ana, talk.ben):
        await talk.started(f"Add a page on keys by {person}", by=person)
    await talk.ends()
    await talk.started("Add a third page")
    assert "audit rows 1" in await talk.operator("forget", talk.ana.id)
    assert [user for _, user, _ in await acts(talk)] == ["", "Ben", "Ana"]
    talk.everything()

"""The audit: each act of a person is told once, in the transaction that does it, with its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import select, text

from bot.context import Timeouts
from bot.ids import UserId
from bot.jobs.decisions import dismiss, send_again
from bot.jobs.model.prompts import Act, AuditRow, PromptState
from bot.jobs.store.audit import Audit
from bot.jobs.store.tables import audit, prompts
from bot.outbox.store import deliveries
from bot.ports import Profile
from bot.store import DatabaseTrouble
from bot.store.retention import forget_person
from bot.workers import forget_old
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT, execute, rows_of
from tests.work.office import Office

SECRET = "the launch of Project Heron"


async def told(office: Office) -> list[AuditRow]:
    """All rows, in the order of writing."""
    return (await office.store.read(lambda tx: Audit(tx).after(0, 100)))[1]


async def acts(office: Office) -> list[tuple[str, UserId, str | None]]:
    """Who did what, with which end."""
    return [(row.act.value, row.user, row.end) for row in await told(office)]


async def test_a_request_is_told_with_its_end_and_without_its_text(office: Office) -> None:
    asked = await office.started(f"Write about {SECRET}")
    assert await acts(office) == [("asked", ANA, None)]
    office.clock.pass_seconds(60)
    office.docs.finish()
    await office.settle()
    [row] = await told(office)
    assert row == AuditRow(NOW, ANA, Act.ASKED, PROJECT, CHANNEL, asked.job, None, "pull_request")
    assert SECRET not in str(await rows_of(office.store, select(audit)))


async def test_each_follow_up_has_the_end_of_its_own_iteration(office: Office) -> None:
    await office.finished()
    await office.reply("And a diagram", user=BEN)
    await office.settle()
    assert await acts(office) == [("asked", ANA, "pull_request"), ("steered", BEN, None)]
    office.docs.finish("failed")
    await office.settle()
    assert await acts(office) == [("asked", ANA, "pull_request"), ("steered", BEN, "failed")]


async def test_whoever_has_no_access_is_not_in_it(office: Office) -> None:
    gus = UserId("U0GUS")
    office.slack.profiles[gus] = Profile(True, False, False, False)
    await office.types("/docs-agent", "Add a page", user=gus)
    await office.settle()
    assert await told(office) == []


async def test_a_withdrawn_request_names_who_withdrew_it(office: Office) -> None:
    office.limit(0)
    await office.started()
    await office.press("withdraw", "1")
    assert await acts(office) == [("asked", ANA, "withdrawn"), ("withdrew", ANA, None)]


@pytest.mark.parametrize(
    ("decide", "expected"),
    [
        (send_again, [("asked", ANA, "pull_request"), ("sent_again", BEN, "pull_request")]),
        (dismiss, [("asked", ANA, "withdrawn"), ("dismissed", BEN, None)]),
    ],
)
async def test_a_decision_about_an_unconfirmed_request_names_who_took_it(
    office: Office, decide: Callable[..., Awaitable[bool]], expected: list[object]
) -> None:
    office.docs.answer_instead("create", httpx.Response(502, text="<html>"))
    await office.started()
    assert await decide(office.context, await office.steers(1, BEN))
    await office.settle()
    office.docs.finish()
    await office.settle()
    assert await acts(office) == expected


async def test_subscriptions_and_their_ends_are_told_once(office: Office) -> None:
    for _ in range(2):
        await office.visitors("subscribe monday 09:00 UTC path /secret")
    await office.visitors("unsubscribe", user=BEN)
    found = await told(office)
    assert [(row.act, row.user, row.subscription) for row in found] == [
        (Act.SUBSCRIBED, ANA, 1),
        (Act.UNSUBSCRIBED, BEN, 1),
    ]
    assert "/secret" not in str(await rows_of(office.store, select(audit)))


async def test_what_cannot_be_told_is_not_done(office: Office) -> None:
    """Both are written in one transaction."""
    office.context = replace(office.context, timeouts=Timeouts(database_seconds=0.1))
    await office.ask("Add a page")
    await execute(office.store, text("DROP TABLE audit"))
    with pytest.raises(DatabaseTrouble):
        await office.settle()
    [prompt] = await rows_of(office.store, select(prompts))
    assert prompt["state"] == PromptState.NEW
    assert await rows_of(office.store, select(deliveries)) == []


async def test_old_rows_lose_the_person_and_keep_act_time_and_end(office: Office) -> None:
    office.context = replace(office.context, keep=timedelta(days=180))
    await office.finished()
    await office.started("Another page")
    office.clock.pass_seconds(181 * 86_400)
    while await forget_old(office.context):
        pass
    assert await acts(office) == [("asked", "", "pull_request"), ("asked", ANA, None)]
    assert (await told(office))[0].at == NOW


async def test_a_forgotten_person_is_in_no_row_of_what_is_over(office: Office) -> None:
    await office.finished()
    await office.finished("Another page", user=BEN)
    await office.started("A third page")
    forgotten, left = await forget_person(office.store, ANA)
    assert (forgotten["audit rows"], left["audit rows"]) == (1, 1)
    assert [user for _, user, _ in await acts(office)] == ["", BEN, ANA]

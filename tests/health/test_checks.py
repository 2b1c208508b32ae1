"""What makes a process not ready, and the cause that it tells."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from bot.health.checks import (
    Checks,
    Finding,
    SignatureCheck,
    SlackCheck,
    database_check,
    free_bytes,
    run_checks,
    workers_check,
)
from bot.health.metrics import Metrics
from bot.ports import SlackError, SlackThrottled, SlackUnreachable
from bot.slack.client import to_refusal
from bot.store import Store
from bot.store.heartbeats import Heartbeats
from tests.builders import HeldClock, execute, new_store
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS
from tests.store.conftest import postgres

__all__ = ["postgres"]


def utc_now() -> datetime:
    return datetime.now(UTC)


async def only(check: Callable[[], Awaitable[Sequence[Finding]]]) -> Finding:
    """Return the one finding of a check."""
    [found] = await check()
    return found


async def test_a_database_that_takes_writes_is_well_and_keeps_one_row_for_it() -> None:
    store = await new_store()
    for _ in range(3):
        assert (await only(partial(database_check, store, "one", utc_now))).ok
    found = await store.read(
        lambda tx: tx.connection.execute(text("SELECT count(*) FROM heartbeats")).scalar()
    )
    assert found == 1
    assert free_bytes(store) is None
    await store.close()


async def test_a_full_disk_is_named(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/bot.db")
    await new_store(store.database)
    assert (free_bytes(store) or 0) > 0
    # As little room as the file takes now; an update of a row may still fit.
    await execute(store, text("PRAGMA max_page_count = 1"))
    names = (str(number).ljust(80, "-") for number in itertools.count())
    checks = (await only(partial(database_check, store, next(names), utc_now)) for _ in range(1_000))
    found = await anext(check async for check in checks if not check.ok)
    assert (found.seen, found.advice != "") == ("cannot be written: database or disk is full", True)
    await store.close()


async def test_a_locked_database_is_left_alone_and_the_cause_is_told(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/bot.db")
    await new_store(store.database)
    await execute(store, text("PRAGMA busy_timeout = 1"))
    with closing(sqlite3.connect(tmp_path / "bot.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = await only(partial(database_check, store, "one", utc_now))
    assert (found.ok, found.seen) == (False, "cannot be written: database is locked")
    await store.close()


@pytest.mark.parametrize("required", [True, False])
async def test_without_a_process_that_works_it_is_said(required: bool) -> None:
    store, clock = await new_store(), HeldClock()
    check = partial(workers_check, store, clock, required=required)
    seen = "no process carries requests out: no heartbeat for 50 s"
    dead = Finding("workers", False, seen, required=required)
    assert await only(check) == dead
    await store.write(lambda tx: Heartbeats(tx).beat("one", clock()))
    await store.try_writing("door", clock())
    assert await only(check) == Finding("workers", True, "1 alive", required=required)
    clock.pass_seconds(51)
    assert await only(check) == dead
    await store.close()


class AskedSlack:
    """Slack, which says what a test wants, and counts how often it is asked."""

    def __init__(self) -> None:
        self.error: SlackError | None = None
        self.asked = 0

    async def __call__(self) -> None:
        self.asked += 1
        if self.error is not None:
            raise self.error


async def test_slack_is_asked_about_the_token_twice_a_minute() -> None:
    slack, now = AskedSlack(), [0.0]
    check = SlackCheck(slack, required=True, clock=lambda: now[0])
    for now[0] in (0.0, 2.0, 29.0, 31.0):
        assert (await only(check)).ok
    assert slack.asked == 2
    slack.error = to_refusal("token_revoked")
    now[0] = 62.0
    assert (await only(check)).seen == "the token was revoked (token_revoked)"
    slack.error = None
    now[0] = 68.0
    assert (await only(check)).ok, "it is asked again soon"


@pytest.mark.parametrize(
    ("error", "needed", "ok", "seen", "required"),
    [
        (SlackUnreachable("Cannot connect"), True, False, "Cannot connect", True),
        (SlackUnreachable("Cannot connect"), False, False, "Cannot connect", False),
        (to_refusal("invalid_auth"), False, False, "Slack does not know the token (invalid_auth)", True),
        (SlackThrottled(5.0, None), True, True, "asks to wait, so it knows the token", True),
    ],
)
async def test_what_slack_says_decides(
    error: SlackError, needed: bool, ok: bool, seen: str, required: bool
) -> None:
    slack = AskedSlack()
    slack.error = error
    found = await only(SlackCheck(slack, required=needed))
    assert (found.ok, found.seen, found.required) == (ok, seen, required)


async def test_refused_signatures_count_until_one_is_accepted() -> None:
    metrics, now = Metrics(), [0.0]
    check = SignatureCheck(metrics.count, clock=lambda: now[0])
    for accepted in (True, False, False, False, False, True, False, False, False, False):
        check.record(accepted)
    assert (await only(check)).ok, "one was accepted among them"
    check.record(False)
    assert "SLACK_SIGNING_SECRET" in (await only(check)).seen
    assert b'docs_bot_signatures_total{outcome="refused"} 9.0' in metrics.page()[0]
    now[0] = 301.0
    assert (await only(check)).ok, "nothing was refused lately"
    for _ in range(5):
        check.record(False)
    assert not (await only(check)).ok
    check.record(True)
    assert (await only(check)).ok, "the secret is right"
    fresh = SignatureCheck(Metrics().count, clock=lambda: 0.0)
    for _ in range(6):
        fresh.record(False)
    found = await only(fresh)
    assert (found.ok, found.required) == (False, False), "strangers may have forged all requests"


async def test_a_database_that_hangs_is_told_in_time_and_hangs_nothing_else(postgres: PostgresServer) -> None:
    store = Store.open(url := postgres.new_database(), connections=1)
    await new_store(store.database)
    parts: Checks = {
        "database": partial(database_check, store, "one", utc_now),
        "workers": partial(workers_check, store, utc_now, required=True),
    }
    with create_engine(url, poolclass=NullPool).begin() as another:
        another.execute(text("LOCK TABLE heartbeats IN ACCESS EXCLUSIVE MODE"))
        # More often than the process has connections.
        for _ in range(8):
            found = await run_checks(parts, limit_seconds=0.02)
            assert {each.name: each.seen for each in found} == dict.fromkeys(parts, "no answer within 0.02 s")
    found = await run_checks(parts, HANG_SECONDS)
    assert [each.ok for each in found if each.name == "database"] == [True], "it goes on by itself"
    await store.close()

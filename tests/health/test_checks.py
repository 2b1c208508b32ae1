"""The checks of readiness, and the cause of each failure."""

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
from bot.slack.http import Signature
from bot.store import Store
from bot.store.heartbeats import Heartbeats
from tests.builders import HeldClock, execute, new_store, rows_of
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS
from tests.store.conftest import postgres

__all__ = ["postgres"]


def utc_now() -> datetime:
    return datetime.now(UTC)


async def only(check: Callable[[], Awaitable[Sequence[Finding]]]) -> Finding:
    """Return the only finding of a check."""
    [finding] = await check()
    return finding


async def test_writable_database_passes_with_one_row() -> None:
    store = await new_store()
    for _ in range(3):
        assert (await only(partial(database_check, store, "one", utc_now))).ok
    assert len(await rows_of(store, text("SELECT * FROM heartbeats"))) == 1
    assert free_bytes(store) is None
    await store.close()


async def test_full_disk_is_named(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/bot.db")
    await new_store(store.database)
    assert (free_bytes(store) or 0) > 0
    # The file may not grow; an update of a row may still fit.
    await execute(store, text("PRAGMA max_page_count = 1"))
    names = (str(number).ljust(80, "-") for number in itertools.count())
    checks = (
        await only(partial(database_check, store, next(names), utc_now)) for _ in range(1_000)
    )
    finding = await anext(check async for check in checks if not check.ok)
    assert (finding.seen, finding.advice != "") == (
        "cannot be written: database or disk is full",
        True,
    )
    await store.close()


async def test_locked_database_fails_with_cause(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/bot.db")
    await new_store(store.database)
    await execute(store, text("PRAGMA busy_timeout = 1"))
    with closing(sqlite3.connect(tmp_path / "bot.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        finding = await only(partial(database_check, store, "one", utc_now))
    assert (finding.ok, finding.seen) == (False, "cannot be written: database is locked")
    await store.close()


@pytest.mark.parametrize("required", [True, False])
async def test_missing_worker_process_is_reported(required: bool) -> None:
    store, clock = await new_store(), HeldClock()
    check = partial(workers_check, store, clock, required=required)
    cause = "no process carries requests out: no heartbeat for 50 s"
    dead = Finding("workers", False, cause, required=required)
    assert await only(check) == dead
    await store.write(lambda tx: Heartbeats(tx).record_beat("one", clock()))
    await store.try_writing("door", clock())
    assert await only(check) == Finding("workers", True, "1 alive", required=required)
    clock.pass_seconds(51)
    assert await only(check) == dead
    await store.close()


class FakeSlack:
    """Slack with an error on request, and a count of the calls."""

    def __init__(self, error: SlackError | None = None) -> None:
        self.error = error
        self.calls = 0

    async def __call__(self) -> None:
        self.calls += 1
        if self.error is not None:
            raise self.error


async def test_token_is_checked_twice_a_minute() -> None:
    slack, now = FakeSlack(), [0.0]
    check = SlackCheck(slack, required=True, clock=lambda: now[0])
    for now[0] in (0.0, 2.0, 29.0, 31.0):
        assert (await only(check)).ok
    assert slack.calls == 2
    slack.error = to_refusal("token_revoked")
    now[0] = 62.0
    assert (await only(check)).seen == "the token was revoked (token_revoked)"
    slack.error = None
    now[0] = 68.0
    assert (await only(check)).ok, "a failed check is soon repeated"


@pytest.mark.parametrize(
    ("error", "needed", "ok", "cause", "required"),
    [
        (SlackUnreachable("Cannot connect"), True, False, "Cannot connect", True),
        (SlackUnreachable("Cannot connect"), False, False, "Cannot connect", False),
        (
            to_refusal("invalid_auth"),
            False,
            False,
            "Slack does not know the token (invalid_auth)",
            True,
        ),
        (SlackThrottled(5.0, None), True, True, "asks to wait, so it knows the token", True),
    ],
)
async def test_answer_of_slack_decides(
    error: SlackError, needed: bool, ok: bool, cause: str, required: bool
) -> None:
    finding = await only(SlackCheck(FakeSlack(error), required=needed))
    assert (finding.ok, finding.seen, finding.required) == (ok, cause, required)


async def test_refused_signatures_count_until_one_is_accepted() -> None:
    metrics, now = Metrics(), [0.0]
    check = SignatureCheck(metrics.count, clock=lambda: now[0])
    for accepted in (True, False, False, False, False, True, False, False, False, False):
        check.record(Signature.ACCEPTED if accepted else Signature.WRONG)
    assert (await only(check)).ok, "one was accepted among them"
    check.record(Signature.WRONG)
    assert "SLACK_SIGNING_SECRET" in (await only(check)).seen
    assert b'docs_bot_signatures_total{outcome="refused"} 9.0' in metrics.page()[0]
    now[0] = 301.0
    assert (await only(check)).ok, "nothing was refused lately"
    for _ in range(5):
        check.record(Signature.WRONG)
    assert not (await only(check)).ok
    check.record(Signature.ACCEPTED)
    assert (await only(check)).ok, "the secret is right"
    fresh = SignatureCheck(Metrics().count, clock=lambda: 0.0)
    for _ in range(6):
        fresh.record(Signature.WRONG)
    finding = await only(fresh)
    assert (finding.ok, finding.required) == (False, False), (
        "strangers may have forged all requests"
    )


async def test_clock_that_is_off_is_named() -> None:
    metrics = Metrics()
    check = SignatureCheck(metrics.count, clock=lambda: 0.0)
    for _ in range(5):
        check.record(Signature.AT_ANOTHER_TIME)
    finding = await only(check)
    assert not finding.ok
    assert "this machine's clock differs from Slack's" in finding.seen
    assert "NTP" in finding.advice
    assert b'docs_bot_signatures_total{outcome="refused"} 5.0' in metrics.page()[0]


async def test_hanging_database_is_reported_in_time(postgres: PostgresServer) -> None:
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
            findings = await run_checks(parts, limit_seconds=0.02)
            causes = {finding.name: finding.seen for finding in findings}
            assert causes == dict.fromkeys(parts, "no answer within 0.02 s")
    database, *_ = await run_checks(parts, HANG_SECONDS)
    assert (database.name, database.ok) == ("database", True), "it recovers by itself"
    await store.close()

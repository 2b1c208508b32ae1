"""The checks of readiness, and the cause of each failure."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, select, text

from bot.health.checks import (
    Checks,
    Finding,
    SignatureCheck,
    SlackCheck,
    database_check,
    free_bytes,
    run_checks,
)
from bot.ports import SlackError, SlackThrottled, SlackUnreachable
from bot.slack.client import to_refusal
from bot.slack.http import Signature
from bot.store import Store
from bot.store.upgrade import INSTALLATION, upgrade_tables
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


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = Store.open(f"sqlite:///{tmp_path}/bot.db")
    await upgrade_tables(store.database)
    yield store
    await store.close()


async def test_writable_database_passes_and_has_the_time(store: Store) -> None:
    clock = HeldClock()
    for _ in range(3):
        clock.pass_seconds(1)
        assert await only(partial(database_check, store, clock)) == Finding(
            "database", True, "can be written"
        )
    [row] = await rows_of(store, select(INSTALLATION))
    assert row["checked_at"] == clock()


async def test_full_disk_is_named_and_recovers(store: Store) -> None:
    assert (free_bytes(store) or 0) > 0
    written_bytes = os.path.getsize(f"{store.database.file}-wal")  # noqa: ASYNC240
    most, hardest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (written_bytes, hardest))
    try:
        finding = await only(partial(database_check, store, utc_now))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hardest))
    assert (finding.ok, finding.seen) == (False, "cannot be written: disk I/O error")
    assert "disk" in finding.advice
    assert (await only(partial(database_check, store, utc_now))).ok


async def test_database_in_memory_has_no_room_to_watch() -> None:
    store = await new_store()
    assert free_bytes(store) is None
    await store.close()


async def test_locked_database_fails_with_cause(store: Store) -> None:
    await execute(store, text("PRAGMA busy_timeout = 1"))
    assert store.database.file is not None
    with closing(sqlite3.connect(store.database.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        finding = await only(partial(database_check, store, utc_now))
    assert (finding.ok, finding.seen) == (False, "cannot be written: database is locked")


class FakeSlack:
    """Slack with an error on request, and a count of the calls."""

    def __init__(self, error: SlackError | TimeoutError | None = None) -> None:
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
        (TimeoutError(), True, False, "Slack gives no answer in time", True),
        (SlackThrottled(5.0, None), True, True, "asks to wait, so it knows the token", True),
    ],
)
async def test_answer_of_slack_decides(
    error: SlackError | TimeoutError, needed: bool, ok: bool, cause: str, required: bool
) -> None:
    finding = await only(SlackCheck(FakeSlack(error), required=needed))
    assert (finding.ok, finding.seen, finding.required) == (ok, cause, required)


async def test_refused_signatures_count_until_one_is_accepted() -> None:
    now = [0.0]
    check = SignatureCheck(lambda: now[0])
    for accepted in (True, False, False, False, False, True, False, False, False, False):
        check.record(Signature.ACCEPTED if accepted else Signature.WRONG)
    assert (await only(check)).ok, "one was accepted among them"
    check.record(Signature.WRONG)
    assert "SLACK_SIGNING_SECRET" in (await only(check)).seen
    now[0] = 301.0
    assert (await only(check)).ok, "nothing was refused lately"
    for _ in range(5):
        check.record(Signature.WRONG)
    assert not (await only(check)).ok
    check.record(Signature.ACCEPTED)
    assert (await only(check)).ok, "the secret is right"
    fresh = SignatureCheck(lambda: 0.0)
    for _ in range(6):
        fresh.record(Signature.WRONG)
    finding = await only(fresh)
    assert (finding.ok, finding.required) == (False, False), (
        "strangers may have forged all requests"
    )


async def test_clock_that_is_off_is_named() -> None:
    check = SignatureCheck(lambda: 0.0)
    for _ in range(5):
        check.record(Signature.AT_ANOTHER_TIME)
    finding = await only(check)
    assert not finding.ok
    assert "this machine's clock differs from Slack's" in finding.seen
    assert "NTP" in finding.advice


async def test_hanging_database_is_reported_in_time(postgres: PostgresServer) -> None:
    store = Store.open(url := postgres.new_database(), connections=1)
    await upgrade_tables(store.database)
    checks: Checks = {"database": partial(database_check, store, utc_now)}
    with create_engine(url, poolclass=NullPool).begin() as another:
        another.execute(text("LOCK TABLE installation IN ACCESS EXCLUSIVE MODE"))
        # More often than the process has connections.
        for _ in range(8):
            [finding] = await run_checks(checks, limit_seconds=0.02)
            assert (finding.ok, finding.seen) == (False, "no answer within 0.02 s")
    [finding] = await run_checks(checks, HANG_SECONDS)
    assert finding.ok, "it recovers by itself"
    await store.close()

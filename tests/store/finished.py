"""Fill a database with finished jobs: ``python -m tests.store.finished FILE COUNT``."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta

from sqlalchemy import text
from sqlalchemy.engine import Connection

from bot.store.database import Database
from bot.store.upgrade import upgrade_tables
from tests.builders import PROJECT

SPAN = timedelta(days=170)
"""The period over which the jobs are spread evenly; shorter than the retention period."""
_NUMBERS = "WITH RECURSIVE numbers(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM numbers WHERE i < :count) "
_TIMES = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', :since, (i * :apart + {seconds}) || ' seconds') || '000'",
    "postgresql": "CAST(:since AS timestamptz) + (i * :apart + {seconds}) * interval '1 second'",
}
# One job of a hundred has no review yet.
_JOBS = """
INSERT INTO jobs (number, project, channel, requester, text, asked_at, state, status_ts, service_id,
    iteration, result_number, iteration_requester, iteration_started_at, has_been_active,
    pr_link, ended_at, review)
SELECT i, :project, 'C' || (i % 200), 'U' || (i % :people), 'Explain the setting ' || i, {asked},
    'pull_request', i || '.000100', 'service-' || i, 1, 1, 'U' || (i % :people), {asked}, true,
    'https://github.com/acme/docs/pull/' || i, {ended}, CASE WHEN i % 100 > 0 THEN 'merged' END
FROM numbers
"""
_PROMPTS = """
INSERT INTO prompts (id, key, job, project, kind, state, asked_by, raw, text, asked_at, channel, message_ts,
    due_at, sent_at)
SELECT i, 'message:C' || (i % 200) || ':' || i || '.000100', i, :project, 'start', 'sent',
    'U' || (i % :people), 'Explain the setting ' || i, '', {asked}, 'C' || (i % 200), i || '.000100',
    {asked}, {asked}
FROM numbers
"""
_PULL_REQUESTS = """
INSERT INTO pull_requests (job, requester, link, iteration, iteration_ended_at, reported_at)
SELECT i, 'U' || (i % :people), 'https://github.com/acme/docs/pull/' || i, 1, {ended}, {ended} FROM numbers
"""
_DELIVERIES = r"""
INSERT INTO deliveries (id, key, kind, state, job, channel, "user", message_ts, created_at, due_at, posted_ts,
    settled_at)
SELECT '{kind}-' || i, 'job:' || i || '\:{kind}', '{kind}', 'sent', i, 'C' || (i % 200), 'U' || (i % :people),
    NULL, {ended}, {ended}, i || '.000200', {ended}
FROM numbers
"""
_AUDIT = """
INSERT INTO audit (acted_at, "user", act, project, channel, job, prompt, outcome)
SELECT {asked}, 'U' || (i % :people), 'asked', :project, 'C' || (i % 200), i, i, 'pull_request' FROM numbers
"""
_STATEMENTS = (
    *(_JOBS, _PROMPTS, _PULL_REQUESTS, _AUDIT),
    *(_DELIVERIES.replace("{kind}", kind) for kind in ("status", "reply")),
)


def add_finished(
    connection: Connection, count: int, until: datetime, *, people: int = 1_000
) -> None:
    """Add finished jobs in 200 channels with their prompts, pull requests, deliveries and audit rows."""
    dialect = connection.dialect.name
    times = {
        name: _TIMES[dialect].format(seconds=at) for name, at in (("asked", 0), ("ended", 600))
    }
    apart = SPAN.total_seconds() / count
    if dialect == "postgresql":
        # Checks of foreign keys would take most of the time.
        connection.execute(text("SET LOCAL session_replication_role = replica"))
    since = f"{until - SPAN:%Y-%m-%d %H:%M:%S}"
    for statement in _STATEMENTS:
        filled = text(f"{_NUMBERS}{statement.format(**times)}")
        values = {
            "count": count,
            "since": since,
            "apart": apart,
            "project": PROJECT,
            "people": people,
        }
        connection.execute(filled, values)
    if dialect == "postgresql":
        for name, key in (("jobs", "number"), ("prompts", "id")):
            last = f"SELECT setval(pg_get_serial_sequence('{name}', '{key}'), {count})"
            connection.execute(text(last))


async def _fill(file: str, count: int) -> None:
    database = Database.open(f"sqlite:///{file}")
    await upgrade_tables(database)
    await database.write(lambda connection: add_finished(connection, count, datetime.now(UTC)))
    await database.close()


if __name__ == "__main__":
    asyncio.run(_fill(sys.argv[1], int(sys.argv[2])))

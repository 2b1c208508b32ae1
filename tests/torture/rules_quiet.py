"""Rules about logs and final states: no secrets or prompts, no unexplained errors, no open work."""

from __future__ import annotations

import json
import re

from tests.torture.checks import Checks
from tests.torture.record_index import RecordIndex

_ADDRESS = re.compile(r"/response/\w+|xox[abp]-\w|v0=[0-9a-f]{16}")
_TRACEBACK = ("Traceback (most recent call last)", "Error:", "Exception")
_LEFT_BEHIND = ("never retrieved", "never awaited", "Unclosed", "was destroyed but it is pending")
_OUTSIDE = ("aiohttp.client_exceptions", "slack_sdk.errors.SlackApiError")
"""Exceptions that Slack's library logs when its connection breaks or a new one is refused."""
_DATABASE = (
    "sqlalchemy",
    "sqlite3",
    "psycopg",
    "OperationalError",
    "DatabaseError",
    "InterfaceError",
)


def quiet(index: RecordIndex, checks: Checks) -> None:
    """Check the log, the visible texts and the final states of all rows."""
    record = index.record
    for complaint in record.complaints:
        checks.insist(False, complaint)
    checks.insist(not record.moving, f"still open when the time was up: {record.moving[:5]}")
    for line in record.log.splitlines():
        _line(index, checks, line)
    messages = [
        message for message in (*record.messages, *record.private) if message.get("bot_id", True)
    ]
    for text in (*(message["text"] for message in messages), *record.notices):
        bad = [sign for sign in _TRACEBACK if sign in text]
        checks.insist(not bad, f"people see an error of the program: {text[:120]!r}")
    vanished = [call["error"] for call in record.slack if call.get("kind") == "acknowledgement"]
    checks.insist(not vanished, f"acknowledgements that nobody saw: {vanished[:3]}")
    for table in ("questions", "digests"):
        for row in record.of(table):
            checks.insist(
                row["state"] != "waiting", f"{table} {row['id']}: still waiting at the end"
            )
    for job in record.of("jobs"):
        checks.insist(
            job["poll_at"] is None, f"#{job['number']}: {job['state']}, still to be looked at"
        )


def _line(index: RecordIndex, checks: Checks, line: str) -> None:
    leaked = [secret for secret in index.record.secrets if secret in line]
    checks.insist(not leaked and not _ADDRESS.search(line), f"a secret in the log: {line[:160]}")
    has_prompt = any(done.act.marker in line for done in index.record.done)
    checks.insist(not has_prompt, f"a prompt in the log: {line[:200]}")
    checks.insist(not any(sign in line for sign in _LEFT_BEHIND), f"left behind: {line[:300]}")
    if "Traceback" in line:
        database = any(name in line for name in _DATABASE) and index.has_database_trouble()
        # A busy machine may exceed a request's time limit.
        expected = any(name in line for name in (*_OUTSIDE, "bot.store.deadline."))
        checks.insist(expected or database, f"an error that nobody ordered: {_failure(line)}")


def _failure(line: str) -> str:
    """Return the event of a log line and the last two lines of its traceback."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line[:300]
    trace = str(entry.get("exception") or "").strip().splitlines()
    return f"{entry.get('event')} {entry.get('worker', '')}: {' '.join(trace[-2:])[:400]}"

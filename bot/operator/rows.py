"""``docs-bot jobs``, ``audit`` and ``forget``: the operator's access to rows."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import partial
from typing import TextIO, Unpack

from bot.ids import JobNumber, UserId
from bot.jobs.messages.problems import title
from bot.jobs.model.jobs import JobFilter, QueueWhy, TrackedJob, Wait
from bot.jobs.model.prompts import AuditRow
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.waits import Waits
from bot.logs import terminal_safe
from bot.messages.plain_text import csv_line, one_line
from bot.outbox.model import DeadLetter
from bot.outbox.store import Outbox
from bot.store import Store, Transaction
from bot.store.retention import RowCounts, forget_person

_LENGTH = 300
_MOST_ACTS = 100


async def list_jobs(store: Store, limit: int, **only: Unpack[JobFilter]) -> str:
    """Return the newest jobs, one a line, and the dead letters below them.

    Dead letters are left out where jobs are picked by something else than their channel.
    """

    def query(tx: Transaction) -> list[str]:
        lines = [_line(job) for job in Jobs(tx).newest(limit, **only)] or ["No jobs."]
        if any(value for name, value in only.items() if name != "channel"):
            return lines
        return lines + _dead(Outbox(tx).dead_letters(limit, channel=only.get("channel")))

    return "\n".join(await store.read(query))


async def show_job(store: Store, number: JobNumber, now: datetime) -> str:
    """Return one job, its pending work, and its audit. Raises ValueError if there is none."""

    def query(tx: Transaction) -> list[str]:
        job = Jobs(tx).get(number)
        if job is None:
            raise ValueError(f"there is no job {number}")
        _, acts = Audit(tx).after(0, _MOST_ACTS, job=number)
        letters = Outbox(tx).dead_letters(_MOST_ACTS, job=number)
        waiting = [f"  {format_wait(wait)}" for wait in Waits(tx).of_job(number, now)]
        ended = _at(job.ended_at) if job.ended_at else None
        facts = {
            "project": job.project,
            "repository": job.repository,
            "branch": job.ref,
            "ended": ended,
        }
        details = [
            f"  {name}: {one_line(value, _LENGTH)}" for name, value in facts.items() if value
        ]
        return [_line(job), *waiting, *details, *map(_act, acts), *_dead(letters)]

    return "\n".join(await store.read(query))


async def retry_letter(store: Store, letter: int, now: datetime) -> str:
    """Retry a dead letter; return the next steps. Raises ValueError if it cannot be retried."""
    if not await store.write(lambda tx: Outbox(tx).retry_dead_letter(letter, now)):
        raise ValueError(f"there is no letter {letter} that can be tried again")
    return f"Letter {letter} is tried again: the bot looks for it in Slack, and posts it if it is missing."


def _line(job: TrackedJob) -> str:
    parts = (
        f"#{job.number}",
        job.state,
        _at(job.asked_at),
        job.channel,
        job.requester,
        one_line(job.service_id or "-", _LENGTH),
    )
    # one_line removes control characters, which could change the terminal's state.
    result = job.pr_link or (title(job.problem) if job.problem else "")
    return "  ".join([*parts, one_line(result, _LENGTH)]).rstrip()


def _act(row: AuditRow) -> str:
    return "  ".join(["", _at(row.at), row.act, row.user or "-", row.end or ""]).rstrip()


def _dead(letters: Sequence[DeadLetter]) -> list[str]:
    return ["", "Could not be said:", *map(_letter, letters)] if letters else []


def _letter(letter: DeadLetter) -> str:
    where = f"#{letter.job}" if letter.job else letter.channel
    line = f"  {letter.number}  {where}  {letter.kind}: {one_line(letter.reason, _LENGTH)}"
    return f"{line} (--retry {letter.number})" if letter.can_go else line


def _at(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC"


_REASONS = {
    QueueWhy.LIMIT: " for the hourly limit",
    QueueWhy.SERVICE: " for the docs service, which fails",
    QueueWhy.KEY: " for a key that the docs service accepts",
    QueueWhy.PERSON: " for a person: Send again or Dismiss",
    None: "",
}


def format_wait(wait: Wait) -> str:
    """Return pending work as a text, with its reason and times."""
    until = f" until {wait.until:%Y-%m-%d %H:%M:%S} UTC" if wait.until else ""
    return (
        f"{wait.what} waits{_REASONS[wait.why]}{until} (since {wait.since:%Y-%m-%d %H:%M:%S} UTC)"
    )


_USER = re.compile(r"[UW][A-Z0-9]{2,38}")


async def forget_user(store: Store, user: str) -> str:
    """Forget a person; return the numbers of rows forgotten and of those under way.

    Raises ValueError, with a text for people, if this is no user id.
    """
    if not _USER.fullmatch(user):
        raise ValueError("this is no id of a Slack user: it begins with U or W, such as U012AB3CD")
    forgotten, others = await forget_person(store, UserId(user))
    report = (
        f"Forgotten of {user}: {format_counts(forgotten)}."
        if forgotten
        else f"Nothing of {user} was kept."
    )
    if not others:
        return report
    kept = f"Under way and therefore kept: {format_counts(others)}."
    return f"{report}\n{kept} Run this again when that is over."


def format_counts(counts: RowCounts) -> str:
    """Return the numbers of forgotten rows by kind, as a text."""
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)


COLUMNS = tuple(field.name for field in fields(AuditRow))
"""The names of the columns."""
_BATCH_SIZE = 1_000


async def write_audit(
    store: Store, stdout: TextIO, *, since: datetime | None, user: UserId | None
) -> None:
    """Write the audit as CSV, oldest row first.

    Args:
        since: only rows of this time or later.
        user: only rows of this person.
    """
    safe = terminal_safe if stdout.isatty() else str
    stdout.write(csv_line(COLUMNS))
    async for row in _rows(store, since, user):
        line = csv_line(_cells(row))
        stdout.write(f"{safe(line.rstrip())}\r\n")


async def _rows(
    store: Store, since: datetime | None, user: UserId | None
) -> AsyncIterator[AuditRow]:
    last, is_more = 0, True

    def page(tx: Transaction, after: int) -> tuple[int, list[AuditRow]]:
        return Audit(tx).after(after, _BATCH_SIZE, since=since, user=user)

    while is_more:
        last, rows = await store.read(partial(page, after=last))
        for row in rows:
            yield row
        is_more = len(rows) == _BATCH_SIZE


def _cells(row: AuditRow) -> list[str | int]:
    cells = asdict(row) | {"at": row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    return ["" if cell is None else cell for cell in cells.values()]

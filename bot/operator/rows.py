"""``docs-bot jobs``, ``audit``, ``export`` and ``forget``: the operator's access to rows."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import partial
from typing import TextIO, Unpack

from bot.ids import JobNumber, UserId
from bot.inbox.withdraw import forget_open_requests
from bot.jobs.messages.problems import problem_title
from bot.jobs.model.jobs import JobFilter, TrackedJob, Wait, WaitReason
from bot.jobs.model.prompts import AuditRow
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.waits import Waits
from bot.jobs.thread import update_status_messages
from bot.logs import terminal_safe
from bot.messages.plain_text import csv_line, one_line
from bot.outbox.model import DeadLetter
from bot.outbox.store import Outbox
from bot.store import Store, Transaction
from bot.store.personal_data import PersonalRow, read_personal_data
from bot.store.retention import RowCounts, count_quotations, forget_person

_MAX_LENGTH = 300
"""Of a text from outside in a line."""
_MAX_ACTS = 100
_BATCH_SIZE = 1_000
_USER_PATTERN = re.compile(r"[UW][A-Z0-9]{2,38}")
AUDIT_COLUMNS = tuple(field.name for field in fields(AuditRow))
_REASONS = {
    WaitReason.HELD: " for further words of its author",
    WaitReason.LIMIT: " for the hourly limit",
    WaitReason.SERVICE: " for the docs service, which fails",
    WaitReason.KEY: " for a key that the docs service accepts",
    WaitReason.SWITCHED_OFF: " for an admin to switch sending on",
    WaitReason.PERSON: " for a person: Send again or Dismiss",
    None: "",
}


# ---- jobs and dead letters


async def list_jobs(store: Store, limit: int, **only: Unpack[JobFilter]) -> str:
    """Return the newest jobs, one a line, and the dead letters below them.

    Dead letters are left out where jobs are picked by anything but their channel.
    """

    def query(tx: Transaction) -> list[str]:
        lines = [_format_job(job) for job in Jobs(tx).newest(limit, **only)]
        if not lines:
            lines = ["No jobs."]
        if any(value for name, value in only.items() if name != "channel"):
            return lines
        letters = Outbox(tx).dead_letters(limit, channel=only.get("channel"))
        return [*lines, *_format_letters(letters)]

    return "\n".join(await store.read(query))


async def show_job(store: Store, number: JobNumber, now: datetime) -> str:
    """Return one job, its pending work, and its audit. Raises ValueError if there is none."""

    def query(tx: Transaction) -> list[str]:
        job = Jobs(tx).get(number)
        if job is None:
            raise ValueError(f"there is no job {number}")
        _, acts = Audit(tx).after(0, _MAX_ACTS, job=number)
        letters = Outbox(tx).dead_letters(_MAX_ACTS, job=number)
        return [
            _format_job(job),
            *(f"  {format_wait(wait)}" for wait in Waits(tx).of_job(number, now)),
            *_format_details(job),
            *(_format_act(row) for row in acts),
            *_format_letters(letters),
        ]

    return "\n".join(await store.read(query))


async def retry_letter(store: Store, letter: int, now: datetime) -> str:
    """Retry a dead letter; return the next steps. Raises ValueError if it cannot be retried."""
    if not await store.write(lambda tx: Outbox(tx).retry_dead_letter(letter, now)):
        raise ValueError(f"there is no letter {letter} that can be tried again")
    return (
        f"Letter {letter} is tried again: "
        "the bot looks for it in Slack, and posts it if it is missing."
    )


def format_wait(wait: Wait) -> str:
    """Return pending work as a text, with its reason and times."""
    reason = _REASONS[wait.reason]
    until = f" until {wait.until:%Y-%m-%d %H:%M:%S} UTC" if wait.until else ""
    return f"{wait.kind} waits{reason}{until} (since {wait.since:%Y-%m-%d %H:%M:%S} UTC)"


def _format_job(job: TrackedJob) -> str:
    result = job.pr_link or ""
    if not result and job.problem:
        result = problem_title(job.problem)
    parts = (
        f"#{job.number}",
        job.state,
        _format_time(job.asked_at),
        job.channel,
        job.requester,
        # one_line removes control characters, which could change the terminal's state.
        one_line(job.service_id or "-", _MAX_LENGTH),
        one_line(result, _MAX_LENGTH),
    )
    return "  ".join(parts).rstrip()


def _format_details(job: TrackedJob) -> list[str]:
    details = {
        "project": job.project,
        "repository": job.repository,
        "branch": job.ref,
        "ended": _format_time(job.ended_at) if job.ended_at else None,
    }
    return [f"  {name}: {one_line(text, _MAX_LENGTH)}" for name, text in details.items() if text]


def _format_act(row: AuditRow) -> str:
    parts = ("", _format_time(row.acted_at), row.act, row.user or "-", row.outcome or "")
    return "  ".join(parts).rstrip()


def _format_letters(letters: Sequence[DeadLetter]) -> list[str]:
    if not letters:
        return []
    return ["", "Could not be said:", *(_format_letter(letter) for letter in letters)]


def _format_letter(letter: DeadLetter) -> str:
    place = f"#{letter.job}" if letter.job else letter.channel
    reason = one_line(letter.reason, _MAX_LENGTH)
    line = f"  {letter.number}  {place}  {letter.kind}: {reason}"
    return f"{line} (--retry {letter.number})" if letter.can_go else line


def _format_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


# ---- people


async def forget_user(store: Store, user: str) -> str:
    """Forget a person; return the numbers of rows: forgotten, under way, and not searched.

    Raises ValueError, with a text for people, if this is no user id.
    """
    person = _check_user_id(user)
    now = datetime.now(UTC)
    store.before_commit = partial(update_status_messages, lambda: now)
    await store.write(lambda tx: forget_open_requests(tx, person, now))
    forgotten, under_way = await forget_person(store, person)
    if forgotten:
        report = f"Forgotten of {user}: {_format_counts(forgotten)}."
    else:
        report = f"Nothing of {user} was kept."
    if under_way:
        report += f"\nUnder way and therefore kept: {_format_counts(under_way)}."
        report += " Run this again when that is over."
    quotations = await count_quotations(store, person)
    if quotations:
        report += f"\nNot searched, of others: {_format_counts(quotations)}, which may quote {user}"
        report += " (earlier messages of a thread, under names and not ids)."
        report += " They go KEEP_DAYS after their jobs, or when the person who asked is forgotten."
    return report


def _format_counts(counts: RowCounts) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)


async def export_user(store: Store, user: str, stdout: TextIO) -> None:
    """Write a person's data as JSON: the data that `forget_user` would take, and open work.

    Raises ValueError, with a text for people, if this is no user id.
    """
    person = _check_user_id(user)
    exported_at = json.dumps(_format_timestamp(datetime.now(UTC)))
    stdout.write(f'{{"user": {json.dumps(person)}, "exported_at": {exported_at}, "rows": [')
    separator = "\n"
    async for row in read_personal_data(store, person):
        # ASCII only, so that no character steers a terminal.
        stdout.write(f"{separator}{json.dumps(_to_document(row), default=str)}")
        separator = ",\n"
    stdout.write("\n]}\n")


def _to_document(row: PersonalRow) -> dict[str, object]:
    return {
        "kind": row.kind,
        "key": row.key,
        "ended_at": _format_timestamp(row.at) if row.at else None,
        "under_way": row.is_under_way,
        "values": row.values,
    }


def _check_user_id(user: str) -> UserId:
    if not _USER_PATTERN.fullmatch(user):
        raise ValueError("this is no id of a Slack user: it begins with U or W, such as U012AB3CD")
    return UserId(user)


def _format_timestamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# ---- the audit


async def write_audit(
    store: Store, stdout: TextIO, *, since: datetime | None, user: UserId | None
) -> None:
    """Write the audit as CSV, oldest row first.

    Args:
        store: the store.
        stdout: gets the lines.
        since: only rows of this time or later; None for all.
        user: only rows of this person; None for everybody's.
    """
    safe = terminal_safe if stdout.isatty() else str
    stdout.write(csv_line(AUDIT_COLUMNS))
    async for row in _read_audit(store, since, user):
        line = csv_line(_to_cells(row))
        stdout.write(f"{safe(line.rstrip())}\r\n")


async def _read_audit(
    store: Store, since: datetime | None, user: UserId | None
) -> AsyncIterator[AuditRow]:
    """Yield the rows, read in batches."""

    def read_batch(tx: Transaction, after: int) -> tuple[int, list[AuditRow]]:
        return Audit(tx).after(after, _BATCH_SIZE, since=since, user=user)

    last = 0
    is_full = True
    while is_full:
        last, rows = await store.read(partial(read_batch, after=last))
        for row in rows:
            yield row
        is_full = len(rows) == _BATCH_SIZE


def _to_cells(row: AuditRow) -> list[str | int]:
    cells = asdict(row) | {"acted_at": _format_timestamp(row.acted_at)}
    return ["" if cell is None else cell for cell in cells.values()]

"""``docs-bot jobs``: shows jobs and dead letters without their words, retries a letter, forgets a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

from bot.cli import waits
from bot.cli.forget import counted
from bot.messages.plain_text import one_line
from bot.messages.problems import title
from bot.model import lifecycle
from bot.model.audit import AuditRow
from bot.model.ids import JobNumber
from bot.model.jobs import JobFilter, TrackedJob
from bot.model.outbox import DeadLetter
from bot.store import Store, Transaction

_LENGTH = 300
_MOST_ACTS = 100


async def listed(store: Store, limit: int, **only: Unpack[JobFilter]) -> str:
    """Return the newest jobs, one a line, and the dead letters below them.

    Dead letters are left out where jobs are picked by something else than their channel.
    """

    def look(tx: Transaction) -> list[str]:
        lines = [_line(job) for job in tx.jobs.newest(limit, **only)] or ["No jobs."]
        if any(value for name, value in only.items() if name != "channel"):
            return lines
        return lines + _dead(tx.outbox.dead_letters(limit, channel=only.get("channel")))

    return "\n".join(await store.read(look))


async def shown(store: Store, number: JobNumber, now: datetime) -> str:
    """Return one job, what it waits for, and what people did to it. Raises ValueError if there is none."""

    def look(tx: Transaction) -> list[str]:
        job = tx.jobs.get(number)
        if job is None:
            raise ValueError(f"there is no job {number}")
        _, acts = tx.audit.after(0, _MOST_ACTS, job=number)
        letters = tx.outbox.dead_letters(_MOST_ACTS, job=number)
        waiting = [f"  {waits.words(each)}" for each in tx.waits.of_job(number, now)]
        return [_line(job), *waiting, *_details(job), *map(_act, acts), *_dead(letters)]

    return "\n".join(await store.read(look))


async def retried(store: Store, letter: int, now: datetime) -> str:
    """Try a dead letter again; return what happens next. Raises ValueError if none can be."""
    step = lifecycle.delivery_retried(now)
    if not await store.write(lambda tx: tx.outbox.retry_dead_letter(letter, step)):
        raise ValueError(f"there is no letter {letter} that can be tried again")
    return f"Letter {letter} is tried again: the bot looks for it in Slack, and posts it if it is missing."


async def forgotten(store: Store, number: JobNumber) -> str:
    """Forget a job's texts and people. Raises ValueError if there is none or it goes on."""
    if await store.read(lambda tx: tx.jobs.get(number)) is None:
        raise ValueError(f"there is no job {number}")
    counts = await store.forget(lambda tx: tx.retention.forget_job(number))
    if counts is None:
        raise ValueError(f"job {number} is under way; forget it when it is over")
    return f"Forgotten of job {number}: {counted(counts)}."


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
    told = job.pr_link or (title(job.problem) if job.problem else "")
    return "  ".join([*parts, one_line(told, _LENGTH)]).rstrip()


def _details(job: TrackedJob) -> list[str]:
    told = {
        "project": job.project,
        "repository": job.repository,
        "branch": job.ref,
        "ended": _at(job.ended_at) if job.ended_at else None,
    }
    return [f"  {name}: {one_line(value, _LENGTH)}" for name, value in told.items() if value]


def _act(row: AuditRow) -> str:
    return "  ".join(["", _at(row.at), row.act, row.user or "-", row.end or ""]).rstrip()


def _dead(letters: Sequence[DeadLetter]) -> list[str]:
    return ["", "Could not be said:", *map(_letter, letters)] if letters else []


def _letter(letter: DeadLetter) -> str:
    where = f"#{letter.job}" if letter.job else letter.channel
    told = f"  {letter.number}  {where}  {letter.kind}: {one_line(letter.reason, _LENGTH)}"
    return f"{told} (--retry {letter.number})" if letter.can_go else told


def _at(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC"

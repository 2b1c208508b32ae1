"""``docs-bot jobs``: lists jobs for an operator, without their prompts."""

from __future__ import annotations

from bot.messages.plain_text import one_line
from bot.messages.problems import title
from bot.model import JobState, TrackedJob
from bot.store import Store
from bot.store.migrate import current, newest

_LENGTH = 300


class NotReady(Exception):
    """The database has no schema yet, or that of an older version."""


async def listed(sqlalchemy_url: str, state: JobState | None, limit: int) -> str:
    """Return the newest jobs, one a line, and the dead letters below them.

    Raises NotReady when the schema is missing or outdated.
    """
    store = Store.open(sqlalchemy_url)
    try:
        await check_schema(store)
        jobs, dead = await store.read(lambda tx: (tx.jobs.newest(limit, state), tx.outbox.dead(limit)))
    finally:
        await store.close()
    lines = [_line(job) for job in jobs] or ["No jobs."]
    if dead:
        lines += ["", "Could not be said:"]
        lines += [f"  #{number or '-'}  {kind}: {reason}" for number, kind, reason in dead]
    return "\n".join(lines)


async def check_schema(store: Store) -> None:
    """Raise NotReady when the schema is missing or outdated."""
    if (await current(store.database) or "") < newest():
        raise NotReady(
            "The database is not at this version's schema yet. `docs-bot migrate` brings it there, "
            "and so does a start."
        )


def _line(job: TrackedJob) -> str:
    asked = job.asked_at.strftime("%Y-%m-%d %H:%M UTC")
    parts = (
        f"#{job.number}",
        job.state,
        asked,
        job.channel,
        job.requester,
        one_line(job.service_id or "-", _LENGTH),
    )
    # one_line removes control characters, which could change the terminal's state.
    told = job.pr_link or (title(job.problem) if job.problem else "")
    return "  ".join([*parts, one_line(told, _LENGTH)]).rstrip()

"""Find a job by its number, its service id or a link to its thread."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from bot.model.ids import ChannelId, JobNumber, MessageTs
from bot.model.jobs import ThreadRef, TrackedJob
from bot.store import Transaction
from bot.work.context import Context

_NUMBER = re.compile(r"#?([0-9]{1,9})")
# https://acme.slack.com/archives/C0123/p1700000000123456?thread_ts=1700000000.123456&cid=C0123
_ARCHIVES = re.compile(r"/archives/([A-Z0-9]+)/p([0-9]{10})([0-9]{6})/?")

_LINK_LENGTH = 300
"""Upper limit for a link to a message, in characters."""


def as_thread(named: str) -> ThreadRef | None:
    """Return the thread of a link to a Slack message; None if the text is no such link."""
    if len(named) > _LINK_LENGTH:  # urlsplit takes time as the square of the accents in a host
        return None
    try:
        parts = urlsplit(named)
    except ValueError:
        return None
    found = _ARCHIVES.fullmatch(parts.path)
    if parts.scheme not in ("http", "https") or not found:
        return None
    channel, seconds, fraction = found.groups()
    root = parse_qs(parts.query).get("thread_ts", [f"{seconds}.{fraction}"])[0]
    return ThreadRef(ChannelId(channel), MessageTs(root))


async def find_job(context: Context, named: str) -> TrackedJob | None:
    """Return the job that a text names (``42``, ``#42``, a service id, a link), or None."""
    return await context.store.read(lambda tx: _find_job(tx, named))


def _find_job(tx: Transaction, named: str) -> TrackedJob | None:
    if number := _NUMBER.fullmatch(named):
        return tx.jobs.get(JobNumber(int(number[1])))
    if thread := as_thread(named):
        return tx.jobs.in_thread(thread)
    return tx.jobs.with_service_id(named)


def looks_like_job(named: str) -> bool:
    """Return whether a word has the form of a number or link. A bare number counts, to waste no use."""
    return bool(_NUMBER.fullmatch(named)) or as_thread(named) is not None

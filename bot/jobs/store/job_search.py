"""The newest jobs of some channels, to be searched by their words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, func, select

from bot.ids import ChannelId, JobNumber, UserId
from bot.jobs.model.job_search import SearchedJob
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.jobs import DERIVED_COLUMNS, Jobs
from bot.jobs.store.tables import jobs
from bot.store.leases import read_rows
from bot.store.schema import Repository

_MAX_TEXT_CHARACTERS = 4_000
"""Characters of a prompt that are searched."""

_first = select(func.min(jobs.c.channel).label("channel")).cte("walk", recursive=True)
_next = select(func.min(jobs.c.channel)).where(jobs.c.channel > _first.c.channel)
_walk = _first.union_all(
    select(_next.correlate(_first).scalar_subquery()).where(_first.c.channel.is_not(None))
)
_newest = (
    select(func.max(jobs.c.number))
    .where(jobs.c.channel == _walk.c.channel)
    .correlate(_walk)
    .scalar_subquery()
)
# The query walks from channel to channel in the index: GROUP BY would read all jobs.
_CHANNELS = select(_walk.c.channel).where(_walk.c.channel.is_not(None)).order_by(_newest.desc())


class JobSearch(Repository):
    """The newest jobs of some channels, within one transaction."""

    def channels_with_jobs(self, limit: int) -> Sequence[ChannelId]:
        """Return the channels with jobs, the channel of the newest job first."""
        return self.connection.execute(_CHANNELS.limit(limit)).scalars().all()

    def newest(
        self, channels: Collection[ChannelId], reader: UserId, limit: int
    ) -> Sequence[JobNumber]:
        """Return the numbers of the newest jobs of some channels, or of the reader."""
        numbers = set[JobNumber]()
        for channel in channels:
            numbers.update(self._select_numbers(jobs.c.channel == channel, limit))
        numbers.update(self._select_numbers(jobs.c.requester == reader, limit))
        return sorted(numbers, reverse=True)[:limit]

    def _select_numbers(self, condition: ColumnElement[bool], limit: int) -> Sequence[JobNumber]:
        newest = select(jobs.c.number).where(condition).order_by(jobs.c.number.desc()).limit(limit)
        return self.connection.execute(newest).scalars().all()

    def texts(self, numbers: Collection[JobNumber]) -> Sequence[SearchedJob]:
        """Return the titles and prompts of jobs, the newest first, without forgotten ones."""
        prompt = func.substr(jobs.c.text, 1, _MAX_TEXT_CHARACTERS, type_=jobs.c.text.type)
        query = (
            select(jobs.c.number, prompt.label("prompt"), jobs.c.pull_request)
            .where(jobs.c.number.in_(numbers), jobs.c.requester != "")
            .order_by((jobs.c.number + 0).desc())
        )
        return [
            SearchedJob(number, prompt, _read_title(seen))
            for number, prompt, seen in self.connection.execute(query)
        ]

    def rows(self, numbers: Collection[JobNumber]) -> Sequence[TrackedJob]:
        """Return these jobs, the newest first, without forgotten ones."""
        query = (
            select(jobs, *DERIVED_COLUMNS)
            .where(jobs.c.number.in_(numbers), jobs.c.requester != "")
            .order_by((jobs.c.number + 0).desc())
        )
        return read_rows(jobs, self.connection.execute(query).mappings(), Jobs.read)


def _read_title(seen: object) -> str:
    """Return the title of a stored pull request; "" without one."""
    return str(seen.get("title") or "") if isinstance(seen, dict) else ""

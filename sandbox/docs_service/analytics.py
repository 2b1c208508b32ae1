"""Operations of the API on readers: visitors, views, searches, feedback, and questions to the assistant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date, datetime

from aiohttp import web

from sandbox.docs_service import visits, wants
from sandbox.docs_service.backend import Backend
from sandbox.docs_service.operations import Answering, Operation
from sandbox.docs_service.wants import Act
from sandbox.docs_service.wire import (
    AssistantAnswer,
    FeedbackAnswer,
    FeedbackByPageAnswer,
    PagesQuery,
    Period,
    RowsQuery,
    SearchesAnswer,
    Turn,
    TurnsQuery,
    Views,
    Visitors,
    VisitorsQuery,
)

OnProgress = Callable[[int, int], None]
_ANALYTICS = "/v1/analytics/{projectId}"


class Analytics:
    """The handlers of the operations on readers. `on_progress(done, total)` is called after each made day."""

    def __init__(self, backend: Backend, on_progress: OnProgress | None) -> None:
        self._backend = backend
        self._on_progress = on_progress
        options = backend.options
        # Another seed or size makes another site, so its visits get a file of their own.
        shape = f"{options.seed}-{options.pages}-{options.days}"
        self._visits = visits.Database(options.file(f"readers-{shape}.db"))
        self._visits_until: date | None = None
        self._lock = asyncio.Lock()
        self._counter = visits.VisitorCounter()
        self._wants = wants.Wants(options, backend.repository)
        self.close = self._visits.close

    def operations(self) -> list[Operation]:
        """Return the operations."""
        most = self._backend.options.analytics_calls_an_hour
        calls = f"The organisation's {most} calls of the last hour are used up."
        handlers: dict[str, tuple[str, Answering]] = {
            "visitors": ("visitors", self._visitors),
            "views": ("views", self._views),
            "searches": ("searches", self._searches),
            "feedback_by_page": ("feedback/by-page", self._feedback_by_page),
            "feedback": ("feedback", self._feedback),
            "assistant": ("assistant", self._assistant),
        }
        return [
            Operation(name, "GET", f"{_ANALYTICS}/{path}", handler, limit=calls)
            for name, (path, handler) in handlers.items()
        ]

    async def generate_visits(self) -> None:
        """Generate and store the missing visits up to today."""
        async with self._lock:
            today, options = self._backend.clock().date(), self._backend.options
            if self._visits_until is not None and today <= self._visits_until:
                return
            site = visits.Site(options.project, options.seed, options.pages)
            days = await self._visits.run(visits.missing_days, options.days, today)
            for number, day in enumerate(days, 1):
                await self._visits.run(visits.store, site, day)
                if self._on_progress is not None:
                    self._on_progress(number, len(days))
            self._visits_until = today

    async def _visitors(self, _request: web.Request, query: VisitorsQuery) -> Visitors:
        """Count visitors, for each page the most read first."""
        return await self._visits.run(self._counter.answer, query, await self._begin())

    async def _views(self, _request: web.Request, query: VisitorsQuery) -> Views:
        """Count views, for each page the most viewed first."""
        return await self._visits.run(visits.count_views, query, await self._begin())

    async def _searches(self, _request: web.Request, query: RowsQuery) -> SearchesAnswer:
        """List searches, the most frequent first."""
        return await asyncio.to_thread(wants.searches, await self._acts("searches", query), query)

    async def _feedback_by_page(
        self, _request: web.Request, query: PagesQuery
    ) -> FeedbackByPageAnswer:
        """List the feedback on each page."""
        return await asyncio.to_thread(
            wants.feedback_by_page, await self._acts("feedback", query), query
        )

    async def _feedback(self, _request: web.Request, query: RowsQuery) -> FeedbackAnswer:
        """List single feedback, the newest first."""
        acts, now = await self._acts("feedback", query), self._now()
        return await asyncio.to_thread(wants.feedback, acts, query, now)

    async def _assistant(self, _request: web.Request, query: TurnsQuery) -> AssistantAnswer:
        """List questions to the assistant, the newest first."""
        acts, end = await self._acts("assistant", query), query.until(self._now())
        turns = [turn for turn in self._backend.turns() if query.begin <= _time_of(turn) < end]
        return await asyncio.to_thread(wants.questions, acts, turns, query)

    async def _acts(self, kind: str, period: Period) -> list[Act]:
        now = await self._begin()
        site = await asyncio.to_thread(self._wants.site)
        return await self._visits.run(self._wants.acts, site, kind, period, now)

    async def _begin(self) -> float:
        """Count a call of the organisation, make the visits up to now, and return the time."""
        self._backend.limits.take("analytics", self._backend.options.analytics_calls_an_hour)
        await self.generate_visits()
        return self._now()

    def _now(self) -> float:
        return self._backend.clock().timestamp()


def _time_of(turn: Turn) -> float:
    return datetime.fromisoformat(turn["timestamp"]).timestamp()

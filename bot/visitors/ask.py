"""Questions about visitors: stored, with the windows that they need."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import Message, ProjectId, QuestionId, SubscriptionId
from bot.ports import Origin
from bot.store import Transaction
from bot.visitors.digests import gap_windows
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import gaps as gap_messages
from bot.visitors.model.gaps import SOURCES, ReportType, Source
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Query, Question, QuestionKind, QuestionState
from bot.visitors.reading import Window, find_reading
from bot.visitors.store import Questions, Readings


async def ask_visitors(
    context: Context, allowed: Allowed, query: Query, project: ProjectId | None = None
) -> Message | None:
    """Store a question, which a worker answers. Return an immediate reply, if there is one.
    ``project``: None for the channel's project.
    """

    def add(tx: Transaction) -> Message | None:
        project_id = project or context.project_of(tx, allowed.origin.channel).id
        kind = QuestionKind.VISITORS
        now = context.clock()
        windows = list_windows(context, tx, project_id, kind, query, now)
        if not windows:
            return gap_messages.not_offered(query)
        is_read = all(find_reading(context, tx, project_id, window).is_whole for window in windows)
        asked = ask_question(context, tx, allowed.origin, query, project_id, kind, now)
        return None if is_read else answer_messages.progress_note(asked)

    return await context.write(add)


def ask_question(
    context: Context,
    tx: Transaction,
    origin: Origin,
    query: Query,
    project: ProjectId,
    kind: QuestionKind,
    at: datetime,
    subscription: SubscriptionId | None = None,
) -> Query:
    """Store a question that is read for from now on, and answered from ``at`` on.

    Return its content.
    """
    now = context.clock()
    entry = context.projects.shown(project)
    if query.report_type is ReportType.VISITORS:
        query = replace(query, chart=_choose_chart(context, query, at))
    query = replace(query, label=entry.label if entry else None)
    question = Question(
        QuestionId(0),
        kind,
        project,
        origin.channel,
        query,
        asked_at=at,
        state=QuestionState.WAITING,
        user=origin.user,
        subscription=subscription,
        thread_ts=origin.thread,
        response_url=origin.response_url,
    )
    Questions(tx).add(question, origin.key, now)
    return query


def _choose_chart(context: Context, query: Query, at: datetime) -> tuple[Period, ...]:
    """Return the points of the chart that are over at a time.

    Another one would look like a fall.
    """
    zone = context.settings.analytics_zone
    if query.chart:
        return tuple(point for point in query.chart if point.is_over(at, zone))
    points = tuple(point for point in query.period.chart_points() if point.is_over(at, zone))
    # Only the whole site has totals at the service.
    if query.section or not 1 < len(points) < max_calls_of_question(context):
        return ()
    return points


def max_calls_of_question(context: Context) -> int:
    """Return how many calls one question may make."""
    return max(1, context.limits.analytics_calls_an_hour // 3)


def list_windows(
    context: Context,
    tx: Transaction,
    project: ProjectId,
    kind: QuestionKind,
    query: Query,
    at: datetime,
) -> list[Window]:
    """Return the windows of a question that is answered at a time, as far as they are offered.

    Without the first one there is no answer.
    """
    if query.report_type is ReportType.VISITORS:
        windows = _list_visitor_windows(context, query, at)
    else:
        windows = [Window(source, query.period) for source in SOURCES[query.report_type]]
    if kind is QuestionKind.DIGEST:
        windows += [Window(source, week) for week, source in gap_windows(query)]
    windows += _list_view_windows(query)
    now = context.clock()
    sources = {window.source for window in windows}
    missing = {source for source in sources if Readings(tx).is_not_offered(project, source, now)}
    return [window for window in dict.fromkeys(windows) if window.source not in missing]


def _list_visitor_windows(context: Context, query: Query, at: datetime) -> list[Window]:
    """Return the windows of visitors.

    The period, the proof that data is older, the chart, the comparison.
    """
    windows = [Window(Source.VISITORS, query.period, has_pages=True)]
    shown = [query.period]
    if query.compared is not None:
        shown.append(query.compared)
        windows.append(Window(Source.VISITORS, min(shown).lead_week()))
    windows += [Window(Source.VISITORS, point) for point in query.chart if point not in shown]
    if query.compared is not None:
        zone = context.settings.analytics_zone
        are_over = all(period.is_over(at, zone) for period in shown)
        # Pages are compared only where the totals are.
        is_comparable = are_over and query.compared.days == query.period.days
        windows.append(Window(Source.VISITORS, query.compared, is_comparable))
    return windows


def _list_view_windows(query: Query) -> list[Window]:
    """Return the window of views, from which the totals of a section are added up."""
    is_wanted = query.report_type is ReportType.VISITORS and query.section is not None
    return [Window(Source.VIEWS, query.period, has_pages=True)] if is_wanted else []

"""What ``docs-bot doctor --try`` posts: its own words, and messages of each kind with made-up data.

Jobs and questions have the number 0, which none has, so that their buttons touch nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from bot.messages import blocks as b
from bot.messages import digests, face, job_answers, jobs, previews, visitors
from bot.model.ids import ChannelId, JobNumber, Message, PageKey, ProjectId, QuestionId, SnapshotId, UserId
from bot.model.jobs import JobState, TrackedJob
from bot.model.questions import Comparison, Movements, Report, VisitorsQuery, WeeklyReport, WorkDone
from bot.model.visitors import Budget, Counts, PageCounts, Period, Snapshot, SnapshotState

NATIVE = {"data_visualization": "charts", "data_table": "tables"}
"""The blocks that some workspaces do not have."""
_AT = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
_WEEK = Period(date(2026, 10, 26), date(2026, 11, 2))
_NOBODY = UserId("USLACKBOT")
"""Whom the messages mention: nobody is notified."""
_PROJECT, _SITE, _BEFORE = ProjectId("docs"), Counts(1_200, 3_400, 4_500), Counts(1_000, 3_500, 4_300)


def hello() -> Message:
    """Return the post that says what happens here, in whose thread the rest is."""
    said = "Whoever runs this bot tries what it can do here (`docs-bot doctor --try`). "
    return b.words(f":warning: {said}What follows in this thread is made up, and I delete it at the end.")


def private() -> Message:
    """Return the message that one person sees."""
    return b.words("`docs-bot doctor --try` tries whether I can tell you something in private.")


def press_me() -> Message:
    """Return the question for a press of a button."""
    return b.with_buttons("Press this, please.", [b.button("Press me", face.Action.TRY, "try")])


def pressed() -> Message:
    """Return the answer to the press."""
    return b.words(":white_check_mark: I heard it.")


def edited() -> Message:
    """Return what the face of the samples becomes."""
    return face.redrawn(face.face(_job(JobState.NO_PULL_REQUEST, ended_at=_AT)), posted_plain=False)


def samples() -> Mapping[str, Message]:
    """Return a message of each kind that the bot posts. The face of a job is the first."""
    job, answer = _job(JobState.WORKING), _report()
    done = _job(
        JobState.PULL_REQUEST, pr_link="https://code.example/acme/docs/pull/7", pr_version=1, ended_at=_AT
    )
    curve = tuple((week, _SITE) for week in _WEEK.earlier(8))
    work = WorkDone(3, {JobState.PULL_REQUEST: 3}, timedelta(minutes=4))
    weekly = WeeklyReport(answer, curve, work, None, None)
    return {
        "a job's face": face.face(job),
        "a whole prompt": jobs.full_prompt(replace(job, text="Add a page.\nName the limits."))[0],
        "a job's end": jobs.ended(done, offers_preview=True),
        "a question with buttons": jobs.unconfirmed(job, 0, _NOBODY, follow_up=False),
        "a reminder": jobs.reminder(done, None, _AT),
        "a preview": previews.none_came(done),
        "a list of jobs": job_answers.job_list([(done, None)]),
        "an answer with a chart": visitors.report(answer, QuestionId(0)),
        "more, with a table": visitors.more(answer, QuestionId(0)),
        "a digest": digests.digest(weekly, QuestionId(0)),
    }


def _job(state: JobState, **values: Any) -> TrackedJob:
    made = TrackedJob(JobNumber(0), _PROJECT, ChannelId("C0"), _NOBODY, "Add a quickstart", _AT, state)
    return replace(made, iteration=1, version=1, iteration_started_at=_AT, **values)


def _report() -> Report:
    pages = tuple(
        PageCounts(PageKey(f"0:{at:032x}"), path, Counts(30, 70, 95), Counts(24, 50, 70))
        for at, path in enumerate(("/quickstart", "/api/users", "/limits"))
    )
    now, query = _snapshot(_WEEK), VisitorsQuery(_WEEK, _WEEK.before())
    return Report(
        query=query,
        now=now,
        was=_snapshot(_WEEK.before()),
        site=_SITE,
        before=_BEFORE,
        pages=812,
        top=pages,
        movements=Movements(risen=pages),
        chart=tuple((day, _SITE) for day in _WEEK.steps()),
        no_chart=None,
        budget=Budget(100, 12, None),
        zone="UTC",
        is_open=False,
        comparison=Comparison.FAIR,
        taken_at=_AT,
    )


def _snapshot(period: Period) -> Snapshot:
    """Return a window of 812 pages that was read whole, with 4 calls."""
    about = SnapshotId(0), _PROJECT, period, SnapshotState.DONE, _AT
    return Snapshot(*about, True, _SITE, rows=812, calls=4, complete=True, is_final=True, taken_at=_AT)

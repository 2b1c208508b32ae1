"""The weekly digest, and subscriptions to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.ids import Message, ProjectId, Refusal, Reviewer
from bot.jobs.model.jobs import JobState, Review, ToReview
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from bot.visitors import digest_messages as say
from bot.visitors.content_gaps import GapRows, Source, Topic
from bot.visitors.gap_messages import asked_about
from bot.visitors.model import NO_VISITORS, ReadingProblem, SnapshotState, SubscriptionState
from bot.visitors.recommendations import Recommendation
from tests.builders import BEN, CHANNEL, NOW, PROJECT
from tests.messages.samples import job
from tests.visitors.visitor_samples import (
    CHART,
    QUESTION,
    WEEK,
    WEEKS,
    page,
    question,
    report,
    snapshot,
    subscription,
    weekly,
)

RUN = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)
ACME = Project(PROJECT, "acme", "Acme <docs>")
ONE = Projects((ACME,))
BOTH = Projects((ACME, Project(ProjectId("p-2"), "beta", "beta")))
FOUND = (
    Recommendation(Topic.SEARCHES, "a1", "webhook <b>retries", 1_043, 2, 0),
    Recommendation(Topic.FEEDBACK, "b2", "/api/users", 7, 9, quote="Where is *paging*?"),
    Recommendation(Topic.FEEDBACK, "b3", "/limits", 1, 1),
    Recommendation(Topic.QUESTIONS, "c3", "How do I rotate keys?", 40, was=4),
)


def brief(**values: Any) -> Message:
    """Return a digest with a chart of two weeks."""
    return say.digest(weekly(**({"report": report(chart=CHART[-2:])} | values)), QUESTION)


def digests() -> Mapping[str, object]:
    """Return digests by their content."""
    merged = job(review=Review.MERGED, about=asked_about("a1", "webhook <b>retries"))
    running = job(JobState.WORKING, about=None)
    part = snapshot(source=Source.SEARCHES, gap_rows=GapRows(is_part=True))
    failed = snapshot(source=Source.VOTES, state=SnapshotState.REQUESTED, problem=ReadingProblem.UNWELL)
    absent = replace(failed, source=Source.QUESTIONS, problem=ReadingProblem.NOT_HERE)
    moved = (
        *(page(f"/{name}", (1, 400, 401), (20, 500, 510)) for name in "abc"),
        page("/new", (9, 60, 65), (0, 0, 0)),
    )
    return {
        "digest": say.digest(weekly(), QUESTION),
        "digest: asked for once": brief(subscription=None),
        "digest: one of several docs": brief(report=report(query={"label": "Acme <docs>"})),
        "digest: no week before": brief(report=report(was=None, not_compared="it couldn't be read")),
        "digest: no visits": brief(report=report(site=NO_VISITORS, pages=(), was=None)),
        "digest: movements": brief(report=report(pages=moved)),
        "digest: a chart of which weeks are missing": brief(
            report=report(query={"chart": tuple(WEEKS)}, chart=CHART[-2:])
        ),
        "digest: recommendations": brief(recommendations=FOUND),
        "digest: outcomes": brief(outcomes=(merged, running)),
        "digest: sources not read": brief(gap_snapshots=(part, failed, absent)),
    }


def works() -> Mapping[str, object]:
    """Return lines about the agent's work."""
    ended = {JobState.PULL_REQUEST: 1_000, JobState.NO_PULL_REQUEST: 150, JobState.FAILED: 20}
    ended |= {JobState.ARCHIVED: 10, JobState.WORKING: 20}
    waiting = ToReview((job(),), NOW + timedelta(days=4), reviewers=(Reviewer(BEN),))
    return {
        "work: none": say.jobs_line(weekly()),
        "work: one pull request": say.jobs_line(weekly(jobs={JobState.PULL_REQUEST: 1})),
        "work: one open": say.jobs_line(weekly(jobs={JobState.WORKING: 1})),
        "work: of all kinds": say.jobs_line(weekly(jobs=ended, median_time=timedelta(minutes=80))),
        "work: to review": brief(to_review=waiting),
    }


def lists() -> Mapping[str, object]:
    """Return lists of subscriptions."""
    active = subscription(last_result="posted", last_run_at=NOW)
    late = subscription(last_result=f"no digest: {ReadingProblem.LATE}", section="/api")
    paused = subscription(state=SubscriptionState.PAUSED)
    return {
        "list": say.subscription_list([active, late], NOW, ONE),
        "list: several docs": say.subscription_list([active], NOW, BOTH),
        "list: none": say.subscription_list([], NOW, ONE),
        "list: paused": say.subscription_list([paused], NOW, ONE),
        "list: more than fit": say.subscription_list(
            [subscription(section="/" + "&" * 1_000)] * 18, NOW, ONE
        ).text[-60:],
        "which to end": say.which_to_end([subscription(), subscription(section="/<api>")], BOTH),
    }


def samples() -> Mapping[str, object]:
    """Return digests and messages about subscriptions by name."""
    all_of_it, api, bot = subscription(), subscription(section="/api*"), "docs-agent"
    refused = NotPosted(Refusal.ARCHIVED, CHANNEL, NOW)
    of_subscription = question(subscription=all_of_it.id)
    return {
        **digests(),
        **works(),
        "first post": say.first_post(all_of_it, RUN, WEEK, NOW, None),
        "first post: today, a section, several docs": say.first_post(api, RUN, WEEK, RUN, ACME),
        "subscribing": say.subscribing(all_of_it, None, changes=False),
        "subscribing: a change, a section, several docs": say.subscribing(api, ACME, changes=True),
        "already subscribed": say.already_subscribed(api, ACME),
        "paused": say.paused(all_of_it, refused, bot, None),
        "paused: a section, several docs": say.paused(api, refused, bot, ACME),
        "missed": say.missed(of_subscription, WEEK, ReadingProblem.LATE, None),
        "missed: several docs": say.missed(of_subscription, WEEK, "newer", ACME),
        "missed: no longer set up": say.missed(of_subscription, WEEK, ReadingProblem.NOT_SERVED, ACME),
        "missed: asked for once": say.missed(question(), WEEK, ReadingProblem.UNWELL, None),
        "not posted": say.not_posted(api, NotPosted(Refusal.TOKEN, CHANNEL, NOW), bot, None),
        "digest coming": say.digest_coming(None, None),
        "digest coming: a section, several docs": say.digest_coming("/api", ACME),
        **{
            f"unsubscribed: {count}, {left} left": say.unsubscribed(count, left)
            for count, left in ((0, 0), (0, 2), (1, 0), (1, 1))
        },
        **lists(),
    }

"""The weekly digest, and subscriptions to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from bot.ids import Message, ProjectId, Refusal, Reviewer
from bot.messages import digests as say
from bot.messages.misses import asked_about
from bot.model.jobs import JobState, Review
from bot.model.misses import Source, Topic, Words
from bot.model.questions import Movements, SubscriptionState, Suggestion, SuggestionReason, ToReview, Weekday
from bot.model.visitors import Counts, ReadingProblem, SnapshotState
from bot.model.worth import Worth
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from tests.builders import BEN, CHANNEL, NOW, PROJECT
from tests.messages.samples import job
from tests.messages.visitor_samples import QUESTION, WEEK, page, report, snapshot, subscription, weekly, work

DOWN = page("/api/users", (1, 400, 401), (20, 500, 510))
RUN = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)
ACME = Project(PROJECT, "acme", "Acme <docs>")
BOTH = Projects((ACME, Project(ProjectId("p-2"), "beta", "beta")))
FOUND = (
    Worth(Topic.SEARCHES, "a1", "webhook <b>retries", 1_043, 2, 0),
    Worth(Topic.FEEDBACK, "b2", "/api/users", 7, 9, quote="Where is *paging*?"),
    Worth(Topic.FEEDBACK, "b3", "/limits", 1, 1),
    Worth(Topic.QUESTIONS, "c3", "How do I rotate keys?", 40, was=4),
    Worth(Topic.QUESTIONS, "d4", "Billing", 3, quote="Who pays?"),
)


def brief(**values: Any) -> Message:
    """A digest with a curve of two weeks."""
    return say.digest(weekly(**({"curve": weekly().curve[-2:]} | values)), QUESTION)


def digests() -> Mapping[str, object]:
    """Digests by what there is to tell."""
    curve = weekly().curve
    nothing = report(site=Counts(0, 0, 0), before=Counts(0, 0, 0), top=(), pages=0)
    label = report(query={"label": "Acme <docs>"})
    merged = job(review=Review.MERGED, about=asked_about("a1", "webhook <b>retries"))
    running = job(JobState.WORKING, about=None)
    part = snapshot(source=Source.SEARCHES, words=Words(is_part=True))
    refused = snapshot(source=Source.VOTES, state=SnapshotState.FAILED, problem=ReadingProblem.UNWELL)
    absent = replace(refused, source=Source.QUESTIONS, problem=ReadingProblem.NOT_HERE)
    moved = Movements(
        *((DOWN,), (DOWN, DOWN, DOWN), (page("/new", (9, 6, 14)),), (page("/old", (1, 0, 1)),)),
        *((page("/llms", (1, 400, 401)),), (page("/", (80, 1, 81)),)),
    )
    known = {"seven": 1, "six": 2, "one": 7, "none": 8}
    return {
        "digest": say.digest(weekly(), QUESTION),
        "digest: asked for once": brief(subscription=None),
        "digest: one of several docs": brief(report=label),
        "digest: no week before": brief(report=report(was=snapshot(totals=None), before=None)),
        "digest: no visits": brief(report=nothing),
        "digest: movements": brief(report=report(movements=moved)),
        **{
            f"digest: a curve of which {name} of eight weeks is known": brief(
                curve=tuple((week, None if at < first else c) for at, (week, c) in enumerate(curve))
            )
            for name, first in known.items()
        },
        "digest: worth doing": brief(worth=FOUND, suggestion=Suggestion(DOWN, SuggestionReason.FALLING)),
        **{f"digest: improve, {why}": brief(suggestion=Suggestion(DOWN, why)) for why in SuggestionReason},
        "digest: what came of earlier rows": brief(asked=(merged, running)),
        "digest: parts not read": brief(missed=(part, refused, absent)),
    }


def works() -> Mapping[str, object]:
    """The line about the agent's work."""
    ended = {"pull_request": 1_000, "no_pull_request": 150, "failed": 20, "archived": 10, "working": 20}
    waiting = ToReview((job(),), NOW + timedelta(days=4), reviewers=(Reviewer(BEN),))
    return {
        "work: none": say.work_done(work()),
        "work: one pull request": say.work_done(work(1, pull_request=1)),
        "work: one open": say.work_done(work(1, working=1)),
        "work: of all kinds": say.work_done(work(1_200, median_time=timedelta(minutes=80), **ended)),
        "work: to review": say.work_done(replace(work(), to_review=waiting)),
        "work: nothing to review": say.work_done(replace(work(), to_review=ToReview((), NOW))),
    }


def lists() -> Mapping[str, object]:
    """Lists of subscriptions."""
    active = subscription(last_result="posted", last_run_at=NOW)
    late = subscription(last_result=f"no digest: {ReadingProblem.LATE}", section="/api")
    return {
        "list": say.listed([active, late], NOW),
        "list: several docs": say.listed([active], NOW, BOTH),
        "list: none": say.listed([], NOW),
        **{
            f"list: {state}": say.listed([subscription(state=state)], NOW)
            for state in (SubscriptionState.NEW, SubscriptionState.PROVING, SubscriptionState.PAUSED)
        },
        "list: more than fit": say.listed([subscription(section="/" + "&" * 1_000)] * 12, NOW).text[-60:],
        "which to end": say.which_to_end([subscription(), subscription(section="/<api>")], BOTH),
    }


def samples() -> Mapping[str, object]:
    """Digests, and messages about subscriptions of the whole site, of a section, and of several docs."""
    all_of_it, api = subscription(), subscription(section="/api*")
    refused = NotPosted(Refusal.ARCHIVED, CHANNEL, NOW)
    bot = "docs-agent"
    return {
        **digests(),
        **works(),
        "first post": say.first_post(all_of_it, RUN, WEEK, now=NOW),
        "first post: today, a section, several docs": say.first_post(api, RUN, WEEK, now=RUN, shown=ACME),
        "subscribing": say.subscribing(Weekday.FRIDAY, time(16, 30), None, None),
        "subscribing: a section, several docs": say.subscribing(
            Weekday.MONDAY, time(9), "Asia/Kolkata", "/api", shown=ACME
        ),
        "subscribing: a change": say.subscribing(Weekday.MONDAY, time(9), "UTC", None, changes=True),
        "already subscribed": say.already_subscribed(api, ACME),
        "digest again": say.digest_again("/api", ACME),
        "cannot subscribe": say.cannot_subscribe(refused, bot),
        "paused": say.paused(all_of_it, refused, bot),
        "paused: a section, several docs": say.paused(api, refused, bot, ACME),
        "missed": say.missed(all_of_it, WEEK, ReadingProblem.LATE),
        "missed: a section, several docs": say.missed(api, WEEK, "newer", ACME),
        "missed: no longer set up": say.missed(api, WEEK, ReadingProblem.NOT_SERVED, ACME),
        "not posted": say.not_posted(api, NotPosted(Refusal.TOKEN, CHANNEL, NOW), bot),
        "digest coming": say.digest_coming(None),
        "digest coming: a section, several docs": say.digest_coming("/api", ACME),
        "digest failed": say.digest_failed(CHANNEL, WEEK, ReadingProblem.UNWELL),
        "digest failed: several docs": say.digest_failed(CHANNEL, WEEK, ReadingProblem.UNWELL, ACME),
        **{
            f"unsubscribed: {count}, {left} left": say.unsubscribed(count, left)
            for count, left in ((0, 0), (0, 2), (1, 0), (1, 1), (2, 3))
        },
        **lists(),
    }

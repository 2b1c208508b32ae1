"""The weekly digest, and subscriptions to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.ids import Message, ProjectId, ReadingId, Refusal
from bot.jobs.model.jobs import Review, ToReview
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages import subscriptions as subscription_messages
from bot.visitors.messages.prompts import row_reference
from bot.visitors.model.digests import Outcome, Recommendation
from bot.visitors.model.gaps import Source
from bot.visitors.model.readings import NO_VISITORS, Counts, ReadingProblem
from bot.visitors.model.reports import NoComparison, NotComparable
from bot.visitors.model.subscriptions import SubscriptionChange, SubscriptionState
from tests.builders import CHANNEL, NOW, PROJECT
from tests.messages.samples import PERMALINK, job
from tests.visitors.visitor_samples import (
    QUESTION,
    WEEK,
    question,
    reading,
    report,
    subscription,
    weekly,
)

RUN = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)
ACME = Project(PROJECT, "acme", "Acme <docs>")
ONE = Projects((ACME,))
BOTH = Projects((ACME, Project(ProjectId("p-2"), "beta", "beta")))
EVIDENCE = "searched 1,043 times, opened twice"
DRAFTED = ("Write it.", "", False), ("Mend it.", "Where is *paging*?", True)
NOT_READ = NoComparison(NotComparable.UNREAD, WEEK.before(), ReadingProblem.SHARE)
FOUND = (
    Recommendation("Readers didn't find", "a1", "webhook <b>retries", EVIDENCE, 1_043, *DRAFTED[0]),
    Recommendation(
        "Readers asked", "c3", "How do I rotate keys?", "9 questions, no answer", 9, *DRAFTED[0]
    ),
    Recommendation("Readers dislike", "b2", "/api/users", "7 of 9 votes", 7, *DRAFTED[1]),
)


def brief(**values: Any) -> Message:
    """Return a digest."""
    return digest_messages.digest(weekly(**values), QUESTION)


def digests() -> Mapping[str, object]:
    """Return digests by their content."""
    merged = job(review=Review.MERGED, gap=row_reference("a1", "webhook <b>retries"))
    failed = reading(source=Source.VOTES, totals=None, problem=ReadingProblem.UNWELL)
    other = replace(failed, source=Source.SEARCHES, problem=ReadingProblem.KEPT)
    absent = replace(failed, source=Source.QUESTIONS, problem=ReadingProblem.NOT_HERE)
    unread = replace(failed, source=Source.VISITORS, problem=ReadingProblem.LIMITED)
    same = reading(WEEK.before(), id=ReadingId(2), totals=Counts(1_200, 3_400, 4_480))
    waiting = ToReview((job(),), NOW + timedelta(days=4), more=2)
    return {
        "digest": brief(recommendations=FOUND, more=2),
        "digest: asked for once": brief(next_at=None),
        "digest: one of several docs": brief(report=report(query={"label": "Acme <docs>"})),
        "digest: a section": brief(report=report(query={"section": "/api"})),
        "digest: a section with its views": brief(
            report=report(query={"section": "/api"}, views=Counts(1, 0, 1))
        ),
        "digest: a section without its views": brief(
            report=report(query={"section": "/api"}, views_problem=ReadingProblem.TOO_LARGE)
        ),
        "digest: about as many": brief(report=report(earlier=same)),
        "digest: no week before": brief(report=report(earlier=None, not_compared=NOT_READ)),
        "digest: no visits": brief(report=report(site=NO_VISITORS, pages=(), earlier=None)),
        **{
            f"digest: {ai} of {total} are AI agents": brief(
                report=report(site=Counts(total - ai, ai, total))
            )
            for ai, total in ((0, 10), (1, 100), (99, 100), (10, 10))
        },
        "digest: asked for": brief(
            recommendations=FOUND, asked={"a1": (job(), PERMALINK), "b2": (job(), None)}
        ),
        "digest: outcomes": brief(
            outcomes=(
                Outcome(merged, "searches without a click 1,041 → 3"),
                Outcome(replace(merged, review=Review.REVIEWED)),
            )
        ),
        "digest: sources not read": brief(unread_readings=(failed, other, absent)),
        "digest: readers not read": brief(
            report=None, recommendations=FOUND, unread_readings=(unread, failed, absent)
        ),
        "digest: to review": brief(to_review=waiting),
        "digest: one to review": brief(to_review=replace(waiting, more=0)),
        "all numbers, pressed again": digest_messages.numbers_posted_before(PERMALINK),
        "all numbers, pressed again at once": digest_messages.numbers_posted_before(None),
        "more ideas": digest_messages.ideas_view(FOUND, QUESTION, private="{}"),
        "more ideas: none": digest_messages.ideas_view((), QUESTION, private="{}"),
    }


def lists() -> Mapping[str, object]:
    """Return lists of subscriptions."""
    active = subscription(last_result="posted", last_run_at=NOW)
    late = subscription(last_result=f"no digest: {ReadingProblem.LATE}", section="/api")
    paused = subscription(state=SubscriptionState.PAUSED)
    return {
        "list": subscription_messages.subscription_list([active, late], NOW, ONE),
        "list: several docs": subscription_messages.subscription_list([active], NOW, BOTH),
        "list: none": subscription_messages.subscription_list([], NOW, ONE),
        "list: paused": subscription_messages.subscription_list([paused], NOW, ONE),
        "list: more than fit": subscription_messages.subscription_list(
            [subscription(section="/" + "&" * 1_000)] * 18, NOW, ONE
        ).text[-60:],
    }


def samples() -> Mapping[str, object]:
    """Return digests and messages about subscriptions by name."""
    all_of_it, api, bot = subscription(), subscription(section="/api*"), "docs-agent"
    refused = NotPosted(Refusal.ARCHIVED, CHANNEL, NOW)
    of_subscription = question(subscription=all_of_it.id)
    return {
        **digests(),
        "first post": subscription_messages.first_post(all_of_it, RUN, WEEK, NOW, None),
        "first post: today, a section, several docs": subscription_messages.first_post(
            api, RUN, WEEK, RUN, ACME
        ),
        "first post: its week ends later": subscription_messages.first_post(
            all_of_it, RUN, WEEK, NOW, None, RUN + timedelta(hours=2)
        ),
        "not in the channel": subscription_messages.not_in_channel(bot),
        "digest requested before": digest_messages.digest_requested_before(PERMALINK),
        "digest requested before, not posted": digest_messages.digest_requested_before(None),
        "subscribing": subscription_messages.subscribing(all_of_it, None, changes=False),
        "subscribing: a change, a section, several docs": subscription_messages.subscribing(
            api, ACME, changes=True
        ),
        "already subscribed": subscription_messages.already_subscribed(api, ACME),
        "paused": subscription_messages.subscription_paused(all_of_it, refused, bot, None),
        "paused: a section, several docs": subscription_messages.subscription_paused(
            api, refused, bot, ACME
        ),
        "missed": digest_messages.digest_missed(of_subscription, ReadingProblem.LATE, None),
        "missed: several docs": digest_messages.digest_missed(of_subscription, "newer", ACME),
        "missed: no longer set up": digest_messages.digest_missed(
            of_subscription, ReadingProblem.NOT_SERVED, ACME
        ),
        "missed: asked for once": digest_messages.digest_missed(
            question(), ReadingProblem.UNWELL, None
        ),
        "not posted": subscription_messages.not_posted(
            api, NotPosted(Refusal.TOKEN, CHANNEL, NOW), bot, None
        ),
        "digest coming": digest_messages.digest_coming(None, None),
        "digest coming: a section, several docs": digest_messages.digest_coming("/api", ACME),
        "changed: no subscription": subscription_messages.subscriptions_changed(
            SubscriptionChange.PAUSE, [], 0, NOW
        ),
        "changed: no such one": subscription_messages.subscriptions_changed(
            SubscriptionChange.PAUSE, [], 2, NOW
        ),
        "unsubscribed, 1 left": subscription_messages.subscriptions_changed(
            SubscriptionChange.UNSUBSCRIBE, [all_of_it], 1, NOW
        ),
        **{
            f"changed: {change}, {len(changed)} of {len(changed) + others}": (
                subscription_messages.subscriptions_changed(change, changed, others, NOW)
            )
            for change in SubscriptionChange
            for changed, others in (([all_of_it], 0), ([all_of_it, api], 0), ([all_of_it, api], 1))
        },
        **lists(),
    }

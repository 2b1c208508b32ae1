"""Messages about subscriptions to the weekly digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.ids import Message
from bot.jobs.messages.problems import refusal
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from bot.visitors.messages.numbers import in_brackets, path_code
from bot.visitors.messages.reasons import problem_text
from bot.visitors.model.periods import Period, short_day
from bot.visitors.model.subscriptions import (
    Subscription,
    SubscriptionChange,
    SubscriptionState,
    WeeklyTime,
)

_MAX_LISTED = 15
_MAX_RESULT_CHARACTERS = 200


def format_schedule(weekly: WeeklyTime) -> str:
    """Return Every Monday at 09:00 (Berlin)."""
    return f"Every {b.quoted(str(weekly), _MAX_RESULT_CHARACTERS)}"


def first_post(
    subscription: Subscription,
    run_at: datetime,
    week: Period,
    now: datetime,
    project: Project | None,
    week_ends_at: datetime | None = None,
) -> Message:
    """Return the first post of a subscription, which proves that the bot can post there.

    Args:
        subscription: the subscription.
        run_at: the time of the first digest.
        week: the week that it covers.
        now: the present time.
        project: the project, if the bot serves several.
        week_ends_at: when that week ends at the docs service; None if it ends before ``run_at``.
    """
    zone = ZoneInfo(subscription.weekly.zone)
    run = run_at.astimezone(zone)
    is_today = run.date() == now.astimezone(zone).date()
    day = "today" if is_today else f"on {short_day(run.date())}"
    docs = in_brackets(b.label(project.label) if project else "")
    pages = _format_pages_under(subscription.section)
    owner = b.mention(subscription.owner)
    schedule = format_schedule(subscription.weekly)
    every_week = f"{schedule} a digest of who read the docs{docs}{pages} comes here"
    sentences = [
        f"{every_week}, set up by {owner}.",
        f"The first comes {day} at {run:%H:%M} and covers {week}.",
    ]
    if week_ends_at is not None:
        sentences.append(
            f"At the docs service that week ends at {week_ends_at.astimezone(zone):%H:%M} here: "
            "a digest from then on is compared with the week before."
        )
    sentences.append("`/docs-visitors pause` pauses it, `/docs-visitors unsubscribe` ends it.")
    return b.words(" ".join(sentences))


def subscribing(subscription: Subscription, project: Project | None, *, changes: bool) -> Message:
    verb = "Changing to" if changes else "Setting up"
    return b.words(f"{verb} a digest {_format_subscription(subscription, project)}…")


def already_subscribed(subscription: Subscription, project: Project | None) -> Message:
    return b.words(f"A digest comes here already, {_format_subscription(subscription, project)}.")


def _format_subscription(subscription: Subscription, project: Project | None) -> str:
    weekly = f"e{format_schedule(subscription.weekly)[1:]}"
    return f"{weekly}{format_scope(None, project)}{_format_pages_under(subscription.section)}"


def not_in_channel(bot_name: str) -> Message:
    """Return the refusal to post in a channel without the bot."""
    name = b.quoted(bot_name, 80)
    return b.words(
        ":no_entry: I'm not in this channel, so I can't post here. "
        f"Type `/invite @{name}`, then ask again."
    )


def subscription_paused(
    subscription: Subscription, post: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses posts in the channel for good."""
    docs = format_docs_name(project)
    return b.words(
        f":double_vertical_bar: The weekly {docs} for {b.channel(subscription.channel)} is paused"
        f": {refusal(post, bot_name)} `/docs-visitors resume` starts it again there."
    )


def not_posted(
    subscription: Subscription, refused: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses posts until an operator mends the token."""
    typed = f" project:{project.name}" if project else ""
    typed += f" path {subscription.section}" if subscription.section else ""
    again = b.code(f"/docs-visitors digest now{typed}")
    where = b.channel(subscription.channel)
    return b.words(
        f":warning: I couldn't post in {where} for the weekly {format_docs_name(project)}: "
        f"{refusal(refused, bot_name)} Then {again} posts the last week there; "
        "the next digest is tried at its time."
    )


# ---- changes


def subscriptions_changed(
    change: SubscriptionChange, changed: Sequence[Subscription], others: int, now: datetime
) -> Message:
    """Return the reply to a change of a channel's subscriptions.

    ``others`` are left as they were.
    """
    if not changed and not others:
        return b.words("No digest comes here. `/docs-visitors subscribe` starts one.")
    if not changed:
        return b.words(
            "No such digest comes here. `/docs-visitors subscriptions` lists those that do."
        )
    match change:
        case SubscriptionChange.PAUSE:
            return _format_paused_reply(len(changed))
        case SubscriptionChange.RESUME:
            return _format_resumed_reply(changed, now)
        case SubscriptionChange.UNSUBSCRIBE:
            return _format_ended_reply(len(changed), others)


def _format_paused_reply(count: int) -> Message:
    what = "The digest is" if count == 1 else f"{count} digests are"
    again = "it" if count == 1 else "them"
    return b.words(
        f":double_vertical_bar: {what} paused. `/docs-visitors resume` starts {again} again."
    )


def _format_resumed_reply(changed: Sequence[Subscription], now: datetime) -> Message:
    first = min(changed, key=lambda subscription: subscription.weekly.next_after(now))
    run = first.weekly.next_after(now).astimezone(ZoneInfo(first.weekly.zone))
    on = f"on {short_day(run.date())} at {run:%H:%M}"
    if len(changed) == 1:
        return b.words(f":white_check_mark: The next digest comes {on}.")
    return b.words(f":white_check_mark: {len(changed)} digests come again, the first {on}.")


def _format_ended_reply(count: int, others: int) -> Message:
    if not others:
        return b.words(":white_check_mark: No digest comes here any more.")
    what = "That digest is" if count == 1 else f"{count} digests are"
    still = counted(others, "other comes", "others come")
    return b.words(
        f":white_check_mark: {what} ended. {still} here as before: `/docs-visitors subscriptions`."
    )


# ---- the list


def subscription_list(
    subscriptions: Sequence[Subscription], now: datetime, projects: Projects
) -> Message:
    """Return a channel's subscriptions, with their next three runs and the last result."""
    if not subscriptions:
        return b.words(
            "No digest comes here yet. `/docs-visitors subscribe monday 09:00` sets one up, "
            "in your own time zone unless you name another."
        )
    items = [
        _list_item(subscription, now, projects.shown(subscription.project))
        for subscription in subscriptions[:_MAX_LISTED]
    ]
    more = len(subscriptions) - len(items)
    if more:
        items.append(f"… and {more} more.")
    items.append(
        "To change a time, subscribe to the same pages again: "
        "`/docs-visitors subscribe friday 10:00`."
    )
    return b.words("\n\n".join(items))


def _list_item(subscription: Subscription, now: datetime, project: Project | None) -> str:
    weekly = subscription.weekly
    what = f"{format_scope(None, project)}{_format_pages_under(subscription.section)}"
    lines = [f"*{format_schedule(weekly)}*{what}, by {b.mention(subscription.owner)}"]
    if subscription.state is SubscriptionState.PAUSED:
        lines.append(":double_vertical_bar: Paused. `/docs-visitors resume` starts it again.")
    else:
        first = subscription.next_run_at or weekly.next_after(now)
        lines.append(f"Next: {', '.join(_list_runs(weekly, first))}")
    outcome, _, reason = (subscription.last_result or "none yet").partition(": ")
    result = f"{outcome}: {problem_text(reason)}" if reason else outcome
    at = f" ({b.moment(subscription.last_run_at)})" if subscription.last_run_at else ""
    lines.append(f"Last: {b.quoted(result, _MAX_RESULT_CHARACTERS)}{at}")
    return "\n".join(lines)


def _list_runs(weekly: WeeklyTime, first: datetime) -> list[str]:
    """Return three runs from the first one on: 9 Nov 09:00."""
    second = weekly.next_after(first)
    runs = [first, second, weekly.next_after(second)]
    local = [at.astimezone(ZoneInfo(weekly.zone)) for at in runs]
    return [f"{short_day(at.date())} {at:%H:%M}" for at in local]


# ---- words of other messages


def _format_pages_under(section: str | None) -> str:
    return f", for pages under {path_code(section)}" if section else ""


def format_docs_name(project: Project | None) -> str:
    return f"digest of {b.label(project.label)}" if project else "docs digest"


def format_scope(section: str | None, project: Project | None) -> str:
    """Return the project and the section of a digest: " for Acme docs, `/api`"."""
    parts = []
    if project:
        parts.append(b.label(project.label))
    if section:
        parts.append(path_code(section))
    return f" for {', '.join(parts)}" if parts else ""

"""Messages about subscriptions to the weekly digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.ids import Message
from bot.jobs.messages.problems import refusal
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import one_line
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from bot.visitors.messages.numbers import in_brackets, path_code, shown_path
from bot.visitors.messages.reasons import problem_text
from bot.visitors.model.periods import Period, short_day
from bot.visitors.model.subscriptions import (
    Subscription,
    SubscriptionChange,
    SubscriptionState,
    WeeklyTime,
)

_MOST_LISTED = 15
_RESULT_LENGTH = 200


def when(weekly: WeeklyTime) -> str:
    return f"Every {b.quoted(str(weekly), _RESULT_LENGTH)}"


def first_post(
    subscription: Subscription,
    run_at: datetime,
    week: Period,
    now: datetime,
    project: Project | None,
) -> Message:
    """Return the first post of a subscription, which proves that the bot can post in the channel.

    Args:
        subscription: the subscription.
        run_at: the time of the first digest.
        week: the week that it covers.
        now: the present time.
        shown: the project, if the bot serves several.
    """
    zone = ZoneInfo(subscription.weekly.zone)
    run, today = run_at.astimezone(zone), now.astimezone(zone).date()
    on = "today" if run.date() == today else f"on {short_day(run.date())}"
    return b.words(
        f"{when(subscription.weekly)} this channel gets a digest of who read the docs"
        f"{in_brackets(b.label(project.label) if project else '')}{_pages_under(subscription.section)}, "
        f"set up by {b.mention(subscription.owner)}. "
        f"The first comes {on} at {run:%H:%M} and covers {week}. "
        "`/docs-visitors pause` pauses it, `/docs-visitors unsubscribe` ends it."
    )


def subscribing(subscription: Subscription, project: Project | None, *, changes: bool) -> Message:
    verb = "Changing to" if changes else "Setting up"
    return b.words(f"{verb} a digest {_described(subscription, project)}…")


def already_subscribed(subscription: Subscription, project: Project | None) -> Message:
    return b.words(f"This channel already gets a digest {_described(subscription, project)}.")


def _described(subscription: Subscription, project: Project | None) -> str:
    weekly = f"e{when(subscription.weekly)[1:]}"
    return f"{weekly}{scope(None, project)}{_pages_under(subscription.section)}"


def paused(
    subscription: Subscription, post: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses posts in the channel for good."""
    return b.words(
        f":double_vertical_bar: The weekly {named(project)} for {b.channel(subscription.channel)} is paused"
        f": {refusal(post, bot_name)} `/docs-visitors resume` starts it again there."
    )


def not_posted(
    subscription: Subscription, refused: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses digests until an operator mends the token."""
    typed = f" project:{project.name}" if project else ""
    typed += f" path {subscription.section}" if subscription.section else ""
    return b.words(
        f":warning: The weekly {named(project)} for {b.channel(subscription.channel)} couldn't be posted: "
        f"{refusal(refused, bot_name)} The next one comes as planned. "
        f"{b.code(f'/docs-visitors digest now{typed}')} posts this one."
    )


def subscription_changed(
    change: SubscriptionChange, subscription: Subscription | None, others: int, now: datetime
) -> Message:
    """Return the reply to a change of a subscription; ``others`` are left. None if there is no such one."""
    if subscription is None and not others:
        return b.words("This channel gets no digest. `/docs-visitors subscribe` starts one.")
    if subscription is None:
        return b.words(
            "This channel has no such digest. `/docs-visitors subscriptions` lists those it has."
        )
    if change is SubscriptionChange.PAUSE:
        return b.words(
            ":double_vertical_bar: The digest is paused. `/docs-visitors resume` starts it again."
        )
    if change is SubscriptionChange.RESUME:
        run = subscription.weekly.next_after(now).astimezone(ZoneInfo(subscription.weekly.zone))
        return b.words(
            f":white_check_mark: The next digest comes on {short_day(run.date())} at {run:%H:%M}."
        )
    if others:
        still = counted(others, "other", "others")
        return b.words(
            f":white_check_mark: That digest is ended. This channel still gets {still}: "
            "`/docs-visitors subscriptions`."
        )
    return b.words(":white_check_mark: This channel no longer gets a digest.")


def which_to_change(
    change: SubscriptionChange, subscriptions: Sequence[Subscription], projects: Projects
) -> Message:
    verb = {SubscriptionChange.PAUSE: "Pause", SubscriptionChange.RESUME: "Resume"}.get(
        change, "End"
    )
    options = [
        (
            _menu_label(subscription, projects.shown(subscription.project)),
            f"{change}:{subscription.id}",
        )
        for subscription in subscriptions
    ]
    return b.with_buttons(
        f"This channel has {len(subscriptions):,} such digests. Which one?",
        [b.menu(f"{verb} a digest…", b.Action.UNSUBSCRIBE, options)],
    )


def _menu_label(subscription: Subscription, project: Project | None) -> str:
    section = shown_path(subscription.section, 30) if subscription.section else "Whole site"
    return f"{one_line(project.label, 20)}, {section}" if project else section


def subscription_list(
    subscriptions: Sequence[Subscription], now: datetime, projects: Projects
) -> Message:
    """Return a channel's subscriptions, with their next three runs and the last result."""
    if not subscriptions:
        return b.words(
            "This channel has no digest yet. `/docs-visitors subscribe monday 09:00` sets one up, "
            "in your own time zone unless you name another."
        )
    items = [
        _list_item(subscription, now, projects.shown(subscription.project))
        for subscription in subscriptions[:_MOST_LISTED]
    ]
    more = len(subscriptions) - len(items)
    return b.words("\n\n".join([*items, *([f"… and {more} more."] if more else [])]))


def _list_item(subscription: Subscription, now: datetime, project: Project | None) -> str:
    weekly = subscription.weekly
    what = f"{scope(None, project)}{_pages_under(subscription.section)}"
    lines = [f"*{when(weekly)}*{what}, by {b.mention(subscription.owner)}"]
    if subscription.state is SubscriptionState.PAUSED:
        lines.append(":double_vertical_bar: Paused. `/docs-visitors resume` starts it again.")
    else:
        run = subscription.next_run_at or weekly.next_after(now)
        runs = [run, weekly.next_after(run), weekly.next_after(weekly.next_after(run))]
        local = (at.astimezone(ZoneInfo(weekly.zone)) for at in runs)
        lines.append(f"Next: {', '.join(f'{short_day(at.date())} {at:%H:%M}' for at in local)}")
    outcome, _, reason = (subscription.last_result or "none yet").partition(": ")
    at = f" ({b.moment(subscription.last_run_at)})" if subscription.last_run_at else ""
    result = b.quoted(f"{outcome}: {problem_text(reason)}" if reason else outcome, _RESULT_LENGTH)
    return "\n".join([*lines, f"Last: {result}{at}"])


def _pages_under(section: str | None) -> str:
    return f", for pages under {path_code(section)}" if section else ""


def named(project: Project | None) -> str:
    return f"digest of {b.label(project.label)}" if project else "docs digest"


def scope(section: str | None, project: Project | None) -> str:
    parts = [
        *([b.label(project.label)] if project else []),
        *([path_code(section)] if section else []),
    ]
    return f" for {', '.join(parts)}" if parts else ""

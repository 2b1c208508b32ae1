"""Messages of the weekly digest and of subscriptions to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.ids import Block, Message, QuestionId
from bot.jobs.messages.jobs import in_digest
from bot.jobs.messages.problems import refusal
from bot.jobs.messages.status_message import lasted, name, state_words
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import one_line
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from bot.visitors.content_gaps import MOST_READ, Topic
from bot.visitors.gap_messages import unread_sources
from bot.visitors.messages import (
    caveats,
    chart,
    improve_menu,
    in_brackets,
    more_button,
    movements,
    no_visits,
    page_lines,
    path_code,
    problem_text,
    reading_problem,
    shown_path,
    source_note,
    totals,
)
from bot.visitors.model import Question, ReadingProblem, Subscription, SubscriptionState, Weekday
from bot.visitors.periods import Period, WeeklyTime, short_day
from bot.visitors.recommendations import Digest, Recommendation

_TITLE_LENGTH, _QUOTE_LENGTH, _RESULT_LENGTH = 60, 40, 200
_MOST_MOVED, _MOST_LISTED = 2, 15
_STATE_NAMES = {
    JobState.PULL_REQUEST: ("pull request", "pull requests"),
    JobState.NO_PULL_REQUEST: ("without a pull request", "without a pull request"),
    JobState.FAILED: ("failed", "failed"),
}


def digest(digest: Digest, question: QuestionId) -> Message:
    """Return the digest. ``question``: the question that its buttons name."""
    report, week = digest.report, digest.report.query.period
    docs = b.label(report.query.label) if report.query.label else "The docs"
    against = ", compared with the week before" if report.was else ""
    work = [_recommended(recommendation, question) for recommendation in digest.recommendations]
    work += b.plain("\n".join(map(outcome_line, digest.outcomes)))
    to_do = "\nWorth doing this week:" if work else ""
    heading = b.section(f"*{docs} in the week {week}*{against}{to_do}")
    nothing = no_visits(report)
    moved = " · ".join(movements(report, _MOST_MOVED))
    review = in_digest(digest.to_review) if digest.to_review else []
    footer = (
        f"{when(digest.subscription.weekly)} · `/docs-visitors subscriptions`" if digest.subscription else ""
    )
    small_print = [_chosen_from(digest), *([] if nothing else caveats(report)), source_note(report), footer]
    readers = (
        b.section(nothing or f"*Readers*: {totals(report)}"),
        *([chart(report.chart)] if len(report.chart) > 1 else []),
        *([] if nothing else b.plain("\n".join(page_lines(report)))),
        *b.plain("\n".join(filter(None, [moved, jobs_line(digest), *review]))),
        *([] if nothing else b.actions([more_button(question), *improve_menu(report)])),
        b.context(*small_print),
    )
    whole, rest = b.message(heading, *work, *readers), b.message(*readers)
    return replace(whole, plain_blocks=(heading, *work, *rest.plain_blocks))


def _recommended(recommendation: Recommendation, question: QuestionId) -> Block:
    text = "Improve it" if recommendation.topic is Topic.FEEDBACK else "Write it"
    button = b.button(text, b.Action.IMPROVE_MISS, f"{question}:{recommendation.key}")
    return {**b.section(f"• {_evidence(recommendation)}"), "accessory": button}


def _evidence(gap: Recommendation) -> str:
    times = counted(gap.events, "time", "times")
    grown = f", {gap.was:,} the week before" if gap.has_grown else ""
    since = ", new" if gap.is_new else grown
    match gap.topic:
        case Topic.SEARCHES:
            return f"{b.code(gap.title, _TITLE_LENGTH)}: searched {times}, clicked {gap.of:,}{since}"
        case Topic.FEEDBACK:
            quote = f": “{b.quoted(gap.quote, _QUOTE_LENGTH)}”" if gap.quote else ""
            votes = counted(gap.of, "vote", "votes")
            return f"{path_code(gap.title)}: {gap.events:,} of {votes} not helpful{quote}"
        case _:
            return f"“{b.quoted(gap.title, _TITLE_LENGTH)}”: asked {times}, no answer{since}"


def outcome_line(job: TrackedJob) -> str:
    """Return a line about a job that was asked for at a recommendation."""
    title = b.code(job.about.title) if job.about else ""
    asked = b.moment(job.asked_at, "{date_short_pretty}")
    return f"{state_words(job)} · {title}, asked for {asked} · {b.link(job.pr_link, name(job.number))}"


def jobs_line(digest: Digest) -> str:
    """Return a line about the week's jobs, by their present states."""
    if not (total := sum(digest.jobs.values())):
        return "*The agent* had no jobs that week. `/docs-agent` starts one."
    counts = {state: digest.jobs.get(state, 0) for state in _STATE_NAMES}
    parts = [counted(count, *_STATE_NAMES[state]) for state, count in counts.items() if count]
    if rest := total - sum(counts.values()):
        parts.append(f"{rest:,} open or ended otherwise")
    took = f" Median time: {lasted(digest.median_time)}." if digest.median_time is not None else ""
    asked = counted(total, "job was asked for", "jobs were asked for")
    return f"*The agent*: {asked}: {', '.join(parts)}.{took}"


def _chosen_from(digest: Digest) -> str:
    is_part = any(snapshot.gap_rows.is_part for snapshot in digest.gap_snapshots if snapshot.gap_rows)
    part = (
        [f"What is worth doing was chosen from the first {MOST_READ} rows of each kind."] if is_part else []
    )
    offered = [one for one in digest.gap_snapshots if one.problem != ReadingProblem.NOT_HERE]
    return " ".join([*part, *unread_sources(offered)])


# ---- subscriptions


def when(weekly: WeeklyTime) -> str:
    return f"Every {b.quoted(str(weekly), _RESULT_LENGTH)}"


def first_post(
    subscription: Subscription, run_at: datetime, week: Period, now: datetime, project: Project | None
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
        f"{_command('subscribe', subscription, project)} changes the time, "
        f"{_command('unsubscribe', subscription, project)} ends it."
    )


def subscribing(subscription: Subscription, project: Project | None, *, changes: bool) -> Message:
    verb = "Changing to" if changes else "Setting up"
    return b.words(f"{verb} a digest {_described(subscription, project)}…")


def already_subscribed(subscription: Subscription, project: Project | None) -> Message:
    return b.words(f"This channel already gets a digest {_described(subscription, project)}.")


def _described(subscription: Subscription, project: Project | None) -> str:
    weekly = f"e{when(subscription.weekly)[1:]}"
    return f"{weekly}{_scope(None, project)}{_pages_under(subscription.section)}"


def paused(subscription: Subscription, post: NotPosted, bot_name: str, project: Project | None) -> Message:
    """Return the notice to the owner that Slack refuses posts in the channel for good."""
    weekly = subscription.weekly
    again = f"subscribe {Weekday(weekly.weekday).name.lower()} {weekly.at:%H:%M} {weekly.zone}"
    return b.words(
        f":double_vertical_bar: The weekly {_named(project)} for {b.channel(subscription.channel)} is paused"
        f": {refusal(post, bot_name)} {_command(again, subscription, project)} starts it again there."
    )


def not_posted(
    subscription: Subscription, refused: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses digests until an operator mends the token."""
    return b.words(
        f":warning: The weekly {_named(project)} for {b.channel(subscription.channel)} couldn't be posted: "
        f"{refusal(refused, bot_name)} The next one comes as planned. "
        f"{_command('digest now', subscription, project)} posts this one."
    )


def missed(question: Question, week: Period, reason: str, project: Project | None) -> Message:
    """Return the notice to the owner of a subscription, or to the requester, that there is no digest."""
    where = b.channel(question.channel)
    if question.is_weekly and reason == ReadingProblem.NOT_SERVED:
        return b.words(
            f":zzz: The weekly {_named(project)} for {where} has ended: these docs are no "
            "longer set up here. Ask whoever runs this bot to check `DOCS_PROJECTS`, then subscribe again."
        )
    then = "The next one comes as planned." if question.is_weekly else "Try again later."
    return b.words(
        f":warning: There was no {_named(project)} for {where} for the week {week}. "
        f"Its numbers are missing: {reading_problem(reason)}. {then}"
    )


def digest_coming(section: str | None, project: Project | None) -> Message:
    return b.words(
        f"The digest of last week{_scope(section, project)} is on its way to this channel. "
        "If that takes longer than ten minutes, I'll post what there is, or tell you why there is none."
    )


def unsubscribed(count: int, others: int) -> Message:
    """Return the reply to ``unsubscribe``: ``count`` subscriptions ended, ``left`` remain."""
    if not count and not others:
        return b.words("This channel gets no digest. `/docs-visitors subscribe` starts one.")
    if not count:
        return b.words("This channel has no such digest. `/docs-visitors subscriptions` lists those it has.")
    if others:
        still = counted(others, "other", "others")
        return b.words(
            f":white_check_mark: That digest is ended. This channel still gets {still}: "
            "`/docs-visitors subscriptions`."
        )
    return b.words(":white_check_mark: This channel no longer gets a digest.")


def which_to_end(subscriptions: Sequence[Subscription], projects: Projects) -> Message:
    options = [
        (_menu_label(subscription, projects.shown(subscription.project)), str(subscription.id))
        for subscription in subscriptions
    ]
    return b.with_buttons(
        f"This channel gets {len(subscriptions):,} digests. Which one ends?",
        [b.menu("End a digest…", b.Action.UNSUBSCRIBE, options)],
    )


def _menu_label(subscription: Subscription, project: Project | None) -> str:
    section = shown_path(subscription.section, 30) if subscription.section else "Whole site"
    return f"{one_line(project.label, 20)}, {section}" if project else section


def subscription_list(subscriptions: Sequence[Subscription], now: datetime, projects: Projects) -> Message:
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
    scope = f"{_scope(None, project)}{_pages_under(subscription.section)}"
    lines = [f"*{when(weekly)}*{scope}, by {b.mention(subscription.owner)}"]
    if subscription.state is SubscriptionState.PAUSED:
        again = "Subscribing to it as before starts it again."
        lines.append(f":double_vertical_bar: Paused, because Slack didn't let me post here. {again}")
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


def _named(project: Project | None) -> str:
    return f"digest of {b.label(project.label)}" if project else "docs digest"


def _scope(section: str | None, project: Project | None) -> str:
    parts = [*([b.label(project.label)] if project else []), *([path_code(section)] if section else [])]
    return f" for {', '.join(parts)}" if parts else ""


def _command(verb: str, subscription: Subscription, entry: Project | None) -> str:
    """Return the command for one subscription of a channel."""
    project = f" project:{entry.name}" if entry else ""
    # To unsubscribe without a path asks which one.
    section = f" path {subscription.section or '/'}" if subscription.section or verb == "unsubscribe" else ""
    return b.code(f"/docs-visitors {verb}{project}{section}")

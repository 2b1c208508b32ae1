"""The weekly digest, and messages about subscriptions to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.messages import blocks as b
from bot.messages.face import name
from bot.messages.numbers import (
    clock,
    counted,
    dates,
    duration,
    number,
    page_gain,
    shown_path,
    visitors_chart,
)
from bot.messages.numbers import weekday as weekday_name
from bot.messages.problems import reading_problem, refusal_way
from bot.messages.visitors import (
    caveats,
    improve_menu,
    is_empty,
    movements,
    named_pages,
    nobody,
    page_numbers,
    pages_blocks,
    shown_code,
    source_note,
    totals_fields,
    with_fitting_pages,
)
from bot.model.ids import Block, Message, Refusal
from bot.model.jobs import JobState
from bot.model.projects import Project, Projects
from bot.model.questions import (
    Subscription,
    SubscriptionState,
    Suggestion,
    SuggestionReason,
    Weekday,
    WeeklyReport,
    WeeklyTime,
    WorkDone,
)
from bot.model.visitors import Period, ReadingProblem

_CURVE_TITLE = "Unique visitors week by week"
_STATE_NAMES = {
    JobState.PULL_REQUEST: ("pull request", "pull requests"),
    JobState.NO_CHANGE: ("with nothing changed", "with nothing changed"),
    JobState.FAILED: ("failed", "failed"),
}


def digest(weekly: WeeklyReport) -> Message:
    """Return the digest, with as many pages as fit into one message."""
    return with_fitting_pages(weekly.report, lambda fewer: _digest(replace(weekly, report=fewer)))


def _digest(weekly: WeeklyReport) -> Message:
    answer = weekly.report
    against = "\ncompared with the week before" if answer.is_fair else ""
    docs = b.label(answer.query.label) if answer.query.label else "The docs"
    heading = f"*{docs} in the week {dates(answer.query.period)}*{against}"
    curve = [(week, counts) for week, counts in weekly.curve if counts is not None]
    lines = [*movements(answer.movements, answer.site), work_done(weekly.work)]
    lines += [suggested(weekly.suggestion)] if weekly.suggestion else []
    notes = [] if is_empty(answer) else caveats(answer)
    notes += [*_curve_gap(len(curve), len(weekly.curve)), source_note(answer)]
    notes += [footer(weekly.subscription)] if weekly.subscription else []
    row = b.actions([*_improve(weekly.suggestion), *improve_menu(named_pages(answer))])
    return b.message(
        b.section(heading),
        *([] if is_empty(answer) else [totals_fields(answer)]),
        *([visitors_chart(_CURVE_TITLE, curve)] if len(curve) > 1 else []),
        *(b.plain(nobody(answer)) if is_empty(answer) else pages_blocks(answer)),
        *(b.section(line) for line in lines),
        *row,
        b.context(*notes),
    )


def _curve_gap(known: int, total: int) -> list[str]:
    if known < 2:
        return ["There is no curve yet: too few weeks have been read."]
    weeks = counted(total - known, "week that has", "weeks that have")
    return [f"The curve leaves out {weeks} not been read yet."] if known < total else []


def work_done(work: WorkDone) -> str:
    """Return one line about the week's jobs, by their current states."""
    waits = f" Waiting for review: {', '.join(map(name, work.to_review))}." if work.to_review else ""
    if not work.asked:
        return f"*The agent* had no jobs. `/docs-agent` starts one.{waits}"
    by_state = {state: count for state, count in work.by_state.items() if state in _STATE_NAMES and count}
    parts = [counted(by_state[state], *words) for state, words in _STATE_NAMES.items() if state in by_state]
    rest = work.asked - sum(by_state.values())
    parts += [f"{number(rest)} open or ended otherwise"] if rest > 0 else []
    took = f" Median time: {duration(work.median_time)}." if work.median_time is not None else ""
    asked = counted(work.asked, "job was asked for", "jobs were asked for")
    return f"*The agent*: {asked}: {', '.join(parts)}.{took}{waits}"


def suggested(suggestion: Suggestion) -> str:
    """Return one line about the suggested page, with the reason."""
    page = suggestion.page
    why = {
        SuggestionReason.FALLING: f"lost readers: {page_gain(page)}",
        SuggestionReason.ONLY_AI: "is read by AI agents, but hardly by people",
        SuggestionReason.MOST_READ: "is the most read page that no job has named lately",
    }[suggestion.why]
    return f"*Worth improving*: {b.code(shown_path(page.path))} {why}. It had {page_numbers(page.now)}."


def _improve(suggestion: Suggestion | None) -> list[Block]:
    if suggestion is None:
        return []
    return [b.button("Improve this page", "improve_page", f"page:{suggestion.page.key}", style="primary")]


def footer(subscription: Subscription) -> str:
    """Return when the digest is posted, and the command that changes it."""
    return f"{when(subscription.weekly)} · `/docs-visitors subscriptions`"


def when(weekly: WeeklyTime) -> str:
    """Return a weekly time such as "Every Monday at 09:00 (Europe/Berlin)"."""
    return f"Every {weekday_name(weekly.weekday)} at {clock(weekly.at)} ({b.escape(weekly.zone)})"


_MOST_LISTED = 15
_SHORT_LENGTH = 200


def first_post(
    subscription: Subscription,
    run_at: datetime,
    week: Period,
    *,
    newer_at: datetime | None = None,
    counted_in: str = "UTC",
    shown: Project | None = None,
) -> Message:
    """Return the first post of a subscription, which proves that the bot can post in the channel.

    ``counted_in``: the time zone of the analytics days. ``newer_at``: set if the week ends later in that zone
    than in the subscription's; the moment from which a digest is about the newer week. ``shown``: see
    ``Projects.shown``.
    """
    wait = ""
    if newer_at:
        over = _local_time(newer_at, subscription)
        wait = f": the week after that isn't over before {over}, since days begin in {b.escape(counted_in)}"
    return b.words(
        f"{when(subscription.weekly)} this channel gets a digest of who read {_docs(shown)}"
        f"{_section_words(subscription)}, set up by {b.mention(subscription.owner)}. "
        f"The first comes {_local_time(run_at, subscription)}, about {dates(week)}{wait}. "
        f"{_command('subscribe', subscription, shown)} changes the time, "
        f"{_command('unsubscribe', subscription, shown)} ends it."
    )


def subscribing(
    weekday: Weekday,
    at: time,
    zone: str | None,
    section: str | None,
    *,
    changes: bool = False,
    shown: Project | None = None,
) -> Message:
    """Return the immediate answer to a subscription, before the first post has succeeded."""
    where = _of(None, shown) + (f", for pages under {shown_code(section)}" if section else "")
    there = _short(zone) if zone else "your time zone"
    begin = "Changed: from now on the digest comes every" if changes else "The digest will come every"
    failing = "" if changes else " If that fails, I'll tell you, and nothing is set up."
    return b.words(
        f"{begin} {weekday_name(weekday)} at {clock(at)} ({there}){where}. "
        f"I'm posting to the channel once now, to be sure that I can.{failing}"
    )


def already_subscribed(subscription: Subscription, shown: Project | None = None) -> Message:
    """Return the answer to a subscription that there is already."""
    return b.words(
        f"That's already set up: {when(subscription.weekly)}"
        f"{_of(None, shown)}{_section_words(subscription)}. "
        "`/docs-visitors subscriptions` shows the next runs."
    )


def digest_again(section: str | None, shown: Project | None = None) -> Message:
    """Return the question whether a digest is to be sent once more."""
    where, prefix = _of(section, shown), f"project:{shown.name}" if shown else "section"
    return b.with_buttons(
        f"This channel asked for the digest{where} a moment ago. Send it again?",
        [b.button("Send again", "digest_again", f"{prefix}:{section or ''}")],
    )


def cannot_subscribe(meaning: Refusal, code: str, bot_name: str) -> Message:
    """Return the answer if Slack refused the first post. ``code`` is Slack's error code."""
    way = refusal_way(meaning, code, bot_name, "subscribe again")
    return b.words(f":no_entry: The digest wasn't set up. {way}")


def paused(subscription: Subscription, code: str, shown: Project | None = None) -> Message:
    """Return the notice to the owner, sent once, that Slack refuses posts in the channel for good.

    ``code`` is Slack's error code.
    """
    weekly = subscription.weekly
    again = f"subscribe {weekday_name(weekly.weekday).lower()} {clock(weekly.at)} {weekly.zone}"
    return b.words(
        f":double_vertical_bar: The weekly {_named(shown)} for <#{subscription.channel}> is paused: "
        f"Slack didn't let me post there (`{_short(code)}`). "
        f"Once that's fixed, send {_command(again, subscription, shown)} in the channel "
        "to start it again."
    )


def missed(subscription: Subscription, week: Period, why: str, shown: Project | None = None) -> Message:
    """Return the notice to the owner that this week has no digest, or no week if the project has gone."""
    if why == ReadingProblem.NOT_SERVED:
        return b.words(
            f":zzz: The weekly {_named(shown)} for <#{subscription.channel}> has ended: these docs are no "
            "longer set up here. Ask whoever runs this bot to check `DOCS_PROJECTS`, then subscribe again."
        )
    return b.words(
        f":warning: There was no {_named(shown)} for <#{subscription.channel}> for the week {dates(week)}. "
        f"Its numbers are missing: {_short(reading_problem(why))}. The next one comes as planned. "
        f"{_command('digest now', subscription, shown)} tries this one again."
    )


def not_posted(subscription: Subscription, code: str, shown: Project | None = None) -> Message:
    """Return the notice to the owner that Slack refused a digest for a reason that an operator has to mend.

    ``code`` is Slack's error code.
    """
    return b.words(
        f":warning: The weekly {_named(shown)} for <#{subscription.channel}> couldn't be posted: "
        f"Slack refused it (`{_short(code)}`). The next one comes as planned. "
        f"{_command('digest now', subscription, shown)} posts this one."
    )


def digest_coming(section: str | None, shown: Project | None = None) -> Message:
    """Return the immediate answer to ``digest now``."""
    where = _of(section, shown)
    return b.words(
        f"The digest of last week{where} is on its way to this channel. "
        "If that takes longer than ten minutes, I'll post what there is, or tell you why there is none."
    )


def digest_failed(week: Period, why: str, shown: Project | None = None) -> Message:
    """Return the notice to the user of ``digest now`` that there is no digest."""
    return b.words(
        f":warning: There is no digest{_of(None, shown)} for the week {dates(week)}. "
        f"Its numbers are missing: {_short(reading_problem(why))}. Try again later."
    )


def unsubscribed(count: int, left: int = 0) -> Message:
    """Return the answer to ``unsubscribe``: ``count`` subscriptions ended, ``left`` remain."""
    if count == 0:
        return b.words("This channel has no such digest. `/docs-visitors subscriptions` lists those it has.")
    if left:
        still = counted(left, "other", "others")
        return b.words(
            f":white_check_mark: That digest is ended. This channel still gets {still}: "
            "`/docs-visitors subscriptions`."
        )
    return b.words(":white_check_mark: This channel no longer gets a digest.")


def listed(subscriptions: Sequence[Subscription], now: datetime, projects: Projects | None = None) -> Message:
    """Return the list of a channel's subscriptions, with the next three runs and the last result."""
    if not subscriptions:
        return b.words(
            "This channel has no digest yet. `/docs-visitors subscribe monday 09:00` sets one up, "
            "in your own time zone unless you name another."
        )
    described = [
        _described(each, now, projects.shown(each.project) if projects else None)
        for each in subscriptions[:_MOST_LISTED]
    ]
    # Slack refuses a message that is too long, so show as many as fit into one.
    for count in range(len(described), 0, -1):
        more = [f"… and {len(subscriptions) - count} more."] if len(subscriptions) > count else []
        message = b.words("\n\n".join([*described[:count], *more]))
        if b.fits(message):
            break
    return message


def _described(subscription: Subscription, now: datetime, shown: Project | None) -> str:
    about = f"{_of(None, shown)}{_section_words(subscription)}"
    lines = [f"*{when(subscription.weekly)}*{about}, by {b.mention(subscription.owner)}"]
    match subscription.state:
        case SubscriptionState.ACTIVE:
            # If the time was changed after this week's digest, the next run is a week later.
            begin = max(now, (subscription.next_run_at or now) - timedelta(seconds=1))
            runs = subscription.weekly.next_few(begin, 3)
            lines.append(f"Next: {', '.join(_local_time(run, subscription) for run in runs)}")
        case SubscriptionState.PAUSED:
            why = "Slack didn't let me post here. Subscribing to it as before starts it again."
            lines.append(f":double_vertical_bar: Paused, because {why}")
        case _:
            lines.append("The first post is on its way.")
    at = f" ({b.moment(subscription.last_run_at)})" if subscription.last_run_at else ""
    # A stored code is told in words.
    how, _, why = (subscription.last_result or "none yet").partition(": ")
    lines.append(f"Last: {_short(f'{how}: {reading_problem(why)}' if why else how)}{at}")
    return "\n".join(lines)


def _short(text: str) -> str:
    return b.quoted(text, _SHORT_LENGTH)


def _docs(shown: Project | None) -> str:
    return f"the docs ({b.label(shown.label)})" if shown else "the docs"


def _named(shown: Project | None) -> str:
    return f"digest of {b.label(shown.label)}" if shown else "docs digest"


def _of(section: str | None, shown: Project | None) -> str:
    parts = [part for part in (shown and b.label(shown.label), shown_code(section)) if part]
    return f" for {', '.join(parts)}" if parts else ""


def _command(verb: str, subscription: Subscription, shown: Project | None) -> str:
    """Return the command that applies ``verb`` to this subscription and no other of the channel."""
    project = f" project:{shown.name}" if shown else ""
    section = f" path {subscription.section}" if subscription.section else ""
    return b.code(f"/docs-visitors {verb}{project}{section}")


def _section_words(subscription: Subscription) -> str:
    return f", for pages under {shown_code(subscription.section)}" if subscription.section else ""


def _local_time(run: datetime, subscription: Subscription) -> str:
    """Return a moment in the subscription's own time zone, because the user chose it."""
    zone = ZoneInfo(subscription.weekly.zone)
    return run.astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")

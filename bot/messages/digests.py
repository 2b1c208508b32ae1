"""The weekly digest, and messages about subscriptions to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.ids import ChannelId, Message, QuestionId
from bot.messages import blocks as b
from bot.messages.face import lasted
from bot.messages.numbers import (
    clock,
    counted,
    dates,
    day,
    number,
    shown_path,
    visitors_chart,
)
from bot.messages.numbers import weekday as weekday_name
from bot.messages.plain_text import one_line
from bot.messages.problems import reading_problem, refusal
from bot.messages.to_review import in_digest
from bot.messages.visitors import (
    improve_menu,
    more_button,
    movements,
    named_pages,
    no_visits,
    page_lines,
    shown_code,
    totals,
    with_fitting_pages,
)
from bot.messages.visitors_notes import caveats, source_note
from bot.messages.worth import notes, worth_doing
from bot.model.jobs import JobState
from bot.model.questions import (
    Subscription,
    SubscriptionState,
    Weekday,
    WeeklyReport,
    WeeklyTime,
    WorkDone,
)
from bot.model.visitors import Period, ReadingProblem
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects

_TITLE_LENGTH = 30
_MOVED = 2
"""The most pages that a line about movements names here. *More* has the rest."""
_STATE_NAMES = {
    JobState.PULL_REQUEST: ("pull request", "pull requests"),
    JobState.NO_PULL_REQUEST: ("without a pull request", "without a pull request"),
    JobState.FAILED: ("failed", "failed"),
}


def digest(weekly: WeeklyReport, question: QuestionId) -> Message:
    """Return the digest, with as many pages as fit into one message. *More* shows the rest."""
    return with_fitting_pages(weekly.report, lambda fewer: _digest(replace(weekly, report=fewer), question))


def _digest(weekly: WeeklyReport, question: QuestionId) -> Message:
    answer = weekly.report
    against = ", compared with the week before" if answer.is_fair else ""
    docs = b.label(answer.query.label) if answer.query.label else "The docs"
    work = worth_doing(weekly, question)
    title = f"*{docs} in the week {dates(answer.query.period)}*{against}"
    heading = b.section(f"{title}\nWorth doing this week:" if work else title)
    curve = [(week, counts) for week, counts in weekly.curve if counts is not None]
    nothing = no_visits(answer)
    moved = " · ".join(movements(answer.movements, _MOVED))
    lines = [*filter(None, [moved]), work_done(weekly.work)]
    small = [" ".join([*notes(weekly), *_curve_gap(len(curve), len(weekly.curve))])]
    small += [*([] if nothing else caveats(answer)), source_note(answer)]
    small += [footer(weekly.subscription)] if weekly.subscription else []
    more = [] if nothing else [more_button(question)]
    readers = (
        b.section(nothing or f"*Readers*: {totals(answer)}"),
        *([visitors_chart(curve)] if len(curve) > 1 else []),
        *([] if nothing else b.plain("\n".join(page_lines(answer)))),
        *b.plain("\n".join(lines)),
        *b.actions([*more, *improve_menu(named_pages(answer))]),
        b.context(*small),
    )
    whole, rest = b.message(heading, *work, *readers), b.message(*readers)
    return replace(whole, plain_blocks=(heading, *work, *rest.plain_blocks))


def _curve_gap(known: int, total: int) -> list[str]:
    if known < 2:
        return ["There is no curve yet: too few weeks are known."]
    weeks = counted(total - known, "week that has", "weeks that have")
    return [f"The curve leaves out {weeks} not been read yet."] if known < total else []


def work_done(work: WorkDone) -> str:
    """Return one line about the week's jobs, by their current states, and those that wait for review."""
    return "\n".join([_asked(work), *(in_digest(work.to_review) if work.to_review else [])])


def _asked(work: WorkDone) -> str:
    if not work.asked:
        return "*The agent* had no jobs that week. `/docs-agent` starts one."
    by_state = {state: count for state, count in work.by_state.items() if state in _STATE_NAMES and count}
    parts = [counted(by_state[state], *words) for state, words in _STATE_NAMES.items() if state in by_state]
    rest = work.asked - sum(by_state.values())
    parts += [f"{number(rest)} open or ended otherwise"] if rest > 0 else []
    took = f" Median time: {lasted(work.median_time)}." if work.median_time is not None else ""
    asked = counted(work.asked, "job was asked for", "jobs were asked for")
    return f"*The agent*: {asked}: {', '.join(parts)}.{took}"


def footer(subscription: Subscription) -> str:
    """Return when the digest is posted, and the command that changes it."""
    return f"{when(subscription.weekly)} · `/docs-visitors subscriptions`"


def when(weekly: WeeklyTime) -> str:
    """Return a weekly time such as "Every Monday at 09:00 (Berlin)"."""
    return f"Every {_day_and_time(weekly.weekday, weekly.at, weekly.zone)}"


def _day_and_time(weekday: Weekday, at: time, zone: str) -> str:
    city = zone.rpartition("/")[2].replace("_", " ")
    return f"{weekday_name(weekday)} at {clock(at)} ({_short(city)})"


_MOST_LISTED = 15
_MOST_ASKED = 100
_SHORT_LENGTH = 200
_LABEL_LENGTH = 20


def first_post(
    subscription: Subscription,
    run_at: datetime,
    week: Period,
    *,
    now: datetime,
    shown: Project | None = None,
) -> Message:
    """Return the first post of a subscription, which proves that the bot can post in the channel.

    ``shown``: see ``Projects.shown``.
    """
    return b.words(
        f"{when(subscription.weekly)} this channel gets a digest of who read {_docs(shown)}"
        f"{_section_words(subscription)}, set up by {b.mention(subscription.owner)}. "
        f"The first comes {_soon(run_at, now, subscription)} and covers {dates(week, year=False)}. "
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
    there = _day_and_time(weekday, at, zone or "your time zone")
    return b.words(f"{'Changing to' if changes else 'Setting up'} a digest every {there}{where}…")


def already_subscribed(subscription: Subscription, shown: Project | None = None) -> Message:
    """Return the answer to a subscription that there is already."""
    return b.words(
        f"This channel already gets a digest e{when(subscription.weekly)[1:]}"
        f"{_of(None, shown)}{_section_words(subscription)}."
    )


def digest_again(section: str | None, shown: Project | None = None) -> Message:
    """Return the answer to ``digest now`` a moment after another one."""
    return b.words(f"This channel asked for the digest{_of(section, shown)} a moment ago. I send it once.")


def cannot_subscribe(refused: NotPosted, bot_name: str) -> Message:
    """Return the answer if Slack refused the first post."""
    where, why = b.channel(refused.channel), refusal(refused, bot_name)
    return b.words(f":no_entry: The digest for {where} wasn't set up: {why}")


def paused(
    subscription: Subscription, refused: NotPosted, bot_name: str, shown: Project | None = None
) -> Message:
    """Return the notice to the owner, sent once, that Slack refuses posts in the channel for good."""
    weekly = subscription.weekly
    again = f"subscribe {weekday_name(weekly.weekday).lower()} {clock(weekly.at)} {weekly.zone}"
    return b.words(
        f":double_vertical_bar: The weekly {_named(shown)} for <#{subscription.channel}> is paused: "
        f"{refusal(refused, bot_name)} {_command(again, subscription, shown)} starts it again there."
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


def not_posted(
    subscription: Subscription, refused: NotPosted, bot_name: str, shown: Project | None = None
) -> Message:
    """Return the notice to the owner that Slack refused a digest until an operator mends the token."""
    return b.words(
        f":warning: The weekly {_named(shown)} for <#{subscription.channel}> couldn't be posted: "
        f"{refusal(refused, bot_name)} The next one comes as planned. "
        f"{_command('digest now', subscription, shown)} posts this one."
    )


def digest_coming(section: str | None, shown: Project | None = None) -> Message:
    """Return the immediate answer to ``digest now``."""
    where = _of(section, shown)
    return b.words(
        f"The digest of last week{where} is on its way to this channel. "
        "If that takes longer than ten minutes, I'll post what there is, or tell you why there is none."
    )


def digest_failed(channel: ChannelId, week: Period, why: str, shown: Project | None = None) -> Message:
    """Return the notice to the user of ``digest now`` in a channel that there is no digest."""
    where = f"{_of(None, shown)} in {b.channel(channel)}"
    return b.words(
        f":warning: There is no digest{where} for the week {dates(week)}. "
        f"Its numbers are missing: {_short(reading_problem(why))}. Try again later."
    )


def unsubscribed(count: int, left: int = 0) -> Message:
    """Return the answer to ``unsubscribe``: ``count`` subscriptions ended, ``left`` remain."""
    if count == 0 and not left:
        return b.words("This channel gets no digest. `/docs-visitors subscribe` starts one.")
    if count == 0:
        return b.words("This channel has no such digest. `/docs-visitors subscriptions` lists those it has.")
    if left:
        still = counted(left, "other", "others")
        ended = "That digest is ended" if count == 1 else "Those digests are ended"
        return b.words(
            f":white_check_mark: {ended}. This channel still gets {still}: `/docs-visitors subscriptions`."
        )
    return b.words(":white_check_mark: This channel no longer gets a digest.")


def which_to_end(subscriptions: Sequence[Subscription], projects: Projects) -> Message:
    """Return the question which of several subscriptions is to end, with a menu of them."""
    options = [
        (_about(each, projects.shown(each.project)), str(each.id)) for each in subscriptions[:_MOST_ASKED]
    ]
    return b.with_buttons(
        f"This channel gets {number(len(subscriptions))} digests. Which one ends?",
        [b.menu("End a digest…", b.Action.UNSUBSCRIBE, options)],
    )


def _about(subscription: Subscription, shown: Project | None) -> str:
    """Return what a digest is about, not escaped, for a menu."""
    section = shown_path(subscription.section, _TITLE_LENGTH) if subscription.section else "Whole site"
    return f"{one_line(shown.label, _LABEL_LENGTH)}, {section}" if shown else section


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
    # To unsubscribe without a path asks which one.
    section = f" path {subscription.section or '/'}" if subscription.section or verb == "unsubscribe" else ""
    return b.code(f"/docs-visitors {verb}{project}{section}")


def _section_words(subscription: Subscription) -> str:
    return f", for pages under {shown_code(subscription.section)}" if subscription.section else ""


def _local_time(run: datetime, subscription: Subscription) -> str:
    """Return a moment in the subscription's own time zone, because the user chose it."""
    local = run.astimezone(ZoneInfo(subscription.weekly.zone))
    return f"{day(local.date(), year=False)} {clock(local.time())}"


def _soon(run: datetime, now: datetime, subscription: Subscription) -> str:
    """Return a moment in the subscription's own time zone as "today at 09:00" or "on 30 Nov at 09:00"."""
    local, today = (each.astimezone(ZoneInfo(subscription.weekly.zone)) for each in (run, now))
    on = "today" if local.date() == today.date() else f"on {day(local.date(), year=False)}"
    return f"{on} at {clock(local.time())}"

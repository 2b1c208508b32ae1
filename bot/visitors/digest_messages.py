"""Messages of the weekly digest and of subscriptions to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.ids import Block, Message, QuestionId, Recommendation
from bot.jobs.messages.problems import refusal
from bot.jobs.messages.status_message import lasted, name
from bot.jobs.model.jobs import Review, ToReview, TrackedJob
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.plain_text import one_line
from bot.outbox.model import NotPosted
from bot.projects import Project, Projects
from bot.visitors.gap_messages import draft_button, unread_sources
from bot.visitors.messages import (
    UNIQUE,
    caveats,
    compare_total,
    in_brackets,
    no_visits,
    path_code,
    problem_text,
    reading_problem,
    shown_path,
)
from bot.visitors.model import (
    Counts,
    Digest,
    Outcome,
    Question,
    ReadingProblem,
    Report,
    Subscription,
    SubscriptionChange,
    SubscriptionState,
)
from bot.visitors.periods import Period, WeeklyTime, short_day

_TITLE_LENGTH, _PATH_LENGTH, _QUOTE_LENGTH, _RESULT_LENGTH = 60, 40, 60, 200
_MOST_LISTED, _MOST_IDEAS = 15, 20
_REVIEW_PAGE = "0 review "
"""The value of a button that lists the jobs to review."""


def digest(digest: Digest, question: QuestionId) -> Message:
    """Return the digest. ``question``: the question that its buttons name."""
    report = digest.report
    query, nothing = report.query, no_visits(report)
    section = f", pages under {path_code(query.section)}" if query.section else ""
    docs = f"Your docs ({b.label(query.label)})" if query.label else "Your docs"
    asked = digest.asked or {}
    rows = [_recommended(item, question, asked.get(item.key)) for item in digest.recommendations]
    moved = [] if nothing else [_movements(report)]
    ideas = [
        b.button(counted(digest.more, "more idea", "more ideas"), b.Action.IDEAS, str(question))
    ]
    buttons = [b.button("All numbers", b.Action.ALL_NUMBERS, str(question))]
    offered = [item for item in digest.gap_readings if item.problem != ReadingProblem.NOT_HERE]
    next_at = digest.next_at
    then = f"next one {next_at:%a} {short_day(next_at.date())}, {next_at:%H:%M}" if next_at else ""
    unique = " · ".join(filter(None, [UNIQUE, then]))
    notes = [*unread_sources(offered), *([] if nothing else caveats(report, has_chart=False))]
    made = b.message(
        b.section(f"*{docs}, {query.period.short}*{section}\n{nothing or _readers(report)}"),
        *b.text_blocks("\n".join(map(_outcome_line, digest.outcomes))),
        *rows,
        *b.text_blocks("\n".join(filter(None, moved))),
        *_review(digest.to_review),
        *b.actions([*([] if nothing else buttons), *(ideas if digest.more else [])]),
        b.context(*notes, unique),
    )
    # The last line stays: that the numbers are approximate.
    text = made.text.removesuffix(f"\n{unique}")
    return replace(
        made, text=f"{b.clip_bytes(text, b.TEXT_BYTES - len(unique.encode()) - 1)}\n{unique}"
    )


def _readers(report: Report) -> str:
    site = "Whole site: " if report.query.section else ""
    total = counted(report.site.total, "reader", "readers")
    return f"{site}{total}{compare_total(report)} · {_agents(report.site)}"


def _agents(site: Counts) -> str:
    tenths = min(10, round(10 * site.ai / site.total)) if site.total else 0
    if tenths in (0, 10):
        return (
            "nearly all are AI agents" if tenths else "few AI agents" if site.ai else "no AI agents"
        )
    return f"{tenths} in 10 are AI agents"


def _outcome_line(outcome: Outcome) -> str:
    job = outcome.job
    title = b.link(
        job.pr_link, one_line(job.about.title, _TITLE_LENGTH) if job.about else name(job.number)
    )
    change = f" · {outcome.change}" if outcome.change else ""
    ended = "Merged" if job.review is Review.MERGED else "Reviewed"
    return f"*{ended} since*: {title}{change}"


def _recommended(
    item: Recommendation, question: QuestionId, asked: tuple[TrackedJob, str | None] | None = None
) -> Block:
    is_page, title = item.is_page, f"“{b.quoted(item.title, _TITLE_LENGTH)}”"
    row = f"*{b.quoted(item.heading, _TITLE_LENGTH)}* {_path(item.title) if is_page else title}"
    if asked:
        job, address = asked
        person, link = b.mention(job.requester), b.link(address, name(job.number))
        return b.section(f"{row} · :pencil2: {person} asked for it · {link}")
    quote = f": “{b.quoted(item.quote, _QUOTE_LENGTH)}”" if item.quote else ""
    button = draft_button(question, item.key, is_page=is_page)
    return {
        **b.section(f"{row} · {b.quoted(item.evidence, _RESULT_LENGTH)}{quote}"),
        "accessory": button,
    }


def _path(path: str) -> str:
    return b.code(shown_path(path, _PATH_LENGTH))


def _movements(report: Report) -> str:
    """Return the page that rose most, the one that fell most, and the newest, in one line."""
    groups = (("Up", report.risen), ("Down", report.fallen), ("New", report.appeared))
    parts = []
    for label, pages in groups:
        for page in pages[:1]:
            was = f"{page.was.total:,} → " if page.was and page.was.total else ""
            parts.append(f"*{label}* {_path(page.path)} {was}{page.now.total:,}")
    return "   ".join(parts)


def _review(waiting: ToReview) -> list[Block]:
    """Return the line about the pull requests to review, each with its requester."""
    for job in waiting.jobs[:1]:
        title = one_line(job.pull_request.title if job.pull_request else job.text, _TITLE_LENGTH)
        since = (
            job.pull_request.since if job.pull_request and job.sees_pull_request else job.ended_at
        )
        age = lasted(waiting.at - since) if since else "a while"
        oldest = f"{b.link(job.pr_link, title)} ({b.mention(job.recipient)}, {age})"
        count = waiting.more + len(waiting.jobs)
        line = f"*Waiting for review: {number(count)}*, {'the oldest is ' if count > 1 else ''}{oldest}"
        see_all = b.button("See all", b.Action.SEE_REVIEWS, f"{_REVIEW_PAGE}{job.channel}")
        return [{**b.section(line), "accessory": see_all} if count > 1 else b.section(line)]
    return []


def ideas_view(ideas: Sequence[Recommendation], question: QuestionId, *, private: str) -> Block:
    """Return the view with the recommendations for which the digest had no room."""
    rows = [_recommended(item, question) for item in ideas[:_MOST_IDEAS]]
    return {
        "type": "modal",
        "callback_id": "ideas",
        "title": b.plain_text("More ideas"),
        "close": b.plain_text("Close"),
        "private_metadata": private,
        "blocks": rows or [b.section("There are no more ideas: jobs for the others have begun.")],
    }


def answer_undelivered(refused: NotPosted, bot_name: str, *, is_file: bool) -> Message:
    """Return the notice that Slack refused a post in a channel, or a file in direct messages."""
    action = "send you the file" if is_file else f"post the answer in {b.channel(refused.channel)}"
    return b.words(f":no_entry: I couldn't {action}: {refusal(refused, bot_name)}")


# ---- subscriptions


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
    return f"{weekly}{_scope(None, project)}{_pages_under(subscription.section)}"


def paused(
    subscription: Subscription, post: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses posts in the channel for good."""
    return b.words(
        f":double_vertical_bar: The weekly {_named(project)} for {b.channel(subscription.channel)} is paused"
        f": {refusal(post, bot_name)} `/docs-visitors resume` starts it again there."
    )


def not_posted(
    subscription: Subscription, refused: NotPosted, bot_name: str, project: Project | None
) -> Message:
    """Return the notice to the owner that Slack refuses digests until an operator mends the token."""
    scope = f" project:{project.name}" if project else ""
    scope += f" path {subscription.section}" if subscription.section else ""
    return b.words(
        f":warning: The weekly {_named(project)} for {b.channel(subscription.channel)} couldn't be posted: "
        f"{refusal(refused, bot_name)} The next one comes as planned. "
        f"{b.code(f'/docs-visitors digest now{scope}')} posts this one."
    )


def missed(question: Question, week: Period, reason: str, project: Project | None) -> Message:
    """Return the notice to the owner of a subscription, or to the requester, that there is no digest."""
    where = b.channel(question.channel)
    if question.is_weekly and reason == ReadingProblem.NOT_SERVED:
        return b.words(
            f":zzz: The weekly {_named(project)} for {where} has ended: these docs are no "
            "longer set up here. Ask your bot admin to check `DOCS_PROJECTS`, then subscribe again."
        )
    then = "The next one comes as planned." if question.is_weekly else "Try again later."
    return b.words(
        f":warning: There was no {_named(project)} for {where} for the week {week}. "
        f"Its numbers are missing: {reading_problem(reason)}. {then}"
    )


def digest_coming(section: str | None, project: Project | None) -> Message:
    return b.words(f"Posting last week's digest{_scope(section, project)} here…")


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
    scope = f"{_scope(None, project)}{_pages_under(subscription.section)}"
    lines = [f"*{when(weekly)}*{scope}, by {b.mention(subscription.owner)}"]
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


def _named(project: Project | None) -> str:
    return f"digest of {b.label(project.label)}" if project else "docs digest"


def _scope(section: str | None, project: Project | None) -> str:
    parts = [
        *([b.label(project.label)] if project else []),
        *([path_code(section)] if section else []),
    ]
    return f" for {', '.join(parts)}" if parts else ""

"""Messages of the weekly digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.ids import Block, Message, QuestionId, Recommendation
from bot.jobs.messages.problems import refusal
from bot.jobs.messages.status_message import lasted, name
from bot.jobs.model.jobs import Review, ToReview, TrackedJob
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.plain_text import one_line
from bot.outbox.model import NotPosted
from bot.projects import Project
from bot.visitors.messages.answers import UNIQUE, caveats, compare_total, no_visits
from bot.visitors.messages.gaps import draft_button, unread_sources
from bot.visitors.messages.numbers import path_code, shown_path
from bot.visitors.messages.reasons import reading_problem
from bot.visitors.messages.subscriptions import named, scope
from bot.visitors.model.digests import Digest, Outcome
from bot.visitors.model.periods import Period, short_day
from bot.visitors.model.questions import Question
from bot.visitors.model.readings import Counts, ReadingProblem
from bot.visitors.model.reports import Report

_TITLE_LENGTH = 60
_PATH_LENGTH = 40
_QUOTE_LENGTH = 60
_RESULT_LENGTH = 200
_MOST_IDEAS = 20
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
        made, text=f"{b.clip_bytes(text, b.EDITED_BYTES - len(unique.encode()) - 1)}\n{unique}"
    )


def _readers(report: Report) -> str:
    site = "Whole site: " if report.query.section else ""
    total = counted(report.site.total, "reader", "readers")
    so_far = " so far" if report.is_open else ""
    return f"{site}{total}{so_far}{compare_total(report)} · {_agents(report.site)}"


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
    """Return the line about the pull requests to review, for the reviewers or the requester."""
    for job in waiting.jobs[:1]:
        title = one_line(job.pull_request.title if job.pull_request else job.text, _TITLE_LENGTH)
        since = (
            job.pull_request.since if job.pull_request and job.sees_pull_request else job.ended_at
        )
        age = lasted(waiting.at - since) if since else "a while"
        whom = f" for {b.mention_all(waiting.reviewers)}" if waiting.reviewers else ""
        asker = "" if waiting.reviewers else f"{b.mention(job.recipient)}, "
        oldest = f"{b.link(job.pr_link, title)} ({asker}{age})"
        count = waiting.more + len(waiting.jobs)
        line = f"*Waiting for review: {number(count)}*{whom}, {'the oldest is ' if count > 1 else ''}{oldest}"
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


def missed(question: Question, week: Period, reason: str, project: Project | None) -> Message:
    """Return the notice to the owner of a subscription, or to the requester, that there is no digest."""
    where = b.channel(question.channel)
    if question.is_weekly and reason == ReadingProblem.NOT_SERVED:
        return b.words(
            f":zzz: The weekly {named(project)} for {where} has ended: these docs are no "
            "longer set up here. Ask your bot admin to check `DOCS_PROJECTS`, then subscribe again."
        )
    then = "The next one comes as planned." if question.is_weekly else "Try again later."
    return b.words(
        f":warning: There was no {named(project)} for {where} for the week {week}. "
        f"Its numbers are missing: {reading_problem(reason)}. {then}"
    )


def digest_coming(section: str | None, project: Project | None) -> Message:
    return b.words(f"Posting last week's digest{scope(section, project)} here…")


def digest_requested_before(link: str | None) -> Message:
    """Return the answer to a second request within a minute.

    ``link``: the address of the first digest; None until it is posted.
    """
    if link is None:
        return b.words("That digest is on its way already.")
    return b.words(
        f"{b.link(link, 'That digest')} came just now. Ask again in a minute for a new one."
    )

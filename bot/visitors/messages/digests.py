"""Messages of the weekly digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.ids import Block, Message, QuestionId
from bot.jobs.messages.problems import refusal
from bot.jobs.messages.status_message import format_duration, name
from bot.jobs.model.jobs import Review, ToReview, TrackedJob
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.plain_text import one_line
from bot.outbox.model import NotPosted
from bot.projects import Project
from bot.visitors.messages.answers import UNIQUE_NOTE, compare_total, list_caveats, no_visits
from bot.visitors.messages.gaps import draft_button
from bot.visitors.messages.numbers import path_code, shown_path, views_line
from bot.visitors.messages.reasons import not_read, unread_sources
from bot.visitors.messages.subscriptions import format_docs_name, format_scope
from bot.visitors.model.digests import Digest, Outcome, Recommendation
from bot.visitors.model.gaps import Source
from bot.visitors.model.periods import short_day
from bot.visitors.model.questions import Question
from bot.visitors.model.readings import Counts, ReadingProblem
from bot.visitors.model.reports import Report

_MAX_TITLE_CHARACTERS = 60
_MAX_PATH_CHARACTERS = 40
_MAX_QUOTE_CHARACTERS = 60
_MAX_EVIDENCE_CHARACTERS = 200
_MAX_IDEAS = 20
_REVIEW_PAGE = "0 review "
"""The value of a button that lists the jobs to review."""


# ---- the digest


def digest(digest: Digest, question: QuestionId) -> Message:
    """Return the digest. ``question``: the question that its buttons name."""
    asked = digest.asked or {}
    made = b.message(
        b.section(f"{_format_title(digest)}\n{_format_readers(digest)}"),
        *b.text_blocks("\n".join(map(_format_outcome_line, digest.outcomes))),
        *(
            _build_recommendation(item, question, asked.get(item.key))
            for item in digest.recommendations
        ),
        *b.text_blocks(_format_movements(digest.report)),
        *_build_review_line(digest.to_review),
        *b.actions(_build_buttons(digest, question)),
        b.context(*_format_limits(digest), _format_last_line(digest)),
    )
    # The last line is never clipped: it names the numbers as approximate.
    last = _format_last_line(digest)
    text = made.text.removesuffix(f"\n{last}")
    room = b.TEXT_BYTES - len(last.encode()) - 1
    return replace(made, text=f"{b.clip_bytes(text, room)}\n{last}")


def _format_title(digest: Digest) -> str:
    query = digest.query
    docs = f"Your docs ({b.label(query.label)})" if query.label else "Your docs"
    section = f", pages under {path_code(query.section)}" if query.section else ""
    return f"*{docs}, {query.period.short}*{section}"


def _format_readers(digest: Digest) -> str:
    """Return the line about the readers.

    Their numbers, that there were none, or why they are missing.
    """
    report = digest.report
    if report is None:
        problems = [one.problem for one in digest.unread_readings if one.source is Source.VISITORS]
        return not_read("Readers", next(filter(None, problems), ReadingProblem.LATE))
    nothing = no_visits(report)
    if nothing:
        return nothing
    section = report.query.section
    site = "Whole site: " if section else ""
    total = counted(report.site.total, "reader", "readers")
    so_far = " so far" if report.is_open else ""
    readers = f"{site}{total}{so_far}{compare_total(report)} · {_format_agents(report.site)}"
    if section is None or report.views is None:
        return readers
    return f"{readers}\n{views_line(section, report.views)}"


def _format_agents(site: Counts) -> str:
    tenths = min(10, round(10 * site.ai / site.total)) if site.total else 0
    if tenths == 10:
        return "nearly all are AI agents"
    if tenths:
        return f"{tenths} in 10 are AI agents"
    return "few AI agents" if site.ai else "no AI agents"


def _format_outcome_line(outcome: Outcome) -> str:
    job = outcome.job
    title = one_line(job.gap.title, _MAX_TITLE_CHARACTERS) if job.gap else name(job.number)
    ended = "Merged" if job.review is Review.MERGED else "Reviewed"
    change = f" · {outcome.change}" if outcome.change else ""
    return f"*{ended} since*: {b.link(job.pr_link, title)}{change}"


def _build_recommendation(
    item: Recommendation, question: QuestionId, asked: tuple[TrackedJob, str | None] | None = None
) -> Block:
    """Return the row of a recommendation.

    With its button or with the job that was asked for at it.
    """
    title = (
        _format_path(item.title)
        if item.is_page
        else f"“{b.quoted(item.title, _MAX_TITLE_CHARACTERS)}”"
    )
    row = f"*{b.quoted(item.heading, _MAX_TITLE_CHARACTERS)}* {title}"
    if asked:
        job, address = asked
        link = b.link(address, name(job.number))
        return b.section(f"{row} · :memo: {b.mention(job.requester)} asked for it · {link}")
    quote = f": “{b.quoted(item.quote, _MAX_QUOTE_CHARACTERS)}”" if item.quote else ""
    evidence = b.quoted(item.evidence, _MAX_EVIDENCE_CHARACTERS)
    return {
        **b.section(f"{row} · {evidence}{quote}"),
        "accessory": draft_button(question, item.key, is_page=item.is_page),
    }


def _format_path(path: str) -> str:
    return b.code(shown_path(path, _MAX_PATH_CHARACTERS))


def _format_movements(report: Report | None) -> str:
    """Return a line with the page that rose most, that fell most, and the newest page."""
    if report is None or no_visits(report):
        return ""
    groups = (("Up", report.risen_pages), ("Down", report.fallen_pages), ("New", report.new_pages))
    parts = []
    for label, pages in groups:
        for page in pages[:1]:
            was = f"{page.was.total:,} → " if page.was and page.was.total else ""
            parts.append(f"*{label}* {_format_path(page.path)} {was}{page.now.total:,}")
    return "   ".join(parts)


def _build_review_line(waiting: ToReview) -> list[Block]:
    """Return the line about the pull requests to review, with the oldest and its requester."""
    if not waiting.jobs:
        return []
    count = waiting.more + len(waiting.jobs)
    oldest = _format_oldest_to_review(waiting)
    if count == 1:
        return [b.section(f"*Waiting for review: 1*, {oldest}")]
    job = waiting.jobs[0]
    see_all = b.button("See all", b.Action.SEE_REVIEWS, f"{_REVIEW_PAGE}{job.channel}")
    line = f"*Waiting for review: {number(count)}*, the oldest is {oldest}"
    return [{**b.section(line), "accessory": see_all}]


def _format_oldest_to_review(waiting: ToReview) -> str:
    """Return the link to the oldest pull request, with its requester and its age."""
    job = waiting.jobs[0]
    seen = job.pull_request
    title = one_line(seen.title if seen else job.text, _MAX_TITLE_CHARACTERS)
    since = seen.reported_at if seen and job.sees_pull_request else job.ended_at
    age = format_duration(waiting.at - since) if since else "a while"
    return f"{b.link(job.pr_link, title)} ({b.mention(job.recipient)}, {age})"


def _build_buttons(digest: Digest, question: QuestionId) -> list[Block]:
    buttons = []
    if digest.report is not None and not no_visits(digest.report):
        buttons.append(b.button("All numbers", b.Action.ALL_NUMBERS, str(question)))
    if digest.more:
        label = counted(digest.more, "more idea", "more ideas")
        buttons.append(b.button(label, b.Action.IDEAS, str(question)))
    return buttons


def _format_limits(digest: Digest) -> list[str]:
    """Return the notes about missing parts of a digest.

    A source that the docs service does not offer is not missing.
    """
    gaps = [
        reading
        for reading in digest.unread_readings
        if reading.is_of_gaps and reading.problem != ReadingProblem.NOT_HERE
    ]
    report = digest.report
    notes = unread_sources(gaps)
    if report is not None and not no_visits(report):
        notes += list_caveats(report, is_digest=True)
    return notes


def _format_last_line(digest: Digest) -> str:
    """Return the line that stays in every form of a digest."""
    at = digest.next_at
    if at is None:
        return UNIQUE_NOTE
    return f"{UNIQUE_NOTE} · next one {at:%a} {short_day(at.date())}, {at:%H:%M}"


# ---- notes around a digest


def ideas_view(ideas: Sequence[Recommendation], question: QuestionId, *, private: str) -> Block:
    """Return the view with the recommendations for which the digest had no room."""
    rows = [_build_recommendation(item, question) for item in ideas[:_MAX_IDEAS]]
    if not rows:
        rows = [b.section("There are no more ideas: jobs for the others have begun.")]
    if len(ideas) > _MAX_IDEAS:
        rows.append(b.context(f"… and {len(ideas) - _MAX_IDEAS:,} more."))
    return {
        "type": "modal",
        "callback_id": "ideas",
        "title": b.plain_text("More ideas"),
        "close": b.plain_text("Close"),
        "private_metadata": private,
        "blocks": rows,
    }


def numbers_posted_before(link: str | None) -> Message:
    """Return the reply to a second press of *All numbers*. ``link``: None until they are posted."""
    if link is None:
        return b.words("All numbers are on their way into this digest's thread.")
    place = b.link(link, "in this digest's thread")
    return b.words(f"All numbers are {place}.")


def answer_undelivered(refused: NotPosted, bot_name: str, *, is_file: bool) -> Message:
    """Return the notice that Slack refused a post in a channel, or a file in direct messages."""
    action = "send you the file" if is_file else f"post the answer in {b.channel(refused.channel)}"
    return b.words(f":no_entry: I couldn't {action}: {refusal(refused, bot_name)}")


def digest_missed(question: Question, problem: str, project: Project | None) -> Message:
    """Return the notice that there is no digest.

    It goes to the owner of a subscription, or to the requester.
    """
    where = b.channel(question.channel)
    if question.is_weekly and problem == ReadingProblem.NOT_SERVED:
        return b.words(
            f":zzz: The weekly {format_docs_name(project)} for {where} has ended: these docs are no "
            "longer set up here. Ask your bot admin to check `DOCS_PROJECTS`, then subscribe again."
        )
    reason = not_read(f"The numbers of {question.query.period}", problem)
    then = "The next one comes as planned." if question.is_weekly else "Try again later."
    return b.words(
        f":warning: There was no {format_docs_name(project)} for {where}. {reason} {then}"
    )


def digest_coming(section: str | None, project: Project | None) -> Message:
    return b.words(f"Posting last week's digest{format_scope(section, project)} here…")


def digest_requested_before(link: str | None) -> Message:
    """Return the answer to a second request within a minute.

    ``link``: the address of the first digest; None until it is posted.
    """
    if link is None:
        return b.words("That digest is on its way already.")
    return b.words(
        f"{b.link(link, 'That digest')} came just now. Ask again in a minute for a new one."
    )

"""The end of an iteration with a pull request, and what it changed."""

from __future__ import annotations

from bot.ids import Block, Message
from bot.jobs.messages.jobs import end_texts, fill_end
from bot.jobs.messages.status_message import build_view_button, format_changed_lines
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.pull_request import ChangedPage, PullRequestSnapshot
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import clip
from bot.pulls.messages.changes import changed_line, file_address
from bot.pulls.messages.previews import preview_buttons, preview_line
from bot.pulls.model.changes import MAX_HEADINGS
from bot.pulls.model.previews import Preview, PreviewState

_MAX_TITLE_CHARACTERS = 80
_MAX_HEADING_CHARACTERS = 40
_MAX_BRIEF_HEADINGS = 2


def format_pull_request(
    job: TrackedJob,
    summary: str,
    *,
    is_first: bool = True,
    is_newcomer: bool = False,
    preview: Preview | None = None,
    offers_preview: bool = False,
    is_preview_fix: bool = False,
) -> Message:
    """Return the reply at the end of an iteration with a pull request: the result, and the way on.

    ``summary``: the summary of the iteration's prompt. ``is_first``: no other job in the thread
    offers its pull request, so this one's button stands out. ``is_newcomer``: it is the
    requester's first job.
    ``is_preview_fix``: the iteration was to mend the preview.
    """
    is_ready = preview is not None and preview.state is PreviewState.READY
    is_of_this = preview is not None and preview.iteration == job.iteration
    is_mended = is_preview_fix and is_ready and is_of_this
    teaches = is_newcomer and job.result_number < 2 and not _is_over(job)
    result, advice = _format_end(job, summary, is_mended=is_mended, is_brief=teaches)
    if teaches and not advice:
        advice = _REPLY_ADVICE[job.needs_mention]
    lines = [f"{result} {advice}".rstrip()]
    pull = _find_polled(job)
    if pull is not None:
        lines += map(changed_line, pull.lines)
    lines.append(preview_line(job, preview))
    buttons = [
        *_review_buttons(job, is_first=is_first),
        *preview_buttons(job, preview, is_offered=offers_preview),
    ]
    # Later facts about the pull request and its preview edit it.
    text = b.clip_bytes("\n".join(filter(None, lines)), b.TEXT_BYTES)
    return b.message(b.section(text), *b.actions(buttons))


def outdated_pull_request(job: TrackedJob, summary: str) -> Message:
    """Return the message about an outdated end: its result, without advice and buttons."""
    result, _advice = _format_end(job, summary)
    return b.words(result)


def _review_buttons(job: TrackedJob, *, is_first: bool) -> list[Block]:
    buttons: list[Block] = []
    if not _is_over(job):
        buttons += build_view_button(job, style="primary" if is_first else None, called="Review")
    if job.sees_pull_request:
        buttons.append(b.button("Changes", b.Action.CHANGES, str(job.number)))
    return buttons


def _is_over(job: TrackedJob) -> bool:
    """Return whether the job's pull request is known to be merged or closed."""
    return job.pull_request is not None and job.pull_request.ended_at is not None


def _format_end(
    job: TrackedJob, summary: str, *, is_mended: bool = False, is_brief: bool = False
) -> tuple[str, str]:
    """Return the result of a job, and the advice, which may be empty.

    ``is_mended``: its preview builds again. ``is_brief``: a sentence follows on the same line.
    """
    pull = _find_polled(job)
    by_page = ""
    change = ""
    page = ""
    if pull is not None:
        by_page = _format_result_by_page(job, summary, pull)
        change = _format_change(job, pull)
        page = _format_page(job, pull, is_brief=is_brief)
    result, advice = _choose_end_texts(job, by_page)
    if is_mended and not _is_over(job):
        result = _MENDED_PREVIEW
    is_merged = job.pull_request is not None and job.pull_request.is_merged
    return fill_end(
        job,
        summary,
        (result, advice),
        change=change,
        page=page,
        sign=":white_check_mark:" if is_merged else ":memo:",
        over="merged" if is_merged else "closed",
    )


def _choose_end_texts(job: TrackedJob, by_page: str) -> tuple[str, str]:
    """Return the texts of the result and the advice, to be filled in.

    ``by_page``: the text of a result that is named by its page; "" for another one.
    """
    result, advice = end_texts(job)
    pull = job.pull_request
    if b.web_address(job.pr_link) is None:
        return result, advice
    if pull is None or pull.ended_at is None:
        return by_page or result, advice
    if job.ended_at is not None and pull.ended_at < job.ended_at:
        return result, _TOO_LATE_NOTE
    if pull.is_merged and by_page:
        return by_page, ""
    return _ENDED_TEXTS[pull.is_merged], ""


def _format_result_by_page(job: TrackedJob, summary: str, pull: PullRequestSnapshot) -> str:
    """Return the text of a result that is named by the page that it adds or changes.

    Return "" where its pages are unknown, or its own words say more.
    """
    if not pull.pages or _is_unchanged(pull):
        return ""
    if pull.pages[0].is_new:
        return _NEW_PAGE
    is_short = (
        len(summary.split()) <= _MAX_SHORT_SUMMARY_WORDS
        and len(summary) <= _MAX_SHORT_SUMMARY_CHARACTERS
    )
    return _CHANGED_PAGE if job.result_number > 1 and is_short else ""


def _format_page(job: TrackedJob, pull: PullRequestSnapshot, *, is_brief: bool) -> str:
    """Return the page that an iteration adds or changes, as its result names it; "" for none.

    A new page is the end of a sentence.
    ``is_brief``: a new page has fewer of its headings, and not its number of lines.
    """
    if not pull.pages:
        return ""
    first, *others = pull.pages
    url = b.web_address(job.pr_link) or ""
    title = b.link(file_address(first.path, url), clip(first.title, _MAX_TITLE_CHARACTERS))
    if not first.is_new:
        more = counted(len(others), "more page", "more pages")
        return f"{title} and {more}" if others else title
    most = _MAX_BRIEF_HEADINGS if is_brief else MAX_HEADINGS
    named = ": ".join(filter(None, (title, _format_headings(first, most))))
    facts = [] if is_brief else [counted(first.length, "line", "lines")]
    if pull.is_draft:
        facts.append("a draft")
    if facts:
        named = f"{named} ({', '.join(facts)})"
    new = [page for page in others if page.is_new]
    if new:
        named += f", and {counted(len(new), 'more', 'more')}"
    return named if named.endswith("…") else f"{named}."


def _format_headings(page: ChangedPage, most: int) -> str:
    """Return the first headings of a new page, with "…" in place of the others."""
    shown = [b.quoted(heading, _MAX_HEADING_CHARACTERS) for heading in page.headings[:most]]
    if len(page.headings) > most:
        shown.append("…")
    return " · ".join(shown)


def _format_change(job: TrackedJob, pull: PullRequestSnapshot) -> str:
    """Return how much the newest iteration changes, after the pull request's link.

    It is the pull request's whole size where the iteration's commits were not compared.
    """
    is_follow_up = job.result_number > 1
    if is_follow_up and _is_unchanged(pull):
        return ". Nothing changed in it"
    draft = ", a draft" if pull.is_draft else ""
    if pull.made is not None:
        return f"{draft}, {format_changed_lines(pull.made)}"
    total = " in all" if is_follow_up else ""
    return f"{draft}, {format_changed_lines(pull.size)}{total}"


def _find_polled(job: TrackedJob) -> PullRequestSnapshot | None:
    """Return the pull request if it was polled since the iteration ended."""
    pull = job.pull_request
    return pull if pull is not None and pull.iteration == job.iteration else None


_REPLY_ADVICE = {False: "Just reply to change it.", True: "Mention me to change it."}
"""How to steer the job, by whether that takes a mention."""
_TOO_LATE_NOTE = (
    "It was {over} before that, so look whether this is in it; "
    "ask me in the channel for a job with a pull request of its own."
)
_ENDED_TEXTS = {
    True: ":white_check_mark: *{summary}* is done: {link}{change}.",
    False: ":no_entry_sign: *{summary}* was closed without being merged: {link}{change}.",
}
_MENDED_PREVIEW = ":wrench: Preview builds again{change}."
_NEW_PAGE = "{sign} New page {page}"
_CHANGED_PAGE = "{sign} {page}: changed after “{summary}”{change}."
_MAX_SHORT_SUMMARY_WORDS = 3
_MAX_SHORT_SUMMARY_CHARACTERS = 30
"""A shorter follow-up is named by its page, because its text alone is unclear."""


def _is_unchanged(pull: PullRequestSnapshot) -> bool:
    """Return whether the newest iteration is known to have changed nothing."""
    return pull.made is not None and not any(pull.made)

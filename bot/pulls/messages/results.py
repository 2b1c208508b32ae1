"""The end of an iteration with a pull request, and what it changed."""

from __future__ import annotations

from bot.ids import Block, Message
from bot.jobs.messages.jobs import end_texts, fill_end
from bot.jobs.messages.status_message import lines_changed, view
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.pull_request import ChangedPage, PullRequestSnapshot
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import clip
from bot.pulls.messages.changes import changed_line, file_address
from bot.pulls.messages.previews import preview_buttons, preview_line
from bot.pulls.model.changes import MAX_HEADINGS
from bot.pulls.model.previews import Preview, PreviewState

_TITLE_LENGTH = 80
_HEADING_LENGTH = 40
_BRIEF_HEADINGS = 2


def format_pull_request(
    job: TrackedJob,
    subject: str,
    *,
    is_first: bool = True,
    is_newcomer: bool = False,
    preview: Preview | None = None,
    offers_preview: bool = False,
    is_preview_fix: bool = False,
) -> Message:
    """Return the reply at the end of an iteration with a pull request: the result, and the way on.

    ``subject``: the iteration's request. ``is_first``: no other job in the thread offers its pull
    request, so this one's button stands out. ``is_newcomer``: it is the requester's first job.
    ``is_preview_fix``: the iteration was to mend the preview.
    """
    is_ready = preview is not None and preview.state is PreviewState.READY
    is_of_this = preview is not None and preview.iteration == job.iteration
    is_mended = is_preview_fix and is_ready and is_of_this
    teaches = is_newcomer and job.result_number < 2 and not _is_over(job)
    result, advice = _end(job, subject, is_mended=is_mended, is_brief=teaches)
    if teaches and not advice:
        advice = _STEERING[job.needs_mention]
    lines = [f"{result} {advice}".rstrip()]
    pull = _seen(job)
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


def outdated_pull_request(job: TrackedJob, subject: str) -> Message:
    """Return the end of a job that goes on: its result, without advice and buttons."""
    result, _advice = _end(job, subject)
    return b.words(result)


def _review_buttons(job: TrackedJob, *, is_first: bool) -> list[Block]:
    buttons: list[Block] = []
    if not _is_over(job):
        buttons += view(job, style="primary" if is_first else None, called="Review")
    if job.sees_pull_request:
        buttons.append(b.button("Changes", b.Action.CHANGES, str(job.number)))
    return buttons


def _is_over(job: TrackedJob) -> bool:
    """Return whether the job's pull request is known to be merged or closed."""
    return job.pull_request is not None and job.pull_request.ended_at is not None


def _end(
    job: TrackedJob, subject: str, *, is_mended: bool = False, is_brief: bool = False
) -> tuple[str, str]:
    """Return the result of a job, and the advice, which may be empty.

    ``is_mended``: its preview builds again. ``is_brief``: a sentence follows on the same line.
    """
    pull = _seen(job)
    by_page = ""
    change = ""
    page = ""
    if pull is not None:
        by_page = _named_by_page(job, subject, pull)
        change = _change(job, pull)
        page = _page(job, pull, is_brief=is_brief)
    result, advice = _end_texts(job, by_page)
    if is_mended and not _is_over(job):
        result = _MENDED
    is_merged = job.pull_request is not None and job.pull_request.is_merged
    return fill_end(
        job,
        subject,
        (result, advice),
        change=change,
        page=page,
        sign=":white_check_mark:" if is_merged else ":memo:",
        over="merged" if is_merged else "closed",
    )


def _end_texts(job: TrackedJob, by_page: str) -> tuple[str, str]:
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
        return result, _TOO_LATE
    if pull.is_merged and by_page:
        return by_page, ""
    return _OVER[pull.is_merged], ""


def _named_by_page(job: TrackedJob, subject: str, pull: PullRequestSnapshot) -> str:
    """Return the text of a result that is named by the page that it adds or changes.

    Return "" where its pages are unknown, or its own words say more.
    """
    if not pull.pages or _made_nothing(pull):
        return ""
    if pull.pages[0].is_new:
        return _NEW_PAGE
    is_short = len(subject.split()) <= _SHORT_WORDS and len(subject) <= _SHORT_LENGTH
    return _CHANGED_PAGE if job.result_number > 1 and is_short else ""


def _page(job: TrackedJob, pull: PullRequestSnapshot, *, is_brief: bool) -> str:
    """Return the page that an iteration adds or changes, as its result names it; "" for none.

    A new page is the end of a sentence.
    ``is_brief``: a new page has fewer of its headings, and not its number of lines.
    """
    if not pull.pages:
        return ""
    first, *others = pull.pages
    url = b.web_address(job.pr_link) or ""
    title = b.link(file_address(first.path, url), clip(first.title, _TITLE_LENGTH))
    if not first.is_new:
        more = counted(len(others), "more page", "more pages")
        return f"{title} and {more}" if others else title
    most = _BRIEF_HEADINGS if is_brief else MAX_HEADINGS
    named = ": ".join(filter(None, (title, _headings(first, most))))
    facts = [] if is_brief else [counted(first.length, "line", "lines")]
    if pull.is_draft:
        facts.append("a draft")
    if facts:
        named = f"{named} ({', '.join(facts)})"
    new = [page for page in others if page.is_new]
    if new:
        named += f", and {counted(len(new), 'more', 'more')}"
    return named if named.endswith("…") else f"{named}."


def _headings(page: ChangedPage, most: int) -> str:
    """Return the first headings of a new page, with "…" in place of the others."""
    shown = [b.quoted(heading, _HEADING_LENGTH) for heading in page.headings[:most]]
    if len(page.headings) > most:
        shown.append("…")
    return " · ".join(shown)


def _change(job: TrackedJob, pull: PullRequestSnapshot) -> str:
    """Return how much the pull request changes, after its link."""
    is_follow_up = job.result_number > 1
    if is_follow_up and _made_nothing(pull):
        return ". Nothing changed in it"
    draft = ", a draft" if pull.is_draft else ""
    return f"{draft}, {_difference(pull, is_follow_up=is_follow_up)}"


def _seen(job: TrackedJob) -> PullRequestSnapshot | None:
    """Return the pull request if it was polled since the iteration ended."""
    pull = job.pull_request
    return pull if pull is not None and pull.iteration == job.iteration else None


_STEERING = {False: "Just reply to change it.", True: "Mention me to change it."}
"""How to steer the job, by whether that takes a mention."""
_TOO_LATE = (
    "It was {over} before that, so look whether this is in it; "
    "ask me in the channel for a job with a pull request of its own."
)
_OVER = {
    True: ":white_check_mark: *{subject}* is done: {link}{change}.",
    False: ":no_entry_sign: *{subject}* was closed without being merged: {link}{change}.",
}
_MENDED = ":wrench: Preview builds again{change}."
_NEW_PAGE = "{sign} New page {page}"
_CHANGED_PAGE = "{sign} {page}: changed after “{subject}”{change}."
_SHORT_WORDS = 3
_SHORT_LENGTH = 30
"""A follow-up of so few words and characters does not say what it is about."""


def _difference(pull: PullRequestSnapshot, *, is_follow_up: bool) -> str:
    """Return the newest iteration's changes, in lines.

    They are the totals where its commits were not compared.
    """
    if pull.made is not None:
        return lines_changed(pull.made)
    size = lines_changed(pull.size)
    return f"{size} in all" if is_follow_up else size


def _made_nothing(pull: PullRequestSnapshot) -> bool:
    """Return whether the newest iteration is known to have changed nothing."""
    return pull.made is not None and not any(pull.made)

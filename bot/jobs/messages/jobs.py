"""Messages in a job's thread below its status message: follow-ups, and replies about progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.ids import Block, Message, UserId
from bot.jobs.messages.changes import changed_line, file_address
from bot.jobs.messages.problems import Problem
from bot.jobs.messages.status_message import (
    by_whom,
    difference,
    lasted,
    list_address,
    made_nothing,
    name,
    open_words,
    pull_request_line,
    run_again_button,
    view,
    withdrawn_words,
)
from bot.jobs.model.changes import MAX_HEADINGS, ChangedPage
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.prompts import Prompt
from bot.jobs.model.pull_requests import Preview, PreviewState, PullRequestSnapshot
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import clip, visible
from bot.messages.quotations import Quotation, QuoteSource

_PART_LENGTH = 8_000
_SUBJECT_LENGTH = 80
_TITLE_LENGTH = 80
_HEADING_LENGTH = 40
_BRIEF_HEADINGS = 2
SEND_AGAIN = "Send again"
"""A decision about an unconfirmed prompt, as its button calls it."""
DISMISS = "Dismiss"
"""The other decision."""


def follow_up_by_command(job: TrackedJob, prompt_text: str, asked_by: UserId) -> Message:
    """Return a follow-up given by command or form, to show it in the thread."""
    whole = visible(prompt_text)
    head = next(iter(b.split(whole, _PART_LENGTH)), "")
    part = "" if head == whole else " (its beginning; the agent gets all of it)"
    headline = f"{b.mention(asked_by)} follows up on {name(job.number)}{part}:"
    return b.message(b.section(headline), b.quote(head))


def follow_up_withdrawn(job: TrackedJob, prompt: Prompt, end: JobProblem, by: UserId) -> Message:
    """Return the reply about a follow-up that was withdrawn before it was sent."""
    return b.words(
        f":leftwards_arrow_with_hook: The follow-up of {b.mention(prompt.asked_by)} "
        f"to {name(job.number)} (“{b.quoted(prompt.text or '', 120)}”) wasn't sent. "
        f"It was withdrawn{withdrawn_words(end, by)}."
    )


def format_result(
    job: TrackedJob,
    subject: str,
    *,
    is_first: bool = True,
    is_newcomer: bool = False,
    preview: Preview | None = None,
    offers_preview: bool = False,
    is_preview_fix: bool = False,
) -> Message:
    """Return the reply at the end of an iteration: the result, and the way on.

    ``subject``: the iteration's request. ``is_first``: no other job in the thread offers its pull
    request, so this one's button stands out. ``is_newcomer``: it is the requester's first job.
    ``is_preview_fix``: the iteration was to mend the preview.
    """
    is_ready = preview is not None and preview.state is PreviewState.READY
    is_of_this = preview is not None and preview.iteration == job.iteration
    is_mended = is_preview_fix and is_ready and is_of_this
    is_steerable = job.state is JobState.PULL_REQUEST and not _is_over(job)
    teaches = is_newcomer and job.result_number < 2 and is_steerable
    result, advice = _end(job, subject, is_mended=is_mended, is_brief=teaches)
    if teaches and not advice:
        advice = _STEERING[job.needs_mention]
    lines = [f"{result} {advice}".rstrip()]
    pull = _seen(job)
    if pull is not None:
        lines += map(changed_line, pull.lines)
    buttons: list[Block] = []
    if job.state is JobState.PULL_REQUEST:
        lines.append(preview_line(job, preview))
        buttons += _review_buttons(job, is_first=is_first)
        buttons += preview_buttons(job, preview, is_offered=offers_preview)
    elif job.state in _BAD_ENDS:
        buttons.append(run_again_button(job))
    # Later facts about the pull request and its preview edit it.
    text = b.clip_bytes("\n".join(filter(None, lines)), b.TEXT_BYTES)
    return b.message(b.section(text), *b.actions(buttons))


def _review_buttons(job: TrackedJob, *, is_first: bool) -> list[Block]:
    buttons: list[Block] = []
    if not _is_over(job):
        buttons += view(job, style="primary" if is_first else None, called="Review")
    if job.sees_pull_request:
        buttons.append(b.button("Changes", b.Action.CHANGES, str(job.number)))
    return buttons


def outdated_end(job: TrackedJob, subject: str) -> Message:
    """Return the end of a job that goes on: its result, without advice and buttons."""
    result, _advice = _end(job, subject)
    return b.words(result)


def _is_over(job: TrackedJob) -> bool:
    """Return whether the job's pull request is known to be merged or closed."""
    return job.pull_request is not None and job.pull_request.ended_at is not None


def _end(
    job: TrackedJob, subject: str, *, is_mended: bool = False, is_brief: bool = False
) -> tuple[str, str]:
    """Return the result of a job, and the advice, which may be empty.

    ``is_mended``: its preview builds again. ``is_brief``: a sentence follows on the same line.
    """
    result, advice = _end_texts(job, subject)
    if is_mended and not _is_over(job):
        result = _MENDED
    url = b.web_address(job.pr_link)
    is_merged = job.pull_request is not None and job.pull_request.is_merged
    is_live = job.ref and job.branch is None
    more = {
        "subject": b.quoted(subject, _SUBJECT_LENGTH),
        "link": b.link(url, open_words(url, "PR")) if url else "",
        "odd": b.quoted(job.pr_link or "", 300),
        "change": _change(job),
        "page": _page(job, url or "", is_brief=is_brief),
        "sign": ":white_check_mark:" if is_merged else ":memo:",
        "over": "merged" if is_merged else "closed",
        "live": f" It may be on {b.code(job.ref or '')} already." if is_live else "",
    }
    result = _about(job, "{everybody} " + result, (), **more)
    return result, _about(job, advice, (), **more)


def _end_texts(job: TrackedJob, subject: str) -> tuple[str, str]:
    """Return the texts of the result and the advice, to be filled in."""
    result, advice = _ENDS[job.state]
    if job.state is not JobState.PULL_REQUEST:
        return result, advice
    if b.web_address(job.pr_link) is None:
        return _ODD_ADDRESS
    pull = job.pull_request
    by_page = _named_by_page(job, subject)
    if pull is None or pull.ended_at is None:
        return by_page or result, advice
    if job.ended_at is not None and pull.ended_at < job.ended_at:
        return result, _TOO_LATE
    if pull.is_merged and by_page:
        return by_page, ""
    return _OVER[pull.is_merged], ""


def _named_by_page(job: TrackedJob, subject: str) -> str:
    """Return the text of a result that is named by the page that it adds or changes.

    Return "" where its pages are unknown, or its own words say more.
    """
    pull = _seen(job)
    if pull is None or not pull.pages or made_nothing(pull):
        return ""
    if pull.pages[0].is_new:
        return _NEW_PAGE
    is_short = len(subject.split()) <= _SHORT_WORDS and len(subject) <= _SHORT_LENGTH
    return _CHANGED_PAGE if job.result_number > 1 and is_short else ""


def _page(job: TrackedJob, url: str, *, is_brief: bool) -> str:
    """Return the page that an iteration adds or changes, as its result names it; "" for none.

    A new page is the end of a sentence.
    ``is_brief``: a new page has fewer of its headings, and not its number of lines.
    """
    pull = _seen(job)
    if pull is None or not pull.pages:
        return ""
    first, *others = pull.pages
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


def _change(job: TrackedJob) -> str:
    """Return how much the pull request changes, after its link; "" if it was not polled since."""
    pull = _seen(job)
    if job.state is not JobState.PULL_REQUEST or pull is None:
        return ""
    is_follow_up = job.result_number > 1
    if is_follow_up and made_nothing(pull):
        return ". Nothing changed in it"
    draft = ", a draft" if pull.is_draft else ""
    return f"{draft}, {difference(pull, is_follow_up=is_follow_up)}"


def _seen(job: TrackedJob) -> PullRequestSnapshot | None:
    """Return the pull request if it was polled since the iteration ended."""
    pull = job.pull_request
    return pull if pull is not None and pull.iteration == job.iteration else None


def _about(job: TrackedJob, text: str, first: Sequence[UserId] = (), **more: str) -> str:
    """Fill in a text about a job.

    ``{everybody}`` are ``first`` and the people who wait for the end. ``{it}`` begins a sentence:
    the follow-up after an earlier end, or else the job. ``{here}`` and ``{A_reply}`` are ways to
    steer the job, see ``TrackedJob.needs_mention``.
    """
    called = name(job.number)
    people = dict.fromkeys((*first, *job.recipients))
    after = f" after {lasted(job.time_taken)}" if job.time_taken is not None else ""
    way = "mention me here" if job.needs_mention else "reply here"
    return text.format(
        everybody=" ".join(b.mention(user) for user in people),
        job=called,
        it=f"The follow-up to {called}" if job.result_number > 1 else called,
        after=after,
        here=way,
        Here=way.capitalize(),
        A_reply="A mention" if job.needs_mention else "A reply",
        **more,
    )


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
_ODD_ADDRESS = (
    ":memo: *{subject}* is done, but I can't link to the address of its pull request: `{odd}`.",
    "It must be https, on a host that your bot admin allows. Look for it in the repository.",
)
_ENDS = {
    JobState.PULL_REQUEST: (":memo: *{subject}* is done: {link}{change}.", ""),
    JobState.NO_PULL_REQUEST: (
        ":heavy_minus_sign: *{subject}*: the agent made no pull request.{live}",
        "Which page should change, and what should it say? {Here}.",
    ),
    JobState.FAILED: (
        ":x: *{subject}* failed{after}, without a reason from the docs service.",
        "*Run again*, or {here} with a smaller step. (One use spent.)",
    ),
    JobState.ARCHIVED: (
        ":file_folder: {job} was archived at the docs service, so the agent won't go on with it.",
        "Run it again if it's still needed.",
    ),
    JobState.GONE: (
        ":ghost: The docs service no longer knows {job}, so I can't tell how it goes.",
        "Look for its pull request in the repository. None there? Run it again.",
    ),
}
"""The result of each end, and its advice, which is removed when the job goes on."""
_MENDED = ":wrench: Preview builds again{change}."
_NEW_PAGE = "{sign} New page {page}"
_CHANGED_PAGE = "{sign} {page}: changed after “{subject}”{change}."
_SHORT_WORDS = 3
_SHORT_LENGTH = 30
"""A follow-up of so few words and characters does not say what it is about."""
_BAD_ENDS = frozenset({JobState.FAILED, JobState.ARCHIVED, JobState.GONE})
ENDS_WITH_BUTTONS = _BAD_ENDS | {JobState.PULL_REQUEST}
"""The states whose end has a button in the thread."""


def reminder(job: TrackedJob, status_message_link: str | None, now: datetime) -> Message:
    """Return the reminder, sent once, of a pull request without an outcome."""
    asks = ""
    if not job.sees_pull_request:
        first = b.link(status_message_link, "its first message")
        asks = f" Once it is reviewed, press *Reviewed* in {first}."
    whom = b.mention(job.recipient)
    text = f"{whom} :memo: The pull request of {name(job.number)} has been {waits(job, now)}.{asks}"
    return b.with_buttons(text, view(job))


def pull_request_ended(job: TrackedJob, pull: PullRequestSnapshot) -> Message:
    """Return the reply, sent once, about a pull request that was merged or closed."""
    after = f"after {lasted((pull.ended_at or pull.reported_at) - pull.reported_at)}"
    of = f"The pull request of {name(job.number)} was"
    if pull.is_merged:
        return b.words(f":white_check_mark: {of} merged {after}{by_whom(pull)}.")
    return b.words(f":no_entry_sign: {of} closed {after} without being merged.")


def still_running(job: TrackedJob, now: datetime) -> Message:
    """Return the reply, sent once, about a job that runs unusually long."""
    text = (
        ":hourglass_flowing_sand: {it} has been running for {time}. "
        "That's unusually long. I now check once an hour, and tell you here when it ends."
    )
    return b.words(_about(job, text, time=_running(job, now)))


def unwatched_message(job: TrackedJob, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled."""
    text = (
        "{everybody} :zzz: {it} is still running after {time}, so I've stopped checking. "
        "Look for a pull request in the repository. {A_reply} here is a new follow-up (one use)."
    )
    return b.words(_about(job, text, time=_running(job, now)))


def _running(job: TrackedJob, now: datetime) -> str:
    return lasted(now - (job.iteration_started_at or job.asked_at))


def stopped_watching(job: TrackedJob, user: UserId) -> Message:
    """Return the reply about a job that somebody has muted."""
    text = (
        "{everybody} :zzz: I'll stay quiet about {job}; the agent still works on it. "
        "{A_reply} here is a new follow-up (one use)."
    )
    return b.words(_about(job, text, first=[user]))


def unread(job: TrackedJob, since: datetime, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled after polls that failed since then."""
    text = (
        "{everybody} :zzz: The docs service gave no usable answer about {job} for {time}, "
        "so I've stopped checking. "
        "Look for a pull request in the repository. {A_reply} here is a new follow-up (one use)."
    )
    return b.words(_about(job, text, time=lasted(now - since)))


def not_served(job: TrackedJob) -> Message:
    """Return the reply about a job of a project that is no longer served."""
    text = (
        "{everybody} :zzz: These docs are no longer set up here, so I can't tell how {job} goes. "
        "Look for a pull request in the repository."
    )
    return b.words(_about(job, text))


def run_again_as(job: TrackedJob, permalink: str | None) -> Message:
    """Return the reply in the thread of a job whose prompt was run again as ``job``."""
    return b.words(
        f"{b.mention(job.requester)} ran this again as {b.link(permalink, name(job.number))}."
    )


def refused_message(job: TrackedJob, problem: Problem) -> Message:
    """Return the reply about a first prompt that was refused."""
    text = (
        f"{b.mention(job.requester)} :no_entry: {name(job.number)} wasn't started. {problem.text}"
    )
    return b.with_buttons(text, [run_again_button(job)])


def follow_up_refused(asked_by: UserId, problem: Problem) -> Message:
    """Return the reply about a follow-up that was refused."""
    return b.words(f"{b.mention(asked_by)} :no_entry: {problem.text}")


def unconfirmed_message(
    job: TrackedJob,
    prompt_id: int,
    asked_by: UserId,
    follow_up: bool,
    *,
    answered: bool = False,
    earlier: str | None = None,
) -> Message:
    """Return the message that asks whether to send an unconfirmed prompt again.

    ``answered``: the docs service has answered with an error; otherwise its answer was lost.
    ``earlier``: the address of a pull request in the same repository.
    """
    lost = "answered with an error" if answered else "gave no answer"
    started = name(job.number)
    look = "a new pull request"
    where = list_address(earlier)
    if follow_up:
        started = f"your follow-up to {started}"
        look = "a change in the pull request"
    elif where:
        look = b.link(where, look)
    text = (
        f"{b.mention(asked_by)} :grey_question: Did {started} start? The docs service {lost}. "
        f"Look for {look}; none there? *{SEND_AGAIN}*."
    )
    buttons = [
        *view(job),
        b.button(SEND_AGAIN, b.Action.SEND_AGAIN, str(prompt_id)),
        b.button(DISMISS, b.Action.DISMISS, str(prompt_id)),
    ]
    return b.with_buttons(text, buttons)


def unconfirmed_without_words(
    job: TrackedJob, prompt_id: int, asked_by: UserId, follow_up: bool
) -> Message:
    """Return the message about an unconfirmed prompt whose author has taken back all its words."""
    text = (
        f"{b.mention(asked_by)} :grey_question: {_sent(job, follow_up)} may have started. "
        "Its words are taken back, so it isn't sent again."
    )
    return b.with_buttons(text, [*view(job), b.button(DISMISS, b.Action.DISMISS, str(prompt_id))])


def decided(
    job: TrackedJob, asked_by: UserId, follow_up: bool, decision: str, by: UserId
) -> Message:
    """Return the question about an unconfirmed prompt after its decision."""
    return b.words(
        f"{b.mention(asked_by)} :grey_question: {_sent(job, follow_up)} was sent, "
        f"and nobody knew whether it had started. {b.mention(by)} chose *{decision}*."
    )


def answered_after_all(job: TrackedJob, asked_by: UserId, follow_up: bool) -> Message:
    """Return the question about an unconfirmed prompt after a late answer."""
    return b.words(
        f"{b.mention(asked_by)} :white_check_mark: {_sent(job, follow_up)} has started after all."
    )


def _sent(job: TrackedJob, follow_up: bool) -> str:
    return f"Your follow-up to {name(job.number)}" if follow_up else name(job.number)


def behind_unconfirmed(job: TrackedJob, asked_by: UserId) -> Message:
    """Return the reply to a follow-up that waits behind the job's unconfirmed first prompt."""
    return b.words(
        f"{b.mention(asked_by)} :hourglass_flowing_sand: Your follow-up to {name(job.number)} "
        "waits, because nobody knows whether the job has started. "
        "*Send again* above sends the job and then your follow-up. "
        "After *Dismiss* it isn't sent. "
        f"{b.mention(job.requester)} or an admin of this bot can choose."
    )


def waits(job: TrackedJob, now: datetime) -> str:
    """Return the age of a pull request, and its line if the bot polls it."""
    if job.pull_request is None or not job.sees_pull_request:
        return _age(job, now)
    return f"{_age(job, now)}: {pull_request_line(job.pull_request)}"


def _age(job: TrackedJob, now: datetime) -> str:
    if job.pull_request and job.sees_pull_request:
        return f"open for {lasted(now - job.pull_request.reported_at)}"
    return f"ready for {lasted(now - job.ended_at)}" if job.ended_at else "ready"


_LOG_LENGTH = 200


def preview_line(job: TrackedJob, preview: Preview | None) -> str:
    """Return the line of an end about its preview; "" for none."""
    if preview is None or preview.state is PreviewState.MISSING:
        return ""
    if preview.state is PreviewState.BROKEN:
        return _broken_preview_line(preview)
    if preview.state is PreviewState.READY:
        return _ready_preview_line(job, preview)
    if preview.is_put_off:
        return "The preview waits for its turn at the docs service."
    return "The preview is building. That takes about two minutes."


def _broken_preview_line(preview: Preview) -> str:
    _, _, last = (preview.log or "").rpartition("\n")
    if not last:
        return ":warning: The preview doesn't build, and the docs service doesn't say why."
    return f":warning: The preview doesn't build: “{b.quoted(last, _LOG_LENGTH)}”."


def _ready_preview_line(job: TrackedJob, preview: Preview) -> str:
    if b.web_address(preview.url) is None:
        return _unlinked_preview_line(preview)
    text = b.link(preview.url, b.host_of(preview.url or ""))
    if preview.iteration != job.iteration:
        text = "the docs service renews it, which takes about two minutes"
    return f"Preview: {text}. It may ask you to log in."


def _unlinked_preview_line(preview: Preview) -> str:
    address = b.code(preview.url or "", 300)
    return f"The preview is ready, but I can't link to its address: {address}."


def preview_buttons(job: TrackedJob, preview: Preview | None, *, is_offered: bool) -> list[Block]:
    """Return the button for the preview's state; nothing while it is building."""
    number = str(job.number)
    if preview is None or preview.state is PreviewState.MISSING:
        return [b.button("Preview", b.Action.PREVIEW, number)] if is_offered else []
    if preview.state is PreviewState.READY:
        url = b.web_address(preview.url)
        return [b.button("Open preview", b.Action.OPEN_PREVIEW, number, url=url)] if url else []
    if preview.state is PreviewState.BROKEN:
        return [b.button("Fix it", b.Action.FIX_PREVIEW, number)]
    return []


FIXING_PREVIEW = b.words(":wrench: Fixing the preview…")
"""The message in the thread of a job whose preview the agent is to mend."""


def preview_built(preview: Preview, *, is_mended: bool = False) -> Message:
    """Return the reply, sent once, to the person who has asked for a preview that is built now.

    ``is_mended``: it did not build before.
    """
    whom = b.mention(preview.requester)
    number = str(preview.job)
    if preview.state is PreviewState.BROKEN:
        button = b.button("Fix it", b.Action.FIX_PREVIEW, number)
        return b.with_buttons(f"{whom} {_broken_preview_line(preview)}", [button])
    url = b.web_address(preview.url)
    if url is None:
        return b.words(f"{whom} {_unlinked_preview_line(preview)}")
    button = b.button("Open preview", b.Action.OPEN_PREVIEW, number, url=url)
    news = "builds again" if is_mended else "is ready"
    return b.with_buttons(f"{whom} The preview {news}.", [button])


def outdated_preview(preview: Preview) -> Message:
    """Return the reply about a broken preview without its button, once the job goes on."""
    return b.words(f"{b.mention(preview.requester)} {_broken_preview_line(preview)}")


def fix_preview_prompt(preview: Preview) -> str:
    """Return the prompt that gives the agent the log of a build that has failed."""
    log = Quotation(QuoteSource.BUILD_LOG, preview.log or "(no log)")
    return f"The preview of your branch doesn't build. Fix what breaks it.\n\n{log}"


def no_preview(job: TrackedJob) -> Message:
    """Return the private answer to a request for a preview that will not come."""
    return b.words(
        f"The docs service made no preview of {name(job.number)}. Look at its pull request. "
        "Your bot admin sees in `docs-bot doctor` whether it makes any here."
    )

"""The preview of a job: its line and buttons in the end, and the replies about it."""

from __future__ import annotations

from bot.ids import Block, Message
from bot.jobs.messages.status_message import name
from bot.jobs.model.jobs import TrackedJob
from bot.messages import blocks as b
from bot.messages.quotations import Quotation, QuoteSource
from bot.pulls.model.previews import Preview, PreviewState

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


def offer_preview(job: TrackedJob) -> Message:
    """Return the answer to a wish to see a job's pages."""
    return b.with_buttons(
        "*Preview* shows its pages.", [b.button("Preview", b.Action.PREVIEW, str(job.number))]
    )


NO_PREVIEW = b.words("I can't show its pages.")
"""The answer to a wish to see a job's pages, where there is no preview."""

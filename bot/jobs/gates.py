"""Questions to a prompt's author before it spends a use, and notes right after."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.commands.meaning import Meaning
from bot.context import Context
from bot.ids import JobNumber, Message, is_direct_message
from bot.intent.kinds import LIKELY_CHANGES
from bot.jobs.ask import is_public_channel
from bot.jobs.conversation import find_unreviewed_words
from bot.jobs.files import describe_files, fitting_files
from bot.jobs.messages import unsent
from bot.jobs.model.jobs import AttachThread
from bot.jobs.model.prompts import PromptRequest, Unsent
from bot.jobs.rivals import find_rival
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import status_message_link
from bot.ports import ThreadRef
from bot.store import Transaction


async def ask_first(
    context: Context,
    allowed: Allowed,
    request: PromptRequest,
    full_text: str,
    besides: JobNumber | None = None,
) -> Message | None:
    """Return the question to its author before a prompt starts a job; None if there is none.

    ``full_text``: the prompt with its project. ``besides``: the job that it starts already.
    """
    if request.is_sure or len(full_text) > Unsent.LONGEST:
        return None
    draft = Unsent(allowed.origin.key, allowed.origin.thread, full_text.strip())
    if request.files:
        files = await describe_files(context, request.files)
        if not fitting_files(files):
            return unsent.files_cannot_go([file.name for file in files], draft)
    rival = await find_rival(context, allowed, request.raw, request.project, besides)
    if rival is None:
        wants_thread = request.attach_thread is AttachThread.IF_PUBLIC
        if not (wants_thread and _may_take_thread(context, allowed)):
            return None
        is_public = await is_public_channel(context, allowed.origin.channel)
        return unsent.private_thread_stays(draft) if is_public is False else None
    link = status_message_link(context, rival.job)
    if rival.has_page:
        return unsent.page_is_taken(rival.job, link, draft)
    return unsent.subject_is_taken(rival.job, link, draft)


async def note_start(
    context: Context, allowed: Allowed, meaning: Meaning, job: JobNumber, *, is_held: bool
) -> Message | None:
    """Return the private note to the author of a text that started a job; None if there is none.

    Of a text that is only likely a change: that it was taken as one. Of one in a private channel's
    thread about which nobody was asked: that the thread stays there. Of one under readers' words,
    where a change may be published without a review: that the words stay there.

    Args:
        context: The store, Slack and the settings.
        allowed: The request of its author.
        meaning: The text.
        job: The job that it has started.
        is_held: It waits a few seconds before it is sent.
    """
    draft = Unsent(allowed.origin.key, allowed.origin.thread, meaning.full_text.strip())
    if meaning.kind in LIKELY_CHANGES:
        can_answer = bool(context.discovery)
        return unsent.taken_as_change(draft, can_answer=can_answer, is_held=is_held)
    origin = allowed.origin
    if origin.thread is None or not _may_take_thread(context, allowed):
        return None
    where = ThreadRef(origin.channel, origin.thread)
    is_public = await is_public_channel(context, origin.channel)

    def note(tx: Transaction) -> Message | None:
        started = Jobs(tx).get_or_raise(job)
        if is_public is False:
            return unsent.thread_stays_here(started)
        if find_unreviewed_words(tx, started.project, where):
            return unsent.readers_words_stay_here(started)
        return None

    return await context.store.read(note)


def _may_take_thread(context: Context, allowed: Allowed) -> bool:
    """Return whether a request in a thread of this channel takes its messages along."""
    return context.settings.context != "none" and not is_direct_message(allowed.origin.channel)

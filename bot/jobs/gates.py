"""What its author is asked or told before a use is spent on a prompt, or right after."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import JobNumber, Message
from bot.jobs.ask import Asked, find_rival
from bot.jobs.messages import intents
from bot.jobs.model.intents import may_be_question
from bot.jobs.model.prompts import PromptRequest, Unsent
from bot.jobs.prepare import fitting_files
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import status_message_link
from bot.messages import slack_text
from bot.ports import Origin


async def note_doubt(
    context: Context, origin: Origin, request: PromptRequest, asked: Asked, whole: str
) -> Message | None:
    """Return the note about a new job whose prompt may be a question that the docs answer; None for others.

    ``whole``: the prompt with its project.
    """
    is_plain = (
        not (request.is_sure or request.files or asked.repeated) and len(whole) <= Unsent.LONGEST
    )
    if not (context.discovery and is_plain) or not may_be_question(
        slack_text.to_plain(request.raw, {}, {})
    ):
        return None
    job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(asked.job))
    draft = Unsent(origin.key, origin.thread, whole.strip())
    return intents.taken_as_task(draft) if job.project in context.discovery else None


async def ask_first(
    context: Context,
    allowed: Allowed,
    request: PromptRequest,
    whole: str,
    besides: JobNumber | None = None,
) -> Message | None:
    """Return the question to its author before a prompt starts a job; None if there is none.

    ``whole``: the prompt with its project. ``besides``: the job that it starts already.
    """
    if request.is_sure or len(whole) > Unsent.LONGEST:
        return None
    draft = Unsent(allowed.origin.key, allowed.origin.thread, whole.strip())
    if request.files and not fitting_files(request.files):
        return intents.files_cannot_go([file.name for file in request.files], draft)
    rival = await find_rival(context, allowed, request.raw, request.project, besides)
    return (
        intents.page_is_taken(rival, status_message_link(context, rival), draft) if rival else None
    )

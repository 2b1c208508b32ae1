"""Texts of commands and forms that are not sent to the agent."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.commands.command import Answer
from bot.context import Context
from bot.jobs.access import Readable
from bot.jobs.model.intents import LONGEST, Deed, Door, classify, deed_for
from bot.jobs.model.prompts import Unsent
from bot.jobs.own_words import respond
from bot.messages import slack_text
from bot.outbox.private_answers import answer_in_private


async def unsent(
    context: Context, allowed: Allowed, raw: str, whole: str = "", target: Readable | None = None
) -> Answer | None:
    """Return the answer to a text that is not sent to the agent; None for one to send.

    ``whole``: the text to send if its author insists; "" for ``raw``. ``target``: the job of the follow-up;
    None for a new job.
    """
    plain, door = slack_text.to_plain(raw, {}, {}), Door.ADDRESSED if target else Door.FIRST
    intent = classify(plain, door) if len(raw) <= LONGEST else None
    if (
        intent is None
        or deed_for(intent, door, retries=target is not None and target.job.can_run_again)
        is Deed.SEND
    ):
        return None
    draft = Unsent(allowed.origin.key, allowed.origin.thread, (whole or raw).strip())
    return Answer(message=await respond(context, allowed, plain, intent, draft, target))


async def is_form_unsent(
    context: Context, allowed: Allowed, raw: str, whole: str, target: Readable | None = None
) -> bool:
    """Answer a form's text in its channel. Return False for a text to send to the agent."""
    answer = await unsent(context, allowed, raw, whole, target)
    if answer is not None and answer.message is not None:
        await answer_in_private(context, allowed.origin, "unsent", answer.message)
    return answer is not None

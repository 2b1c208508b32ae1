"""Texts of commands and forms that are not sent to the agent, and the button that sends one anyway."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bot.access.admit import Allowed
from bot.commands.command import Answer, Press
from bot.context import Context
from bot.ids import MessageTs, RequestKey, UserId
from bot.jobs.access import Readable
from bot.jobs.ask import ask, follow_up
from bot.jobs.commands.job_references import for_reader
from bot.jobs.interpret import Heard
from bot.jobs.messages import intents as say
from bot.jobs.messages import job_answers
from bot.jobs.model.inbox import HeardState
from bot.jobs.model.intents import LONGEST, Deed, Door, classify, deed_for
from bot.jobs.model.prompts import PromptRequest, Unsent
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread_events import answer_in_private, respond, send
from bot.messages import slack_text
from bot.messages.blocks import Action
from bot.ports import message_key
from bot.store import Transaction


async def unsent(
    context: Context, allowed: Allowed, raw: str, whole: str = "", target: Readable | None = None
) -> Answer | None:
    """Return the answer to a text that is not sent to the agent; None for one to send.

    ``whole``: the text to send if its author insists; "" for ``raw``. ``target``: the job of the follow-up;
    None for a new job.
    """
    plain, door = slack_text.to_plain(raw, {}, {}), Door.ADDRESSED if target else Door.FIRST
    intent = classify(plain, door, context.own_words) if len(raw) <= LONGEST else None
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


_SENT = Answer(message=say.SENT, replaces=True)
"""Replaces the answer that nothing was started."""


def at_message(press: Press, draft: Unsent) -> Allowed:
    """Return the press as a request of the message that ``draft`` has the text of, if it stands here."""
    prefix = message_key(press.origin.channel)
    # A later request of the same message has a suffix.
    bare = draft.key.removeprefix(prefix).partition(":")[0]
    ts = MessageTs(bare) if draft.key.startswith(prefix) else None
    return press.allowed.but(key=draft.key, thread=draft.thread, message_ts=ts)


async def send_anyway(
    context: Context, press: Press, instead_of: RequestKey | None = None
) -> Answer:
    """Send a question, or a prompt with a key in it, to the agent. A second press sends nothing.

    ``instead_of``: the earlier request of the same message.
    """
    draft, unknown = Unsent.loads(press.value), Answer(message=job_answers.no_such_job(press.value))
    if draft is None:
        return unknown
    allowed, allow_key = at_message(press, draft), press.action_id == Action.SEND_WITH_KEY
    ts = allowed.origin.message_ts
    if press.action_id == Action.SEND_TO_JOB:
        # In the thread of another job the message is not to be seen, so its text is posted there.
        allowed = allowed.but(message_ts=None)
    if draft.job is not None:
        number, raw = draft.job, draft.raw
        job = await context.store.read(lambda tx: Jobs(tx).get(number))

        async def steer(target: Readable) -> Answer:
            request = PromptRequest(raw, allow_duplicate=True, allow_key=True)
            moved = partial(_moved, draft.key, allowed.user)
            result = await follow_up(context, target, request, moved)
            if not result.accepted:
                return Answer(message=job_answers.cannot_follow_up(target.job))
            return Answer(message=job_answers.TOO_LATE) if result.repeated else _SENT

        return await for_reader(context, allowed, job, unknown, steer)
    if ts is None:
        text, project = context.projects.take(draft.raw)
        which = project.id if project else None
        request = PromptRequest(text, allow_duplicate=True, allow_key=allow_key, project=which)
        asked = await ask(context, allowed, request)
        return Answer(message=job_answers.started_before(asked.job)) if asked.repeated else _SENT
    again = Heard(allowed.origin, Door.FIRST, draft.raw, allow_key=allow_key, is_sure=True)
    await send(context, allowed, replace(again, instead_of=instead_of), None)
    return _SENT


def _moved(key: RequestKey, by: UserId, tx: Transaction) -> None:
    Inbox(tx).moved(key, key, HeardState.TAKEN, by, Door.REPLY)

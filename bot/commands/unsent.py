"""Words that are not sent to the agent, because nobody means them as a prompt, until their author insists."""

from __future__ import annotations

from dataclasses import dataclass

from bot import slack_text
from bot.commands.command import Answer, Invocation, Press
from bot.commands.guard import for_reader
from bot.commands.reflexes import taken_for
from bot.messages import job_answers as say
from bot.messages.job_answers import Reflex, not_sent
from bot.model.ids import JobNumber, MessageTs, RequestKey
from bot.model.origin import message_key
from bot.model.prompts import PromptRequest
from bot.work.access.admit import Allowed, Readable
from bot.work.context import Context
from bot.work.jobs.ask import ask
from bot.work.jobs.follow_up import follow_up
from bot.work.jobs.thanks import is_thanks
from bot.work.jobs.thread_events import heard_mention, heard_reply
from bot.work.ports import Mention, ThreadReply

_LONGEST = 500
"""A button's value has at most 2,000 characters, and the other parts of it few."""
_JOB_LENGTH = 9


def reflex_of(raw: str, *, thanks: bool = False) -> Reflex | None:
    """Return what a whole wire text is taken for; None for a prompt. ``thanks``: they count, too."""
    plain = slack_text.to_plain(raw.strip(), {}, {}) if len(raw.strip()) <= _LONGEST else ""
    return taken_for(plain) or (Reflex.THANKS if thanks and plain and is_thanks(plain) else None)


def unsent(
    invocation: Invocation, whole: str, said: str | None = None, job: JobNumber | None = None
) -> Answer | None:
    """Return the answer to a text that is not sent to the agent; None for a prompt.

    ``whole``: the text to send if its author insists. ``said``: what of it is for the agent. ``job``: the job
    that it would follow up on.
    """
    whole, said = whole.strip(), whole if said is None else said
    reflex = reflex_of(said, thanks=True)
    if reflex is None or len(whole) > _LONGEST:
        return None
    value = _Unsent(invocation.origin.key, invocation.origin.thread, job, whole).dumps()
    return Answer(message=not_sent(reflex, slack_text.to_plain(said, {}, {}), value))


@dataclass(frozen=True, slots=True)
class _Unsent:
    """What the button keeps instead of a row: the request's key, its thread, the job, and the text."""

    key: RequestKey
    thread: MessageTs | None
    job: JobNumber | None
    raw: str

    def dumps(self) -> str:
        return "|".join((self.key, self.thread or "", str(self.job or ""), self.raw))

    @classmethod
    def loads(cls, value: str) -> _Unsent | None:
        key, thread, job, raw = (*value.split("|", 3), "", "", "")[:4]
        if not raw or (job and not job.isdecimal()) or len(job) > _JOB_LENGTH:
            return None
        number = JobNumber(int(job)) if job else None
        return cls(RequestKey(key), MessageTs(thread) if thread else None, number, raw)

    def allowed(self, pressed: Allowed) -> Allowed:
        """Return the request that was not sent: its message, if that stands in this channel."""
        here = message_key(pressed.origin.channel)
        if not self.key.startswith(here):
            return pressed.but(key=self.key, thread=None, message_ts=None)
        ts = MessageTs(self.key.removeprefix(here))
        return pressed.but(key=self.key, thread=self.thread, message_ts=ts)


async def send_anyway(context: Context, press: Press) -> Answer:
    """Send a text to the agent that was taken for something else. A second press sends nothing."""
    kept, unknown = _Unsent.loads(press.value), Answer(message=say.no_such_job(press.value))
    if kept is None:
        return unknown
    allowed = kept.allowed(press.allowed)
    if kept.job is not None:
        number, sent = kept.job, allowed.but(thread=None, message_ts=None)
        job = await context.store.read(lambda tx: tx.jobs.get(number))
        return await for_reader(
            context, sent, job, unknown, lambda known: _follow_up(context, known, kept.raw)
        )
    origin = allowed.origin
    if origin.message_ts is None:
        return await _ask(context, allowed, kept.raw)
    if origin.thread is None:
        await heard_mention(context, Mention(origin, kept.raw))
    else:
        await heard_reply(context, ThreadReply(origin, f"<@{context.bot_user}> {kept.raw}"))
    return Answer()


async def _follow_up(context: Context, known: Readable, raw: str) -> Answer:
    result = await follow_up(context, known, PromptRequest(raw, allow_duplicate=True))
    if result is None or not result.accepted:
        return Answer(message=say.cannot_follow_up(known.job))
    return Answer(message=say.too_late()) if result.repeated else Answer()


async def _ask(context: Context, allowed: Allowed, raw: str) -> Answer:
    text, project = context.projects.take(raw)
    request = PromptRequest(text, allow_duplicate=True, project=project.id if project else None)
    asked = await ask(context, allowed, request)
    return Answer(message=say.run_again_before(asked.job)) if asked.repeated else Answer()

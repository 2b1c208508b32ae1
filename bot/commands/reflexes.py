"""Whole texts that people type at a bot by reflex and nobody means as a prompt: ``status``, ``stop``, ``hi``.

To teach it a text, add the text here and to the table in tests/commands/test_reflexes.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from bot import slack_text
from bot.commands.command import Answer, Invocation, Press, for_reader
from bot.messages import job_answers as say
from bot.messages.job_answers import Reflex, not_sent
from bot.model.access import message_key
from bot.model.ids import JobNumber, MessageTs, RequestKey
from bot.model.prompts import PromptRequest
from bot.work.access import Allowed, Readable
from bot.work.context import Context
from bot.work.jobs.ask import ask, follow_up
from bot.work.jobs.thread_events import is_thanks, take_mention, take_reply
from bot.work.ports import Mention, ThreadReply

_LONGEST = 100
_MARKS = "?!.,;:…'\"`“”()[]*_~-/"
_POLITE = frozenset({"please", "pls", "plz"})
_NUMBER = "42"
"""Stands for any number in the phrases."""
_DAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_PHRASES = {  # "" is what is left of "??"
    Reflex.STATUS: (
        "status|state|progress|job|jobs|42|job 42|jobs 42|job status|jobs status|status job|status 42|"
        "job 42 status|status of 42|status of job 42|status update|status report|what is the status|"
        "what's the status|whats the status|what is the status of job 42|what's the status of job 42|"
        "any news|any update|any updates|how is it going|how's it going|is it done|is it done yet|"
        "is it ready|is it ready yet|are you done|are you done yet|are you there|jobs failed|jobs review|"
        "jobs reviewed|jobs done|jobs finished|jobs waiting|jobs running|jobs all|jobs today|jobs list|"
        "list|list jobs|list all jobs|show jobs|show my jobs|my jobs|all jobs|open jobs|failed jobs|"
        "running jobs|queue|show queue|history"
    ),
    Reflex.STOP: (
        "wait|hold on|hold on a second|pause|pause 42|never mind|nevermind|forget it|forget that|"
        "forget about it|stop working|stop watching|stop watching 42|stop watching job 42|withdraw|"
        "withdraw it|withdraw 42|withdraw job 42|halt"
    ),
    Reflex.PROJECT: "project|projects|list projects|show projects|which project|which projects",
    Reflex.LIMITS: "limit|limits|quota|my limits|show limits|uses|uses left|how many uses are left",
    Reflex.VISITORS: (
        "visitors|visitors last week|visitors this week|visitors last month|visitors this month|"
        "visitors today|visitors yesterday|visitors csv|visits|views|stats|statistics|analytics|subscribe|"
        "subscriptions|unsubscribe|digest|digest now"
    ),
    Reflex.HELP: (
        "|help|help me|help us|need help|i need help|can you help|can you help me|how|how to|how to use|"
        "how to use this|how do i use this|how does this work|how do you work|what can you do|"
        "what can i do|what can i ask|what do you do|what are you|who are you|what is this|command|"
        "commands|list commands|show commands|usage|man|h|menu|start"
    ),
    Reflex.GREETING: (
        "hi|hello|hey|hi there|hello there|hey there|hi bot|hello bot|hey bot|yo|hiya|howdy|good morning|"
        "good afternoon|good evening|good night|morning|bye|see you|how are you|lol|haha"
    ),
    Reflex.COMMAND: (
        "setting|settings|config|configure|configuration|preferences|options|setup|template|templates|"
        "search|find|login|log in|sign in|logout|log out|connect|admin|admins|users|members|version|"
        "whoami|info|ping|test|testing|debug|log|logs|reset|clear|export|import|retry|retry 42|rerun|"
        "rerun 42|restart|restart 42"
    ),
}


def _table() -> Mapping[str, Reflex]:
    verbs = ("stop", "cancel", "abort", "kill")
    whats = "| it| this| that| the job| job| job 42| 42| all| all jobs| everything"
    stops = {f"{verb}{what}": Reflex.STOP for verb in verbs for what in whats.split("|")}
    return stops | {phrase: reflex for reflex, said in _PHRASES.items() for phrase in said.split("|")}


_TABLE = _table()


def taken_for(text: str) -> Reflex | None:
    """Return what a whole plain text is taken for; None for a prompt.

    Marks around the words, capitals and "please" do not count. Takes linear time.
    """
    if len(text) > _LONGEST or not text.strip() or text.lstrip().startswith("!"):
        return None
    said = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    bare = [word.strip(_MARKS) or word.strip(_MARKS + "#") for word in said.split()]
    words = [word for word in bare if word and word not in _POLITE]
    shape = " ".join(_NUMBER if word.removeprefix("#").isdecimal() else word for word in words)
    return _TABLE.get(shape) or _of_two(words)


def _of_two(words: list[str]) -> Reflex | None:
    """Return what a command with a word of its own after it is taken for."""
    match words:
        case ["project", _]:
            return Reflex.PROJECT
        case ["search", _]:
            return Reflex.COMMAND
        case ["subscribe", day, *_] if day in _DAYS:
            return Reflex.VISITORS
        case _:
            return None


_LONGEST_SENT = 500
"""A button's value has at most 2,000 characters, and the other parts of it few."""
_JOB_LENGTH = 9


def reflex_of(raw: str, *, thanks: bool = False) -> Reflex | None:
    """Return what a whole wire text is taken for; None for a prompt. ``thanks``: they count, too."""
    plain = slack_text.to_plain(raw.strip(), {}, {}) if len(raw.strip()) <= _LONGEST_SENT else ""
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
    if reflex is None or len(whole) > _LONGEST_SENT:
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
        await take_mention(context, Mention(origin, kept.raw))
    else:
        await take_reply(context, ThreadReply(origin, f"<@{context.bot_user}> {kept.raw}"))
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

"""Whole texts that are no prompt, although people type them after a command: ``status``, ``stop``, ``hi``.

``bot.model.reflexes`` knows them by their words. A text that is nearly a word of a command counts, too.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from bot import slack_text
from bot.commands import job_lists, visitors
from bot.commands.command import Answer, Invocation, Press, Word, for_reader
from bot.messages import job_answers as say
from bot.messages.unsent import not_sent, sent
from bot.model import lexicon
from bot.model.access import message_key
from bot.model.ids import JobNumber, MessageTs
from bot.model.prompts import PromptRequest, Unsent
from bot.model.reflexes import Reflex, Taken, taken_for
from bot.work.access import Allowed, Readable
from bot.work.context import Context
from bot.work.jobs.ask import ask, follow_up
from bot.work.jobs.thread_events import take_mention, take_reply
from bot.work.ports import Mention, ThreadReply

_WORDS = (
    *(("/docs-agent", word) for word in job_lists.WORDS),
    *((visitors.NAME, word) for word in (visitors.COMMAND.other, *visitors.COMMAND.words)),
)
_MARKS = "?!.,;:…'\"`“”()[]*_~"
_UNSURE = (None, Reflex.WORD, Reflex.COMMAND, Reflex.QUESTION)
_MOST_WORDS = 12
_HEAD_LIKENESS, _LIKENESS = 0.85, 0.75


def judge(text: str) -> Taken | None:
    """Return what a whole plain text is taken for; None for a prompt."""
    reflex = taken_for(text)
    said = [word.strip(_MARKS).casefold() for word in text.split()]
    words = [word for word in said if word and word not in lexicon.POLITE]
    if reflex in _UNSURE and 0 < len(words) <= _MOST_WORDS:
        for name, word in _WORDS:
            if _is_nearly(word, words):
                usage = word.usage.split()[0] if word.if_several else word.usage
                return Taken(Reflex.COMMAND, f"{name} {usage}")
    return Taken(reflex) if reflex else None


def _is_nearly(word: Word, said: list[str]) -> bool:
    """Return whether a text is a word of a command, or one with a slip: ``subscribe munday 9:00``.

    One argument may be any, so that ``project achme`` counts; ``project setup is missing a step`` does not.
    """
    own, (head, *rest) = word.head or word.usage.split()[0], said
    arguments = [each for each in rest if each not in ("in", "of", "for")]
    if not _is_like(head, own, _HEAD_LIKENESS):
        return False
    if not arguments or (word.takes is None and re.fullmatch(word.shape, " ".join((head, *arguments)))):
        return True
    shown = f"{word.usage} {word.example} {word.hint}".casefold().split()
    known = [each.strip("[]") for each in shown if each != own]
    if not known or len(arguments) == 1:
        return bool(known)
    if all(_is_argument(each, known) for each in arguments):
        return True
    without_one = (arguments[:place] + arguments[place + 1 :] for place in range(len(arguments)))
    return word.takes is not None and any(word.takes(" ".join(each)) for each in (arguments, *without_one))


def _is_argument(said: str, known: list[str]) -> bool:
    is_value = said[0] in "#/" or any(character.isdecimal() for character in said)
    return is_value or any(_is_like(said, each, _LIKENESS) for each in known)


def _is_like(said: str, known: str, likeness: float) -> bool:
    return said == known or SequenceMatcher(None, said, known).ratio() >= likeness


def unsent(
    invocation: Invocation, whole: str, said: str | None = None, job: JobNumber | None = None
) -> Answer | None:
    """Return the answer to a text that is not sent to the agent; None for a prompt.

    ``whole``: the text to send if its author insists. ``said``: what of it is for the agent. ``job``: the job
    that it would follow up on.
    """
    whole = whole.strip()
    plain = slack_text.to_plain(whole if said is None else said, {}, {})
    taken = judge(plain) if len(whole) <= Unsent.LONGEST else None
    if taken is None:
        return None
    kept = Unsent(invocation.origin.key, invocation.origin.thread, job, whole)
    return Answer(message=not_sent(taken, plain, kept))


def _allowed(kept: Unsent, pressed: Allowed) -> Allowed:
    """Return the request that was not sent: its message, if that stands in this channel."""
    here = message_key(pressed.origin.channel)
    if not kept.key.startswith(here):
        return pressed.but(key=kept.key, thread=None, message_ts=None)
    ts = MessageTs(kept.key.removeprefix(here))
    return pressed.but(key=kept.key, thread=kept.thread, message_ts=ts)


_SENT = Answer(message=sent(), replaces=True)
"""In the place of the answer that said that nothing was started."""


async def send_anyway(context: Context, press: Press) -> Answer:
    """Send a text to the agent that was taken for something else. A second press sends nothing."""
    kept, unknown = Unsent.loads(press.value), Answer(message=say.no_such_job(press.value))
    if kept is None:
        return unknown
    allowed = _allowed(kept, press.allowed)
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
        await take_mention(context, Mention(origin, kept.raw), lambda _: None)
    else:
        reply = ThreadReply(origin, f"<@{context.bot_user}> {kept.raw}")
        await take_reply(context, reply, lambda _: None)
    return _SENT


async def _follow_up(context: Context, known: Readable, raw: str) -> Answer:
    result = await follow_up(context, known, PromptRequest(raw, allow_duplicate=True))
    if result is None or not result.accepted:
        return Answer(message=say.cannot_follow_up(known.job))
    return Answer(message=say.too_late()) if result.repeated else _SENT


async def _ask(context: Context, allowed: Allowed, raw: str) -> Answer:
    text, project = context.projects.take(raw)
    request = PromptRequest(text, allow_duplicate=True, project=project.id if project else None)
    asked = await ask(context, allowed, request)
    return Answer(message=say.started_before(asked.job)) if asked.repeated else _SENT

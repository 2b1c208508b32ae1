"""Answer texts that are not sent to the agent, by their meaning: the same at every door."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.commands.meaning import Meaning, find_meaning
from bot.commands.own_words import UsedWord, WordHooks
from bot.context import Context
from bot.ids import Message
from bot.intent.kinds import ANSWER_THREADS, WITHOUT_CONTEXT, Kind, Place
from bot.intent.own_words import FoundWord
from bot.jobs.access import Readable
from bot.jobs.ask import write_nothing
from bot.jobs.hooks import Also
from bot.jobs.job_words import answer_by_hook, answer_status, run_job_word, takes_job_word
from bot.jobs.messages import unsent
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import UnsentText
from bot.jobs.model.questions import DocsQuestion
from bot.jobs.questions import ask_docs, can_ask_docs, note_no_help
from bot.jobs.welcome import greet
from bot.ports import ThreadRef

ABOUT_JOB = frozenset(
    {
        Kind.CHANGES_QUESTION,
        Kind.STATE_QUESTION,
        Kind.REASON_QUESTION,
        Kind.STOP,
        Kind.RETRY,
    }
)
"""Kinds whose answers are about the job of the thread."""


NEVER_SENT = frozenset(
    {
        Kind.OWN_WORD,
        Kind.SHARED_WORD,
        Kind.MISTYPED_WORD,
        Kind.THANKS,
        Kind.GREETING,
        Kind.DISAPPROVAL,
        Kind.STOP,
        Kind.RETRY,
    }
)
"""Kinds that are no request at any door, also not in forms and after ``/docs-followup``.
"""


def place_of_job(job: TrackedJob) -> Place:
    """Return the place of a text in the thread of a job."""
    if job.is_merged:
        return Place.MERGED_JOB
    return Place.FAILED_JOB if job.can_run_again else Place.JOB


def draft_of(allowed: Allowed, meaning: Meaning, target: Readable | None = None) -> UnsentText:
    """Return the text of a request, as a button may send it or ask it."""
    origin = allowed.origin
    job = target.job.number if target else None
    return UnsentText(origin.key, origin.thread, meaning.full_text.strip(), job)


async def respond(
    context: Context,
    allowed: Allowed,
    meaning: Meaning,
    place: Place,
    *,
    target: Readable | None = None,
    command: str = "",
    also: Also = write_nothing,
) -> Message | None:
    """Return the private answer to a text that is not sent to the agent.

    None if there is none: the thread shows the result, or a worker answers.

    Args:
        context: The store, the settings and the features.
        allowed: The request of its author.
        meaning: What it means.
        place: The place of the text.
        target: The job of the thread or of the form; None elsewhere.
        command: The slash command after which it was typed; empty elsewhere.
        also: What is written together with a question to the docs.
    """
    decision = meaning.decision
    draft = draft_of(allowed, meaning, target)
    match meaning.kind:
        case Kind.OWN_WORD if decision.word:
            return await _run_word(context, allowed, meaning, decision.word, target, command)
        case Kind.SHARED_WORD if decision.word:
            return unsent.ask_which_command(decision.word.typed, decision.word.commands)
        case Kind.MISTYPED_WORD if decision.word:
            return unsent.did_you_mean(decision.word.typed, _find_command(decision.word))
        case Kind.QUESTION | Kind.FURTHER_QUESTION:
            return await ask_docs(context, allowed, DocsQuestion(draft), also)
        case Kind.TOPIC:
            return await _answer_topic(context, allowed, draft, also)
        case Kind.PRODUCT_QUESTION:
            question = DocsQuestion(draft, is_private=True)
            return await ask_docs(context, allowed, question, also)
        case Kind.UNANSWERABLE:
            return unsent.cannot_answer(draft)
        case Kind.BOT_QUESTION:
            commands = context.vocabulary.commands_of("help")
            help_word = FoundWord("help", "help", commands[:1])
            return await _run_word(context, allowed, meaning, help_word, None, command)
        case Kind.DISAPPROVAL:
            return await _answer_no(context, allowed, place)
        case kind if kind in ABOUT_JOB and target is not None:
            return await _answer_about_job(context, meaning, target)
    return await _ask_back(context, allowed, meaning, draft)


async def answer_unless_request(
    context: Context,
    allowed: Allowed,
    raw: str,
    place: Place,
    target: Readable | None = None,
    command: str = "",
) -> Message | None:
    """Return the answer to a text of a form or a follow-up by command that is no request.

    People say what they mean there, so that all other texts go to the agent: None for those.
    """
    meaning = find_meaning(context, raw, place, author=allowed.user, command=command)
    if meaning.kind not in NEVER_SENT:
        return None
    answer = await respond(context, allowed, meaning, place, target=target, command=command)
    return answer or unsent.YOU_ARE_WELCOME


def _find_command(word: FoundWord) -> str:
    return word.commands[0] if word.commands else ""


async def _run_word(
    context: Context,
    allowed: Allowed,
    meaning: Meaning,
    word: FoundWord,
    target: Readable | None,
    command: str,
) -> Message | None:
    if takes_job_word(word):
        return await run_job_word(context, allowed, word, target)
    used = UsedWord(word, meaning.text, meaning.project, command)
    for hooks in context.hooks_of(WordHooks):
        answer = await hooks.run_word(context, allowed, used)
        return answer.message
    raise LookupError("a bot that knows words runs them")


async def _answer_topic(
    context: Context, allowed: Allowed, draft: UnsentText, also: Also
) -> Message | None:
    """Show pages about a topic. Where the docs cannot be searched, ask what to do."""
    if not context.discovery or not can_ask_docs(context):
        return unsent.ask_what_to_do(draft, can_answer=False)
    return await ask_docs(context, allowed, DocsQuestion(draft, is_topic=True), also)


async def _answer_no(context: Context, allowed: Allowed, place: Place) -> Message:
    """Answer a no: what should change? In an answer's thread it counts as *Didn't help*."""
    thread = allowed.origin.thread
    if place in ANSWER_THREADS and thread is not None:
        where = ThreadRef(allowed.origin.channel, thread)
        noted = await note_no_help(context, allowed, where)
        if noted is not None:
            return noted
    return unsent.WHAT_IS_WRONG if place in WITHOUT_CONTEXT else unsent.WHAT_SHOULD_CHANGE


async def _answer_about_job(context: Context, meaning: Meaning, target: Readable) -> Message | None:
    """Answer about the job of the thread."""
    word = meaning.decision.word
    if word is not None:
        return await run_job_word(context, target.allowed, word, target)
    if target.job.is_forgotten:
        return unsent.CANNOT_SEE
    match meaning.kind:
        case Kind.CHANGES_QUESTION:
            return await answer_by_hook(context, target, "changes")
        case Kind.REASON_QUESTION:
            return unsent.no_reasons(target.job)
    return await answer_status(context, target.job)


async def _ask_back(
    context: Context, allowed: Allowed, meaning: Meaning, draft: UnsentText
) -> Message | None:
    """Ask the author of a text what to do about it.

    Return None for a text that needs no reaction.
    """
    is_understood = meaning.decision.is_understood
    can_answer = bool(context.discovery)
    match meaning.kind:
        case Kind.THANKS:
            return unsent.YOU_ARE_WELCOME
        case Kind.GREETING:
            return greet(context, allowed)
        case Kind.SUGGESTION:
            return unsent.ask_whether_to_send(draft, is_understood=is_understood)
        case Kind.THREAD_UNCLEAR:
            about = UnsentText(draft.key, draft.thread, unsent.WRITE_UP)
            return unsent.ask_about_thread(about, can_answer=can_answer)
        case Kind.UNCLEAR if not draft.raw:
            return greet(context, allowed)
        case Kind.UNCLEAR:
            return unsent.ask_what_to_do(draft, can_answer=can_answer, is_understood=is_understood)
    return None

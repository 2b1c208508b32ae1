"""The buttons under answers to texts that were not sent: open a form with them, or leave them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.access.admit import Allowed
from bot.commands.command import Answer, FormState, Press
from bot.commands.own_words import UsedWord, WordHooks
from bot.context import Context
from bot.ids import Block, MessageTs
from bot.intent.own_words import FoundWord
from bot.jobs.access import Readable, steerable
from bot.jobs.commands.channel_choices import projects_to_choose
from bot.jobs.job_acts import withdraw
from bot.jobs.job_words import run_job_word, takes_job_word
from bot.jobs.messages import forms, job_answers, unsent
from bot.jobs.messages.forms import draft_prompt
from bot.jobs.model.prompts import PromptState, UnsentText
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread_context import OfferedThread, offer_thread
from bot.messages import slack_text
from bot.ports import ThreadRef, message_key

_MAX_FORM_CHARACTERS = 3_000


def at_message(press: Press, draft: UnsentText) -> Allowed:
    """Return the press as a request of the message with the text ``draft``, if the message is here.

    An answer that reaches its reader by a direct message is pressed outside of its thread.
    """
    prefix = message_key(press.origin.channel)
    # A later request of the same message has a suffix.
    bare = draft.key.removeprefix(prefix).partition(":")[0]
    if not draft.key.startswith(prefix):
        return press.allowed.with_request(key=draft.key, thread=None, message_ts=None)
    return press.allowed.with_request(
        key=draft.key, thread=draft.thread, message_ts=MessageTs(bare)
    )


def on_text(
    do: Callable[[Context, Press, UnsentText], Awaitable[Answer]],
) -> Callable[[Context, Press], Awaitable[Answer]]:
    """Return the handler of a button whose value is a text."""

    async def pressed(context: Context, press: Press) -> Answer:
        draft = UnsentText.loads(press.value)
        if draft is None:
            return Answer(message=job_answers.no_such_job(press.value))
        return await do(context, press, draft)

    return pressed


async def send_nothing(_context: Context, _press: Press) -> Answer:
    """Send nothing."""
    return Answer(message=unsent.NOTHING_SENT, replaces=True)


# ---- change the docs, by a form


@on_text
async def open_change_form(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Open the form with a text."""
    return await _open_form(context, press, draft, lambda text: text)


@on_text
async def open_draft_form(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Open the form with a prompt about a question."""
    return await _open_form(context, press, draft, draft_prompt)


async def _open_form(
    context: Context, press: Press, draft: UnsentText, prompt_about: Callable[[str], str]
) -> Answer:
    allowed = at_message(press, draft)
    text, project = context.projects.take(draft.raw)
    plain = slack_text.to_plain(text, {}, {})
    form = forms.ask_form(
        channel=press.origin.channel or None,
        private=FormState.at(press.origin, thread=allowed.origin.thread_for_job).dumps(),
        text=prompt_about(plain),
        projects=await projects_to_choose(context, press.origin.channel, project),
    )
    return Answer(modal=form)


# ---- a word that was almost typed


async def run_word(context: Context, press: Press) -> Answer:
    """Run one of the bot's own words, which the button names with its command."""
    command, _, typed = press.value.partition("|")
    if not typed.strip():
        return Answer(message=job_answers.DECIDED_BEFORE)
    word = FoundWord(typed.split()[0], typed, (command,) if command else ())
    if takes_job_word(word):
        message = await run_job_word(context, press.allowed, word, None)
        return Answer(message=message, replaces=message is not None)
    used = UsedWord(word, typed, command=command)
    for hooks in context.hooks_of(WordHooks):
        answer = await hooks.run_word(context, press.allowed, used)
        return replace(answer, replaces=answer.message is not None)
    return Answer(message=job_answers.DECIDED_BEFORE)


# ---- messages of a thread


async def offer_messages(
    context: Context, press: Press, thread: MessageTs, without: MessageTs | None
) -> OfferedThread:
    return await offer_thread(context, ThreadRef(press.origin.channel, thread), without)


def earlier_blocks(offer: OfferedThread) -> tuple[Block, ...]:
    return forms.earlier_blocks(
        offer.messages, offer.left_out, is_chosen=True, is_read=offer.is_read
    )


async def choose_messages(context: Context, press: Press, target: Readable) -> Answer:
    """Open a form with the earlier messages of a private channel's thread.

    A request that waits is taken back, and the form has its text. Once it is sent, the messages go
    as a follow-up.
    """
    job = target.job
    prompt = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
    if prompt is None or job.thread is None:
        return Answer(message=job_answers.DECIDED_BEFORE)
    offer = await offer_thread(context, job.thread, prompt.message_ts)
    earlier = earlier_blocks(offer)
    is_waiting = prompt.state in (PromptState.NEW, PromptState.WAITING)
    if is_waiting and await withdraw(context, steerable(context, target, prompt)):
        form = forms.ask_form(
            channel=job.channel,
            private=FormState.at(press.origin, thread=job.thread_ts).dumps(),
            text=slack_text.to_plain(prompt.raw, {}, {})[:_MAX_FORM_CHARACTERS],
            projects=await projects_to_choose(
                context, job.channel, context.projects.with_id(job.project)
            ),
            earlier=earlier,
        )
        return Answer(modal=form)
    private = FormState.at(press.origin, job.number).dumps()
    form = forms.follow_up_form(
        [job], private=private, is_chosen=True, text=unsent.MESSAGES_GO_ALONG, earlier=earlier
    )
    return Answer(modal=form)

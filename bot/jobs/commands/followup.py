"""``/docs-followup``: send a follow-up from outside a job's thread.

Slack allows no commands in threads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.commands.command import (
    Answer,
    Command,
    FormErrors,
    FormState,
    Invocation,
    Submission,
    Word,
    number_in,
)
from bot.context import Context
from bot.ids import JobNumber, Message, is_direct_message
from bot.jobs.access import Readable, find_manageable, find_visible
from bot.jobs.ask import follow_up, takes_follow_ups
from bot.jobs.commands.job_references import LINK, NUMBER, find_job, for_reader
from bot.jobs.messages import forms
from bot.jobs.messages import job_answers as say
from bot.jobs.model.jobs import AttachThread, TrackedJob
from bot.jobs.model.prompts import PromptRequest, UnsentText
from bot.jobs.store.jobs import Jobs
from bot.jobs.unsent_texts import answer_unless_request, place_of_job
from bot.messages import slack_text
from bot.messages.blocks import to_bare_message, with_prompt
from bot.messages.help import about_replies
from bot.outbox.private_answers import answer_in_private
from bot.store import Transaction

NAME = "/docs-followup"
_MAX_OFFERED = 20
_AFTER_NAME_PATTERN = re.compile(rf"\s*(?:#{NUMBER}(?=[\s,:]|$)|\S+)[\s,:]*(.*)", re.DOTALL)
"""The text after the name of a job in a wire text."""


async def _send_to_guessed(
    context: Context, invocation: Invocation, _match: re.Match[str]
) -> Answer:
    """Send the text to the job that it names or to the latest.

    The first word may be the service's id of a job. The latest job is the person's.

    If this person can see no job of that id, the word is part of the follow-up.
    """
    text = invocation.full_text
    first_word = slack_text.to_plain(text, {}, {}).split(maxsplit=1)[0]
    job = await find_job(context, first_word)
    if await find_manageable(context, invocation.allowed, job) is not None:
        return await _send_to(context, invocation, job, Answer())
    user = invocation.origin.user
    channel = invocation.origin.channel
    latest = await context.store.read(lambda tx: Jobs(tx).latest_of(user, channel))
    unknown = _answer_refused(say.no_job_yet(NAME), invocation, text)

    async def send(target: Readable) -> Answer:
        return await _send(context, invocation, target, text, guessed=True)

    return await for_reader(context, invocation.allowed, latest, unknown, send)


async def _send_to_named(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    unknown = _answer_refused(
        say.no_such_job(match[1]), invocation, _cut_text_after_name(invocation)
    )
    return await _send_to(context, invocation, await find_job(context, match[1]), unknown)


async def _send_to(
    context: Context, invocation: Invocation, job: TrackedJob | None, unknown: Answer
) -> Answer:
    """Send the text after a job's name; open a form without one."""
    text = _cut_text_after_name(invocation)

    async def send(target: Readable) -> Answer:
        if text:
            return await _send(context, invocation, target, text, guessed=False)
        private = FormState.at(invocation.origin, target.job.number).dumps()
        return Answer(modal=forms.follow_up_form([target.job], private=private, is_chosen=True))

    return await for_reader(
        context,
        invocation.allowed,
        job,
        unknown,
        send,
        typed=_read_typed_text(invocation, text),
        is_follow_up=bool(text),
    )


def _cut_text_after_name(invocation: Invocation) -> str:
    """Return the text after the job's name; "" for a text without visible characters."""
    match = _AFTER_NAME_PATTERN.fullmatch(invocation.full_text)
    raw = match[1] if match else ""
    return "" if slack_text.is_blank(slack_text.to_plain(raw, {}, {})) else raw


async def _open_form(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    """Open a form with the channel's newest jobs.

    In direct messages they are the person's own of all channels.
    """
    origin = invocation.origin

    def look(tx: Transaction) -> Sequence[TrackedJob]:
        if is_direct_message(origin.channel):
            return Jobs(tx).asked_by(origin.user, _MAX_OFFERED)
        return Jobs(tx).in_channel(origin.channel, _MAX_OFFERED)

    jobs = await context.store.read(look)
    offered = [job for job in jobs if takes_follow_ups(job)]
    if not offered:
        return Answer(message=say.no_job_yet(NAME))
    private = FormState.at(origin).dumps()
    return Answer(modal=forms.follow_up_form(offered, private=private))


async def _send(
    context: Context, invocation: Invocation, target: Readable, raw: str, *, guessed: bool
) -> Answer:
    place = place_of_job(target.job)
    answer = await answer_unless_request(
        context, invocation.allowed, raw, place, target, invocation.command
    )
    if answer is not None:
        return Answer(message=answer)
    result = await follow_up(context, target, PromptRequest(raw))
    if not result.accepted:
        # With its text the button would start a job in this channel with the words of that one.
        is_here = result.job.channel == invocation.origin.channel
        draft = UnsentText(invocation.origin.key, None, raw) if is_here else None
        return _answer_refused(say.cannot_follow_up(result.job, draft), invocation, raw)
    if result.same is not None:
        return Answer(message=say.same_follow_up(result.job.number, result.same))
    return Answer(message=say.follow_up_taken(result.job, guessed=guessed))


def _answer_refused(message: Message, invocation: Invocation, raw: str) -> Answer:
    """Return a refusal, with the text to copy after a command."""
    return Answer(message=with_prompt(message, _read_typed_text(invocation, raw)))


def _read_typed_text(invocation: Invocation, raw: str) -> str:
    """Return the text of a command; "" after a mention, which still shows it."""
    return slack_text.to_plain(raw, {}, {}) if invocation.command else ""


async def _submit(context: Context, submission: Submission) -> FormErrors | None:
    """Send the text of the form, with the messages that its author chose."""
    fields = submission.fields
    text = fields.get("prompt") or ""
    if slack_text.is_blank(text):
        return FormErrors({"prompt": say.EMPTY_FORM})
    number = submission.form.job or JobNumber(number_in(fields.get("job")))
    job = await context.store.read(lambda tx: Jobs(tx).get(number))
    target = await find_visible(context, submission.claimed.without_channel(), job)
    if target is None:
        return FormErrors({"prompt": say.FORM_WITHOUT_JOB})
    raw = slack_text.from_plain(text)
    earlier = fields.get("earlier") if fields.get("take_earlier") else None
    if not earlier and await _answer_if_no_request(context, target, raw):
        return None
    attach_thread = AttachThread.GIVEN if earlier else None
    request = PromptRequest(raw, attach_thread=attach_thread, given=earlier)
    result = await follow_up(context, target, request)
    if result.same is not None:
        return FormErrors({"prompt": say.REPEATED_REQUEST})
    if not result.accepted:
        return FormErrors({"prompt": to_bare_message(say.cannot_follow_up(target.job))})
    return None


async def _answer_if_no_request(context: Context, target: Readable, raw: str) -> bool:
    """Answer the text of the form in the channel of its job, if it is no request."""
    allowed = target.allowed.with_request(channel=target.job.channel)
    place = place_of_job(target.job)
    answer = await answer_unless_request(context, allowed, raw, place, target)
    if answer is None:
        return False
    await answer_in_private(context, allowed.origin, "unsent", answer)
    return True


COMMAND = Command(
    name=NAME,
    summary="Give a job a further instruction",
    fallback_word=Word(
        usage="PROMPT",
        shape=".+",
        help_text="Gives your latest job in the channel a further instruction.",
        run=_send_to_guessed,
        example="Make the introduction shorter",
        hint="[42] what to change further",
        after_mention=None,
        is_in_help=True,
    ),
    bare_word=Word(
        usage="",
        shape="",
        help_text="Opens a form with the recent jobs to choose from.",
        run=_open_form,
        after_mention=None,
        is_in_help=True,
    ),
    words=(
        Word(
            usage="42 PROMPT",
            # A number without "#" counts as a job's name too, so that no use is wasted.
            shape=rf"(#{NUMBER}(?=[\s,:]|$)|(?:{NUMBER}|{LINK})(?=\s|$)).*",
            help_text="Gives job 42 a further instruction.",
            run=_send_to_named,
            example="42 Mention Python 3.11 too",
            after_mention=rf"#{NUMBER}[\s,:]+\S.*",
            is_in_help=True,
        ),
    ),
    help_note=about_replies,
    takes_project=False,
    forms={"follow_up": _submit},
)

"""``/docs-followup``: send a follow-up from outside a job's thread. Slack allows no commands in threads."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from bot import slack_text
from bot.commands.command import Answer, Command, FormErrors, Invocation, Modal, Press, Submission, Word
from bot.commands.form_state import FormState
from bot.commands.guard import confirmed, for_reader, known_to_see
from bot.commands.parsing.job_reference import LINK, NUMBER, find_job
from bot.commands.unsent import reflex_of, unsent
from bot.messages import general
from bot.messages import job_answers as say
from bot.messages.blocks import bare
from bot.model.ids import JobNumber
from bot.model.jobs import TrackedJob
from bot.model.message import Message
from bot.work.context import Context
from bot.work.jobs.ask import TooManyWaiting
from bot.work.jobs.follow_up import FollowUpRequest, follow_up, takes_follow_ups

NAME = "/docs-followup"
_OFFERED = 20
_AFTER_NAME = re.compile(rf"\s*(?:#{NUMBER}(?=[\s,:]|$)|\S+)[\s,:]*(.*)", re.DOTALL)
"""What follows the name of a job in a wire text."""


async def _run(context: Context, invocation: Invocation) -> Answer:
    return await COMMAND.run_word(context, replace(invocation, words=invocation.text))


async def _send_to_guessed(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    """Send the text to the job that its first word names by a service id, or to the person's latest job.

    If this person can see no job of that id, the word is part of the follow-up.
    """
    job = await find_job(context, slack_text.to_plain(invocation.text, {}, {}).split(maxsplit=1)[0])
    if job is None:
        return await _send_to_latest(context, invocation)
    unknown = Answer(later=lambda: _send_to_latest(context, invocation))
    return await for_reader(
        context, invocation.origin, job, unknown, lambda found: _send_or_open_form(context, invocation, found)
    )


async def _send_to_latest(context: Context, invocation: Invocation) -> Answer:
    """Send the whole text to the person's latest job in this channel, because no job is named."""
    user, channel = invocation.origin.user, invocation.origin.channel
    latest = await context.store.read(lambda tx: tx.jobs.latest_of(user, channel))
    if latest is None:
        return _refused(say.no_job_yet(NAME), invocation, invocation.text)
    return await _send(context, invocation, latest, invocation.text, guessed=True)


async def _send_to_named(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
    """Send a follow-up to the job that the person named.

    If only Slack can tell whether they may see the job, the follow-up is stored before Slack is called, so
    that no crash loses it. ``work/jobs/prepare.py`` then calls Slack and tells the person the outcome.
    """
    named = found[1]
    job = await find_job(context, named)
    if (
        job is not None
        and _text_after_name(invocation)
        and reflex_of(_text_after_name(invocation), thanks=True) is None
        and not await known_to_see(context, invocation.origin, job)
    ):
        request = FollowUpRequest(invocation.origin, job.number, _text_after_name(invocation), named=named)
        # With too many prompts waiting nothing is stored, and only who may see the job is told so.
        with suppress(TooManyWaiting):
            result = await follow_up(context, request)
            if result is not None and result.accepted and result.same is None:
                return Answer()
    unknown = _refused(say.no_such_job(named), invocation, _text_after_name(invocation))
    return await for_reader(
        context, invocation.origin, job, unknown, lambda found: _send_or_open_form(context, invocation, found)
    )


async def _send_or_open_form(context: Context, invocation: Invocation, job: TrackedJob) -> Answer:
    text = _text_after_name(invocation)
    return await _send(context, invocation, job, text, guessed=False) if text else _form_for(job, invocation)


def _text_after_name(invocation: Invocation) -> str:
    """Return the text after the job's name; an empty text if it has no visible characters."""
    found = _AFTER_NAME.fullmatch(invocation.text)
    raw = found[1] if found else ""
    return "" if slack_text.is_blank(slack_text.to_plain(raw, {}, {})) else raw


def _form_for(job: TrackedJob, request: Invocation | Press) -> Answer:
    private = FormState.at(request.origin, job.number, seen_by=request.origin.user).dumps()
    return Answer(modal=Modal(general.follow_up_form([job], private=private, chosen=job.number)))


async def _form(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    channel, user = invocation.origin.channel, invocation.origin.user
    jobs = await context.store.read(lambda tx: tx.jobs.in_channel(channel, _OFFERED, user))
    offered = [job for job in jobs if takes_follow_ups(job)]
    if not offered:
        return Answer(message=say.no_job_yet(NAME))
    private = FormState.at(invocation.origin).dumps()
    return Answer(modal=Modal(general.follow_up_form(offered, private=private)))


async def _send(
    context: Context, invocation: Invocation, job: TrackedJob, raw: str, *, guessed: bool
) -> Answer:
    if (answer := unsent(invocation, raw, job=job.number)) is not None:
        return answer
    result = await follow_up(context, FollowUpRequest(invocation.origin, job.number, raw))
    if result is None:
        return _refused(say.no_such_job(str(job.number)), invocation, raw)
    if not result.accepted:
        return _refused(say.cannot_follow_up(result.job), invocation, raw)
    if result.same is not None:
        return Answer(message=say.same_follow_up(result.job.number, result.same))
    taken = say.follow_up_taken(result.job, guessed=guessed)
    return Answer(message=taken) if result.repeated else await confirmed(context, invocation.origin, taken)


def _refused(message: Message, invocation: Invocation, raw: str) -> Answer:
    """Return a refusal with the text to copy, unless it followed a mention, which people still see.

    ``work/access/denied.py`` gives the same text back, so that nobody learns which jobs exist.
    """
    text = slack_text.to_plain(raw, {}, {}) if invocation.command else ""
    return Answer(message=say.with_prompt(message, text))


async def _button(context: Context, press: Press) -> Answer:
    async def open_form(job: TrackedJob) -> Answer:
        return _form_for(job, press) if takes_follow_ups(job) else Answer(message=say.cannot_follow_up(job))

    job, unknown = await find_job(context, press.value), Answer(message=say.no_such_job(press.value))
    return await for_reader(context, press.origin, job, unknown, open_form)


async def _submit(context: Context, submission: Submission) -> FormErrors | None:
    if slack_text.is_blank(submission.fields.get("prompt") or ""):
        return FormErrors({"prompt": say.EMPTY_FORM})
    job = await _job_of_form(context, submission)
    known = job is not None and await known_to_see(context, submission.origin, job)
    # Slack cannot be called before a form is answered. Access was checked when it was opened for this person.
    if job is None or not (
        known or (submission.form.job and submission.form.seen_by == submission.origin.user)
    ):
        return FormErrors({"prompt": say.FORM_WITHOUT_JOB})
    raw, named = (
        slack_text.from_plain(submission.fields.get("prompt") or ""),
        None if known else str(job.number),
    )
    result = await follow_up(context, FollowUpRequest(submission.origin, job.number, raw, named=named))
    if result and result.same is not None:
        return FormErrors({"prompt": say.SAME_ANEW})
    return None if result and result.accepted else FormErrors({"prompt": bare(say.cannot_follow_up(job))})


async def _job_of_form(context: Context, submission: Submission) -> TrackedJob | None:
    chosen = submission.fields.get("job")
    number = submission.form.job or (JobNumber(int(chosen)) if chosen and chosen.isdecimal() else None)
    if not number:
        return None
    return await context.store.read(lambda tx: tx.jobs.get(number))


COMMAND = Command(
    name=NAME,
    summary="Give a job a further instruction",
    other=Word(
        usage="PROMPT",
        shape=".+",
        tells="Does the same for your latest job in the channel.",
        run=_send_to_guessed,
        example="Make the introduction shorter",
        hint="[42] what to change further",
        after_mention=None,
    ),
    alone=Word("", "", "Opens a form with the recent jobs to choose from.", _form, after_mention=None),
    words=(
        Word(
            usage="42 PROMPT",
            # A bare number counts, to waste no use.
            shape=rf"(#{NUMBER}(?=[\s,:]|$)|(?:{NUMBER}|{LINK})(?=\s|$)).*",
            tells="Gives job 42 a further instruction.",
            run=_send_to_named,
            example="42 Mention Python 3.11 too",
            after_mention=rf"#{NUMBER}[\s,:]+\S.*",
        ),
    ),
    run=_run,
    takes_project=False,
    buttons={"follow_up": _button},
    forms={"follow_up": _submit},
    shortcuts={},
)

"""``/docs-followup``: steer a job from outside its thread, where Slack allows no commands."""

from __future__ import annotations

from bot import slack_text
from bot.commands.command import Answer, Command, FormErrors, Invocation, Modal, Press, Submission
from bot.commands.form_state import FormState
from bot.commands.guard import confirmed, for_reader, known_to_see
from bot.commands.parsing.job_reference import find_job, looks_like_job
from bot.messages import job_answers as say
from bot.messages import modals
from bot.messages.blocks import bare
from bot.model import ChannelId, JobNumber, TrackedJob, UserId
from bot.work.context import Context
from bot.work.jobs.follow_up import FollowUpRequest, follow_up, takes_follow_ups

NAME = "/docs-followup"
_OFFERED = 20


async def _run(context: Context, said: Invocation) -> Answer:
    words = slack_text.to_plain(said.text, {}, {}).strip()
    if slack_text.is_blank(words):
        return await _form(context, said)
    named = words.split(maxsplit=1)[0]
    job = await find_job(context, named)
    if looks_like_job(named):
        return await _steer(context, said, named, job)
    if job is None:
        return await _guess(context, said)
    # A service id that names nothing is a word like any other, and so is one that is not for this person.
    unknown = Answer(later=lambda: _guess(context, said))
    return await for_reader(context, said.origin, job, unknown, lambda found: _go_on(context, said, found))


async def _guess(context: Context, said: Invocation) -> Answer:
    """No job is named, so all of it is meant for the person's latest job here."""
    latest = await _latest(context, said.origin.user, said.origin.channel)
    if latest is None:
        return Answer(message=say.no_job_yet(NAME))
    return await _send(context, said, latest, said.text, guessed=True)


async def _steer(context: Context, said: Invocation, named: str, job: TrackedJob | None) -> Answer:
    """A follow-up that Slack must be asked about is stored first, so that no crash loses it.

    ``work/jobs/prepare.py`` asks then, and tells the person what came of it.
    """
    if job is not None and _further(said) and not await known_to_see(context, said.origin, job):
        request = FollowUpRequest(said.origin, job.number, _further(said), named=named)
        result = await follow_up(context, request)
        if result is not None and result.accepted and result.same is None:
            return Answer()
    unknown = Answer(message=say.no_such_job(named))
    return await for_reader(context, said.origin, job, unknown, lambda found: _go_on(context, said, found))


async def _go_on(context: Context, said: Invocation, job: TrackedJob) -> Answer:
    further = _further(said)
    return await _send(context, said, job, further, guessed=False) if further else _form_for(job, said)


def _further(said: Invocation) -> str:
    """What was typed after the name of the job; empty when that shows nothing."""
    raw = "".join(said.text.split(maxsplit=1)[1:])
    return "" if slack_text.is_blank(slack_text.to_plain(raw, {}, {})) else raw


def _form_for(job: TrackedJob, done: Invocation | Press) -> Answer:
    private = FormState.at(done.origin, job.number, seen_by=done.origin.user).dumps()
    return Answer(modal=Modal(modals.follow_up_form([job], private=private, chosen=job.number)))


async def _latest(context: Context, user: UserId, channel: ChannelId) -> TrackedJob | None:
    return await context.store.read(lambda tx: tx.jobs.latest_of(user, channel))


async def _form(context: Context, said: Invocation) -> Answer:
    jobs = await context.store.read(lambda tx: tx.jobs.in_channel(said.origin.channel, _OFFERED))
    offered = [job for job in jobs if takes_follow_ups(job)]
    if not offered:
        return Answer(message=say.no_job_yet(NAME))
    private = FormState.at(said.origin).dumps()
    return Answer(modal=Modal(modals.follow_up_form(offered, private=private)))


async def _send(context: Context, said: Invocation, job: TrackedJob, raw: str, *, guessed: bool) -> Answer:
    result = await follow_up(context, FollowUpRequest(said.origin, job.number, raw))
    if result is None:
        return Answer(message=say.no_such_job(str(job.number)))
    if not result.accepted:
        return Answer(message=say.cannot_follow_up(result.job))
    if result.same is not None:
        return Answer(message=say.same_follow_up(result.job.number, result.same))
    taken = say.follow_up_taken(result.job, guessed=guessed)
    return Answer(message=taken) if result.repeated else await confirmed(context, said.origin, taken)


async def _button(context: Context, press: Press) -> Answer:
    async def open_form(job: TrackedJob) -> Answer:
        return _form_for(job, press) if takes_follow_ups(job) else Answer(message=say.cannot_follow_up(job))

    job, unknown = await find_job(context, press.value), Answer(message=say.no_such_job(press.value))
    return await for_reader(context, press.origin, job, unknown, open_form)


async def _submit(context: Context, sent: Submission) -> FormErrors | None:
    if slack_text.is_blank(sent.fields.get("prompt") or ""):
        return FormErrors({"prompt": say.EMPTY_FORM})
    job = await _job_of_form(context, sent)
    known = job is not None and await known_to_see(context, sent.origin, job)
    # A form is answered before Slack may be asked, so this was done when it was opened for this person.
    if job is None or not (known or (sent.form.job and sent.form.seen_by == sent.origin.user)):
        return FormErrors({"prompt": say.FORM_WITHOUT_JOB})
    raw, named = slack_text.from_plain(sent.fields.get("prompt") or ""), None if known else str(job.number)
    result = await follow_up(context, FollowUpRequest(sent.origin, job.number, raw, named=named))
    if result and result.same is not None:
        return FormErrors({"prompt": say.SAME_ANEW})
    return None if result and result.accepted else FormErrors({"prompt": bare(say.cannot_follow_up(job))})


async def _job_of_form(context: Context, sent: Submission) -> TrackedJob | None:
    chosen = sent.fields.get("job")
    number = sent.form.job or (JobNumber(int(chosen)) if chosen and chosen.isdecimal() else None)
    if not number:
        return None
    return await context.store.read(lambda tx: tx.jobs.get(number))


COMMAND = Command(
    name=NAME,
    usage_hint="[42] what to change further",
    summary="Give a job a further instruction",
    examples=(
        f"{NAME} 42 Mention Python 3.11 too",
        f"{NAME} Make the introduction shorter",
    ),
    run=_run,
    buttons={"follow_up": _button},
    forms={"follow_up": _submit},
    shortcuts={},
)

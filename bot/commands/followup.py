"""``/docs-followup``: steer a job from outside its thread, where Slack allows no commands."""

from __future__ import annotations

from bot import slack_text
from bot.commands.command import Answer, Command, FormErrors, Invocation, Modal, Press, Submission
from bot.commands.form_state import FormState
from bot.commands.parsing.job_reference import find_job, looks_like_job
from bot.messages import job_answers as say
from bot.messages import modals, quota
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
    named, *rest = words.split(maxsplit=1)
    job = await find_job(context, named)
    if job is None and looks_like_job(named):
        return Answer(message=say.no_such_job(named))
    if job is not None and not rest:
        private = FormState(said.channel, said.response_url, job.number).dumps()
        return Answer(modal=Modal(modals.follow_up_form([job], private=private, chosen=job.number)))
    if job is not None:
        raw = said.text.split(maxsplit=1)[1]
        return await _send(context, said, job, raw, guessed=False)
    latest = await _latest(context, said.user, said.channel)
    if latest is None:
        return Answer(message=say.no_job_yet(NAME))
    return await _send(context, said, latest, said.text, guessed=True)


async def _latest(context: Context, user: UserId, channel: ChannelId) -> TrackedJob | None:
    async with context.store.look() as tx:
        return await tx.jobs.latest_of(user, channel)


async def _form(context: Context, said: Invocation) -> Answer:
    async with context.store.look() as tx:
        jobs = await tx.jobs.in_channel(said.channel, _OFFERED)
    offered = [job for job in jobs if takes_follow_ups(job)]
    if not offered:
        return Answer(message=say.no_job_yet(NAME))
    private = FormState(said.channel, said.response_url).dumps()
    return Answer(modal=Modal(modals.follow_up_form(offered, private=private)))


async def _send(context: Context, said: Invocation, job: TrackedJob, raw: str, *, guessed: bool) -> Answer:
    result = await follow_up(
        context,
        FollowUpRequest(said.key, job.number, job.channel, said.user, raw, response_url=said.response_url),
    )
    if result is None:
        return Answer(message=say.no_such_job(str(job.number)))
    if not result.accepted:
        return Answer(message=say.cannot_follow_up(result.job))
    if result.same is not None:
        return Answer(message=quota.same_follow_up(result.job.number, result.same))
    return Answer(message=say.follow_up_taken(result.job, guessed=guessed), stored=not result.repeated)


async def _button(context: Context, press: Press) -> Answer:
    job = await find_job(context, press.value)
    if job is None:
        return Answer(message=say.no_such_job(press.value))
    if not takes_follow_ups(job):
        return Answer(message=say.cannot_follow_up(job))
    private = FormState(press.channel, press.response_url, job.number).dumps()
    return Answer(modal=Modal(modals.follow_up_form([job], private=private, chosen=job.number)))


async def _submit(context: Context, sent: Submission) -> FormErrors | None:
    carried = FormState.loads(sent.private)
    text, chosen = sent.fields.get("prompt") or "", sent.fields.get("job")
    if slack_text.is_blank(text):
        return FormErrors({"prompt": say.EMPTY_FORM})
    number = carried.job or (JobNumber(int(chosen)) if chosen and chosen.isdecimal() else None)
    async with context.store.look() as tx:
        job = await tx.jobs.get(number) if number else None
    if job is None:
        return FormErrors({"prompt": say.FORM_WITHOUT_JOB})
    result = await follow_up(
        context,
        FollowUpRequest(
            sent.key,
            job.number,
            job.channel,
            sent.user,
            slack_text.from_plain(text),
            response_url=carried.response_url,
        ),
    )
    if result and result.same is not None:
        return FormErrors({"prompt": quota.SAME_ANEW})
    return None if result and result.accepted else FormErrors({"prompt": bare(say.cannot_follow_up(job))})


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

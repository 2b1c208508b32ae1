"""Store a request for a new job or a follow-up once, before the acknowledgement to Slack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from bot.access.admit import Allowed, Declined, check_channel, limit_slack_time
from bot.context import Context
from bot.ids import ChannelId, JobNumber, Message, PromptId
from bot.jobs.access import Readable
from bot.jobs.hooks import Also
from bot.jobs.messages.job_answers import too_many_waiting
from bot.jobs.messages.unsent import key_found
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptRequest, UnsentText
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.masking import has_key
from bot.messages import slack_text
from bot.messages.plain_text import visible
from bot.ports import Origin, SlackError
from bot.projects import with_project
from bot.store import Transaction

log = structlog.get_logger(__name__)
REPEATED_WITHIN = timedelta(minutes=1)
"""Period in which an equal request counts as a duplicate, which needs the person's confirmation."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The job of a request."""

    job: JobNumber
    repeated: bool
    """Whether a request with the same key was stored before."""
    same: bool = False
    """Whether nothing was stored, because the person made an equal request a moment ago.

    ``job`` is the job of that request.
    """


class TooManyWaiting(Declined):
    """Nothing was stored, because ``limit`` prompts of the person wait already.

    ``raw`` is the new text.
    """

    def __init__(self, limit: int, raw: str) -> None:
        super().__init__(f"{limit} prompts wait")
        self.limit = limit
        self.raw = raw

    def answer(self, text: str, *, is_form: bool) -> Message:
        """Return the limit, with the prompt to copy, which a form still contains."""
        del text
        prompt = "" if is_form else slack_text.to_plain(self.raw, {}, {})
        return too_many_waiting(self.limit, prompt)


class HasKey(Declined):
    """Nothing was stored, because there is a key in the prompt.

    ``draft``: None if no button can hold it.
    """

    def __init__(self, draft: UnsentText | None) -> None:
        super().__init__("a key in a prompt")
        self.draft = draft

    def answer(self, text: str, *, is_form: bool) -> Message:
        """Return the warning, with the button that sends the prompt anyway."""
        return key_found(None if is_form else self.draft, text)


def check_key(
    context: Context, origin: Origin, request: PromptRequest, job: JobNumber | None = None
) -> None:
    """Raise HasKey if there is a key in a prompt and its author has not confirmed it."""
    text = visible(slack_text.to_plain(request.raw, {}, {}))
    if request.allow_key or not has_key(f"{text}\n{request.given or ''}"):
        return
    docs = context.projects.shown(request.project) if request.project else None
    raw = with_project(docs, request.raw)
    is_more = request.files or request.given or request.gap or len(raw) > UnsentText.LONGEST
    raise HasKey(None if is_more else UnsentText(origin.key, origin.thread, raw, job))


async def is_public_channel(context: Context, channel: ChannelId) -> bool | None:
    """Return whether Slack reports that a channel is public; None if Slack does not answer."""
    try:
        async with limit_slack_time():
            return await context.messenger.is_public(channel)
    except (SlackError, TimeoutError) as error:
        log.info("channel_not_described", channel=channel, reason=type(error).__name__)
        return None


def write_nothing(_tx: Transaction) -> None:
    """Write nothing: the default for ``also``."""


async def ask(
    context: Context, allowed: Allowed, request: PromptRequest, also: Also = write_nothing
) -> Asked:
    """Store a request for a new job. A request with a known key stores nothing.

    ``also`` is written with it, or with its repetition.

    Raises TooManyWaiting, HasKey, and NotAllowed for a channel that the bot is not set up for.
    """
    check_channel(context, allowed.origin.channel)
    check_key(context, allowed.origin, request)
    request = replace(request, raw=request.raw.strip())
    origin = allowed.origin
    asked = await context.store.write(lambda tx: _store_job(context, tx, origin, request, also))
    log.info("prompt_stored", job=asked.job, repeated=asked.repeated or asked.same)
    context.wake()
    return asked


def _store_job(
    context: Context, tx: Transaction, origin: Origin, request: PromptRequest, also: Also
) -> Asked:
    """Store a new job with its first prompt, unless it was asked for before."""
    now = context.clock()
    project = request.project or context.project_of(tx, origin.channel).id
    docs = context.projects.shown(project)
    job = TrackedJob(
        JobNumber(0),
        project,
        origin.channel,
        origin.user,
        request.raw,
        now,
        thread_ts=origin.thread_for_job,
        rerun_of=request.rerun_of,
        predecessor=request.predecessor,
        project_label=docs.label if docs else None,
        gap=request.gap,
    )
    prompt = Prompt.new(origin, request, job.number, project, PromptKind.START, now)
    earlier = Prompts(tx).find_repeated(prompt, now - REPEATED_WITHIN)
    if earlier.job is not None:
        also(tx)
        return Asked(earlier.job, repeated=True)
    if earlier.same_job is not None and not request.allow_duplicate:
        return Asked(earlier.same_job, repeated=False, same=True)
    _check_waiting(context, earlier.waiting, request)
    number = Jobs(tx).add(job)
    Prompts(tx).add(replace(prompt, job=number))
    also(tx)
    return Asked(number, repeated=False)


def _check_waiting(context: Context, waiting: int, request: PromptRequest) -> None:
    """Raise TooManyWaiting if as many prompts of the person wait as are allowed."""
    limit = context.limits.waiting_per_person
    if waiting >= limit:
        raise TooManyWaiting(limit, request.raw)


@dataclass(frozen=True, slots=True)
class FollowUpOutcome:
    """The result of a follow-up."""

    job: TrackedJob
    accepted: bool
    """False if the job takes no follow-ups in its state."""
    repeated: bool = False
    """Whether nothing was stored, because the follow-up was stored before."""
    same: PromptId | None = None
    """The equal prompt that the person sent a moment ago, if nothing was stored because of it."""


def takes_follow_ups(job: TrackedJob) -> bool:
    """Return whether the job takes follow-ups: it runs, has ended well, or is about to start."""
    return not job.is_forgotten and (job.state.takes_follow_ups or job.state is JobState.WAITING)


async def follow_up(
    context: Context, readable: Readable, request: PromptRequest, also: Also = write_nothing
) -> FollowUpOutcome:
    """Store a follow-up, unless its key is known. ``also``: see ``ask``.

    Raises TooManyWaiting, HasKey, and NotAllowed for a job in a channel that the bot is not set up
    for.
    """
    number = readable.job.number
    origin = readable.allowed.origin
    check_channel(context, readable.job.channel)
    check_key(context, origin, request, number)
    request = replace(request, raw=request.raw.strip())
    result = await context.store.write(
        lambda tx: _store_follow_up(context, tx, origin, number, request, also)
    )
    if result.accepted and not result.repeated:
        log.info("prompt_stored", job=result.job.number, repeated=False)
        context.wake()
    return result


def _store_follow_up(
    context: Context,
    tx: Transaction,
    origin: Origin,
    number: JobNumber,
    request: PromptRequest,
    also: Also,
) -> FollowUpOutcome:
    job = Jobs(tx).get_or_raise(number)
    if Prompts(tx).job_of(origin.key) is not None:
        also(tx)
        return FollowUpOutcome(job, accepted=True, repeated=True)
    if not takes_follow_ups(job):
        return FollowUpOutcome(job, accepted=False)
    now = context.clock()
    if not request.allow_duplicate:
        same = Prompts(tx).same_follow_up(origin.user, number, request.raw, now - REPEATED_WITHIN)
        if same is not None:
            return FollowUpOutcome(job, accepted=True, repeated=True, same=same)
    _check_waiting(context, Prompts(tx).waiting_by(origin.user), request)
    # A follow-up belongs to the job's channel, wherever it was typed.
    job_origin = replace(origin, channel=job.channel)
    Prompts(tx).add(Prompt.new(job_origin, request, number, job.project, PromptKind.FOLLOW_UP, now))
    also(tx)
    return FollowUpOutcome(job, accepted=True)

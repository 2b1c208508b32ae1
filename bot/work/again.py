"""What the buttons under a message do: run again, send again, forget, withdraw."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import SecretStr

from bot.model import (
    ChannelId,
    JobNumber,
    JobState,
    Prompt,
    PromptId,
    PromptKind,
    PromptState,
    RequestKey,
    UserId,
)
from bot.registry import LeaseLost, Tables
from bot.work.ask import Asked, AskRequest, ask
from bot.work.desk import Desk
from bot.work.follow_up import FollowedUp, FollowUpRequest, follow_up
from bot.work.settle import OUT_OF_QUEUE, drop_follow_ups
from bot.work.tell import redraw_root


@dataclass(frozen=True, slots=True)
class RunAgain:
    """Start a new job with the text of an old one; ``round`` makes one press of each end count."""

    job: JobNumber
    round: int
    channel: ChannelId
    user: UserId
    response_url: SecretStr | None = None


async def run_again(desk: Desk, request: RunAgain) -> Asked | None:
    """A new job; None when the old one is unknown. A second press of the same button finds the first's."""
    async with desk.registry.look() as tables:
        prompt = await tables.prompts.starting(request.job)
    if prompt is None:
        return None
    key = RequestKey(f"again:{request.job}:{request.round}")
    return await ask(
        desk,
        AskRequest(key, request.channel, request.user, prompt.raw, request.response_url, once_more=True),
    )


async def ask_anyway(desk: Desk, job: JobNumber, once: str, press: RunAgain) -> Asked | None:
    """The same request once more, after the person was asked; ``once`` is the message with the button."""
    async with desk.registry.look() as tables:
        prompt = await tables.prompts.starting(job)
    if prompt is None:
        return None
    key = RequestKey(f"anyway:{job}:{once}")
    return await ask(
        desk,
        AskRequest(key, press.channel, press.user, prompt.raw, press.response_url, once_more=True),
    )


async def follow_up_anyway(desk: Desk, number: PromptId, once: str, user: UserId) -> FollowedUp | None:
    """The same follow-up once more, after the person was asked."""
    async with desk.registry.look() as tables:
        prompt = await tables.prompts.get(number)
        job = await tables.jobs.get(prompt.job) if prompt else None
    if prompt is None or job is None:
        return None
    key = RequestKey(f"anyway:follow_up:{number}:{once}")
    request = FollowUpRequest(key, job.number, job.channel, user, prompt.raw, once_more=True)
    return await follow_up(desk, request)


async def who_decides(desk: Desk, number: PromptId) -> frozenset[UserId]:
    """Who may decide about a prompt: whoever asked it, whoever asked for the job, and admins."""
    async with desk.registry.look() as tables:
        prompt = await tables.prompts.get(number)
        job = await tables.jobs.get(prompt.job) if prompt else None
    asked = {each for each in (prompt and prompt.asked_by, job and job.requester) if each}
    return frozenset(asked) | desk.admission.admins


async def send_again(desk: Desk, prompt_id: PromptId) -> bool:
    """A person decided that a prompt in doubt is sent once more. False when it is not in doubt any more."""
    return await _decide(desk, prompt_id, PromptState.IN_DOUBT, PromptState.WAITING)


async def forget(desk: Desk, prompt_id: PromptId) -> bool:
    """A person decided to leave a prompt in doubt alone. False when it is not in doubt any more."""
    return await _decide(desk, prompt_id, PromptState.IN_DOUBT, PromptState.WITHDRAWN)


async def withdraw_prompt(desk: Desk, prompt_id: PromptId) -> bool:
    """Take back what has not been sent. False when it is too late."""
    return await _decide(desk, prompt_id, PromptState.WAITING, PromptState.WITHDRAWN)


async def _decide(desk: Desk, prompt_id: PromptId, was: PromptState, becomes: PromptState) -> bool:
    try:
        async with desk.registry.transaction() as tables:
            prompt = await tables.prompts.get(prompt_id)
            if prompt is None:
                return False
            await _change(desk, tables, prompt, was, becomes)
    except LeaseLost:
        return False
    desk.wake()
    return True


async def _change(desk: Desk, tables: Tables, prompt: Prompt, was: PromptState, becomes: PromptState) -> None:
    now = desk.clock()
    await tables.prompts.change(
        prompt.id,
        was=was,
        state=becomes,
        due_at=now,
        sent_at=None,
        place=None,
        claimed_by=None,
        claimed_until=None,
    )
    if becomes is PromptState.WITHDRAWN:
        await tables.prompts.move_up(desk.project, now)
    if prompt.kind is PromptKind.FOLLOW_UP:
        return
    if becomes is PromptState.WAITING:
        await tables.jobs.change(
            prompt.job,
            state=JobState.WAITING,
            queue_until=None,
            queue_place=None,
            queue_why=None,
            ended_at=None,
        )
        await redraw_root(tables, prompt.job, now)
        return
    await tables.jobs.change(prompt.job, state=JobState.WITHDRAWN, ended_at=now, **OUT_OF_QUEUE)
    job = await redraw_root(tables, prompt.job, now)
    await drop_follow_ups(tables, job, now)

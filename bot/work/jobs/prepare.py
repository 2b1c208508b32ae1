"""The round that makes new prompts readable and opens their threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from bot import slack_text
from bot.messages import jobs as say
from bot.model import DeliveryKind, NewDelivery, Prompt, PromptKind, PromptState, Standing, TrackedJob
from bot.store import LeaseLost, Tables
from bot.work.access.check import admit
from bot.work.access.denied import turn_away
from bot.work.jobs.thread_messages import reply
from bot.work.ports import SlackError
from bot.work.retry import all_of
from bot.work.worker_context import Workshop

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_AT_ONCE = 20
_SLACK_PATIENCE = timedelta(minutes=10)
_RETRY_SECONDS = 3.0


async def prepare_round(shop: Workshop) -> int:
    """Turn stored requests into prompts that wait to be sent, and write their root messages."""
    async with shop.registry.transaction() as tables:
        prompts = await tables.prompts.claim_new(shop.claimer(), _AT_ONCE)
    await all_of(*(_prepare(shop, prompt) for prompt in prompts))
    return len(prompts)


async def _prepare(shop: Workshop, prompt: Prompt) -> None:
    standing = await _standing(shop, prompt)
    text = await _readable(shop, prompt) if standing and standing.may else ""
    try:
        async with shop.registry.transaction() as tables:
            if standing is None:
                await _look_again(shop, tables, prompt)
            elif standing.may:
                await _write(shop, tables, prompt, text)
            else:
                await turn_away(shop, tables, prompt, standing)
    except LeaseLost:
        log.info("prompt_taken_over", prompt=prompt.id)
        return
    shop.wake()


async def _standing(shop: Workshop, prompt: Prompt) -> Standing | None:
    """Whether who asked may; None when Slack cannot tell just now and there is time to ask again."""
    if prompt.channel is not None and not shop.admission.allows_channel(prompt.channel):
        return Standing.CHANNEL
    try:
        return await admit(shop.registry, shop.messenger, shop.admission, shop.clock, prompt.asked_by)
    except SlackError as error:
        late = shop.clock() - prompt.asked_at > _SLACK_PATIENCE
        log.warning("standing_not_told", user=prompt.asked_by, reason=str(error))
        return Standing.UNTOLD if late else None


async def _look_again(shop: Workshop, tables: Tables, prompt: Prompt) -> None:
    await tables.prompts.change(
        prompt.id,
        owner=shop.owner,
        was=PromptState.NEW,
        due_at=shop.after(_RETRY_SECONDS),
        claimed_by=None,
        claimed_until=None,
    )


async def _readable(shop: Workshop, prompt: Prompt) -> str:
    needed = slack_text.names_needed(prompt.raw)
    users = await _names(shop, needed.users, shop.messenger.user_name)
    channels = await _names(shop, needed.channels, shop.messenger.channel_name)
    return slack_text.to_plain(prompt.raw, users, channels)


async def _names(shop: Workshop, ids: Iterable[Id], look_up: Callable[[Id], Awaitable[str]]) -> dict[Id, str]:
    """The names that Slack tells us. One it does not tell is no reason to stop a job."""
    known: dict[Id, str] = {}
    for each in ids:
        try:
            known[each] = await look_up(each)
        except SlackError as error:
            if shop.once.first("name", str(error)):
                log.warning("name_not_told", id=each, reason=str(error))
    return known


async def _write(shop: Workshop, tables: Tables, prompt: Prompt, text: str) -> None:
    await tables.prompts.change(
        prompt.id,
        owner=shop.owner,
        was=PromptState.NEW,
        state=PromptState.WAITING,
        text=text,
        claimed_by=None,
        claimed_until=None,
    )
    now = shop.clock()
    if prompt.kind is PromptKind.START:
        await tables.jobs.change(prompt.job, text=text)
    job = await tables.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        await _open_thread(tables, job, now)
    else:
        await _show_follow_up(tables, job, prompt, text, now)


async def _open_thread(tables: Tables, job: TrackedJob, now: datetime) -> None:
    root = NewDelivery(
        f"job:{job.number}:root", DeliveryKind.ROOT, job.channel, job=job.number, message=say.root(job, now)
    )
    await tables.deliveries.add(root, now)
    for part, message in enumerate(say.full_prompt(job)):
        await reply(tables, job, f"prompt:{part}", message, now)


async def _show_follow_up(tables: Tables, job: TrackedJob, prompt: Prompt, text: str, now: datetime) -> None:
    if prompt.message_ts is None:
        message = say.follow_up_by_command(job, text, prompt.asked_by)
        await reply(tables, job, f"follow_up:{prompt.id}", message, now)
        return
    seen = NewDelivery(
        f"prompt:{prompt.id}:seen",
        DeliveryKind.REACTION,
        job.channel,
        job=job.number,
        message_ts=prompt.message_ts,
        reaction="eyes",
    )
    await tables.deliveries.add(seen, now)

"""Small builders for what tests start from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.model import (
    ChannelId,
    JobNumber,
    MessageTs,
    NewPrompt,
    ProjectId,
    Prompt,
    PromptId,
    PromptKind,
    RequestKey,
    UserId,
)
from bot.store import Claimer, Store, Transaction

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
PROJECT = ProjectId("acme-docs")
CHANNEL = ChannelId("C0DOCS")
ANA = UserId("U0ANA")
BEN = UserId("U0BEN")


class HeldClock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)


def claimer(owner: str = "one", at: datetime = NOW, lease_seconds: float = 60.0) -> Claimer:
    """Somebody who claims."""
    return Claimer(owner, at, lease_seconds)


async def add_job(
    store: Store,
    *,
    channel: ChannelId = CHANNEL,
    requester: UserId = ANA,
    text: str = "Add a quickstart",
    asked_at: datetime = NOW,
    root_ts: str | None = None,
    **values: Any,
) -> JobNumber:
    """A job in the registry, changed as wanted."""
    async with store.transaction() as tx:
        number = await tx.jobs.add(
            project=PROJECT, channel=channel, requester=requester, text=text, asked_at=asked_at
        )
        if root_ts or values:
            await tx.jobs.change(number, root_ts=MessageTs(root_ts) if root_ts else None, **values)
    return number


async def add_prompt(
    store: Store,
    job: JobNumber,
    *,
    key: str = "k1",
    kind: PromptKind = PromptKind.START,
    asked_by: UserId = ANA,
    raw: str = "Add a quickstart",
    asked_at: datetime = NOW,
    **values: Any,
) -> PromptId:
    """A prompt in the registry, changed as wanted."""
    async with store.transaction() as tx:
        prompt = await tx.prompts.add(
            NewPrompt(RequestKey(key), job, PROJECT, kind, asked_by, raw, asked_at, CHANNEL)
        )
        if values:
            await tx.prompts.change(prompt, **values)
    return prompt


async def claim_waiting(tx: Transaction, who: Claimer, limit: int) -> Sequence[Prompt]:
    """Claim the first prompts that wait, in the order in which they came, as submitting does."""
    queue = await tx.prompts.quota_queue(PROJECT, who.now)
    return await tx.prompts.claim_these(who, [waiting.id for waiting in queue[:limit]])

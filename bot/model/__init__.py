"""Our nouns and pure rules; no input, no output, no clock of its own."""

from __future__ import annotations

from bot.model.deliveries import Delivery, DeliveryKind, DeliveryState, NewDelivery
from bot.model.ids import (
    ChannelId,
    DeliveryId,
    JobNumber,
    MessageTs,
    ProjectId,
    PromptId,
    RequestKey,
    ServiceJobId,
    UserId,
)
from bot.model.jobs import JobState, ThreadRef, TrackedJob
from bot.model.message import Block, Message
from bot.model.polling import PollPace, back_off_seconds
from bot.model.prompts import Prompt, PromptKind, PromptState

__all__ = [
    "Block",
    "ChannelId",
    "Delivery",
    "DeliveryId",
    "DeliveryKind",
    "DeliveryState",
    "JobNumber",
    "JobState",
    "Message",
    "MessageTs",
    "NewDelivery",
    "PollPace",
    "ProjectId",
    "Prompt",
    "PromptId",
    "PromptKind",
    "PromptState",
    "RequestKey",
    "ServiceJobId",
    "ThreadRef",
    "TrackedJob",
    "UserId",
    "back_off_seconds",
]

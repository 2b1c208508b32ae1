"""Our nouns and pure rules; no input, no output, no clock of its own."""

from __future__ import annotations

from bot.model.access import Admission, Profile, Standing
from bot.model.digests import Digest, DigestState, Subscription, SubscriptionState
from bot.model.ids import (
    ChannelId,
    DeliveryId,
    DigestId,
    JobNumber,
    MessageTs,
    PageRowId,
    ProjectId,
    PromptId,
    QuestionId,
    RequestKey,
    ServiceJobId,
    SnapshotId,
    SubscriptionId,
    UserId,
)
from bot.model.jobs import JobState, QueueWhy, ThreadRef, TrackedJob
from bot.model.message import Block, Message
from bot.model.outbox import Delivery, DeliveryKind, DeliveryState, NewDelivery
from bot.model.period import Period, day_start, full_days, last_full_week, today, week_of
from bot.model.polling import PollPace, back_off_seconds
from bot.model.prompts import NewPrompt, Prompt, PromptKind, PromptState, Wanted
from bot.model.questions import DEFAULT_TOP, MOST_TOP, FileTo, Question, QuestionState, Wish
from bot.model.quota import (
    WINDOW,
    Queued,
    Use,
    fair_order,
    frees_at,
    remembered_since,
    spent_by,
    still_counted,
)
from bot.model.report import Movements, Report, Suggestion, WeeklyReport, Why, WorkDone
from bot.model.visitors import Budget, Counts, Need, PageCounts, Snapshot, SnapshotState, SortBy, in_section
from bot.model.weekly_time import Weekday, WeeklyTime

__all__ = [
    "DEFAULT_TOP",
    "MOST_TOP",
    "WINDOW",
    "Admission",
    "Block",
    "Budget",
    "ChannelId",
    "Counts",
    "Delivery",
    "DeliveryId",
    "DeliveryKind",
    "DeliveryState",
    "Digest",
    "DigestId",
    "DigestState",
    "FileTo",
    "JobNumber",
    "JobState",
    "Message",
    "MessageTs",
    "Movements",
    "Need",
    "NewDelivery",
    "NewPrompt",
    "PageCounts",
    "PageRowId",
    "Period",
    "PollPace",
    "Profile",
    "ProjectId",
    "Prompt",
    "PromptId",
    "PromptKind",
    "PromptState",
    "Question",
    "QuestionId",
    "QuestionState",
    "QueueWhy",
    "Queued",
    "Report",
    "RequestKey",
    "ServiceJobId",
    "Snapshot",
    "SnapshotId",
    "SnapshotState",
    "SortBy",
    "Standing",
    "Subscription",
    "SubscriptionId",
    "SubscriptionState",
    "Suggestion",
    "ThreadRef",
    "TrackedJob",
    "Use",
    "UserId",
    "Wanted",
    "Weekday",
    "WeeklyReport",
    "WeeklyTime",
    "Why",
    "Wish",
    "WorkDone",
    "back_off_seconds",
    "day_start",
    "fair_order",
    "frees_at",
    "full_days",
    "in_section",
    "last_full_week",
    "remembered_since",
    "spent_by",
    "still_counted",
    "today",
    "week_of",
]

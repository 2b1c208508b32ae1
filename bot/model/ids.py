"""A type for each kind of id, so that mypy refuses one in place of another."""

from __future__ import annotations

from typing import NewType

ProjectId = NewType("ProjectId", str)
"""The docs service's id of a project."""

JobNumber = NewType("JobNumber", int)
"""The bot's number of a tracked job, which people type and read as ``#42``."""

ServiceJobId = NewType("ServiceJobId", str)
"""The docs service's id of a job. Known once the service has accepted the first prompt."""

PromptId = NewType("PromptId", int)
DeliveryId = NewType("DeliveryId", str)
"""Id of an outbox row. It is part of the post's metadata, so that the post can be found again."""

UserId = NewType("UserId", str)
ChannelId = NewType("ChannelId", str)


def is_direct_message(channel: ChannelId) -> bool:
    """Return whether a channel is a direct message. Slack's ids of those, and no others, begin with D.

    https://docs.slack.dev/apis/web-api/using-the-conversations-api
    """
    return channel.startswith("D")


MessageTs = NewType("MessageTs", str)
"""Slack's id of a message within its channel: a timestamp in seconds with six decimals, as text."""

RequestKey = NewType("RequestKey", str)
"""Idempotency key of a request from Slack: the same when Slack delivers the request again."""

SnapshotId = NewType("SnapshotId", int)
PageKey = NewType("PageKey", str)
"""A snapshot's id and the hash of a page's path, for a button about that page.

The id of the page's row is given to another page once the row has been deleted.
"""

QuestionId = NewType("QuestionId", int)
SubscriptionId = NewType("SubscriptionId", int)


def can_be_id(number: int) -> bool:
    """Return whether a row can have this number: drivers raise errors beyond the range of a column."""
    return 0 < number < 2**31

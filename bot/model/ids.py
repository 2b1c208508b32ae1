"""Names for the ids that travel through the bot, so that no two kinds are mixed up."""

from __future__ import annotations

from typing import NewType

ProjectId = NewType("ProjectId", str)
"""The docs service's name of a project."""

JobNumber = NewType("JobNumber", int)
"""Our number of a tracked job: what people type and read (``#42``)."""

ServiceJobId = NewType("ServiceJobId", str)
"""The docs service's id of a job; exists once the service has accepted the prompt."""

PromptId = NewType("PromptId", int)
DeliveryId = NewType("DeliveryId", str)
"""Id of one row of the outbox; travels in the metadata of the post, so that it can be recognised."""

UserId = NewType("UserId", str)
ChannelId = NewType("ChannelId", str)
MessageTs = NewType("MessageTs", str)
"""Slack's name of a message within its channel: seconds with six decimals, as text."""

RequestKey = NewType("RequestKey", str)
"""What makes a request from Slack recognisable when it is delivered again."""

SnapshotId = NewType("SnapshotId", int)
PageRowId = NewType("PageRowId", int)
"""Our number of one page's row in one snapshot; what a button about that page carries."""

QuestionId = NewType("QuestionId", int)
SubscriptionId = NewType("SubscriptionId", int)
DigestId = NewType("DigestId", int)

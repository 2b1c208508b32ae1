"""A job for samples and tests of messages, and the buttons of a message."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from bot.ids import JobNumber, Message
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.pull_request import PullRequestSnapshot, Size
from tests.builders import ANA, CHANNEL, NOW, PROJECT

PULL_REQUEST = "https://code.example/acme/docs/pull/7"
PERMALINK = "https://acme.slack.example/archives/C0DOCS/p1?a=1&b=2"
LATER, HALF_PAST = NOW + timedelta(minutes=4), NOW + timedelta(minutes=30)
SEEN = PullRequestSnapshot(
    "Add <it>", Size(120, 4, 3), is_draft=False, iteration=1, reported_at=NOW
)


def job(state: JobState = JobState.PULL_REQUEST, **values: Any) -> TrackedJob:
    """Return Ana's job #42 in its first version."""
    defaults: dict[str, Any] = {
        "number": JobNumber(42),
        "project": PROJECT,
        "channel": CHANNEL,
        "requester": ANA,
        "text": "Add a quickstart for the Python SDK",
        "asked_at": NOW,
        "iteration": 1,
        "result_number": 1,
        "iteration_started_at": NOW,
    }
    if state is JobState.PULL_REQUEST:
        defaults |= {"pr_link": PULL_REQUEST, "ended_at": LATER}
    return TrackedJob(state=state, **(defaults | values))


def buttons(message: Message) -> list[tuple[str, str, str]]:
    """Return label, action and value of every button."""
    return [
        (button["text"]["text"], button["action_id"], button["value"])
        for block in message.blocks
        if block["type"] == "actions"
        for button in block["elements"]
    ]


def actions(message: Message) -> list[str]:
    """Return the action of every button."""
    return [action for _, action, _ in buttons(message)]

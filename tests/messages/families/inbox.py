"""Private notes to the authors of messages."""

from __future__ import annotations

from collections.abc import Mapping

from bot.ids import MessageTs
from bot.inbox import messages as say
from bot.jobs.model.jobs import JobState
from bot.ports import Origin, message_key
from tests.builders import ANA, CHANNEL
from tests.messages.samples import job

MENTION = Origin(
    message_key(CHANNEL, "1.2"), ANA, CHANNEL, thread=None, message_ts=MessageTs("1.2")
)


def samples() -> Mapping[str, object]:
    """Each note about a message that was deleted, taken back, missed or changed."""
    return {
        "deleted too late": say.deleted_too_late(job(JobState.WORKING), may_stop=True),
        "deleted too late, by somebody else": say.deleted_too_late(
            job(JobState.WORKING), may_stop=False
        ),
        "stop, about a question": say.QUESTION_TAKEN_BACK,
        "stop, about an answered question": say.QUESTION_DROPPED,
        "a mention from before": say.missed_mention(MENTION),
        "a mention from before, taken": say.MISSED_MENTION_TAKEN,
        "a mention from before, deleted": say.MISSED_MENTION_GONE,
        "a mention from before, and Slack is silent": say.SLACK_NOT_ANSWERING,
        "a button about words of before": say.MESSAGE_CHANGED,
    }

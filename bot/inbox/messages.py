"""Private notes to the authors of messages."""

from __future__ import annotations

from bot.ids import Message
from bot.jobs.messages.status_message import name
from bot.jobs.model.jobs import TrackedJob
from bot.messages import blocks as b
from bot.ports import Origin


def deleted_too_late(job: TrackedJob, *, may_stop: bool) -> Message:
    """Return the note to the author of a deleted message that the agent already has.

    ``may_stop``: they may decide that nothing more is posted about the job.
    """
    text = (
        f"The agent already has the message that you deleted, for {name(job.number)}. "
        "Nobody can take it back."
    )
    quiet = b.button("Keep quiet about it", b.Action.KEEP_QUIET, str(job.number))
    return b.with_buttons(text, [quiet] if may_stop and job.state.is_open else [])


QUESTION_TAKEN_BACK = b.words(":leftwards_arrow_with_hook: Taken back: I won't answer it.")
"""The answer to ``stop`` about a question."""
QUESTION_DROPPED = b.words(
    ":leftwards_arrow_with_hook: Taken back. It's no open question any more."
)
"""The answer to ``stop`` about an answered question."""


def missed_mention(origin: Origin) -> Message:
    """Return the offer to the author of a mention from before the bot was in the channel."""
    take = b.button("Take it now", b.Action.TAKE_MISSED, str(origin.message_ts))
    return b.with_buttons("You mentioned me here before I was in this channel.", [take])


MISSED_MENTION_TAKEN = b.words(":eyes: On it.")
"""The text that replaces the offer."""
MISSED_MENTION_GONE = b.words("I can't find that message any more. Mention me again.")
"""The answer to the offer about a deleted message."""
SLACK_NOT_ANSWERING = b.words(
    "Slack didn't show me that message just now. Press it again in a moment."
)
MESSAGE_CHANGED = b.words("You have changed that message since, so I did nothing.")
"""The answer to a button about a text that its author has edited since."""

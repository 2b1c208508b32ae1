"""Answers to texts that are no instruction."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import unsent
from bot.model.ids import JobNumber, MessageTs, RequestKey
from bot.model.jobs import JobState
from bot.model.prompts import Unsent
from bot.model.reflexes import Reflex, Taken
from bot.model.waits import Wait, Waiting, WaitWhy
from tests.builders import NOW
from tests.messages.samples import job

KEPT = Unsent(RequestKey("command:1"), MessageTs("1.2"), JobNumber(42), "Say <what>")


def samples() -> Mapping[str, object]:
    """What each text is taken for, and ``stop`` and a question in a job's thread."""
    states = (JobState.WAITING, JobState.WORKING, JobState.PULL_REQUEST)
    return {
        **{f"taken for: {each}": unsent.not_sent(Taken(each), "Say <what>", KEPT) for each in Reflex},
        "taken for a command of the bot": unsent.not_sent(Taken(Reflex.WORD, "/docs-agent limits"), "", KEPT),
        "a wish to merge": unsent.not_sent(Taken(Reflex.COMMAND), "Merge it", KEPT),
        "sent after all": unsent.sent(),
        **{
            f"stop, {state}, {'may' if may else 'may not'} decide": unsent.cannot_stop(
                job(state), KEPT, may_steer=may
            )
            for state in states
            for may in (True, False)
        },
        "a question about the job": unsent.status_unsent(
            job(JobState.WORKING), [Wait(Waiting.POLL, WaitWhy.TIME, NOW, NOW, NOW)], KEPT
        ),
    }

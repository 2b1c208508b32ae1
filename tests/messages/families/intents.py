"""Answers to texts that are not sent to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from bot.ids import MessageTs, RequestKey
from bot.jobs.messages import intents
from bot.jobs.model.jobs import JobState, QueueWhy, Wait, Waiting
from bot.jobs.model.prompts import Unsent
from tests.builders import NOW
from tests.messages.samples import HALF_PAST, PERMALINK, job

UNSENT = Unsent(RequestKey("command:1"), None, "Improve /quickstart")
USUAL = timedelta(minutes=5)
_STATES = (JobState.WAITING, JobState.WORKING, JobState.PULL_REQUEST, JobState.FAILED)


def samples() -> Mapping[str, object]:
    """The answer to a no, to a question, and to each of the bot's own words about a job."""
    waits = [Wait(Waiting.PROMPT, QueueWhy.LIMIT, NOW, NOW)]
    ready, failed = job(JobState.PULL_REQUEST), job(JobState.FAILED)
    return {
        "a no": intents.WHAT_SHOULD_CHANGE,
        "a task that may be a question": intents.taken_as_task(
            Unsent(RequestKey("command:1"), None, "SSO?")
        ),
        "a question": intents.cannot_answer(
            Unsent(RequestKey("command:1"), MessageTs("1.2"), "Say <what>")
        ),
        "a near miss": intents.did_you_mean(Unsent(RequestKey("command:1"), None, "stats"), ready),
        "a page of an open job": intents.page_is_taken(ready, PERMALINK, UNSENT),
        "files that cannot go": intents.files_cannot_go(["shot.png", "<b>.png"], UNSENT),
        "files that cannot go, cancelled": intents.CANCELLED,
        "after the merge": intents.merged_before(ready),
        "a key in it": intents.key_found(
            Unsent(RequestKey("command:1"), None, "The token is x1"), "Typed"
        ),
        "a key in it, and no button": intents.key_found(None),
        "sent after all": intents.SENT,
        "thanks by command": intents.YOU_ARE_WELCOME,
        "a wish to mention somebody": intents.CANNOT_PING,
        "a word without a job": intents.NO_JOB_HERE,
        "merged, by command": intents.reviewed(ready),
        "stop, and a prompt waits": intents.cannot_stop(ready, withdraws=True, may_steer=True),
        **{
            f"stop, {state}{', may decide' if may else ''}": intents.cannot_stop(
                job(state), withdraws=may and state is JobState.WAITING, may_steer=may
            )
            for state in _STATES
            for may in (True, False)
        },
        "try again, not failed": intents.not_failed(ready),
        "merge it": intents.cannot_merge(ready),
        "merge it, without a pull request": intents.cannot_merge(failed),
        **{
            f"status, {state}": intents.status_line(job(state), waits, asks=False)
            for state in _STATES
        },
        "status, usual time": intents.status_line(job(JobState.WORKING), (), USUAL, asks=False),
        "status, polls fail": intents.status_line(
            job(JobState.WORKING, unread_since=HALF_PAST), (), asks=False
        ),
        **{
            f"is it ready, {state}": intents.status_line(job(state), waits, asks=True)
            for state in _STATES
        },
    }

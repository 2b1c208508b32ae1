"""Answers to texts that are not sent to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.ids import MessageTs, RequestKey
from bot.jobs.messages import unsent
from bot.jobs.model.jobs import JobState, Wait, Waiting, WaitReason
from bot.jobs.model.prompts import Unsent
from bot.pulls.messages import previews, pull_requests
from tests.builders import NOW
from tests.messages.samples import HALF_PAST, LATER, PERMALINK, SEEN, job

TYPED = Unsent(RequestKey("command:1"), None, "Improve /quickstart")
SAID = Unsent(RequestKey("message:C1:1.2"), MessageTs("1.2"), "Say <what>")
LONG = Unsent(RequestKey("command:1"), None, "x" * (Unsent.LONGEST + 1))
MERGED = replace(SEEN, ended_at=LATER, is_merged=True)
USUAL = timedelta(minutes=5)
_STATES = (JobState.WAITING, JobState.WORKING, JobState.PULL_REQUEST, JobState.FAILED)


def samples() -> Mapping[str, object]:
    """The answers to texts that are asked back, and to the bot's own words about a job."""
    return {**_asked_back(), **_questions(), **_started(), **_before_a_use(), **_words()}


def _asked_back() -> Mapping[str, object]:
    return {
        "a no in a job's thread": unsent.WHAT_SHOULD_CHANGE,
        "a no elsewhere": unsent.WHAT_IS_WRONG,
        "unclear": unsent.what_should_i_do(SAID, can_answer=True),
        "unclear, answers off": unsent.what_should_i_do(TYPED, can_answer=False),
        "unclear, too long for a button": unsent.what_should_i_do(LONG, can_answer=True),
        "in another language": unsent.what_should_i_do(SAID, can_answer=True, is_understood=False),
        "half a change": unsent.shall_i_send(SAID),
        "half a change in another language": unsent.shall_i_send(SAID, is_understood=False),
        "half a change, left": unsent.NOTHING_SENT,
        "a call in a thread": unsent.what_about_thread(SAID, can_answer=True),
        "a call in a thread, answers off": unsent.what_about_thread(SAID, can_answer=False),
        "a call in a thread without words": unsent.NO_MESSAGES,
        "the prompt about a thread": unsent.WRITE_UP,
        "a near miss": unsent.did_you_mean("visitors last week", "/docs-visitors"),
        "a word of two commands": unsent.which_command("list", ["/docs-agent", "/docs-visitors"]),
    }


def _questions() -> Mapping[str, object]:
    ready = job(JobState.PULL_REQUEST)
    return {
        "a question, its answer comes": unsent.READING,
        "a question, its job runs": unsent.READING_TOO,
        "a question, answers off": unsent.cannot_answer(SAID),
        "what changed": pull_requests.changes_of(ready),
        "why": unsent.no_reasons(job(pull_request=SEEN)),
        "why, where the bot reads no pull request": unsent.no_reasons(ready),
        "why, without a pull request": unsent.no_reasons(job(JobState.WORKING)),
        "its pages": previews.offer_preview(ready),
        "its pages, without a preview": previews.NO_PREVIEW,
        "of a forgotten job": unsent.CANNOT_SEE,
    }


def _started() -> Mapping[str, object]:
    return {
        "a fact, said": unsent.taken_as_change(SAID, can_answer=True, is_held=True),
        "a fact, said, answers off": unsent.taken_as_change(SAID, can_answer=False, is_held=True),
        "a fact, typed": unsent.taken_as_change(TYPED, can_answer=True, is_held=False),
        "a fact, not sent": unsent.NOT_STARTED,
        "a private thread, asked first": unsent.private_thread_stays(TYPED),
        "a private thread": unsent.thread_stays_here(job(JobState.WAITING)),
        "readers' words": unsent.readers_words_stay_here(job(JobState.WAITING)),
        "a private thread, its messages follow": unsent.MESSAGES_GO_ALONG,
        "after the merge": unsent.merged_before(job(JobState.PULL_REQUEST)),
        "sent after all": unsent.SENT,
    }


def _before_a_use() -> Mapping[str, object]:
    return {
        "the subject of an open job": unsent.subject_is_taken(
            job(JobState.PULL_REQUEST), PERMALINK, TYPED
        ),
        "a page of an open job": unsent.page_is_taken(job(JobState.PULL_REQUEST), PERMALINK, TYPED),
        "files that cannot go": unsent.files_cannot_go(["shot.png", "<b>.png"], TYPED),
        "files that cannot go, cancelled": unsent.CANCELLED,
        "a key in it": unsent.key_found(TYPED, "Typed"),
        "a key in it, and no button": unsent.key_found(None),
    }


def _words() -> Mapping[str, object]:
    waits = [Wait(Waiting.PROMPT, WaitReason.LIMIT, NOW, NOW)]
    ready = job(JobState.PULL_REQUEST)
    return {
        "thanks by command": unsent.YOU_ARE_WELCOME,
        "a word without a job": unsent.NO_JOB_HERE,
        "merged, by command": unsent.reviewed(ready),
        "stop, taken back": unsent.TAKEN_BACK,
        **{
            f"stop, {state}{', may decide' if may else ''}": unsent.cannot_stop(
                job(state), may_steer=may
            )
            for state in _STATES
            for may in (True, False)
        },
        "stop, unconfirmed": unsent.cannot_stop(job(JobState.UNCONFIRMED), may_steer=True),
        "try again, not failed": unsent.not_failed(ready),
        "merge it": unsent.cannot_merge(ready),
        "merge it, without a pull request": unsent.cannot_merge(job(JobState.FAILED)),
        **{f"status, {state}": unsent.status_line(job(state), waits) for state in _STATES},
        "status, usual time": unsent.status_line(job(JobState.WORKING), (), USUAL),
        "status, polls fail": unsent.status_line(
            job(JobState.WORKING, poll_failing_since=HALF_PAST), ()
        ),
        "status, merged": unsent.status_line(job(pull_request=MERGED), ()),
    }

"""The replies in a job's thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.ids import JobNumber, PromptId
from bot.jobs.messages import jobs, problems
from bot.jobs.model.jobs import JobProblem, JobState
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.projects import Project
from bot.pulls.messages import pull_requests
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.samples import LATER, PERMALINK, SEEN, job

ENTRY = Project(PROJECT, "acme", "Acme docs")
BAD_ENDS = (JobState.NO_PULL_REQUEST, JobState.FAILED, JobState.ARCHIVED, JobState.GONE)
GIVEN_UP = (JobProblem.WITHDRAWN, JobProblem.DELETED, JobProblem.EDITED)
DAYS = NOW + timedelta(days=4)


def samples() -> Mapping[str, object]:
    """Reminders, questions and refusals."""
    working = job(JobState.WORKING)
    asked_twice = replace(working, other_recipients=(BEN,))
    is_mention_only: dict[str, Any] = {"is_mention_only": True}
    over = replace(SEEN, ended_at=NOW, is_merged=True)
    held = Prompt(
        PromptId(7), JobNumber(42), PromptKind.FOLLOW_UP, BEN, "raw", NOW, text="Also <b>this</b>"
    )
    refused = job(JobState.REFUSED)
    return {
        "a follow-up by command": jobs.follow_up_by_command(job(), "Mention *Python* <!here>", BEN),
        "a long follow-up by command": jobs.follow_up_by_command(job(), "word " * 2_000, BEN).text[
            :120
        ],
        **{
            f"a follow-up given up: {end}": jobs.follow_up_withdrawn(job(), held, end, ANA)
            for end in GIVEN_UP
        },
        "reminder": pull_requests.reminder(job(), PERMALINK, DAYS),
        "reminder of one that the bot sees": pull_requests.reminder(
            job(pull_request=SEEN), None, DAYS
        ),
        "merged": pull_requests.pull_request_ended(
            job(), replace(over, merged_by="octo", ended_at=LATER)
        ),
        "closed": pull_requests.pull_request_ended(job(), replace(SEEN, ended_at=LATER)),
        "still running": jobs.still_running(working, NOW + timedelta(minutes=31)),
        "a follow-up still running": jobs.still_running(replace(working, result_number=2), NOW),
        "no longer polled": jobs.unwatched_message(asked_twice, NOW + timedelta(days=7)),
        "no longer polled, where only mentions steer": jobs.unwatched_message(
            job(**is_mention_only), DAYS
        ),
        "somebody asked for quiet": jobs.stopped_watching(asked_twice, BEN),
        "no usable answer for long": jobs.unread(asked_twice, NOW, DAYS),
        "docs that are no longer set up": jobs.not_served(asked_twice),
        "run again": jobs.run_again_as(job(), PERMALINK),
        "refused": jobs.refused_message(refused, problems.service_rejected("too long <!channel>")),
        "refused without a reason": jobs.refused_message(refused, problems.service_rejected("")),
        "a follow-up is refused": jobs.follow_up_refused(BEN, problems.JOB_UNKNOWN),
        "unconfirmed": jobs.unconfirmed_message(job(JobState.UNCONFIRMED), 7, BEN, follow_up=False),
        "unconfirmed, answered, after another": jobs.unconfirmed_message(
            job(),
            7,
            BEN,
            follow_up=False,
            answered=True,
            earlier="https://github.com/acme/docs/pull/12",
        ),
        "unconfirmed, its words taken back": jobs.unconfirmed_without_words(
            job(JobState.UNCONFIRMED), 7, BEN, follow_up=False
        ),
        "an unconfirmed follow-up": jobs.unconfirmed_message(job(), 7, BEN, follow_up=True),
        "decided": jobs.decided(job(), ANA, False, jobs.DISMISS, BEN),
        "a decided follow-up": jobs.decided(job(), ANA, True, jobs.SEND_AGAIN, BEN),
        "answered after all": jobs.answered_after_all(job(), ANA, False),
        "a follow-up answered after all": jobs.answered_after_all(job(), ANA, True),
        "behind an unconfirmed prompt": jobs.behind_unconfirmed(job(), BEN),
    }

"""Problems of jobs and refusals of Slack and of the docs service, as titles and as sentences."""

from __future__ import annotations

from collections.abc import Mapping

from bot.ids import JobNumber, Refusal
from bot.jobs.messages import problems
from bot.jobs.model.jobs import JobProblem
from bot.outbox.model import NotPosted
from bot.projects import Project
from tests.builders import CHANNEL, NOW, PROJECT

ENTRY = Project(PROJECT, "acme", "Acme docs")


def samples() -> Mapping[str, object]:
    return {
        **{
            f"Slack refused: {refusal}": problems.refusal(
                NotPosted(refusal, CHANNEL, NOW), "docs-agent"
            )
            for refusal in Refusal
        },
        "Slack refused, with a job": problems.refusal(
            NotPosted(Refusal.PERMANENT, CHANNEL, NOW, JobNumber(42)), "docs-agent"
        ),
        **{f"title: {code}": problems.problem_title(f"{code}:U0BEN") for code in JobProblem},
        "title: a code of a newer version": problems.problem_title("newer"),
        "rejected": problems.service_rejected("Use <fewer> words"),
        "rejected without a reason": problems.service_rejected(" "),
        "only this one refused": problems.refuse_prompt_alone(403),
        "key refused": problems.key_refused(),
        "key of one of several projects refused": problems.key_refused(ENTRY),
        "key forbidden": problems.KEY_FORBIDDEN,
        "project unknown": problems.project_unknown(),
        "one of several projects unknown": problems.project_unknown(ENTRY),
        "not served": problems.NOT_SERVED,
        "job unknown": problems.JOB_UNKNOWN,
        "follow-up not taken": problems.FOLLOW_UP_NOT_TAKEN,
        "job not started": problems.JOB_NOT_STARTED,
        "form not opened": problems.FORM_NOT_OPENED,
        "unknown command": problems.UNKNOWN_COMMAND,
        "something broke": problems.something_broke("`a1b2`"),
        "something broke after it may have been stored": problems.something_broke(
            "a1", may_be_stored=True
        ),
    }

"""The replies in a job's thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.ids import JobNumber, Message, PromptId, Reviewer
from bot.messages import jobs, previews, problems, to_review
from bot.model.changes import ChangedLine
from bot.model.jobs import JobProblem, JobState, TrackedJob
from bot.model.previews import Preview, PreviewState
from bot.model.prompts import Prompt, PromptKind
from bot.model.pull_requests import Size
from bot.model.questions import ToReview
from bot.projects import Project
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.samples import LATER, PERMALINK, SEEN, job

ENTRY = Project(PROJECT, "acme", "Acme docs")
BAD_ENDS = (JobState.NO_PULL_REQUEST, JobState.FAILED, JobState.ARCHIVED, JobState.GONE)
GIVEN_UP = (JobProblem.WITHDRAWN, JobProblem.DELETED, JobProblem.EDITED)
DAYS = NOW + timedelta(days=4)


LINES = (
    ChangedLine("Rate limits", "| Free | 60 | 5 |", "| Free | 100 | 5 |"),
    ChangedLine("Home", "", "New <line> with *marks* and ~more~"),
)
DIFFERENCES: Mapping[str, Mapping[str, Any]] = {
    "its difference": {"made": Size(4, 0, 1), "before": Size(116, 4, 3)},
    "no difference": {"made": Size(0, 0, 0), "before": Size(120, 4, 3)},
    "totals": {"before": Size(1, 1, 1)},
    "totals that shrink": {"before": Size(130, 2, 3)},
    "equal totals": {"before": SEEN.size},
}


def preview(state: PreviewState = PreviewState.READY, **values: Any) -> Preview:
    """The preview of the job's first iteration."""
    made = Preview(JobNumber(42), PROJECT, 1, ANA, "agent/quickstart", state, NOW)
    return replace(made, **({"url": "https://preview.example/"} | values))


def ended(of: TrackedJob, subject: str = "Install with <uv>, *too*", **more: Any) -> Message:
    """The end of a job."""
    return jobs.ended(of, subject, **more)


def ends(of: TrackedJob, **more: Any) -> object:
    """The end of a job with a preview by state."""
    return ended(of, offers_preview=True, **more)


def samples() -> Mapping[str, object]:
    """Ends, their previews, reminders, questions and refusals."""
    working, second = job(JobState.WORKING), job(version=2, iteration_requester=BEN)
    asked_twice = replace(working, also_asked=(BEN,))
    by_mention: dict[str, Any] = {"by_mention": True}
    over = replace(SEEN, ended_at=NOW, is_merged=True)
    kept = Prompt(PromptId(7), JobNumber(42), PromptKind.FOLLOW_UP, BEN, "raw", NOW, text="Also <b>this</b>")
    refused = job(JobState.REFUSED)
    return {
        "the whole prompt": jobs.full_prompt(job(text="Add a quickstart\n\nFor <Python> 3.11")),
        "the parts of a long prompt": [
            each.text[:60] for each in jobs.full_prompt(job(text="Describe it.\n" * 1_500))
        ],
        "a follow-up by command": jobs.follow_up_by_command(job(), "Mention *Python* <!here>", BEN),
        "a long follow-up by command": jobs.follow_up_by_command(job(), "word " * 2_000, BEN).text[:120],
        **{
            f"a follow-up given up: {how}": jobs.follow_up_withdrawn(job(), kept, how, ANA)
            for how in GIVEN_UP
        },
        "end: the first pull request": ended(job()),
        "end: another job of the thread has one": ended(job(), is_first=False),
        "end: a follow-up": ended(second),
        "end: the first job of a person": ended(job(), is_newcomer=True),
        "end: the first job of a person, where only mentions steer": ended(
            job(**by_mention), is_newcomer=True
        ),
        "end: a small change of a pull request that the bot sees": ended(
            job(pull_request=replace(SEEN, is_draft=True, made=Size(1, 1, 1), lines=LINES)),
            offers_preview=True,
        ),
        **{
            f"end: a follow-up that the bot sees, by {how}": ended(
                job(version=2, pull_request=replace(SEEN, **known))
            )
            for how, known in DIFFERENCES.items()
        },
        "end: a follow-up of one that was merged before": ended(job(version=2, pull_request=over)),
        "end: a follow-up of one that was closed before": ended(
            job(version=2, pull_request=replace(over, is_merged=False))
        ),
        "end: a follow-up of one that was merged after": ended(
            job(version=2, pull_request=replace(over, ended_at=LATER + timedelta(minutes=1)))
        ),
        "end: a follow-up of one that was closed after": ended(
            job(
                version=2,
                pull_request=replace(over, is_merged=False, ended_at=LATER + timedelta(minutes=1)),
            )
        ),
        "end: an address that is no link": ended(job(pr_link="https://code.example@evil.example/")),
        **{f"end: {state}": ended(job(state, ended_at=LATER)) for state in BAD_ENDS},
        **{f"end of a follow-up: {state}": ended(job(state, version=2)) for state in BAD_ENDS},
        "end: no pull request of a job on the main branch": ended(job(JobState.NO_PULL_REQUEST, ref="main")),
        "end where only mentions steer": ended(job(**by_mention)),
        "end of a follow-up where only mentions steer": ended(job(version=2, **by_mention)),
        "end: failed where only mentions steer": ended(job(JobState.FAILED, **by_mention)),
        "an outdated end": jobs.outdated_end(job(), "Install with uv"),
        **{
            f"preview: {state}": ended(job(), preview=preview(state, log="npm\nERR <b>"))
            for state in PreviewState
        },
        "preview: offered": ends(job()),
        "preview: broken, no log": ends(job(), preview=preview(PreviewState.BROKEN)),
        "preview: being renewed": ends(job(iteration=2), preview=preview()),
        "preview: an address that is no link": ends(job(), preview=preview(url="http://preview.example")),
        "preview: the prompt that mends it": previews.to_fix(preview(log="one\ntwo")),
        "preview: none came": previews.none_came(job()),
        "reminder": jobs.reminder(job(), PERMALINK, DAYS),
        "reminder of one that the bot sees, to reviewers": jobs.reminder(
            job(pull_request=SEEN), None, DAYS, [Reviewer(BEN), Reviewer("S0TEAM")]
        ),
        "merged": jobs.pull_request_ended(job(), replace(over, merged_by="octo", ended_at=LATER)),
        "closed": jobs.pull_request_ended(job(), replace(SEEN, ended_at=LATER)),
        "to review: in the digest": to_review.in_digest(
            ToReview((job(pull_request=SEEN), job(pr_link=None)), DAYS, 3)
        ),
        "to review: in the digest, for reviewers": to_review.in_digest(
            ToReview((job(),), DAYS, reviewers=(Reviewer("S1"), Reviewer(BEN)))
        ),
        "to review: in a list": [
            to_review.in_list(each, PERMALINK, DAYS) for each in (job(pull_request=SEEN), job(ended_at=None))
        ],
        "still running": jobs.still_running(working, NOW + timedelta(minutes=31)),
        "a follow-up still running": jobs.still_running(replace(working, version=2), NOW),
        "no longer polled": jobs.unwatched(asked_twice, NOW + timedelta(days=7)),
        "no longer polled, where only mentions steer": jobs.unwatched(job(**by_mention), DAYS),
        "somebody asked for quiet": jobs.stopped_watching(asked_twice, BEN),
        "no usable answer for long": jobs.unread(asked_twice, NOW, DAYS),
        "docs that are no longer set up": jobs.not_served(asked_twice),
        "run again": jobs.run_again_as(job(), PERMALINK),
        "refused": jobs.refused(refused, problems.service_rejected("too long <!channel>")),
        "refused without a reason": jobs.refused(refused, problems.service_rejected("")),
        "a follow-up is refused": jobs.follow_up_refused(BEN, problems.job_unknown()),
        "unconfirmed": jobs.unconfirmed(job(JobState.UNCONFIRMED), 7, BEN, follow_up=False),
        "unconfirmed, answered": jobs.unconfirmed(job(), 7, BEN, follow_up=False, answered=True),
        "an unconfirmed follow-up": jobs.unconfirmed(job(), 7, BEN, follow_up=True),
        "decided": jobs.decided(job(), ANA, False, jobs.DISMISS, BEN),
        "a decided follow-up": jobs.decided(job(), ANA, True, jobs.SEND_AGAIN, BEN),
        "answered after all": jobs.answered_after_all(job(), ANA, False),
        "a follow-up answered after all": jobs.answered_after_all(job(), ANA, True),
        "behind an unconfirmed prompt": jobs.behind_unconfirmed(job(), BEN),
    }

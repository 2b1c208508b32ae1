"""The ends of iterations, with the changes that they made and with previews."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.ids import JobNumber, Message
from bot.jobs.messages import jobs
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.pull_request import ChangedLine, ChangedPage, Size
from bot.pulls.messages import previews, results
from bot.pulls.model.previews import Preview, PreviewState
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.samples import LATER, SEEN, job

BAD_ENDS = (JobState.NO_PULL_REQUEST, JobState.FAILED, JobState.ARCHIVED, JobState.GONE)
LINES = (
    ChangedLine("Rate limits", "| Free | 60 | 5 |", "| Free | 100 | 5 |"),
    ChangedLine("Home", "", "New <line> with *marks* and ~more~"),
)
NEW_PAGES = (
    ChangedPage("docs/sso.mdx", "<SSO>", True, ("Before *you* start", "Steps", "Example"), 39),
    ChangedPage("docs/index.mdx", "Home"),
)
PAGES = (ChangedPage("docs/quickstart.mdx", "Quickstart"), ChangedPage("docs/index.mdx", "Home"))
DIFFERENCES: Mapping[str, Mapping[str, Any]] = {
    "its difference": {"made": Size(4, 0, 1)},
    "no difference": {"made": Size(0, 0, 0)},
    "the totals": {},
}


def preview(state: PreviewState = PreviewState.READY, **values: Any) -> Preview:
    """The preview of the job's first iteration."""
    made = Preview(JobNumber(42), PROJECT, 1, ANA, "agent/quickstart", state, NOW)
    return replace(made, **({"url": "https://preview.example/"} | values))


def ended(of: TrackedJob, subject: str = "Install with <uv>, *too*", **more: Any) -> Message:
    """The end of a job."""
    if of.state is JobState.PULL_REQUEST:
        return results.format_pull_request(of, subject, **more)
    return jobs.format_result(of, subject, **more)


def ends(of: TrackedJob, **more: Any) -> object:
    """The end of a job with a preview by state."""
    return ended(of, offers_preview=True, **more)


def _results() -> Mapping[str, object]:
    is_mention_only: dict[str, Any] = {"is_mention_only": True}
    over = replace(SEEN, ended_at=NOW, is_merged=True)
    return {
        "end: the first pull request": ended(job()),
        "end: another job of the thread has one": ended(job(), is_first=False),
        "end: a follow-up": ended(job(result_number=2, iteration_requester=BEN)),
        "end: the first job of a person": ended(job(), is_newcomer=True),
        "end: the first job of a person, where only mentions steer": ended(
            job(**is_mention_only), is_newcomer=True
        ),
        "end: a small change of a pull request that the bot sees": ended(
            job(pull_request=replace(SEEN, is_draft=True, made=Size(1, 1, 1), lines=LINES)),
            offers_preview=True,
        ),
        **{
            f"end: a follow-up that the bot sees, by {content}": ended(
                job(result_number=2, pull_request=replace(SEEN, **values))
            )
            for content, values in DIFFERENCES.items()
        },
        "end: a new page": ended(
            job(pull_request=replace(SEEN, made=Size(39, 1, 2), pages=NEW_PAGES))
        ),
        "end: a new page with many sections": ended(
            job(pull_request=replace(SEEN, pages=(NEW_PAGES[0]._replace(headings=("Step",) * 4),)))
        ),
        "end: a new page, the first job of a person": ended(
            job(pull_request=replace(SEEN, pages=NEW_PAGES)), is_newcomer=True
        ),
        "end: a new page, the first job of a person, merged": ended(
            job(
                pull_request=replace(
                    over,
                    ended_at=LATER + timedelta(minutes=1),
                    made=Size(39, 1, 2),
                    pages=NEW_PAGES,
                )
            ),
            is_newcomer=True,
        ),
        "end: two new pages, a draft": ended(
            job(pull_request=replace(SEEN, is_draft=True, pages=(*NEW_PAGES, *NEW_PAGES)))
        ),
        "end: a short follow-up": ended(
            job(result_number=2, pull_request=replace(SEEN, made=Size(3, 5, 1), pages=PAGES[:1])),
            "<shorter>",
        ),
        "end: a short follow-up about two pages": ended(
            job(result_number=2, pull_request=replace(SEEN, made=Size(3, 5, 1), pages=PAGES)),
            "shorter",
        ),
        "end: a short follow-up that changed nothing": ended(
            job(result_number=2, pull_request=replace(SEEN, made=Size(0, 0, 0), pages=PAGES)),
            "shorter",
        ),
        "end: a follow-up that says what it is about": ended(
            job(result_number=2, pull_request=replace(SEEN, made=Size(3, 5, 1), pages=PAGES))
        ),
        "end: a follow-up of one that was merged before": ended(
            job(result_number=2, pull_request=over)
        ),
        "end: a follow-up of one that was closed before": ended(
            job(result_number=2, pull_request=replace(over, is_merged=False))
        ),
        "end: a follow-up of one that was merged after": ended(
            job(result_number=2, pull_request=replace(over, ended_at=LATER + timedelta(minutes=1)))
        ),
        "end: a follow-up of one that was closed after": ended(
            job(
                result_number=2,
                pull_request=replace(over, is_merged=False, ended_at=LATER + timedelta(minutes=1)),
            )
        ),
        "end: an address that is no link": ended(job(pr_link="https://code.example@evil.example/")),
        **{f"end: {state}": ended(job(state, ended_at=LATER)) for state in BAD_ENDS},
        **{
            f"end of a follow-up: {state}": ended(job(state, result_number=2)) for state in BAD_ENDS
        },
        "end: no pull request of a job on the main branch": ended(
            job(JobState.NO_PULL_REQUEST, ref="main")
        ),
        "end where only mentions steer": ended(job(**is_mention_only)),
        "end of a follow-up where only mentions steer": ended(
            job(result_number=2, **is_mention_only)
        ),
        "end: failed where only mentions steer": ended(job(JobState.FAILED, **is_mention_only)),
    }


def samples() -> Mapping[str, object]:
    """Results, and previews."""
    return {
        **_results(),
        "an outdated end of a failed job": jobs.outdated_end(
            job(JobState.FAILED), "Install with uv"
        ),
        "an outdated end": results.outdated_pull_request(job(), "Install with uv"),
        **{
            f"preview: {state}": ended(job(), preview=preview(state, log="npm\nERR <b>"))
            for state in PreviewState
        },
        "preview: offered": ends(job()),
        "preview: broken, no log": ends(job(), preview=preview(PreviewState.BROKEN)),
        "preview: being renewed": ends(job(iteration=2), preview=preview()),
        "preview: an address that is no link": ends(
            job(), preview=preview(url="http://preview.example")
        ),
        "preview: put off": ends(
            job(), preview=preview(PreviewState.ASKED, due_at=NOW + timedelta(minutes=1))
        ),
        "preview: the prompt that mends it": previews.fix_preview_prompt(preview(log="one\ntwo")),
        "preview: the message while it is mended": jobs.FIXING_PREVIEW,
        "preview: mended": ends(
            job(result_number=2, pull_request=replace(SEEN, made=Size(8, 0, 1))),
            preview=preview(),
            is_preview_fix=True,
        ),
        **{
            f"preview: the end of its fix, {state}": ended(
                job(result_number=2),
                "Fix of the preview",
                preview=preview(state),
                is_preview_fix=True,
            )
            for state in (PreviewState.BUILDING, PreviewState.BROKEN)
        },
        "preview: its requester reads that it is ready": previews.preview_built(preview()),
        "preview: its requester reads that it builds again": previews.preview_built(
            preview(), is_mended=True
        ),
        "preview: its requester reads that it is at no link": previews.preview_built(
            preview(url="http://preview.example")
        ),
        "preview: its requester reads that it is broken": previews.preview_built(
            preview(PreviewState.BROKEN, log="npm\nERR <b>")
        ),
        "preview: its requester reads that it was broken, once the job goes on": (
            previews.outdated_preview(preview(PreviewState.BROKEN, log="npm\nERR <b>"))
        ),
        "preview: none came": previews.no_preview(job()),
    }

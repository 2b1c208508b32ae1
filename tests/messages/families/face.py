"""The face of a job, and what goes to the agent beside its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.jobs.messages import face, pull_requests
from bot.jobs.model.jobs import Earlier, JobProblem, JobState, NotTaken, QueueWhy, Review, Wait, Waiting
from bot.messages import blocks as b
from tests.builders import ANA, BEN, NOW
from tests.messages.samples import HALF_PAST, LATER, PULL_REQUEST, SEEN, job

MERGED = replace(SEEN, is_merged=True, ended_at=LATER, merged_by="octo-<cat>")
GIVEN_UP = (JobProblem.WITHDRAWN, JobProblem.DISMISSED, JobProblem.DELETED, JobProblem.EDITED)
WITH_EARLIER = {
    "earlier messages: one": Earlier(1),
    "earlier messages: some left out": Earlier(20, 1_234),
    "earlier messages: none": Earlier(),
    "earlier messages: not readable": Earlier(not_taken=NotTaken.UNREAD),
}


def samples() -> Mapping[str, object]:
    """Faces by state and by what is known of the job."""
    waiting, working = job(JobState.WAITING), job(JobState.WORKING)
    several = job(project_label="<Acme>", version=3, text="Add a quickstart\n\nFor Python 3.11, with <pip>")
    return {
        **{f"state: {state}": face.face(job(state, ended_at=LATER)) for state in JobState},
        **{
            f"withdrawn: {how}": face.face(job(JobState.WITHDRAWN, problem=f"{how}:{BEN}"))
            for how in GIVEN_UP
        },
        **{
            f"reviewed: {each}": face.face(job(review=each, reviewed_by=BEN, reviewed_at=LATER))
            for each in Review
        },
        "where only mentions steer": face.face(replace(working, by_mention=True)),
        "the last sentence of a reply": face.IN_A_REPLY,
        "several docs, version 3, a prompt of several lines": face.face(several),
        "working, with the pull request of an earlier version": face.face(
            replace(working, pr_link=PULL_REQUEST), usual=timedelta(minutes=5)
        ),
        "a pull request at an address without a link": face.face(job(pr_link="javascript:alert(1)")),
        "a pull request that the bot sees": face.face(job(pull_request=SEEN)),
        "a merged one": face.face(job(pull_request=MERGED, review=Review.MERGED)),
        "a closed one": face.face(job(pull_request=replace(SEEN, ended_at=LATER), review=Review.CLOSED)),
        "one that was last seen at a time": face.face(job(pull_request=replace(SEEN, as_of=NOW))),
        **{
            f"waiting: {why}": face.face(
                replace(waiting, queue_until=HALF_PAST, queue_why=why, queue_before=3)
            )
            for why in (None, *QueueWhy)
        },
        "a follow-up that waits": face.face(job(queue_until=HALF_PAST, queue_why=QueueWhy.LIMIT)),
        "archived, so nothing waits": face.face(job(JobState.ARCHIVED, queue_until=HALF_PAST)),
        "few uses left": face.face(replace(working, uses_left=1)),
        "no use left": face.face(replace(working, uses_left=0), HALF_PAST),
        **{
            f"trouble: {why}": face.face(replace(working, trouble=why, trouble_since=NOW))
            for why in (QueueWhy.SERVICE, QueueWhy.KEY)
        },
        "refused, with a code": face.face(job(JobState.REFUSED, problem="key_refused")),
        "refused, with words of the service": face.face(job(JobState.REFUSED, problem="too long <!here>")),
        "no longer polled after a week": face.face(job(JobState.UNWATCHED, ended_at=NOW + timedelta(days=7))),
        **{name: face.face(replace(waiting, earlier=earlier)) for name, earlier in WITH_EARLIER.items()},
        "no longer polled, nobody knows since when": face.face(replace(working, state=JobState.UNWATCHED)),
        "redrawn": face.redrawn(face.face(job(version=2)), posted_plain=False),
        "redrawn where Slack refused the blocks": face.redrawn(face.face(job()), posted_plain=True),
        "buttons in private": [*face.in_private(job(earlier=Earlier(3))), *face.in_private(waiting)],
        "a button to an address with a port": face.view(job(pr_link="https://code.example:8443/pull/5#top")),
        "words about pull requests": [
            *(face.open_words(url) for url in ADDRESSES),
            b.linkable("https://evil.example/pull/1", {"github.com"}) or "",
            pull_requests.pull_request_line(replace(SEEN, is_draft=True)),
        ],
        **{
            f"what waits: {why}": face.wait_lines([Wait(Waiting.PROMPT, why, NOW, HALF_PAST)])
            for why in (None, *QueueWhy)
        },
        "what waits until some time": face.wait_lines([Wait(Waiting.POLL, QueueWhy.SERVICE, NOW)]),
        "files that the agent did not get": face.files_not_sent(["logo.png", "<b>.zip"], ["notes.txt"]),
        "to the agent: who asked": [face.signature("Ana <b>", "docs"), face.signature(None, None)],
        "to the agent: a conversation and a file": face.attachments(
            face.signature("Ana", None),
            "\n".join(face.newest_that_fit([("Ben", "Wrong page.\n> It is old."), ("", "")])),
            [("notes.txt", "one\ntwo")],
        ),
        "to the agent: at the end of a reply": face.IN_A_REPLY,
        "what went along": face.shown(job(), ["Asked by Ana.", "File a.txt:\n> <one>"]),
        "nothing went along": face.shown(job(), []),
        "more went along than a message holds": face.shown(job(), ["word " * 3_000]).text[:80],
        "who asked and was the reader": face.facts(replace(working, requester=ANA), "{date_short}"),
    }


ADDRESSES = (
    "https://github.com/acme/docs/pull/12",
    "https://www.github.com/acme/docs/pull/12",
    "http://127.0.0.1:8801/acme/docs/pull/12",
    "https://gitlab.example/a/b/-/merge_requests/31",
    "https://code.example/a/pull/5x",
    "https://code.example/changes",
)

"""The status message of a job, and the attachments of its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.jobs.messages.agent_text import (
    REPLY_NOTE,
    attachments,
    fit_newest,
    quote_merged_pull_request,
    signature,
)
from bot.jobs.messages.status_message import (
    build_rare_buttons,
    build_view_button,
    format_facts,
    format_link_label,
    parts_not_sent,
    prompt_view,
    pull_request_line,
    wait_lines,
)
from bot.jobs.messages.status_message import format_status_message as status
from bot.jobs.model.jobs import (
    JobProblem,
    JobState,
    NotAttached,
    Review,
    ThreadContext,
    Wait,
    Waiting,
    WaitReason,
)
from bot.messages import blocks as b
from bot.messages.quotations import Quotation, QuoteSource, join_for_agent
from tests.builders import ANA, BEN, NOW
from tests.messages.samples import HALF_PAST, LATER, PULL_REQUEST, SEEN, job

MERGED = replace(SEEN, is_merged=True, ended_at=LATER, merged_by="octo-<cat>")
GIVEN_UP = (JobProblem.WITHDRAWN, JobProblem.DISMISSED, JobProblem.DELETED, JobProblem.EDITED)
WITH_EARLIER = {
    "earlier messages: one": ThreadContext(1),
    "earlier messages: some left out": ThreadContext(20, 1_234),
    "earlier messages: none": ThreadContext(),
    "earlier messages: not readable": ThreadContext(not_attached=NotAttached.UNREAD),
}


def status_messages() -> Mapping[str, object]:
    """Return status messages by state and by the values of the job."""
    waiting, working = job(JobState.WAITING), job(JobState.WORKING)
    several = job(
        project_label="<Acme>",
        result_number=3,
        text="Add a quickstart\n\nFor Python 3.11, with <pip>",
    )
    return {
        **{f"state: {state}": status(job(state, ended_at=LATER)) for state in JobState},
        **{
            f"withdrawn: {end}": status(job(JobState.WITHDRAWN, problem=f"{end}:{BEN}"))
            for end in GIVEN_UP
        },
        **{
            f"reviewed: {end}": status(job(review=end, reviewed_by=BEN, reviewed_at=LATER))
            for end in Review
        },
        "where only mentions steer": status(replace(working, is_mention_only=True)),
        "several docs, version 3, a prompt of several lines": status(several),
        "working, with the pull request of an earlier version": status(
            replace(working, pr_link=PULL_REQUEST), usual=timedelta(minutes=5)
        ),
        "working, for longer than usual": status(
            replace(working, is_slow=True), usual=timedelta(seconds=6)
        ),
        "a pull request at an address without a link": status(job(pr_link="javascript:alert(1)")),
        "a pull request that the bot sees": status(job(pull_request=SEEN)),
        "a merged one": status(job(pull_request=MERGED, review=Review.MERGED)),
        "a closed one": status(
            job(pull_request=replace(SEEN, ended_at=LATER), review=Review.CLOSED)
        ),
        "one that was last seen at a time": status(job(pull_request=replace(SEEN, as_of=NOW))),
        **{
            f"waiting: {kind}": status(replace(waiting, wait_until=HALF_PAST, wait_reason=kind))
            for kind in (None, *WaitReason)
        },
        "a follow-up that waits": status(job(wait_until=HALF_PAST, wait_reason=WaitReason.LIMIT)),
        "archived, so nothing waits": status(job(JobState.ARCHIVED, wait_until=HALF_PAST)),
        "few uses left": status(replace(working, uses_left=1)),
        "no use left": status(replace(working, uses_left=0), HALF_PAST),
        "refused, with a code": status(job(JobState.REFUSED, problem="key_refused")),
        "refused, with words of the service": status(
            job(JobState.REFUSED, problem="too long <!here>")
        ),
        "no longer polled after a week": status(
            job(JobState.UNWATCHED, ended_at=NOW + timedelta(days=7))
        ),
        **{
            name: status(replace(waiting, thread_context=earlier))
            for name, earlier in WITH_EARLIER.items()
        },
        "no longer polled, nobody knows since when": status(
            replace(working, state=JobState.UNWATCHED)
        ),
        "held": status(replace(waiting, wait_until=HALF_PAST, wait_reason=WaitReason.HELD)),
    }


def samples() -> Mapping[str, object]:
    """Return status messages, their parts, and the attachments of a prompt."""
    waiting, working = job(JobState.WAITING), job(JobState.WORKING)
    return {
        **status_messages(),
        "buttons in private": [
            *build_rare_buttons(job(thread_context=ThreadContext(3))),
            *build_rare_buttons(waiting),
        ],
        "a button to an address with a port": build_view_button(
            job(pr_link="https://code.example:8443/pull/5#top")
        ),
        "words about pull requests": [
            *(format_link_label(url) for url in ADDRESSES),
            b.clean_url("https://evil.example/pull/1", {"github.com"}) or "",
            pull_request_line(replace(SEEN, is_draft=True)),
        ],
        **{
            f"what waits: {reason}": wait_lines([Wait(Waiting.PROMPT, reason, NOW, HALF_PAST)])
            for reason in (None, *WaitReason)
        },
        "what waits until some time": wait_lines([Wait(Waiting.POLL, WaitReason.SERVICE, NOW)]),
        "files that the agent did not get": parts_not_sent(["logo.png", "<b>.zip"], ["notes.txt"]),
        "parts that are no text": parts_not_sent([], [], ["chart: Visits", "the end of the text"]),
        "to the agent: who asked": [signature("Ana <b>", "docs"), signature(None, None)],
        "to the agent: a conversation and a file": attachments(
            signature("Ana", None),
            [
                Quotation(
                    QuoteSource.THREAD,
                    "\n".join(fit_newest([("Ben", "Wrong page.\n> It is old."), ("", "")])),
                ),
                Quotation(QuoteSource.FILE, "one\ntwo", "notes.txt"),
            ],
        ),
        "to the agent: what was answered in Slack": attachments(
            "", [Quotation(QuoteSource.ANSWER, "Question: How?\nBen Okafor: Under Keys")]
        ),
        "to the agent: after a merge": attachments(
            signature("Ana", None),
            [quote_merged_pull_request(job(pull_request=replace(MERGED, paths=("docs/a.md",))))],
        ),
        "to the agent: at the end of a reply": REPLY_NOTE,
        "the whole prompt": prompt_view(
            job(text="Add <it>\nnow"), ["Asked by Ana.", "File “a.txt”:\n> <one>"]
        ),
        "to the agent: with the mark": join_for_agent(["Do it", "File “a.txt”:\n> x"]),
        "who asked and was the reader": format_facts(
            replace(working, requester=ANA), "{date_short}"
        ),
    }


ADDRESSES = (
    "https://github.com/acme/docs/pull/12",
    "https://www.github.com/acme/docs/pull/12",
    "http://127.0.0.1:8801/acme/docs/pull/12",
    "https://gitlab.example/a/b/-/merge_requests/31",
    "https://code.example/a/pull/5x",
    "https://code.example/changes",
)

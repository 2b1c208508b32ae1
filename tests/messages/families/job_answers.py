"""Private answers about jobs and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.ids import ChannelId, JobNumber, Message, PromptId, Refusal, RequestKey
from bot.jobs.messages import job_answers as say
from bot.jobs.model.jobs import (
    JobState,
    Listed,
    NextStep,
    Review,
    TrackedJob,
    Wait,
    Waiting,
    WaitReason,
)
from bot.jobs.model.prompts import Prompt, PromptKind, UnsentText
from bot.jobs.model.quota import Budget
from bot.outbox.model import NotPosted
from bot.projects import Project
from bot.pulls.messages import pull_requests
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT
from tests.messages.samples import HALF_PAST, LATER, PERMALINK, SEEN, job

ACME = Project(PROJECT, "acme", "Acme <docs>")
FREE, SPENT = Budget(100, 0, None), Budget(100, 100, HALF_PAST)


def listing(**values: Any) -> say.JobListing:
    """Return the options of a list."""
    return replace(say.JobListing(CHANNEL), **values)


def listed(step: NextStep, of: TrackedJob, permalink: str | None = PERMALINK) -> say.ListedJob:
    """Return a row of a list."""
    return say.ListedJob(step, of, permalink)


def limits(
    used: int, waiting: int = 0, mine: int = 0, calls: Budget = FREE, **more: Any
) -> say.Limits:
    """Return both limits of a project."""
    return replace(say.Limits(used, 100, HALF_PAST, waiting, mine, calls), **more)


def unreadable() -> Mapping[str, Message]:
    """Return the answers to admins about jobs that they may not read."""
    waits = [Wait(Waiting.PROMPT, WaitReason.LIMIT, NOW, HALF_PAST)]
    held = [Wait(Waiting.PROMPT, WaitReason.HELD, NOW, HALF_PAST)]
    doubt = [Wait(Waiting.PROMPT, WaitReason.PERSON, NOW)]
    asked = Prompt(PromptId(9), JobNumber(42), PromptKind.START, ANA, "Add <it>", NOW)

    def answer(state: JobState, waiting: Sequence[Wait] = (), **more: Any) -> Message:
        values = {"can_withdraw": False, **more}
        return say.unreadable_job(job(state), waiting, **values)

    return {
        "unreadable: waits": answer(JobState.WAITING, waits, can_withdraw=True),
        "unreadable: held": answer(JobState.WAITING, held, can_withdraw=True),
        "unreadable: a follow-up was not sent": answer(JobState.PULL_REQUEST, is_unsent=True),
        "unreadable: works": answer(JobState.WORKING),
        "unreadable: unconfirmed": answer(JobState.UNCONFIRMED, doubt, unconfirmed=asked),
        "unreadable: unconfirmed, without words": answer(
            JobState.UNCONFIRMED, doubt, unconfirmed=replace(asked, raw="")
        ),
        "unreadable: an unconfirmed follow-up": answer(
            JobState.PULL_REQUEST,
            doubt,
            unconfirmed=replace(asked, kind=PromptKind.FOLLOW_UP),
        ),
        "unreadable: over": answer(JobState.PULL_REQUEST),
    }


def lists(jobs: list[tuple[TrackedJob, str | None]]) -> Mapping[str, Message]:
    """Return lists of jobs by person, channel, kind and page."""
    two = [listed(NextStep.TO_REVIEW, *jobs[0]), listed(NextStep.NEEDS_YOU, *jobs[1])]
    counts = {NextStep.TO_REVIEW: 11, NextStep.NEEDS_YOU: 1}
    here = listing(counts=counts)
    return {
        "list: two": say.job_list(two, here),
        "list: one": say.job_list(two[:1], listing(counts={NextStep.TO_REVIEW: 1})),
        "list: none": say.job_list([], listing()),
        "list: mine, none": say.job_list([], listing(is_mine=True)),
        "list: open, none": say.job_list([], listing(listed=Listed.OPEN)),
        "list: of another channel": say.job_list(two, listing(counts=counts, is_here=False)),
        "list: of all channels": say.job_list(
            two, listing(counts=counts, channel=None, is_here=False)
        ),
        "list: not of all channels": say.job_list(
            two[:1],
            replace(here, channel=None, listed=Listed.REVIEW, is_complete=False, is_here=False),
        ),
        "list: first page": say.job_list(two, listing(counts=counts, has_more=True)),
        "list: between": say.job_list(
            two, listing(counts=counts, page=1, is_mine=True, listed=Listed.OPEN, has_more=True)
        ),
        "list: an empty page": say.job_list([], listing(page=1)),
        "list: none to review": say.job_list([], listing(listed=Listed.REVIEW)),
        "list: one of somebody else": say.job_list(
            [listed(NextStep.NEEDS_REQUESTER, *jobs[1])],
            listing(counts={NextStep.NEEDS_REQUESTER: 1}),
        ),
        "list: none that needs the reader": say.job_list(
            [], listing(channel=None, is_mine=True, listed=Listed.NEEDS_YOU, is_here=False)
        ),
        "list: to review": say.job_list(two, listing(counts=counts, listed=Listed.REVIEW)),
        "list: each group": say.job_list(
            [
                listed(NextStep.WORKING, job(JobState.WORKING, ended_at=None)),
                listed(NextStep.NEEDS_YOU, job(JobState.UNCONFIRMED)),
                listed(NextStep.NEEDS_REQUESTER, job(JobState.FAILED, project_label="Acme <docs>")),
                listed(NextStep.TO_REVIEW, job(pull_request=SEEN)),
                listed(NextStep.DONE, job(pull_request=SEEN, review=Review.MERGED)),
                listed(NextStep.DONE, job(JobState.WITHDRAWN, problem=f"withdrawn:{BEN}")),
            ],
            listing(counts=dict.fromkeys(NextStep, 2)),
        ),
    }


def searches(jobs: list[tuple[TrackedJob, str | None]]) -> Mapping[str, Message]:
    """Return results of searches."""
    rows = [listed(NextStep.DONE, *each) for each in jobs]
    one = say.FoundJobs("API <key>", 1, 340)
    return {
        "search: one": say.found_jobs(rows[:1], one),
        "search: none, of one job": say.found_jobs([], say.FoundJobs("API", 0, 1)),
        "search: between, of the newest, not of all channels": say.found_jobs(
            rows, replace(one, count=22, page=1, has_older=True, is_complete=False, has_more=True)
        ),
        "search: too long": say.FEWER_WORDS,
    }


def statuses() -> Mapping[str, Message]:
    """Return the status of a job with few and with all values."""
    full = job(
        repository="acme/docs",
        ref="agent/x",
        model="opus",
        service_id="a-1",
        service_created_at=NOW,
        service_archived_at=LATER,
        poll_failing_since=NOW,
        not_found_since=NOW,
        project_label="<Acme>",
        is_mention_only=True,
    )
    wait = Wait(Waiting.PROMPT, WaitReason.LIMIT, NOW, HALF_PAST)
    return {
        "status": say.job_status(job(), PERMALINK),
        "status: without a thread": say.job_status(job(text="Fix the <!channel> page")),
        "status: with all that is known": say.job_status(full, PERMALINK),
        "status: waiting": say.job_status(job(JobState.WAITING), None, [wait]),
        "status: refused": say.job_status(job(JobState.REFUSED, problem="project_unknown")),
        "status: withdrawn": say.job_status(job(JobState.WITHDRAWN, problem=f"withdrawn:{BEN}")),
        "status: an address that is no link": say.job_status(job(pr_link="ftp://code.example/7")),
    }


def samples() -> Mapping[str, object]:
    """Answers to commands, buttons and forms about jobs."""
    failed = job(JobState.FAILED, number=JobNumber(41), text="Fix the <!channel> page")
    gone, archived = (
        NotPosted(kind, CHANNEL, NOW) for kind in (Refusal.THREAD_GONE, Refusal.ARCHIVED)
    )
    direct = NotPosted(Refusal.BETWEEN_PEOPLE, ChannelId("D0ANABEN"), NOW)
    closed = [state for state in JobState if not state.takes_follow_ups]
    return {
        "cannot post, and the prompt": say.cannot_post(
            direct, "docs-agent", "Add a <page>\nwith two lines"
        ),
        "cannot post": say.cannot_post(archived, "docs-agent"),
        "a prompt too long to give back": say.cannot_post(archived, "b", "word " * 5_000).text[
            :160
        ],
        "undelivered: the thread is gone": say.reply_undelivered(
            job(), gone, "docs-agent", reader=ANA
        ),
        "undelivered: archived": say.reply_undelivered(failed, archived, "docs-agent", reader=ANA),
        "undelivered, for somebody else who asked": say.reply_undelivered(
            job(), archived, "docs-agent", reader=BEN
        ),
        **lists([(job(), PERMALINK), (failed, None)]),
        **searches([(job(), PERMALINK), (failed, None)]),
        **statuses(),
        **unreadable(),
        "no such channel": say.NO_SUCH_CHANNEL,
        "forgotten": say.forgotten(job()),
        "no such job": [say.no_such_job("#43"), say.no_such_job("the <other> one")],
        "no job yet": say.no_job_yet("/docs-followup"),
        "follow-up taken": say.follow_up_taken(job(), guessed=False),
        "follow-up taken, job guessed": say.follow_up_taken(job(), guessed=True),
        **{f"no follow-up: {state}": say.cannot_follow_up(job(state)) for state in closed},
        "no follow-up: archived, with a button": say.cannot_follow_up(
            job(JobState.ARCHIVED), UnsentText(RequestKey("key"), None, "And for &lt;Windows&gt;")
        ),
        "no follow-up: forgotten": say.cannot_follow_up(job(requester="")),
        "too late": say.DECIDED_BEFORE,
        "a button about a channel that its reader has left": say.CHANNEL_NOT_READ,
        "no words left": say.NO_WORDS_LEFT,
        "not reviewable": say.not_reviewable(job()),
        "started before": say.started_before(JobNumber(43)),
        "same job": say.same_job(JobNumber(42)),
        "same follow-up": say.same_follow_up(JobNumber(42), 9),
        "edited too late": say.edited_too_late(job()),
        "nothing to send": say.nothing_to_send(["logo.png", "<b>.zip"]),
        "too many wait": say.too_many_waiting(10, "Add <it>"),
        "one waits": say.too_many_waiting(1, ""),
        **{
            f"key refused, {'403' if forbidden else '401'}": say.key_notice(
                PROJECT, forbidden=forbidden
            )
            for forbidden in (False, True)
        },
        "key of one of several projects refused": say.key_notice(
            PROJECT, forbidden=False, docs=ACME, entry=ACME
        ),
        "another repository": pull_requests.repository_notice(job(), "acme/other", "acme/docs"),
        "another repository is used": pull_requests.repository_used("acme/other"),
        "only admins choose that": say.ONLY_ADMINS,
        "key accepted": say.key_accepted(PROJECT),
        "key of the assistant may expire": say.key_may_expire(PROJECT, 76, is_assistants=True),
        "key of an entry may expire": say.key_may_expire(
            PROJECT, 87, is_assistants=False, docs=ACME, entry=ACME
        ),
        "assistant's key refused": say.assistants_key_refused(PROJECT),
        "assistant's key of an entry refused": say.assistants_key_refused(PROJECT, ACME, ACME),
        "assistant's key accepted": say.assistants_key_accepted(PROJECT),
        "key of one of several projects accepted": say.key_accepted(PROJECT, ACME),
        "limits": say.limits([limits(63, mine=2)]),
        "limits: spent": say.limits([limits(100, waiting=3, mine=1, calls=SPENT)]),
        "limits: the service fails": say.limits([limits(0, failing_since=HALF_PAST)]),
        "limits: of several projects": say.limits(
            [
                limits(1, project=ACME),
                limits(2, 1, project=replace(ACME, label="Beta"), key_is_refused=True),
            ]
        ),
        "in a form": [
            say.EMPTY_FORM,
            say.NO_CHANNEL_CHOSEN,
            say.CHANNEL_NOT_YOURS,
            say.FORM_WITHOUT_JOB,
            say.REPEATED_REQUEST,
        ],
        "nobody of the readers": say.reply_undelivered(
            job(requester=ANA, pr_link=None), gone, "docs-agent", reader=ANA
        ),
    }

"""Whatever people, the agent and the service write: what the bot says is valid and harmless."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from bot import slack_text
from bot.commands.command import FormState
from bot.messages import blocks as b
from bot.messages import face, general, intents, job_answers, jobs, problems
from bot.messages.help import (
    CommandHelp,
    about_follow_ups,
    about_periods,
    about_replies,
    full_help,
    hello,
    short_help,
)
from bot.messages.plain_text import visible
from bot.messages.previews import to_fix
from bot.messages.to_review import in_digest, in_list
from bot.model.examples import Examples
from bot.model.ids import (
    ChannelId,
    JobNumber,
    Message,
    ProjectId,
    PromptId,
    Refusal,
    RequestKey,
    Reviewer,
    ServiceJobId,
)
from bot.model.jobs import JobProblem, JobState, Listed, QueueWhy, Review, TrackedJob
from bot.model.outbox import NotPosted
from bot.model.previews import Preview, PreviewState, page_of
from bot.model.projects import Project, Projects
from bot.model.prompts import Prompt, PromptKind, PromptState, Unsent
from bot.model.pull_requests import SeenPullRequest, Size
from bot.model.questions import ToReview
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT
from tests.messages.slack_limits import Allowed, modal_problems, problems_of

NASTY = st.sampled_from(
    (
        *("<!channel>", "<!here|here>", "<@U0EVIL>", "<https://evil.example|good.example>", "<", ">"),
        *("```", "*", "_", "~", "`", "> ", "|", "&lt;!channel&gt;", "&", "\n\n", "\ufdfd", "\u070f"),
        *("\u202e", "\u0000", "\ud800", "\u200f", "\r", "\x85", "\u200d", "\u200b", "\u00ad", "\ufe0f"),
        *("\U000e0041", "\U000e0101", "\u2066", "\ufe00", "\U000e007f", "1\ufe0f\u20e3", "\ufeff"),
        *("\U0001f3f4", "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f467"),
    )
)
ANY_TEXT = st.one_of(
    st.text(st.characters(), max_size=400),
    st.lists(st.one_of(NASTY, st.text(max_size=20)), max_size=40).map("".join),
    st.builds(
        lambda piece, times: (piece * times)[:5_000],
        st.text(min_size=1, max_size=30),
        st.integers(1, 40_000),
    ),
    st.builds(lambda piece, times: (piece * times)[:5_000], NASTY, st.integers(1, 4_000)),
)
ADDRESSES = st.builds("https://code.example/{}".format, ANY_TEXT)
PERMALINK = "https://acme.slack.example/archives/C0DOCS/p1?a=1&b=2"


SEEN = st.builds(
    SeenPullRequest,
    title=ANY_TEXT,
    size=st.just(Size(1, 2, 3)),
    is_draft=st.booleans(),
    iteration=st.integers(0, 1),
    since=st.just(NOW),
    before=st.sampled_from([None, Size(1, 1, 1)]),
    is_merged=st.booleans(),
    merged_by=st.one_of(st.none(), ANY_TEXT),
    as_of=st.sampled_from([None, NOW]),
)


@st.composite
def any_job(draw: st.DrawFn) -> TrackedJob:
    """A job in any state with any text in any place where somebody else's text can stand."""
    text = st.one_of(st.none(), ANY_TEXT)
    return TrackedJob(
        number=JobNumber(draw(st.integers(1, 2**31 - 1))),
        project=ProjectId(draw(ANY_TEXT)),
        channel=ChannelId(CHANNEL),
        requester=ANA,
        iteration_requester=draw(st.sampled_from([None, BEN])),
        text=draw(ANY_TEXT),
        asked_at=NOW,
        state=draw(st.sampled_from(JobState)),
        service_id=ServiceJobId(draw(ANY_TEXT)),
        iteration=draw(st.integers(0, 9)),
        version=draw(st.integers(0, 3)),
        pr_version=draw(st.sampled_from([None, 1, 2])),
        iteration_started_at=NOW,
        pr_link=draw(st.one_of(st.none(), st.just("https://code.example/pull/1"), ADDRESSES, ANY_TEXT)),
        repository=draw(text),
        ref=draw(text),
        project_label=draw(text),
        ended_at=draw(st.sampled_from([None, NOW + timedelta(minutes=4)])),
        problem=draw(st.one_of(text, st.sampled_from([f"{how}:{BEN}" for how in JobProblem]))),
        queue_until=draw(st.sampled_from([None, NOW + timedelta(hours=1)])),
        queue_why=draw(st.sampled_from([None, *QueueWhy])),
        uses_left=draw(st.sampled_from([None, 0, 1, 19])),
        review=draw(st.sampled_from([None, *Review])),
        reviewed_by=BEN,
        reviewed_at=NOW,
        pull_request=draw(st.one_of(st.none(), SEEN)),
    )


ENDS = (JobState.PULL_REQUEST, JobState.NO_PULL_REQUEST, JobState.FAILED, JobState.ARCHIVED, JobState.GONE)


PROBLEMS = (
    *(problems.key_refused(), problems.key_forbidden(), problems.project_unknown(), problems.not_served()),
    *(problems.job_unknown(), problems.job_not_started()),
)


def thread_messages(job: TrackedJob, text: str) -> Iterator[Message]:
    """Everything a thread can be told about a job."""
    waiting = PromptState.WAITING
    kept = Prompt(PromptId(7), job.number, PromptKind.FOLLOW_UP, BEN, text, NOW, waiting, text=text)
    for say in (face.face, jobs.not_served):
        yield say(job)
    yield jobs.reminder(job, PERMALINK, NOW)
    yield b.words("\n".join(in_digest(ToReview((job, job), NOW, 3))))
    if job.pull_request:
        yield jobs.pull_request_ended(job, job.pull_request)
    yield from jobs.full_prompt(job)
    yield jobs.follow_up_by_command(job, text, BEN)
    for how in JobProblem:
        yield jobs.follow_up_withdrawn(job, kept, how, ANA)
    yield jobs.behind_unconfirmed(job, job.requester)
    for tell in (jobs.still_running, jobs.unwatched):
        yield tell(job, NOW)
    for problem in (problems.service_rejected(text), *PROBLEMS):
        yield jobs.refused(job, problem)
        yield jobs.follow_up_refused(BEN, problem)
    for follow_up in (True, False):
        yield jobs.unconfirmed(job, 7, BEN, follow_up=follow_up)
    yield jobs.decided(job, ANA, True, jobs.DISMISS, BEN)
    yield jobs.stopped_watching(job, BEN)
    yield jobs.run_again_as(job, PERMALINK)
    if job.state in ENDS:
        yield jobs.ended(job)
        yield jobs.outdated_end(job)


def private_messages(job: TrackedJob, text: str) -> Iterator[Message]:
    """Everything one person can be told."""
    refusals = [NotPosted(meaning, ChannelId(text), NOW, job.number) for meaning in Refusal]
    yield from (job_answers.cannot_post(each, text, text) for each in refusals)
    yield intents.cannot_answer(Unsent(RequestKey("command:1"), None, text[: Unsent.LONGEST]))
    for may in (True, False):
        yield intents.cannot_stop(job, withdraws=may, may_steer=True)
        yield intents.cannot_stop(job, withdraws=False, may_steer=may)
        yield intents.status_line(job, (), asks=may)
    yield from (intents.reviewed(job), intents.not_failed(job), intents.cannot_merge(job))
    yield from (job_answers.undelivered(job, each, text) for each in refusals)
    yield job_answers.job_list([(job, text), (job, PERMALINK)] * 5)
    yield b.words(in_list(job, PERMALINK, NOW))
    for is_here, channel, only in ((True, CHANNEL, None), (False, CHANNEL, Listed.OPEN), (False, None, None)):
        for listed in ([(job, PERMALINK)] * 10, []):
            yield job_answers.job_list(
                listed, job_answers.JobListing(channel, True, only, 1, is_here, True, 3)
            )
    yield from (job_answers.job_status(job, link) for link in (text, PERMALINK))
    for say in (job_answers.no_such_job, job_answers.no_job_yet):
        yield say(text)
    yield problems.something_broke(text)
    for forbidden in (True, False):
        yield job_answers.key_refused(job.project, forbidden=forbidden)
    yield job_answers.key_accepted(job.project)
    yield job_answers.follow_up_taken(job, guessed=True)
    yield job_answers.cannot_follow_up(job)
    yield job_answers.nothing_to_send([text, text])
    yield job_answers.too_many_waiting(10, text)
    yield job_answers.not_reviewable(job)
    yield job_answers.started_before(job.number)
    yield job_answers.same_job(job.number)
    yield job_answers.same_follow_up(job.number, 10**9)
    several = Projects((Project(job.project, "acme", text), Project(ProjectId("b"), "beta", "Beta")))
    about = CommandHelp("/docs-agent", "Asks", [(text[:100], "Asks.")])
    yield full_help([about], several)
    for here in (Examples(text[:80], several, "acme"), Examples(text[:80], several, "beta", job.number)):
        yield from (
            short_help(about, also(here), here) for also in (about_replies, about_follow_ups, about_periods)
        )
        yield hello(here)
    for project in several.known:
        yield general.project_here(project, several)
        yield general.chosen(project)
        yield general.may_not_choose(project, CHANNEL)
    yield general.unknown_choice(text, several)
    yield general.replies_in_direct()
    for by_mention in (True, False):
        yield general.replies_here(by_mention=by_mention)
        yield general.replies_chosen(by_mention=by_mention)
    for reviewers in ((), (Reviewer(ANA), Reviewer(BEN))):
        yield general.reviewers_here(reviewers)
        yield general.reviewers_chosen(reviewers)
    yield from (general.reviewers_in_direct(), general.no_reviewers())
    yield general.unknown_project(text, several, text)


def complaints(job: TrackedJob, message: Message) -> list[str]:
    """What Slack would refuse, what could harm, and code of somebody else that runs into our words."""
    found = problems_of(message, Allowed({ANA, BEN}, {job.pr_link, PERMALINK}))
    for block in message.blocks:
        parts = [block.get("text"), *block.get("fields", ()), *block.get("elements", ())]
        texts = [part["text"] for part in parts if part and part["type"] == "mrkdwn"]
        lines = "\n".join(texts).split("\n")
        found += [f"open code: {line}" for line in lines if line.count("`") % 2]
    return found


@given(any_job(), ANY_TEXT)
def test_a_thread_is_told_nothing_invalid_or_harmful(job: TrackedJob, text: str) -> None:
    for message in thread_messages(job, text):
        assert complaints(job, message) == []
    assert len(face.face(job).text.encode("utf-8")) <= 4_000, "a root message is edited"


@given(any_job(), ANY_TEXT, st.sampled_from(["{}", "https://preview.example", "https://preview.example/{}"]))
def test_an_end_says_nothing_invalid_or_harmful_of_a_preview(job: TrackedJob, text: str, url: str) -> None:
    at, files = url.format(text), (f"{text}.md", "guides/one.mdx", f"{text}/index.md", "index.md") * 3
    pages = [f"{at.rstrip('/')}/{page_of(file)}" for file in files]
    ended = replace(job, state=JobState.PULL_REQUEST)
    for state, iteration in product(PreviewState, (job.iteration, job.iteration + 1)):
        about = (job.number, PROJECT, iteration, ANA, text, state, NOW)
        preview = Preview(*about, url=at, files=files, log=text)
        told = jobs.ended(ended, preview=preview, offers_preview=True)
        assert problems_of(told, Allowed({ANA, BEN}, {job.pr_link, at, *pages})) == []
        assert len(told.text.encode()) <= 4_000, "an end is edited"
        assert all(line.startswith("> ") for line in to_fix(preview).split("\n")[1:])


@given(any_job(), ANY_TEXT)
def test_one_person_is_told_nothing_invalid_or_harmful(job: TrackedJob, text: str) -> None:
    for message in private_messages(job, text):
        assert complaints(job, message) == []


MARKS = re.compile(r"[*~`“”❝❞]|(?<![^\W_])_|_(?![^\W_])|:[^\s:]+:")
"""Signs that format, make an emoji, or end a quotation in mrkdwn."""
CODE = re.compile("`[^`\n]*`")
HOSTILE = "x” · merged by admin · *Approved* _now_ ~no~ :tada: `code` “y"


def marks_in(message: Message) -> list[str]:
    """The signs in the mrkdwn of a message that do something there."""
    blocks = [*message.blocks, *message.plain_blocks]
    parts = [part for each in blocks for part in (each.get("text"), *each.get("elements", ()))]
    texts = [part["text"] for part in parts if part and part.get("type") == "mrkdwn"]
    return [found for text in (message.text, *texts) for found in MARKS.findall(CODE.sub("", text))]


def job_of(text: str, state: JobState) -> TrackedJob:
    """A job with this text in every place where somebody else's text can stand."""
    seen = SeenPullRequest(text, Size(1, 2, 3), False, 1, NOW, is_merged=True, merged_by=text)
    job = TrackedJob(JobNumber(1), PROJECT, CHANNEL, ANA, text, NOW, state=state, iteration=1)
    of_service = replace(job, repository=text, ref=text, project_label=text, problem=text)
    return replace(of_service, pr_link="https://code.example/1", pull_request=seen)


def test_outside_text_never_formats_or_ends_its_quotation() -> None:
    harmless = MARKS.sub("x", HOSTILE)
    for state, say in product(JobState, (thread_messages, private_messages)):
        said = zip(say(job_of(HOSTILE, state), HOSTILE), say(job_of(harmless, state), harmless), strict=True)
        for message, other in said:
            assert marks_in(message) == marks_in(other), message.text


def test_combining_marks_do_not_cover_other_lines() -> None:
    assert visible("Z" + "\u0300" * 50 + "a\u0301\u0323 ש\u05c1\u05bc\u05b8") == (
        "Z" + "\u0300" * 4 + "a\u0301\u0323 ש\u05c1\u05bc\u05b8"
    )


SAID_ALWAYS = (
    *(job_answers.no_such_channel(), job_answers.job_list([]), job_answers.nothing_to_send([])),
    *(job_answers.too_late(), problems.unknown_command(), problems.form_not_opened()),
)


def test_what_names_nobody_and_nothing_is_valid() -> None:
    assert [problems_of(message, Allowed(())) for message in SAID_ALWAYS] == [[]] * len(SAID_ALWAYS)


@given(any_job(), ANY_TEXT)
def test_dialogues_are_valid_whatever_stands_in_them(job: TrackedJob, text: str) -> None:
    private = FormState(CHANNEL, None, job.number).dumps()
    for view in (
        general.ask_form(channel=CHANNEL, private=private, text=text),
        general.ask_form(channel=CHANNEL, private=private, projects=[Project(PROJECT, "acme", text or "a")]),
        general.ask_form(channel=None, private=private),
        general.follow_up_form([job], private=private, is_chosen=True),
        general.follow_up_form([job] * 3, private=private),
        general.run_again_form(job, private=private),
    ):
        assert modal_problems(view) == []


@given(ANY_TEXT)
def test_what_a_form_gives_comes_back_as_it_was_typed(text: str) -> None:
    assert slack_text.to_plain(slack_text.from_plain(text), {}, {}) == text


@given(ANY_TEXT)
def test_reading_what_slack_sends_never_fails(raw: str) -> None:
    slack_text.unresolved_names(raw, 20)
    slack_text.is_aside(raw)
    slack_text.mentions_somebody_else_first(raw, BEN)
    slack_text.without_leading_mention(raw, BEN)
    slack_text.is_blank(slack_text.to_plain(raw, {}, {}))


@given(ANY_TEXT)
def test_a_long_prompt_stands_in_the_thread_whole(text: str) -> None:
    job = TrackedJob(JobNumber(1), ProjectId("p"), CHANNEL, ANA, text, NOW)
    parts = [
        piece["text"]
        for message in jobs.full_prompt(job)
        for block in message.blocks
        if block["type"] == "rich_text"
        for piece in block["elements"][0]["elements"]
    ]
    shown = visible(text)
    assert "".join(parts) == ("" if shown.strip() == face.first_line(job) else shown)

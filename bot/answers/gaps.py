"""Content gaps: inquiries that the docs do not answer yet.

From the button to the notice to the asker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from bot.access.admit import Allowed, is_reader
from bot.answers import messages
from bot.answers.model import Audience, Inquiry, InquiryState, Publication
from bot.answers.publication_store import Publications
from bot.answers.publications import await_publication
from bot.answers.store import Inquiries, SentQuestions
from bot.context import Context, WorkerContext
from bot.ids import ChannelId, JobNumber, Message, ProjectId, Refusal, is_direct_message
from bot.jobs.messages.forms import draft_prompt
from bot.jobs.model.jobs import GapRef, JobState, TrackedJob
from bot.jobs.model.questions import AnsweredQuestion
from bot.jobs.model.subjects import group_by_subject
from bot.jobs.store.jobs import Jobs
from bot.masking import mask_text
from bot.messages import blocks as b
from bot.messages.plain_text import one_line
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.ports import SlackError, SlackRefused, ThreadRef
from bot.store import Transaction
from bot.visitors.model.digests import Recommendation
from bot.visitors.model.gaps import clean_text, question_key
from bot.visitors.model.own_questions import SentQuestion, hash_text

_RETRY_PAUSE = timedelta(minutes=1)
_MAX_KEY_CHARACTERS = 2_000
"""The characters of a question that are masked for its key, more than its row has."""
_MAX_CHECKED = 3
"""The questions whose channels are verified before they are shown elsewhere."""
_MAX_TITLE_CHARACTERS = 60


def gap_key(text: str) -> str:
    """Return the key of a question's row, which is the same as in the service's own list."""
    return question_key(clean_text(text[:_MAX_KEY_CHARACTERS]))


def hash_question(text: str, key: bytes) -> str:
    """Return the hash of a question's words, which is the same for its row in the service's list.

    ``key``: the database's.
    """
    return hash_text(clean_text(text[:_MAX_KEY_CHARACTERS]), key)


def find_inquiry(tx: Transaction, allowed: Allowed, number: int) -> Inquiry | None:
    """Return an inquiry for its asker and for people in its channel; None for others."""
    inquiry = Inquiries(tx).get(number)
    if inquiry is None or not is_reader(allowed, inquiry.user, inquiry.channel):
        return None
    return inquiry


def find_answered(tx: Transaction, thread: ThreadRef) -> AnsweredQuestion | None:
    """Return the newest question of a thread, for the job that makes a page of its answer."""
    inquiry = Inquiries(tx).newest_in(thread)
    if inquiry is None:
        return None
    return AnsweredQuestion(gap_of(inquiry), messages.conversation(inquiry))


def gap_of(inquiry: Inquiry) -> GapRef:
    """Return the row of a question, whose askers are told when a job answers it."""
    return GapRef(inquiry.gap_key, f"“{one_line(inquiry.text, _MAX_TITLE_CHARACTERS)}”")


async def did_not_help(context: Context, allowed: Allowed, thread: ThreadRef) -> Message:
    """Make the newest question of a thread a gap, and confirm that."""
    inquiry = await context.store.read(lambda tx: Inquiries(tx).newest_in(thread))
    marked = await mark(context, allowed, inquiry.id, InquiryState.GAP) if inquiry else None
    return messages.gap_noted(marked, allowed.user) if marked else messages.QUESTION_GONE


async def mark(
    context: Context, allowed: Allowed, number: int, state: InquiryState
) -> Inquiry | None:
    """Make an answered inquiry a gap, or dismiss a gap.

    It is dismissed with all inquiries of its words in the channel. Return the inquiry; None if it
    is unknown.
    """

    def change(tx: Transaction) -> Inquiry | None:
        inquiry = find_inquiry(tx, allowed, number)
        if inquiry is None:
            return None
        for row in Inquiries(tx).with_gap_key(inquiry.project, inquiry.gap_key):
            is_gap = row.state is InquiryState.GAP and row.channel == inquiry.channel
            if row.id == inquiry.id or (is_gap and state is InquiryState.DISMISSED):
                Inquiries(tx).save(row, replace(row, state=state))
        return inquiry

    return await context.store.write(change)


def list_gaps(tx: Transaction, channel: ChannelId, now: datetime) -> Sequence[Sequence[Inquiry]]:
    """Return a channel's open gaps without a job: the inquiries of each gap, the newest first."""
    groups: dict[tuple[str, str], list[Inquiry]] = {}
    for inquiry in Inquiries(tx).gaps_of(channel):
        groups.setdefault((inquiry.project, inquiry.gap_key), []).append(inquiry)
    in_work = {
        (project, job.gap.key)
        for project in {project for project, _ in groups}
        for job in Jobs(tx).list_from_gaps(ProjectId(project), now)
        if job.gap and job.channel == channel and is_in_work(job)
    }
    return [rows for key, rows in groups.items() if key not in in_work]


def is_in_work(job: TrackedJob) -> bool:
    """Return whether a job may still answer the question that it was asked for."""
    return job.state.is_open or job.state is JobState.UNCONFIRMED or job.awaits_review


def recommend_gaps(
    tx: Transaction,
    project: ProjectId,
    channel: ChannelId,
    since: datetime,
    before: datetime,
    own_only: bool = False,
) -> Sequence[Recommendation]:
    """Return the gaps of a period for a channel's digest: its own, and those of public channels."""
    groups: dict[str, list[Inquiry]] = {}
    for inquiry in Inquiries(tx).gaps(project, channel, since, before):
        if own_only and inquiry.channel != channel:
            continue
        groups.setdefault(inquiry.gap_key, []).append(inquiry)
    largest = sorted(groups.values(), key=len, reverse=True)
    return [_recommend(same) for same in group_by_subject(largest, lambda rows: rows[0].text)]


def _recommend(same: Sequence[Sequence[Inquiry]]) -> Recommendation:
    """Return the recommendation of a subject. ``same``: the inquiries of each of its texts."""
    count = len({inquiry.user for rows in same for inquiry in rows})
    people = b.counted(count, "person", "people")
    title = mask_text(same[0][0].text, is_readers=True)
    return Recommendation(
        heading="Asked in Slack",
        key=same[0][0].gap_key,
        title=title,
        evidence=people,
        events=count,
        prompt=draft_prompt(title),
        added_evidence=f"asked in Slack by {people}",
        merged_keys=tuple(rows[0].gap_key for rows in same[1:]),
    )


def list_sent(
    tx: Transaction, project: ProjectId, channel: ChannelId, since: datetime, before: datetime
) -> Sequence[SentQuestion]:
    """Return the questions that were sent in a period; most are hidden from other channels."""
    return SentQuestions(tx).between(project, channel, since, before)


async def audience_in(context: Context, channel: ChannelId) -> Audience:
    """Return the audience of words in a channel.

    A channel that Slack does not describe counts as private.
    """
    is_public = False
    if not is_direct_message(channel):
        with suppress(SlackError):
            is_public = await context.messenger.is_public(channel)
    return Audience.WORKSPACE if is_public else Audience.CHANNEL


async def refresh_privacy(context: Context, project: ProjectId) -> None:
    """Hide the words of channels that are private by now, before they are shown elsewhere.

    Slack describes 50 channels a minute. So one public channel is looked for of each of the
    questions that most people asked: there everybody can read it. A channel about which Slack is
    silent counts as private.
    """
    rows = await context.store.read(lambda tx: Inquiries(tx).said_to_everybody(project))
    for channels in _list_channels_of_largest(rows):
        for channel in channels:
            if await audience_in(context, channel) is Audience.WORKSPACE:
                break
            await context.store.write(partial(_keep_in, channel))


def _keep_in(channel: ChannelId, tx: Transaction) -> None:
    on_made_private(tx, channel)


def on_made_private(tx: Transaction, channel: ChannelId) -> None:
    """Hide the questions of a channel that was made private."""
    Inquiries(tx).make_private(channel)


def _list_channels_of_largest(rows: Sequence[Inquiry]) -> list[list[ChannelId]]:
    """Return the channels of each of the questions that most people asked, gaps first."""
    groups: dict[str, list[Inquiry]] = {}
    for inquiry in rows:
        groups.setdefault(inquiry.gap_key, []).append(inquiry)

    def rank_by_askers(inquiries: Sequence[Inquiry]) -> tuple[bool, int]:
        has_gap = any(inquiry.state is InquiryState.GAP for inquiry in inquiries)
        return has_gap, len({inquiry.user for inquiry in inquiries})

    largest = sorted(groups.values(), key=rank_by_askers, reverse=True)[:_MAX_CHECKED]
    return [list(dict.fromkeys(inquiry.channel for inquiry in group)) for group in largest]


def on_merged(context: Context, tx: Transaction, number: JobNumber) -> bool:
    """Queue the notices to the people whose questions a job has answered.

    They wait until the page is live, where the bot can see that. Return whether one of them will
    stand in the job's thread.
    """
    job = Jobs(tx).get_or_raise(number)
    answered = _find_answered_inquiries(tx, job)
    if not answered:
        return False
    now = context.clock()
    is_awaited = await_publication(context, tx, job)
    places = set[tuple[object, ...]]()
    for inquiry in answered:
        state = InquiryState.MERGED if is_awaited else InquiryState.WRITTEN
        place = (inquiry.channel, inquiry.thread_ts, inquiry.user)
        if inquiry.thread_ts is not None and place in places:
            # Somebody who has asked the same twice in a thread gets one notice there.
            state = InquiryState.NOTIFIED
        places.add(place)
        Inquiries(tx).save(inquiry, replace(inquiry, state=state, job=number, due_at=now))
    return any(_is_in_thread(inquiry, job) for inquiry in answered)


def _find_answered_inquiries(tx: Transaction, job: TrackedJob) -> Sequence[Inquiry]:
    """Return the questions that a job has answered, the newest first.

    These are gaps, and the questions under whose answers it was asked for.
    """
    if job.gap is None:
        return ()
    answered: list[Inquiry] = []
    for inquiry in Inquiries(tx).with_gap_key(job.project, job.gap.key):
        is_answered = inquiry.state is InquiryState.ANSWERED
        if inquiry.state is InquiryState.GAP or (is_answered and _is_job_of_inquiry(inquiry, job)):
            answered.append(inquiry)
    return answered


def _is_in_thread(inquiry: Inquiry, job: TrackedJob) -> bool:
    """Return whether a question was asked in a job's thread, where its notice will stand."""
    here = job.thread
    return here is not None and (inquiry.channel, inquiry.thread_ts) == (here.channel, here.ts)


def _is_job_of_inquiry(inquiry: Inquiry, job: TrackedJob) -> bool:
    """Return whether a job was asked for under the answer of an inquiry."""
    if inquiry.channel != job.channel:
        return False
    return inquiry.user == job.requester or inquiry.answer_thread == job.thread_ts


def answer_key(inquiry: Inquiry) -> str:
    """Return the key of the post with an answer."""
    return f"inquiry:{inquiry.id}:answer"


def shared_key(inquiry: Inquiry) -> str:
    """Return the key of the post with a shared answer."""
    return f"inquiry:{inquiry.id}:shared"


async def settle_notice(context: WorkerContext, inquiry: Inquiry) -> Callable[[Transaction], None]:
    """Return the function that queues the notice to an asker and settles the inquiry.

    A job of a private channel is announced there only, to somebody who is in it; elsewhere the gap
    stays open.
    """
    number = inquiry.job or JobNumber(0)
    job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(number))
    publication = await context.store.read(lambda tx: Publications(tx).get(number))
    owner = context.owner
    try:
        is_public = await _is_public(context, job.channel)
        is_reader = await _can_still_read(context, inquiry)
    except SlackError as error:
        if not _is_for_good(error):
            later = replace(inquiry, due_at=context.clock() + _RETRY_PAUSE)
            return lambda tx: Inquiries(tx).save(inquiry, later, owner=owner)
        is_public = is_reader = False
    is_here = job.channel == inquiry.channel

    def settle(tx: Transaction) -> None:
        state = InquiryState.NOTIFIED if is_public or is_here else InquiryState.GAP
        Inquiries(tx).save(inquiry, replace(inquiry, state=state), owner=owner)
        if (is_public or is_here) and is_reader:
            notice = _make_notice(inquiry, job, publication, is_public=is_public)
            Outbox(tx).add(notice, context.clock())

    return settle


async def _is_public(context: WorkerContext, channel: ChannelId) -> bool:
    """Return whether a channel is public; False for a deleted channel. Raises a SlackError."""
    try:
        return not is_direct_message(channel) and await context.messenger.is_public(channel)
    except SlackError as error:
        if not _is_for_good(error):
            raise
        return False


async def _can_still_read(context: WorkerContext, inquiry: Inquiry) -> bool:
    """Return whether an asker can still read the channel in which they asked.

    Raises a SlackError.
    """
    if is_direct_message(inquiry.channel):
        return True
    is_public = await context.messenger.is_public(inquiry.channel)
    return is_public or await context.messenger.is_member(inquiry.channel, inquiry.user)


def _is_for_good(error: SlackError) -> bool:
    """Return whether Slack will refuse the same call again."""
    if not isinstance(error, SlackRefused):
        return False
    return not error.meaning.needs_operator and error.meaning is not Refusal.PASSING


def _make_notice(
    inquiry: Inquiry, job: TrackedJob, publication: Publication | None, *, is_public: bool
) -> NewDelivery:
    """Return the notice. In a direct message it names no job or page of a private channel."""
    key = f"inquiry:{inquiry.id}:job:{job.number}:written"
    thread = inquiry.answer_thread
    if thread is not None:
        message = messages.written_notice(inquiry, job, publication)
        post = NewDelivery.post(key, inquiry.channel, inquiry.user, message)
        return replace(post, message_ts=thread)
    is_named = is_public or is_direct_message(inquiry.channel)
    message = messages.written_notice(inquiry, job if is_named else None, publication)
    return NewDelivery.private(key, inquiry.channel, inquiry.user, message)


async def share_answer(context: Context, allowed: Allowed, number: int) -> Message | None:
    """Post a private answer into its channel, once. Return the reason if it is not posted."""
    audience = await audience_in(context, allowed.origin.channel)

    def share(tx: Transaction) -> Message | None:
        inquiry = find_inquiry(tx, allowed, number)
        is_private = inquiry is not None and inquiry.thread_ts is None
        if inquiry is None or inquiry.answer is None or not is_private:
            return messages.QUESTION_GONE
        if inquiry.channel == allowed.origin.channel:
            Inquiries(tx).set_audience(inquiry, audience)
        key = shared_key(inquiry)
        message = messages.shared_answer(inquiry, inquiry.answer)
        Outbox(tx).add(
            NewDelivery.post(key, inquiry.channel, allowed.user, message), context.clock()
        )
        return None

    return await context.write(share)

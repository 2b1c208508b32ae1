"""The worker that resolves the names in new prompts, attaches files and messages, and opens threads."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

import structlog

from bot.context import Context, WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import ChannelId, Message, MessageTs, UserId
from bot.jobs.messages import status_message
from bot.jobs.messages.jobs import follow_up_by_command
from bot.jobs.model import lifecycle
from bot.jobs.model.intents import Door, Intent, classify
from bot.jobs.model.jobs import NotTaken, OmitReason, TakeThread, ThreadContext
from bot.jobs.model.prompts import Act, Prompt, PromptKind
from bot.jobs.service_health import FIRST_SECONDS, show_back_off
from bot.jobs.settle_prompt import tell_behind_unconfirmed
from bot.jobs.store.audit import Audit
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import open_thread, say
from bot.logs import about_request
from bot.masking import masked
from bot.messages import slack_text
from bot.messages.plain_text import visible
from bot.outbox.store import Outbox
from bot.ports import Said, SharedFile, SlackError, SlackRefused, ThreadRef
from bot.store import LeaseLost, Transaction

Id = TypeVar("Id", bound=str)
_PRIVATE = "private-channel"
"""Stands for the name of a private channel, as it does in Slack."""
_MOST_NAMES = 20
"""Maximum names that are looked up for a text. The others stay ids."""


async def names_in(
    context: Context, raw: str, place: ChannelId | None, seconds: float
) -> tuple[dict[UserId, str], dict[ChannelId, str]]:
    """Return the first 20 names in a text that Slack returns in time.

    A private channel goes by its name only in itself (``place``).
    """
    if "<" not in raw:  # which begins every entity
        return {}, {}
    needed = slack_text.unresolved_names(raw, _MOST_NAMES)
    users = dict[UserId, str]()
    channels = {ref: str(ref) for ref in slack_text.channels_in(raw)}

    async def name_of(channel: ChannelId) -> str:
        try:
            if channel != place and not await context.messenger.is_public(channel):
                return _PRIVATE
        except SlackRefused as refusal:  # Slack does not show the bot every private channel
            log.info("channel_not_told", id=channel, reason=refusal.code)
            return _PRIVATE
        return needed.channels[channel] or await context.messenger.channel_name(channel)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for user in needed.users:
                group.create_task(_look_up(user, context.messenger.user_name, users))
            for channel in needed.channels:
                group.create_task(_look_up(channel, name_of, channels))
    return users, channels


async def _look_up(key: Id, look_up: Callable[[Id], Awaitable[str]], names: dict[Id, str]) -> None:
    """Add a name to ``names``. An id without a name does not stop the job."""
    try:
        names[key] = await look_up(key)
    except SlackError as error:
        log.warning("name_not_told", reason=str(error))


_FORM_SECONDS = 1.5
_MOST_FILES = 5
_MOST_FILE_BYTES = 20_000
_MOST_AUTHORS = 20
"""Maximum authors of a thread to look up. Messages of others are left out."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments of a prompt."""

    text: str = ""
    """For the agent, after the text of the prompt."""
    earlier: ThreadContext | None = None
    not_sent: Message | None = None
    """The thread's message about files that are not attached; None if all are."""


async def attachments_of(context: WorkerContext, prompt: Prompt) -> Attachments:
    """Return the attachments of a prompt, without those that Slack does not return in time."""
    conversation = ""
    earlier = None
    if prompt.take_thread is not None:
        conversation, earlier = await _conversation(context, prompt)
    signed = ""
    if context.settings.prompt_signature:
        name = None
        where = None
        with suppress(SlackError, TimeoutError):
            async with asyncio.timeout(context.timeouts.names_seconds):
                name = await context.messenger.user_name(prompt.asked_by)
                # Private channels and direct messages stay unnamed.
                if prompt.channel and await context.messenger.is_public(prompt.channel):
                    where = await context.messenger.channel_name(prompt.channel)
        signed = status_message.signature(name, where)
    texts = list[tuple[str, str]]()
    not_sent = None
    if prompt.files:
        texts, not_sent = await _read_files(context, prompt)
    return Attachments(status_message.attachments(signed, conversation, texts), earlier, not_sent)


async def _read_files(
    context: WorkerContext, prompt: Prompt
) -> tuple[list[tuple[str, str]], Message | None]:
    """Return the names and texts of a prompt's files, and the message about those that are not sent."""
    fitting = fitting_files(prompt.files)
    texts, unread = list[tuple[str, str]](), list[str]()
    for file in fitting:
        try:
            if file.url is None:
                raise SlackRefused.not_found("file")
            async with asyncio.timeout(context.timeouts.names_seconds):
                text = await context.messenger.read_text(file.url, most_bytes=_MOST_FILE_BYTES)
        except (SlackError, TimeoutError) as error:
            log.warning(
                "file_not_read", prompt=prompt.id, reason=str(error) or type(error).__name__
            )
            unread.append(file.name)
        else:
            texts.append((file.name, text))
    other = [file.name for file in prompt.files if file not in fitting]
    not_sent = status_message.files_not_sent(other, unread) if other or unread else None
    return texts, not_sent


def fitting_files(files: Sequence[SharedFile]) -> Sequence[SharedFile]:
    """Return the files that can go to the agent: the first text files that are not too large."""
    return [file for file in files if file.is_text and file.size_bytes <= _MOST_FILE_BYTES][
        :_MOST_FILES
    ]


async def _conversation(context: WorkerContext, prompt: Prompt) -> tuple[str, ThreadContext | None]:
    if prompt.take_thread is TakeThread.GIVEN:
        text = prompt.attachments or ""
        return text, ThreadContext(sum(not line.isspace() for line in text.splitlines() if line))
    if context.settings.context == "none":
        return "", None

    def read(tx: Transaction) -> tuple[ThreadRef | None, MessageTs | None]:
        is_start = prompt.kind is PromptKind.START
        since = None if is_start else Prompts(tx).taken_until(prompt.job, prompt.id)
        return Jobs(tx).get_or_raise(prompt.job).thread, since

    # An earlier prompt has the messages before it already.
    thread, since = await context.store.read(read)
    if thread is None:
        return "", None
    try:
        async with asyncio.timeout(context.timeouts.names_seconds):
            if not await context.messenger.is_public(thread.channel):
                return "", None
            posts = await context.messenger.read_earlier(
                thread.channel, thread.ts, before=prompt.message_ts
            )
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_read", prompt=prompt.id, reason=str(error) or type(error).__name__)
        return "", ThreadContext(not_taken=NotTaken.UNREAD)
    newer = [post for post in posts if since is None or post.ts > since]
    pairs, left_out = await _of_members(
        context, newer, thread.channel, context.timeouts.names_seconds
    )
    lines = status_message.newest_that_fit(pairs)
    return "\n".join(lines), ThreadContext(len(lines), left_out.total() + len(pairs) - len(lines))


async def _of_members(
    context: Context, messages: Sequence[Said], place: ChannelId, seconds: float
) -> tuple[list[tuple[str, str]], Counter[OmitReason]]:
    """Return the members' messages among themselves, as names and texts, and count those left out.

    Messages of the bot, and those that it has answered or passed on, are not counted.
    """
    if not messages:
        return [], Counter()

    def handled(tx: Transaction) -> set[MessageTs]:
        # The bot has answered these, or passed them on to an agent that still works on them.
        answers = Outbox(tx).answers_about(place, messages[0].ts, messages[-1].ts)
        answered = {ts for ts, occasion in answers if occasion not in _NOT_TAKEN}
        return answered | Inbox(tx).brought(place, messages[0].ts, messages[-1].ts)

    ours = await context.store.read(handled)
    others = [post for post in messages if post.user != context.bot_user and post.ts not in ours]
    talk = [post for post in others if not _is_no_instruction(context, post)]
    unfit = {post.ts: _unfit(context, post) for post in talk}
    authors = [post.user for post in reversed(talk) if post.user and unfit[post.ts] is None]
    are_members = await _are_members(context, authors, seconds)
    omit = {post.ts: unfit[post.ts] or _WHY_NOT[are_members.get(post.user or "")] for post in talk}
    theirs = [post for post in talk if omit[post.ts] is None]
    left_out = Counter(filter(None, omit.values()))
    left_out[OmitReason.OLDER] += len(theirs[: -status_message.MOST_MESSAGES])
    return await _with_names(
        context, theirs[-status_message.MOST_MESSAGES :], place, seconds
    ), left_out


_WHY_NOT = {True: None, False: OmitReason.OTHERS, None: OmitReason.UNTOLD}
"""The reason to leave a message out, by whether its author is a member; None if Slack did not answer."""
_NOT_TAKEN = frozenset({"not_allowed", "too_many", "project", "changed", "seen"})
"""Occasions of answers to prompts that no agent got, which may be attached to another one."""


def _is_no_instruction(context: Context, message: Said) -> bool:
    """Return whether a message mentions the bot and is no instruction, also one that it missed."""
    text = slack_text.without_leading_mention(message.text, context.bot_user)
    intent = classify(slack_text.to_plain(text, {}, {}), Door.FIRST, context.own_words)
    return text != message.text and intent is not Intent.INSTRUCTION


def _unfit(context: Context, message: Said) -> OmitReason | None:
    """Return the reason to leave out even a member's message; None if there is none."""
    text = slack_text.without_leading_mention(message.text, context.bot_user)
    if message.by_bot:
        return OmitReason.OTHERS
    if slack_text.is_aside(text):
        return OmitReason.ASIDE
    return OmitReason.WORDLESS if slack_text.is_blank(slack_text.to_plain(text, {}, {})) else None


async def _are_members(
    context: Context, authors: Sequence[UserId], seconds: float
) -> Mapping[str, bool]:
    """Return whether authors are full members, for those that Slack returns in time."""
    members: dict[str, bool] = {}

    async def check_author(author: UserId) -> None:
        with suppress(SlackError):
            profile = await context.messenger.profile(author)
            members[author] = not (profile.is_guest or profile.is_stranger or profile.is_bot)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for author in list(dict.fromkeys(authors))[:_MOST_AUTHORS]:
                group.create_task(check_author(author))
    return members


async def _with_names(
    context: Context, messages: Sequence[Said], place: ChannelId, seconds: float
) -> list[tuple[str, str]]:
    """Return messages as the name of the author and the plain text."""
    authors = " ".join(f"<@{message.user}>" for message in messages)
    texts = " ".join([authors, *(message.text for message in messages)])
    users, channels = await names_in(context, texts, place, seconds)

    def plain(message: Said) -> tuple[str, str]:
        name = users.get(message.user, message.user) if message.user else ""
        return name, masked(visible(slack_text.to_plain(message.text, users, channels)))

    return [plain(message) for message in messages]


@dataclass(frozen=True, slots=True)
class OfferedThread:
    """The thread of a message, for a form in which a person chooses the messages to attach.

    ``messages``: a line for each. ``is_chosen``: they are attached unless the person unticks them.
    """

    messages: str = ""
    left_out: Mapping[OmitReason, int] = field(default_factory=dict)
    is_chosen: bool = False
    is_read: bool = True


async def offer_thread(
    context: Context, thread: ThreadRef, without: MessageTs | None
) -> OfferedThread:
    """Return the members' messages of a thread but for one; none if Slack is slow.

    A form must be open three seconds after the shortcut was used.
    https://docs.slack.dev/surfaces/modals#trigger_id
    """
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            is_public = await context.messenger.is_public(thread.channel)
            messages = await context.messenger.read_earlier(thread.channel, thread.ts, before=None)
            others = [message for message in messages if message.ts != without]
            theirs, left_out = await _of_members(context, others, thread.channel, _FORM_SECONDS / 3)
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_offered", reason=str(error) or type(error).__name__)
        return OfferedThread(is_read=False)
    lines = status_message.newest_that_fit(
        [(name, " ".join(text.split())) for name, text in theirs], status_message.FORM_CHARACTERS
    )
    left_out[OmitReason.OLDER] += len(theirs) - len(lines)
    return OfferedThread("\n".join(lines), +left_out, is_public)


log = structlog.get_logger(__name__)
_AT_ONCE = 20


claim_new = make_claim(
    lambda tx, claimer, limit: Prompts(tx).claim_new(claimer, min(limit, _AT_ONCE))
)
"""Claims new requests. Somebody's second job in a channel waits for the status message of their first."""


async def prepare(context: WorkerContext, prompt: Prompt) -> None:
    """Turn a stored request into a prompt that waits to be sent, and have its job's status message posted."""
    with about_request(prompt.key), unless_taken_over("prompt", prompt.id):
        users, channels = await names_in(
            context, prompt.raw, prompt.channel, context.timeouts.names_seconds
        )
        text = visible(slack_text.to_plain(prompt.raw, users, channels))
        attachments = await attachments_of(context, prompt)
        try:
            await context.settle(lambda tx: _write(context, tx, prompt, text, attachments))
        except LeaseLost:
            # Edited meanwhile, and perhaps claimed anew by this process: it is prepared with its new text.
            await context.settle(lambda tx: Prompts(tx).free_new(prompt.id, context.owner))
            raise
        finally:
            context.wake()


def _write(
    context: WorkerContext, tx: Transaction, prompt: Prompt, text: str, attachments: Attachments
) -> None:
    # Though others are refused: perhaps this one is not.
    BackOffs(tx).end_by(prompt.job, context.after(FIRST_SECONDS))
    # A message may be added to; a button is pressed once.
    is_said = prompt.message_ts is not None and prompt.response_url is None
    until = context.held_until(prompt.asked_at) if is_said else None
    prepared = lifecycle.prompt_prepared(prompt, text, attachments.text, until)
    Prompts(tx).save(prompt, prepared, owner=context.owner)
    now = context.clock()
    job = Jobs(tx).get_or_raise(prompt.job)
    if prompt.text is None:  # otherwise its message was edited
        act = Act.ASKED if prompt.kind is PromptKind.START else Act.STEERED
        Audit(tx).decided(act, prompt.asked_by, job, prompt.asked_at, prompt.id)
    earlier = attachments.earlier or job.earlier
    if prompt.kind is PromptKind.START:
        new = replace(job, text=text, earlier=earlier)
        job = Jobs(tx).save(job, show_back_off(tx, new, now))
        open_thread(tx, job, now)
    else:
        new = replace(job, earlier=earlier)
        job = Jobs(tx).save(job, show_back_off(tx, new, now))
        if prompt.message_ts is None:
            message = follow_up_by_command(job, text, prompt.asked_by)
            say(tx, job, f"follow_up:{prompt.id}", message, now)
        tell_behind_unconfirmed(tx, job, prompt, now)
    if attachments.not_sent is not None:
        say(tx, job, f"files:{prompt.id}", attachments.not_sent, now)

"""The earlier messages of a thread, for the agent and for the form."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from bot.context import Context, WorkerContext
from bot.ids import ChannelId, MessageTs, UserId
from bot.jobs.messages import status_message
from bot.jobs.model.intents import Door, Intent, classify
from bot.jobs.model.jobs import NotTaken, OmitReason, TakeThread, ThreadContext
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.jobs.names import names_in
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.masking import masked
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Said, SlackError, ThreadRef
from bot.store import Transaction

log = structlog.get_logger(__name__)
_FORM_SECONDS = 1.5
_MOST_AUTHORS = 20
"""Maximum authors of a thread to look up. Messages of others are left out."""


async def conversation_of(
    context: WorkerContext, prompt: Prompt
) -> tuple[str, ThreadContext | None]:
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
    intent = classify(slack_text.to_plain(text, {}, {}), Door.FIRST)
    return text != message.text and intent is not Intent.INSTRUCTION


def _unfit(context: Context, message: Said) -> OmitReason | None:
    """Return the reason to leave out even a member's message; None if there is none."""
    text = slack_text.without_leading_mention(message.text, context.bot_user)
    if message.user is None:
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
    names = await names_in(context, texts, place, seconds)

    def plain(message: Said) -> tuple[str, str]:
        name = names.users.get(message.user, message.user) if message.user else ""
        return name, masked(names.plain(message.text))

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

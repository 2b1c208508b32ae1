"""What goes along with a prompt: who asked, the earlier messages of its thread, and its text files."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from bot.context import Context, WorkerContext
from bot.ids import ChannelId, Message, MessageTs, UserId
from bot.jobs.messages import face as say
from bot.jobs.model.intents import Door, Intent, classify
from bot.jobs.model.jobs import Earlier, LeftOut, NotTaken, TakeThread
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.masking import masked
from bot.messages import slack_text
from bot.messages.plain_text import visible
from bot.outbox.store import Outbox
from bot.ports import Said, SlackError, SlackRefused, ThreadRef
from bot.store import Transaction

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_PRIVATE = "private-channel"
"""Stands for the name of a channel that not everybody may know of, as it does in Slack."""
_MOST_NAMES = 20
"""Maximum names that are looked up for a text. The others stay ids."""


async def plain_text(context: WorkerContext, raw: str, here: ChannelId | None) -> str:
    """Return the text for the agent, without hidden characters: it gets what its thread shows."""
    users, channels = await names_in(context, raw, here, context.timeouts.names_seconds)
    return visible(slack_text.to_plain(raw, users, channels))


async def names_in(
    context: Context, raw: str, here: ChannelId | None, seconds: float
) -> tuple[dict[UserId, str], dict[ChannelId, str]]:
    """Return the names in a text: the first 20, as far as Slack returns them in time.

    A private channel goes by its name only in itself (``here``).
    """
    needed = slack_text.unresolved_names(raw, _MOST_NAMES)
    users = dict[UserId, str]()
    channels = {each: str(each) for each in slack_text.channels_in(raw)}

    async def name_of(channel: ChannelId) -> str:
        try:
            if channel != here and not await context.messenger.is_public(channel):
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


async def _look_up(each: Id, look_up: Callable[[Id], Awaitable[str]], known: dict[Id, str]) -> None:
    """Add a name to ``known``. An id without a name does not stop the job."""
    try:
        known[each] = await look_up(each)
    except SlackError as error:
        log.warning("name_not_told", reason=str(error))


_FORM_SECONDS = 1.5
_MOST_FILES = 5
_MOST_FILE_BYTES = 20_000
_MOST_AUTHORS = 20
"""Maximum people that Slack is asked about for a thread. What others said is left out."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """What goes to the agent after the text of a prompt, how much of the thread is in it, and what is not.

    ``not_sent``: what the thread is told about files that do not go along; None if all do.
    """

    text: str = ""
    earlier: Earlier | None = None
    not_sent: Message | None = None


async def attachments_of(context: WorkerContext, prompt: Prompt) -> Attachments:
    """Return what goes along with a prompt. Nothing that Slack does not return in time stops the prompt."""
    conversation, earlier = await _conversation(context, prompt)
    signed = await _signature(context, prompt) if context.signs_prompts else ""
    fitting = [file for file in prompt.files if file.is_text and file.size_bytes <= _MOST_FILE_BYTES]
    texts, unread = list[tuple[str, str]](), list[str]()
    for file in fitting[:_MOST_FILES]:
        try:
            if file.url is None:
                raise SlackRefused.not_found("file")
            async with asyncio.timeout(context.timeouts.names_seconds):
                text = await context.messenger.read_text(file.url, most_bytes=_MOST_FILE_BYTES)
        except (SlackError, TimeoutError) as error:
            log.warning("file_not_read", prompt=prompt.id, reason=str(error) or type(error).__name__)
            unread.append(file.name)
        else:
            texts.append((file.name, text))
    other = [file.name for file in prompt.files if file not in fitting[:_MOST_FILES]]
    not_sent = say.files_not_sent(other, unread) if other or unread else None
    return Attachments(say.attachments(signed, conversation, texts), earlier, not_sent)


async def _signature(context: WorkerContext, prompt: Prompt) -> str:
    """Return who asked and where. The names of private channels and of direct messages are not told."""
    messenger, channel = context.messenger, prompt.channel
    name = where = None
    with suppress(SlackError, TimeoutError):
        async with asyncio.timeout(context.timeouts.names_seconds):
            name = await messenger.user_name(prompt.asked_by)
            if channel and await messenger.is_public(channel):
                where = await messenger.channel_name(channel)
    return say.signature(name, where)


async def _conversation(context: WorkerContext, prompt: Prompt) -> tuple[str, Earlier | None]:
    if prompt.take_thread is None:
        return "", None
    if prompt.take_thread is TakeThread.GIVEN:
        given = prompt.attachments or ""
        return given, Earlier(sum(not line.isspace() for line in given.splitlines() if line))
    if not context.takes_threads:
        return "", None

    def read(tx: Transaction) -> tuple[ThreadRef | None, MessageTs | None]:
        is_start = prompt.kind is PromptKind.START
        since = None if is_start else Prompts(tx).taken_until(prompt.job, prompt.id)
        return Jobs(tx).get_or_raise(prompt.job).thread, since

    # What went along with an earlier prompt does not go along again.
    thread, since = await context.store.read(read)
    if thread is None:
        return "", None
    try:
        async with asyncio.timeout(context.timeouts.names_seconds):
            if prompt.take_thread is TakeThread.IF_PUBLIC and not await context.messenger.is_public(
                thread.channel
            ):
                return "", None
            said = await context.messenger.said_before(thread.channel, thread.ts, before=prompt.message_ts)
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_read", prompt=prompt.id, reason=str(error) or type(error).__name__)
        return "", Earlier(not_taken=NotTaken.UNREAD)
    newer = [each for each in said if since is None or each.ts > since]
    taken, left_out = await _of_members(context, newer, thread.channel, context.timeouts.names_seconds)
    lines = say.newest_that_fit(taken)
    return "\n".join(lines), Earlier(len(lines), left_out.total() + len(taken) - len(lines))


async def _of_members(
    context: Context, said: Sequence[Said], here: ChannelId, seconds: float
) -> tuple[list[tuple[str, str]], Counter[LeftOut]]:
    """Return names and texts of what members of this workspace said among themselves, and what is left out.

    What the bot said, and what it was told and has answered or passed on, is neither.
    """
    if not said:
        return [], Counter()

    def handled(tx: Transaction) -> set[MessageTs]:
        # The bot has answered these, or passed them on to an agent that still works on them.
        answers = Outbox(tx).answers_about(here, said[0].ts, said[-1].ts)
        answered = {ts for ts, occasion in answers if occasion not in _NOT_TAKEN}
        return answered | Prompts(tx).brought_by(here, said[0].ts, said[-1].ts)

    ours = await context.store.read(handled)
    others = [each for each in said if each.user != context.bot_user and each.ts not in ours]
    talk = [each for each in others if not _is_no_instruction(context, each)]
    unfit = {each.ts: _unfit(context, each) for each in talk}
    authors = [each.user for each in reversed(talk) if each.user and unfit[each.ts] is None]
    are_members = await _are_members(context, authors, seconds)
    why = {each.ts: unfit[each.ts] or _WHY_NOT[are_members.get(each.user or "")] for each in talk}
    theirs, left_out = [each for each in talk if why[each.ts] is None], Counter(filter(None, why.values()))
    left_out[LeftOut.OLDER] += len(theirs[: -say.MOST_MESSAGES])
    return await _with_names(context, theirs[-say.MOST_MESSAGES :], here, seconds), left_out


_WHY_NOT = {True: None, False: LeftOut.OTHERS, None: LeftOut.UNTOLD}
"""Why a message is left out, by whether its author is a member, as far as Slack says."""
_NOT_TAKEN = frozenset({"not_allowed", "too_many", "project", "changed"})
"""The occasions of answers to prompts that were not passed on, and so may go along with another one."""


def _is_no_instruction(context: Context, said: Said) -> bool:
    """Return whether a message mentions the bot and is no instruction, also one that was never heard."""
    text = slack_text.without_leading_mention(said.text, context.bot_user)
    intent = classify(slack_text.to_plain(text, {}, {}), Door.FIRST)
    return text != said.text and intent is not Intent.INSTRUCTION


def _unfit(context: Context, said: Said) -> LeftOut | None:
    """Return why a message would not even go along if a member wrote it."""
    text = slack_text.without_leading_mention(said.text, context.bot_user)
    if said.by_bot:
        return LeftOut.OTHERS
    if slack_text.is_aside(text):
        return LeftOut.ASIDE
    return LeftOut.WORDLESS if slack_text.is_blank(slack_text.to_plain(text, {}, {})) else None


async def _are_members(context: Context, authors: Sequence[UserId], seconds: float) -> Mapping[str, bool]:
    """Return which authors are full members and which are not, as far as Slack tells in time."""
    members: dict[str, bool] = {}

    async def look(author: UserId) -> None:
        with suppress(SlackError):
            profile = await context.messenger.profile(author)
            members[author] = not (profile.is_guest or profile.is_stranger or profile.is_bot)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for author in list(dict.fromkeys(authors))[:_MOST_AUTHORS]:
                group.create_task(look(author))
    return members


async def _with_names(
    context: Context, said: Sequence[Said], here: ChannelId, seconds: float
) -> list[tuple[str, str]]:
    """Return messages as the name of the author and the plain text."""
    authors = " ".join(f"<@{each.user}>" for each in said)
    texts = " ".join([authors, *(each.text for each in said)])
    users, channels = await names_in(context, texts, here, seconds)

    def plain(each: Said) -> tuple[str, str]:
        name = users.get(each.user, each.user) if each.user else ""
        return name, masked(visible(slack_text.to_plain(each.text, users, channels)))

    return [plain(each) for each in said]


@dataclass(frozen=True, slots=True)
class OfferedThread:
    """The thread of a message, for a form in which a person chooses what of it goes along.

    ``messages``: a line for each. ``is_chosen``: they go along unless the person says otherwise.
    """

    messages: str = ""
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)
    is_chosen: bool = False
    is_read: bool = True


async def offer_thread(context: Context, thread: ThreadRef, without: MessageTs | None) -> OfferedThread:
    """Return what members said in a thread, but for one message, as far as Slack returns it in time.

    A form must be open three seconds after the shortcut was used.
    https://docs.slack.dev/surfaces/modals#trigger_id
    """
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            is_public = await context.messenger.is_public(thread.channel)
            said = await context.messenger.said_before(thread.channel, thread.ts, before=None)
            others = [each for each in said if each.ts != without]
            theirs, left_out = await _of_members(context, others, thread.channel, _FORM_SECONDS / 3)
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_offered", reason=str(error) or type(error).__name__)
        return OfferedThread(is_read=False)
    lines = say.newest_that_fit(
        [(name, " ".join(text.split())) for name, text in theirs], say.FORM_CHARACTERS
    )
    left_out[LeftOut.OLDER] += len(theirs) - len(lines)
    return OfferedThread("\n".join(lines), +left_out, is_public)

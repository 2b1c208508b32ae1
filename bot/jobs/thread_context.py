"""The thread context: the earlier messages of a thread, for the agent and for the form."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from bot.commands.meaning import find_meaning
from bot.context import Context, WorkerContext
from bot.ids import ChannelId, MessageTs, ProjectId, Refusal, UserId, is_direct_message
from bot.intent.kinds import KINDS_THAT_START_JOBS, UNANSWERED_KINDS, Kind, Place
from bot.jobs.hooks import JobHooks
from bot.jobs.mentions import names_in
from bot.jobs.messages import agent_text
from bot.jobs.model.jobs import AttachThread, NotAttached, OmitReason, ThreadContext
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.masking import mask_text
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Said, SlackError, SlackRefused, ThreadRef
from bot.store import Transaction

log = structlog.get_logger(__name__)
_FORM_SECONDS = 1.5
_OPEN_FORM_SECONDS = 10.0
"""How long a form that is open already may wait for a thread."""
_MAX_JUDGED = 200
"""The newest messages of a thread among which talk is looked for."""
_SMALL_TALK = frozenset(
    {Kind.TALK, Kind.THANKS, Kind.GREETING, Kind.DISAPPROVAL, Kind.STOP, Kind.FOR_COLLEAGUE}
)
"""Kinds of replies under an answer that say nothing about the question."""
_MAX_ROOT_CHARACTERS = 4_000
_MAX_MASKED_CHARACTERS = 2 * agent_text.MAX_EARLIER_CHARACTERS
"""The characters of a message that are masked.

Masks are shorter than keys, so it is more than fits.
"""
"""The most characters of the bot's own post under which a request stands."""
_MAX_AUTHORS = 20
"""Maximum authors of a thread to look up. Messages of others are left out."""


async def read_thread_context(
    context: WorkerContext, prompt: Prompt
) -> tuple[str, ThreadContext | None]:
    """Return the earlier messages that go to the agent with a prompt, and their numbers.

    The numbers are None where no messages are taken.
    """
    if prompt.attach_thread in (AttachThread.GIVEN, AttachThread.ANSWER):
        text = prompt.attachments or ""
        taken = [line for line in text.splitlines() if line.strip()]
        return text, ThreadContext(len(taken))
    if context.settings.context == "none":
        return "", None
    is_start = prompt.kind is PromptKind.START

    def read(tx: Transaction) -> tuple[ThreadRef | None, MessageTs | None]:
        since = None if is_start else Prompts(tx).taken_until(prompt.job, prompt.id)
        return Jobs(tx).get_or_raise(prompt.job).thread, since

    # An earlier prompt has the messages before it already.
    thread, since = await context.store.read(read)
    if thread is None:
        return "", None
    try:
        posts = await _read_posts(context, prompt, thread, since)
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_read", prompt=prompt.id, reason=str(error) or type(error).__name__)
        return "", ThreadContext(not_attached=NotAttached.UNREAD)
    if posts is None:
        return "", None
    own = frozenset[MessageTs]()
    if is_start:
        project = prompt.project
        own = await _find_own_posts(context, posts, thread)
        own -= await context.store.read(lambda tx: find_unreviewed_words(tx, project, thread))
    seconds = context.timeouts.names_seconds
    talk, left_out = await _select_of_members(context, posts, thread.channel, seconds, own)
    lines = _fit_lines(thread.ts if thread.ts in own else None, talk)
    return "\n".join(lines), ThreadContext(len(lines), left_out.total() + len(talk) - len(lines))


async def _read_posts(
    context: WorkerContext, prompt: Prompt, thread: ThreadRef, since: MessageTs | None
) -> Sequence[Said] | None:
    """Return the earlier messages of a thread; None if it is not public, or is gone.

    ``since``: only newer messages than this one. Raises a SlackError or TimeoutError.
    """
    try:
        async with asyncio.timeout(context.timeouts.names_seconds):
            if not await context.messenger.is_public(thread.channel):
                return None
            posts = await context.messenger.read_earlier(
                thread.channel, thread.ts, before=prompt.message_ts, since=since
            )
    except SlackRefused as refused:
        if refused.meaning is Refusal.THREAD_GONE:
            return None
        raise
    return [post for post in posts if since is None or post.ts > since]


@dataclass(frozen=True, slots=True)
class _ContextLine:
    """A message of a conversation for the agent: its author's name, and its plain text."""

    ts: MessageTs
    name: str
    text: str

    @property
    def pair(self) -> tuple[str, str]:
        return self.name, self.text


def _fit_lines(root: MessageTs | None, talk: Sequence[_ContextLine]) -> Sequence[str]:
    """Return the newest lines that fit.

    ``root``: the bot's own post that begins the thread, if one does.

    A request under the post means it, so the post is taken first, also if it is long.
    """
    above = [line.pair for line in talk if line.ts == root]
    below = [line.pair for line in talk if line.ts != root]
    first = agent_text.fit_newest(above, _MAX_ROOT_CHARACTERS)
    room = agent_text.MAX_EARLIER_CHARACTERS - sum(map(len, first))
    return [*first, *agent_text.fit_newest(below, room)]


async def _find_own_posts(
    context: Context, posts: Sequence[Said], thread: ThreadRef
) -> frozenset[MessageTs]:
    """Return the bot's own posts that a request under them may mean.

    These are digests, answers, and the ends of jobs with a pull request.
    """
    own = frozenset(post.ts for post in posts if post.user == context.bot_user)
    if not own:
        return own

    def about_jobs(tx: Transaction) -> set[MessageTs]:
        has_pull_request = Jobs(tx).all_in_thread(thread)
        posts = Outbox(tx).posts_in_threads_of(has_pull_request)
        return {post.ts for post in posts if not (post.is_end and has_pull_request[post.job])}

    return own - await context.store.read(about_jobs)


def find_unreviewed_words(
    tx: Transaction, project: ProjectId, thread: ThreadRef
) -> frozenset[MessageTs]:
    """Return the bot's posts in a thread that quote readers, if their words might be published.

    In a project without pull requests nobody reviews what an agent makes of them, so that a person
    has to send them: by a form.
    """
    posts = Outbox(tx).posts_about_readers(thread)
    return posts if posts and Jobs(tx).publishes_unreviewed(project) else frozenset()


async def _select_of_members(
    context: Context,
    messages: Sequence[Said],
    place: ChannelId,
    seconds: float,
    own: Collection[MessageTs] = frozenset(),
    *,
    with_talk: bool = True,
) -> tuple[list[_ContextLine], Counter[OmitReason]]:
    """Return the members' messages among themselves, and count those left out.

    Messages of the bot, and those that it has answered or passed on, are not counted. ``own``: the
    bot's posts that go along. ``with_talk``: also thanks and talk.
    """
    if not messages:
        return [], Counter()
    ours = await context.store.read(
        lambda tx: _find_handled(context, tx, place, messages[0].ts, messages[-1].ts)
    )
    others = [post for post in messages if post.user != context.bot_user and post.ts not in ours]
    # Outside the event loop, because a hostile text takes a hundredth of a second to decide
    # about, and a thread may have a thousand.
    unfit = await asyncio.to_thread(_find_omit_reasons, context, others, with_talk=with_talk)
    talk = [post for post in others if post.ts in unfit]
    authors = [post.user for post in reversed(talk) if post.user and unfit[post.ts] is None]
    are_members = await _are_members(context, authors, seconds)
    omit = {post.ts: unfit[post.ts] or _WHY_NOT[are_members.get(post.user or "")] for post in talk}
    fitting = {*own, *(ts for ts, reason in omit.items() if reason is None)}
    fit = [post for post in messages if post.ts in fitting]
    left_out = Counter(reason for reason in omit.values() if reason is not None)
    newest = fit[-agent_text.MAX_EARLIER_MESSAGES :]
    if fit and fit[0].ts in own and fit[0] not in newest:
        newest = [fit[0], *newest[1:]]
    left_out[OmitReason.OLDER] += len(fit) - len(newest)
    return await _resolve_names(context, newest, place, seconds), left_out


def _find_handled(
    context: Context, tx: Transaction, place: ChannelId, first: MessageTs, last: MessageTs
) -> set[MessageTs]:
    """Return the messages that the bot has answered, or passed on to an agent at work."""
    handled: set[MessageTs] = set()
    for ts, occasion in Outbox(tx).answers_about(place, first, last):
        if occasion not in _NOT_TAKEN:
            handled.add(ts)
    for hooks in context.hooks_of(JobHooks):
        handled.update(hooks.list_sent_messages(tx, place, first, last))
    return handled


_WHY_NOT = {True: None, False: OmitReason.OTHERS, None: OmitReason.UNTOLD}
"""The reason to leave a message out, by whether its author is a full member.

The key None is for an author whom Slack did not describe.
"""
_KINDS_FOR_OTHERS = KINDS_THAT_START_JOBS | UNANSWERED_KINDS | {Kind.QUESTION, Kind.UNANSWERABLE}
"""Kinds of texts that mention the bot, and say something about their thread."""
_NOT_TAKEN = frozenset({"not_allowed", "too_many", "project", "changed", "seen", "asked"})
"""Occasions of answers to prompts and questions that no agent got.

These may be attached to another prompt.
"""


def _clip_for_masking(text: str) -> str:
    """Return the beginning of a message, since the time of masking grows with the text.

    The last word is left out: a key that was cut would not be masked.
    """
    if len(text) <= _MAX_MASKED_CHARACTERS:
        return text
    beginning = text[:_MAX_MASKED_CHARACTERS]
    last_word = beginning.split()[-1:]
    return beginning.removesuffix("".join(last_word)).rstrip() or beginning


def _is_for_the_bot_alone(context: Context, message: Said) -> bool:
    """Return whether a message mentions the bot, and is one of its own words.

    The bot may have missed the message.
    """
    if message.user is None or not slack_text.mentions(message.text, context.bot_user):
        return False
    meaning = find_meaning(context, message.text, Place.PEOPLE, author=message.user)
    return meaning.kind not in _KINDS_FOR_OTHERS


def _find_small_talk(context: Context, messages: Sequence[Said]) -> list[MessageTs]:
    """Return the replies under an answer that say nothing about the question."""
    found = []
    for message in messages:
        author = message.user or UserId("")
        meaning = find_meaning(context, message.text, Place.DIRECT_ANSWER, author=author)
        if meaning.kind in _SMALL_TALK:
            found.append(message.ts)
    return found


def _find_omit_reasons(
    context: Context, messages: Sequence[Said], *, with_talk: bool
) -> dict[MessageTs, OmitReason | None]:
    """Return the reason to leave out each message, None if there is none.

    Messages for the bot alone have no entry.
    """
    talk = [message for message in messages if not _is_for_the_bot_alone(context, message)]
    reasons = {message.ts: _find_omit_reason(context, message) for message in talk}
    if not with_talk:
        for ts in _find_small_talk(context, talk[-_MAX_JUDGED:]):
            reasons[ts] = reasons[ts] or OmitReason.TALK
    return reasons


def _find_omit_reason(context: Context, message: Said) -> OmitReason | None:
    """Return the reason to leave out even a member's message; None if there is none."""
    text = slack_text.without_leading_mention(message.text, context.bot_user)
    if message.user is None:
        return OmitReason.OTHERS
    if slack_text.is_aside(text):
        return OmitReason.ASIDE
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        return OmitReason.WORDLESS
    return None


async def _are_members(
    context: Context, authors: Sequence[UserId], seconds: float
) -> Mapping[str, bool]:
    """Return whether authors are full members, without authors for whom Slack is too slow."""
    members: dict[str, bool] = {}

    async def check_author(author: UserId) -> None:
        with suppress(SlackError):
            profile = await context.messenger.profile(author)
            members[author] = not (profile.is_guest or profile.is_stranger or profile.is_bot)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for author in list(dict.fromkeys(authors))[:_MAX_AUTHORS]:
                group.create_task(check_author(author))
    return members


async def _resolve_names(
    context: Context, messages: Sequence[Said], place: ChannelId, seconds: float
) -> list[_ContextLine]:
    """Return messages with the names in them."""
    authors = " ".join(f"<@{message.user}>" for message in messages)
    texts = " ".join([authors, *(message.text for message in messages)])
    names = await names_in(context, texts, place, seconds)

    def line_of(message: Said) -> _ContextLine:
        name = names.users.get(message.user, message.user) if message.user else ""
        if message.user == context.bot_user:
            name = context.bot_name
        return _ContextLine(
            message.ts, name, mask_text(_clip_for_masking(names.resolve(message.text)))
        )

    # Outside the event loop, because long messages take a tenth of a second to mask.
    return await asyncio.to_thread(lambda: [line_of(message) for message in messages])


@dataclass(frozen=True, slots=True)
class OfferedThread:
    """The thread of a message, for a form in which a person chooses the messages to attach."""

    messages: str = ""
    """A line for each."""
    left_out: Mapping[OmitReason, int] = field(default_factory=dict)
    is_chosen: bool = False
    """Whether they are attached unless the person unticks them."""
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
            own = await _find_own_posts(context, others, thread)
            talk, left_out = await _select_of_members(
                context, others, thread.channel, _FORM_SECONDS / 3, own
            )
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_offered", reason=str(error) or type(error).__name__)
        return OfferedThread(is_read=False)
    lines = _fit_form_lines(talk, left_out, agent_text.MAX_FORM_CHARACTERS)
    return OfferedThread("\n".join(lines), +left_out, is_public)


def _fit_form_lines(
    talk: Sequence[_ContextLine], left_out: Counter[OmitReason], most_characters: int
) -> Sequence[str]:
    """Return the newest messages that fit into a form, a line for each; count the others."""
    on_one_line = [(line.name, " ".join(line.text.split())) for line in talk]
    lines = agent_text.fit_newest(on_one_line, most_characters)
    left_out[OmitReason.OLDER] += len(talk) - len(lines)
    return lines


async def offer_replies(
    context: Context, thread: ThreadRef, without: MessageTs | None, most_characters: int
) -> OfferedThread:
    """Return the words of members in an answer's thread but for one message, for an open form.

    Thanks and talk are left out. The words are chosen unless the channel is private, or Slack does
    not describe it.
    """
    try:
        async with asyncio.timeout(_OPEN_FORM_SECONDS):
            is_open = is_direct_message(thread.channel)
            is_open = is_open or await context.messenger.is_public(thread.channel)
            messages = await context.messenger.read_earlier(thread.channel, thread.ts, before=None)
            others = [message for message in messages if message.ts != without]
            talk, left_out = await _select_of_members(
                context, others, thread.channel, _OPEN_FORM_SECONDS / 3, with_talk=False
            )
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_offered", reason=str(error) or type(error).__name__)
        return OfferedThread(is_read=False)
    lines = _fit_form_lines(talk, left_out, most_characters)
    return OfferedThread("\n".join(lines), +left_out, is_open)

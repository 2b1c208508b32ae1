"""The steps of ``docs-bot doctor --try``: what the bot does in Slack, at the docs service and at GitHub."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic

from bot.app import Roles, running_bot
from bot.docs_api import DocsApiError, DocsClient
from bot.github import GithubClient, GithubError
from bot.github.errors import Limited, NotVisible, RefusedToken
from bot.messages import trial as say
from bot.model.ids import Message, Refusal
from bot.model.prompts import Act
from bot.operator.doctor import refused_by_docs
from bot.operator.trial import Failed, Left, Step, Trial
from bot.settings import DocsProject, Settings
from bot.store import DatabaseTrouble, Store
from bot.store.database import UnusableDatabase
from bot.work.ports import SlackRefused

PROMPT = "Say nothing, change nothing."
_FILE = "Made up by docs-bot doctor --try.\n"
_FILE_LOOKS, _FILE_LOOK_SECONDS = 10, 0.5
"""Slack shares an uploaded file a moment after it has said that it did."""

# ---- in Slack


async def _channel(trial: Trial) -> str:
    channel = trial.wanted.channel
    kind = "public" if await trial.messenger.is_public(channel) else "private"
    return f"#{await trial.messenger.channel_name(channel)}, {kind}"


async def _member(trial: Trial) -> str:
    user = trial.user()
    profile, zone = await trial.messenger.profile(user), await trial.messenger.user_zone(user)
    is_here = await trial.messenger.is_member(trial.wanted.channel, user)
    kind = "a guest" if profile.is_guest else "a stranger" if profile.is_stranger else "a member"
    return (
        f"{await trial.messenger.user_name(user)}, {kind}, {zone}, {'' if is_here else 'not '}in the channel"
    )


async def _group(trial: Trial) -> str:
    for group in sorted(trial.settings.allowed_user_groups):
        return f"{group}: {len(await trial.messenger.group_members(group))} members"
    raise Left("ALLOWED_USER_GROUPS names none")


async def _begin(trial: Trial) -> str:
    channel, joined = trial.wanted.channel, ""
    post = partial(trial.messenger.post, channel, say.hello(), delivery=trial.delivery("root"), thread=None)
    try:
        trial.root = await post()
    except SlackRefused as refused:
        # The bot joins a public channel in which somebody asks.
        if refused.meaning is not Refusal.NOT_A_MEMBER or not await trial.messenger.is_public(channel):
            raise
        await trial.messenger.join(channel)
        trial.root, joined = await post(), ", after joining"
    return f"posted{joined}"


async def _post(trial: Trial, name: str, message: Message) -> str:
    delivery, thread = trial.delivery(name), trial.thread()
    ts = await trial.messenger.post(trial.wanted.channel, message, delivery=delivery, thread=thread)
    trial.face = trial.face or ts
    return "posted in the thread"


def _posts() -> Iterator[Step]:
    """Return a step for each kind of message, and one for its plain form if Slack may refuse its blocks."""
    for name, message in say.samples().items():
        native = [each for type_, each in say.NATIVE.items() if type_ in {b["type"] for b in message.blocks}]
        if_blocks = f"{native[0].capitalize()} are refused here: people will see the text." if native else ""
        yield Step(name, partial(_post, name=name, message=message), f"Nobody gets {name}.", if_blocks)
        if native:
            plain = Message(message.text, message.plain_blocks, message.plain_blocks)
            post = partial(_post, name=f"plain {name}", message=plain)
            yield Step(f"{name}, plain", post, f"Where {native[0]} are refused, nobody gets {name}.")


async def _edit(trial: Trial) -> str:
    trial.thread()
    if trial.face is None:
        raise Left("there is no message to edit")
    await trial.messenger.edit(trial.wanted.channel, trial.face, say.edited())
    return "a job's face edited"


async def _react(trial: Trial) -> str:
    await trial.messenger.react(trial.wanted.channel, trial.thread(), "white_check_mark")
    return "reacted"


async def _whisper(trial: Trial) -> str:
    user, thread = trial.user(), trial.thread()
    await trial.messenger.whisper(trial.wanted.channel, user, say.private(), thread=thread)
    return f"shown to {user} only; it stays until they reload Slack"


async def _tell(trial: Trial) -> str:
    await trial.messenger.tell(trial.user(), say.private(), delivery=trial.delivery("direct"))
    return "sent"


async def _upload(trial: Trial) -> str:
    trial.thread()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / trial.file
        path.write_text(_FILE)
        channel, words = trial.wanted.channel, say.hello().text
        await trial.messenger.upload(channel, path, name=trial.file, words=words, confirm=lambda: None)
    trial.is_uploaded = True
    return f"{trial.file} uploaded"


async def _read_file(trial: Trial) -> str:
    if not trial.is_uploaded:
        raise Left("there is no file to read")
    for _ in range(_FILE_LOOKS):
        file = await trial.messenger.shared(trial.wanted.channel, trial.file)
        if file is not None:
            await trial.messenger.read_text(file.url, most_bytes=1_000)
            return "found in the channel and read"
        await asyncio.sleep(_FILE_LOOK_SECONDS)
    raise Failed("the uploaded file is not in the channel")


async def _read_thread(trial: Trial) -> str:
    said = await trial.messenger.said_before(trial.wanted.channel, trial.thread(), before=None)
    return f"{len(said)} messages read"


async def _find_own(trial: Trial) -> str:
    thread, first = trial.thread(), next(iter(say.samples()))
    delivery = trial.delivery(first)
    places = {"deliveries": [delivery], "thread": thread, "since": trial.began}
    found = await trial.messenger.find_posted(trial.wanted.channel, **places)  # type: ignore[arg-type]
    if delivery not in found:
        raise Failed("Slack returns the thread without the metadata of the bot's post")
    return "found in the thread"


# ---- a press


async def _press(trial: Trial) -> str:
    """Wait for a row that whoever hears the press writes: a running bot, or the one that is started here.

    Slack gives a press to one of the app's connections, so a second one beside a running bot could hear it in
    its place and prove nothing of it.
    """
    trial.user()
    settings = trial.settings
    if ":memory:" in settings.sqlalchemy_url:
        raise Left("DATABASE_URL is in memory, where a bot cannot leave a row for the doctor")
    async with AsyncExitStack() as stack:
        store = Store.open(settings.sqlalchemy_url)
        stack.push_async_callback(store.close)
        async with asyncio.timeout(trial.wanted.call_seconds):
            heard_by = await _listener(settings, store, stack)
            last = await store.read(lambda tx: tx.audit.last())
            await _post(trial, "press", say.press_me())
        trial.ask(f"Press the button *Press me* in the thread, within {trial.wanted.press_seconds:g} s.")
        deadline = monotonic() + trial.wanted.press_seconds
        while monotonic() < deadline:
            _, rows = await store.read(lambda tx: tx.audit.after(last, 1_000))
            for row in rows:
                if (row.act, row.channel) == (Act.TRIED, trial.wanted.channel):
                    return f"pressed by {row.user}, heard by {heard_by}"
            await asyncio.sleep(0.2)
    raise Failed(f"{heard_by} heard no press", "If you pressed: may you use the bot there?")


_RUNNING = "the running bot"


async def _listener(settings: Settings, store: Store, stack: AsyncExitStack) -> str:
    """Return who hears the press. If no bot runs, take requests in here, as ``serve`` does."""
    if store.database.is_postgresql:
        with suppress(DatabaseTrouble):  # before the first start there are no heartbeats
            if await store.read(lambda tx: tx.heartbeats.alive(datetime.now(UTC))):
                return _RUNNING
    quiet = settings.model_copy(update={"health_port": 0, "log_level": "CRITICAL"})
    try:
        await stack.enter_async_context(running_bot(quiet, roles=Roles(workers=False)))
    except (UnusableDatabase, OSError):
        return _RUNNING  # it has the file, or the port
    return "this process (no bot runs)"


# ---- the docs service and GitHub


async def _asked(
    settings: Settings, project: DocsProject, call: Callable[[DocsClient], Awaitable[str]]
) -> str:
    address = project.address
    async with DocsClient(base_url=address, api_key=project.key, proxy=settings.proxy_for(address)) as docs:
        try:
            return await call(docs)
        except DocsApiError as error:
            found = refused_by_docs(error, project.named)
            raise Failed(f"{project.name}: {found.seen}", found.advice) from None


async def _visitors(trial: Trial) -> str:
    async def read(docs: DocsClient, project: DocsProject) -> str:
        page = await docs.visitors(project.id, limit=10)
        return f"{project.name}: {len(page.visitors)} pages"

    projects = trial.settings.projects
    told = [await _asked(trial.settings, each, partial(read, project=each)) for each in projects]
    return ", ".join(told)


_OF_GITHUB = {
    RefusedToken: "Make a new GITHUB_TOKEN: it is wrong or has expired.",
    NotVisible: "Give GITHUB_TOKEN the right to read pull requests of that repository.",
    Limited: "Wait an hour, or set a GITHUB_TOKEN.",
}
_UNREACHABLE = "Look at GITHUB_API_URL, the network and HTTPS_PROXY."


async def _pull_request(trial: Trial) -> str:
    link, address = trial.wanted.pull_request, trial.settings.github_api_url
    if link is None:
        raise Left("name one that the bot should see: --pull-request https://…")
    token, proxy = trial.settings.github_token, trial.settings.proxy_for(address)
    async with GithubClient(api_url=address, token=token, proxy=proxy) as github:
        which = github.pull_request_of(link)
        if which is None:
            raise Failed("the link leads to no pull request of that server", "Look at GITHUB_API_URL.")
        try:
            found = await github.pull_request(which)
        except GithubError as error:
            raise Failed(str(error), _OF_GITHUB.get(type(error), _UNREACHABLE)) from None
    return found.state if found else "as it was"


async def _job(trial: Trial) -> str:
    if not trial.wanted.with_job:
        raise Left("it would spend a use: --job")
    project = trial.settings.projects[0]

    async def start(docs: DocsClient) -> str:
        job = await docs.create_job(project.id, PROMPT)
        return f"{job.id} started; the bot does not watch it"

    return await _asked(trial.settings, project, start)


_SEARCH = "After an answer of Slack's that was lost, the bot can't tell whether its message is there."
STEPS = (
    Step("channel", _channel, "The bot can't tell who may read the channel's jobs."),
    Step("member", _member, "The bot can't tell who may use it, and lets nobody in."),
    Step("group", _group, "Nobody is let in by ALLOWED_USER_GROUPS."),
    Step("post", _begin, "The bot can say nothing here: no job, no answer, no digest."),
    *_posts(),
    Step("edit", _edit, "The first message of a job keeps showing its first state."),
    Step("reaction", _react, 'A "thanks" gets no reaction; nothing else is lost.'),
    Step("private message", _whisper, "What only one person should see comes as a direct message."),
    Step("direct message", _tell, "Admins, and people where the bot can't post, are told nothing."),
    Step("upload", _upload, "Nobody gets the CSV files of /docs-visitors."),
    Step("read a file", _read_file, "Text files that people attach don't reach the agent."),
    Step("read the thread", _read_thread, "Earlier messages of a thread don't reach the agent."),
    Step("find its own post", _find_own, _SEARCH),
    Step("visitors", _visitors, "/docs-visitors and digests have no numbers."),
    Step("pull request", _pull_request, "Nobody is told the titles, sizes and merges of pull requests."),
    Step("press", _press, "Buttons, commands and replies don't reach the bot.", is_quick=False),
    Step("job", _job, "No job can be started."),
)
"""What is tried, in this order."""

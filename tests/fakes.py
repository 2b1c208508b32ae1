"""Fakes of Slack and of the docs service, for tests of ``bot.work``. The sandbox is more complete."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from bot.docs_api import DocsClient
from bot.github import GithubClient
from bot.model.access import Profile
from bot.model.ids import ChannelId, DeliveryId, Message, MessageTs, UserId
from bot.slack.client import refused
from bot.work.ports import Changed, Mention, Said, SlackError, ThreadReply
from tests.site import Site


@dataclass(frozen=True)
class Posted:
    """A posted message."""

    channel: ChannelId
    thread: MessageTs | None
    ts: MessageTs
    message: Message
    delivery: DeliveryId


@dataclass
class FakeSlack:
    """A workspace in memory that implements ``Messenger``.

    ``private_rooms``: private channels and direct messages with their members. All other channels are public
    and have no members. ``outside``: channels that the bot has not joined. ``silent``: users and channels
    about which Slack never answers. ``looked_up``: whose names were asked for.
    ``said``: what people said, for whoever reads a conversation again. ``threads``: what everybody said in
    each of them. ``contents``: the texts of files by their addresses.
    ``troubles``: the errors that the next calls raise, by method. ``lose_answer``: the errors that the next
    posts raise after they have succeeded.
    """

    posts: list[Posted] = field(default_factory=list)
    edits: dict[MessageTs, list[Message]] = field(default_factory=dict)
    private: list[tuple[str, Message]] = field(default_factory=list)
    whispers: list[tuple[ChannelId, MessageTs | None, UserId, Message]] = field(default_factory=list)
    direct: list[tuple[UserId, Message, DeliveryId]] = field(default_factory=list)
    reactions: list[tuple[MessageTs, str]] = field(default_factory=list)
    joined: set[ChannelId] = field(default_factory=set)
    outside: set[ChannelId] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    looked_up: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=lambda: {"U0BEN": "ben", "C0GEN": "general"})
    replaced: list[str] = field(default_factory=list)
    files: list[tuple[ChannelId, str, str, str]] = field(default_factory=list)
    profiles: dict[UserId, Profile] = field(default_factory=dict)
    groups: dict[str, frozenset[UserId]] = field(default_factory=dict)
    zones: dict[UserId, str] = field(default_factory=dict)
    private_rooms: dict[ChannelId, frozenset[UserId]] = field(default_factory=dict)
    said: list[ThreadReply | Mention] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)
    threads: dict[tuple[ChannelId, MessageTs], list[Said]] = field(default_factory=dict)
    read: list[tuple[ChannelId, MessageTs | None, MessageTs]] = field(default_factory=list)
    troubles: dict[str, deque[SlackError]] = field(default_factory=dict)
    lose_answer: deque[SlackError] = field(default_factory=deque)

    def trouble(self, method: str, *errors: SlackError) -> None:
        """Let the next calls of this method raise these errors, in this order."""
        self.troubles.setdefault(method, deque()).extend(errors)

    def _raise_next_trouble(self, method: str) -> None:
        if waiting := self.troubles.get(method):
            raise waiting.popleft()

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        self._raise_next_trouble("post")
        if channel in self.outside:
            raise refused("not_in_channel")
        ts = MessageTs(f"1700000000.{len(self.posts) + 1:06}")
        self.posts.append(Posted(channel, thread, ts, message, delivery))
        if self.lose_answer:
            raise self.lose_answer.popleft()
        return ts

    async def find_posted(
        self,
        channel: ChannelId,
        *,
        deliveries: Collection[DeliveryId],
        thread: MessageTs | None,
        since: datetime,
    ) -> Mapping[DeliveryId, MessageTs]:
        self._raise_next_trouble("find_posted")
        here = {
            post.delivery: post.ts for post in self.posts if (post.channel, post.thread) == (channel, thread)
        }
        told = {key: MessageTs("1") for user, _, key in self.direct if channel == f"D{user[1:]}"}
        return {key: ts for key, ts in (told | here).items() if key in deliveries}

    async def said_since(
        self, channel: ChannelId, *, thread: MessageTs | None, since: MessageTs
    ) -> Sequence[ThreadReply | Mention | Changed]:
        self._raise_next_trouble("said_since")
        self.read.append((channel, thread, since))
        there = [each for each in self.said if each.origin.channel == channel]
        # The message that begins a thread is read with it.
        here = [each for each in there if thread in (each.origin.thread, thread and each.origin.message_ts)]
        newer = [each for each in here if each.origin.message_ts and each.origin.message_ts > since]
        return [*newer, *(each for each in self.changed if each.origin.channel == channel)]

    async def said_before(
        self, channel: ChannelId, thread: MessageTs, *, before: MessageTs | None
    ) -> Sequence[Said]:
        self._raise_next_trouble("said_before")
        await self._answer_about(thread)
        said = self.threads.get((channel, thread), [])
        return [each for each in said if before is None or each.ts < before]

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        self._raise_next_trouble("edit")
        self.edits.setdefault(ts, []).append(message)

    async def answer(self, response_url: SecretStr, message: Message, *, replaces: bool = False) -> None:
        self._raise_next_trouble("answer")
        self.private.append((response_url.get_secret_value(), message))
        if replaces:
            self.replaced.append(response_url.get_secret_value())

    async def whisper(
        self, channel: ChannelId, user: UserId, message: Message, *, thread: MessageTs | None
    ) -> None:
        self._raise_next_trouble("whisper")
        if channel in self.outside:
            raise refused("not_in_channel")
        self.whispers.append((channel, thread, user, message))

    async def tell(self, user: UserId, message: Message, *, delivery: DeliveryId) -> None:
        self._raise_next_trouble("tell")
        self.direct.append((user, message, delivery))

    async def conversation_with(self, user: UserId) -> ChannelId:
        self._raise_next_trouble("conversation_with")
        return ChannelId(f"D{user[1:]}")

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, words: str, confirm: Callable[[], None]
    ) -> None:
        self._raise_next_trouble("upload")
        confirm()
        if channel in self.outside:
            raise refused("not_in_channel")
        content = await asyncio.to_thread(path.read_bytes)
        self.files.append((channel, name, words, content.decode("utf-8")))
        if self.lose_answer:
            raise self.lose_answer.popleft()

    async def read_text(self, url: str, *, most_bytes: int) -> str:
        self._raise_next_trouble("read_text")
        await self._answer_about(url)
        return self.contents[url]

    async def find_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        self._raise_next_trouble("find_file")
        return any((where, called) == (channel, name) for where, called, _, _ in self.files)

    async def profile(self, user: UserId) -> Profile:
        self._raise_next_trouble("profile")
        await self._answer_about(user)
        return self.profiles.get(user, Profile(False, False, False, False))

    async def group_members(self, group: str) -> frozenset[UserId]:
        self._raise_next_trouble("group_members")
        return self.groups.get(group, frozenset())

    async def is_public(self, channel: ChannelId) -> bool:
        self._raise_next_trouble("is_public")
        return channel not in self.private_rooms

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        self._raise_next_trouble("is_member")
        return user in self.private_rooms.get(channel, frozenset())

    async def user_zone(self, user: UserId) -> str | None:
        self._raise_next_trouble("user_zone")
        return self.zones.get(user)

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        self._raise_next_trouble("react")
        self.reactions.append((ts, name))

    async def join(self, channel: ChannelId) -> None:
        self._raise_next_trouble("join")
        self.outside.discard(channel)
        self.joined.add(channel)

    async def user_name(self, user: UserId) -> str:
        self._raise_next_trouble("user_name")
        return await self._name(user)

    async def channel_name(self, channel: ChannelId) -> str:
        self._raise_next_trouble("channel_name")
        return await self._name(channel)

    async def _answer_about(self, key: str) -> None:
        if key in self.silent:
            await asyncio.Event().wait()

    async def _name(self, key: str) -> str:
        self.looked_up.append(key)
        await self._answer_about(key)
        if key not in self.names:
            raise refused("user_not_found")
        return self.names[key]

    def root(self) -> Posted:
        """Return the first message posted outside a thread."""
        return next(post for post in self.posts if post.thread is None)

    def replies(self) -> list[Posted]:
        """Return the messages posted in threads, in order."""
        return [post for post in self.posts if post.thread is not None]


Answer = httpx.Response | Exception | Awaitable[httpx.Response]
PULL_REQUEST = "https://code.example/acme/docs/pull/1"


PREVIEW = "https://preview.example/acme"


@dataclass
class FakeDocs:
    """A docs service in memory, behind httpx's ``MockTransport``.

    ``instead``: answers that replace those of the next calls, by kind of call. ``lost``: errors that the next
    creates and follow-ups raise after they have succeeded. ``readers``: what it answers about searches,
    feedback and questions, by kind of call. What is not there it does not give.
    """

    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    instead: dict[str, deque[Answer]] = field(default_factory=dict)
    lost: deque[Exception] = field(default_factory=deque)
    polls: int = 0
    calls: list[str] = field(default_factory=list)
    site: Site = field(default_factory=Site)
    branch: str = "main"
    build: dict[str, Any] = field(default_factory=lambda: {"status": "queued"})
    readers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def client(self) -> DocsClient:
        """Return the real client, connected to this fake."""
        return DocsClient(
            base_url="https://docs.example",
            api_key=SecretStr("key"),
            transport=httpx.MockTransport(self._handle),
        )

    def answer_instead(self, what: str, *answers: Answer) -> None:
        """Return, raise or wait for these in the next calls of a kind, without any other effect.

        Kinds: ``create``, ``follow_up``, ``get``, ``visitors``, ``preview``, ``build``, ``searches``,
        ``by-page``, ``feedback``, ``assistant``.
        """
        self.instead.setdefault(what, deque()).extend(answers)

    def finish(self, status: str = "completed", pr_link: str | None = PULL_REQUEST) -> None:
        """Set the status and pull request of every job."""
        for job in self.jobs.values():
            job |= {"status": status, "prLink": pr_link}

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        kind = _kind(request)
        self.calls.append(kind)
        if waiting := self.instead.get(kind):
            answer = waiting.popleft()
            if isinstance(answer, Exception):
                raise answer
            return answer if isinstance(answer, httpx.Response) else await answer
        handlers: dict[str, Callable[[httpx.Request], httpx.Response]] = {
            "create": self._create,
            "follow_up": self._follow_up,
            "get": self._get,
            "visitors": self._visitors,
            "preview": self._preview,
            "build": lambda _request: httpx.Response(200, json=self.build),
        }
        if kind in self.readers:
            return httpx.Response(200, json=self.readers[kind])
        if kind not in handlers:
            return httpx.Response(404, json={"error": "not part of the plan"})
        response = handlers[kind](request)
        if self.lost and kind in ("create", "follow_up", "preview"):
            raise self.lost.popleft()
        return response

    def _create(self, request: httpx.Request) -> httpx.Response:
        number = len(self.jobs) + 1
        job = {"id": f"job-{number}", "status": "active", "prLink": None}
        job["source"] = {"repository": "acme/docs", "ref": self.branch}  # type: ignore[assignment]
        self.jobs[f"job-{number}"] = job
        self.prompts.append((f"job-{number}", json.loads(request.content)["prompt"]))
        return httpx.Response(201, json=job)

    def _follow_up(self, request: httpx.Request) -> httpx.Response:
        job_id = request.url.path.split("/")[-2]
        job = self.jobs[job_id]
        self.prompts.append((job_id, json.loads(request.content)["prompt"]))
        stale = httpx.Response(200, json=dict(job))
        job["status"] = "active"
        return stale

    def _preview(self, request: httpx.Request) -> httpx.Response:
        assert json.loads(request.content) == {"branch": self.branch}
        answer = {"statusId": f"build-{self.calls.count('preview')}", "previewUrl": PREVIEW}
        return httpx.Response(202, json=answer)

    def _visitors(self, request: httpx.Request) -> httpx.Response:
        query = request.url.params
        first, end = (date.fromisoformat(query[name]) for name in ("dateFrom", "dateTo"))
        return httpx.Response(
            200, json=self.site.answer(first, end, int(query["limit"]), int(query["offset"]))
        )

    def _get(self, request: httpx.Request) -> httpx.Response:
        self.polls += 1
        job = self.jobs.get(request.url.path.split("/")[-1])
        if job is None:
            return httpx.Response(404, json={"error": "no such job"})
        return httpx.Response(200, json=job)


def _kind(request: httpx.Request) -> str:
    if "/v1/project/" in request.url.path:
        return "preview" if request.method == "POST" else "build"
    if request.method == "GET":
        return request.url.path.rpartition("/")[2] if "/analytics/" in request.url.path else "get"
    return "follow_up" if request.url.path.endswith("/message") else "create"


LINK = "https://github.com/acme/docs/pull/7"


@dataclass
class FakeGithub:
    """GitHub in memory, behind httpx's ``MockTransport``, with the pull request of ``LINK``.

    ``instead``: answers that replace those of the next calls. ``calls``: the ETag of each call.
    """

    pull: dict[str, Any] = field(
        default_factory=lambda: {
            "title": "Add a quickstart",
            "state": "open",
            "additions": 46,
            "deletions": 1,
            "changed_files": 2,
        }
    )
    instead: deque[Answer] = field(default_factory=deque)
    calls: list[str] = field(default_factory=list)

    def client(self, now: Callable[[], datetime]) -> GithubClient:
        """Return the real client, connected to this fake."""
        transport = httpx.MockTransport(self._handle)
        return GithubClient(token=SecretStr("token"), transport=transport, now=now)

    def merge(self, at: datetime, by: str | None = "ana-b") -> None:
        """Merge the pull request, or close it if nobody is given."""
        self.pull |= {"state": "closed", "closed_at": at.isoformat()}
        if by:
            self.pull |= {"merged_at": at.isoformat(), "merged_by": {"login": by}}

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/repos/acme/docs/pulls/7"
        self.calls.append(request.headers.get("if-none-match", ""))
        if self.instead:
            answer = self.instead.popleft()
            if isinstance(answer, Exception):
                raise answer
            return answer if isinstance(answer, httpx.Response) else await answer
        etag = f'W/"{abs(hash(json.dumps(self.pull)))}"'
        if self.calls[-1] == etag:
            return httpx.Response(304, headers={"etag": etag})
        return httpx.Response(200, json=self.pull, headers={"etag": etag})

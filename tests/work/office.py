"""``bot.work`` and ``bot.commands`` on a real store, with fakes of both remote services and of the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from pydantic import SecretStr

from bot.access.admit import Claimed, admit
from bot.commands.command import (
    Answer,
    Arrived,
    FormErrors,
    FormState,
    Press,
    Request,
    Submission,
    run_if_allowed,
)
from bot.context import Context, Timeouts, WorkerContext
from bot.features import COMMANDS, FEATURES, list_hooks, take_message
from bot.ids import ChannelId, JobNumber, Message, MessageTs, PromptId, RequestKey, UserId, is_direct_message
from bot.jobs.access import _MAKER as JOBS_MAKER
from bot.jobs.access import Readable, Steerable
from bot.jobs.ask import Asked, ask
from bot.jobs.corrections import take_change
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.service_health import show_trouble
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.ports import Changed, Mention, Origin, SharedFile, ThreadReply, message_key, ts_at
from bot.projects import Projects
from bot.settings import Settings
from bot.slack import payloads
from bot.store import Store
from bot.ttl_cache import TtlCache
from bot.visitors.subscriptions import plan_digests
from tests.builders import ANA, CHANNEL, PROJECT, HeldClock, let_in, origin
from tests.fakes import FakeDocs, FakeSlack
from tests.work.drains import (
    answer_questions,
    deliver_due,
    fetch_snapshots,
    look_at_pull_requests,
    make_previews,
    poll_jobs,
    prepare_prompts,
    submit_prompts,
)

_COMMANDS_BY_NAME = {command.name: command for command in COMMANDS}
_FORMS = {name: submit for command in COMMANDS for name, submit in command.forms.items()}
_BUTTONS = {name: press for command in COMMANDS for name, press in command.buttons.items()}
_WORKERS = {
    "requests": prepare_prompts,
    "deliveries": deliver_due,
    "prompts": submit_prompts,
    "abandoned": submit_prompts,
    "polls": poll_jobs,
    "looks": look_at_pull_requests,
    "previews": make_previews,
}
"""The workers for jobs, in the order of a job's life."""
_VISITORS_QUEUES = frozenset({"snapshots", "questions", "digests", "deliveries"})
_REGULAR = timedelta(seconds=5)
"""How often the real workers look into their queues when nothing seems due."""
BOT = UserId("U0BOT")
BUTTON_URL = SecretStr("https://hooks.slack.com/actions/4/5/6")
RESPONSE_URL = SecretStr("https://hooks.slack.com/commands/1/2/3")


@dataclass
class Office:
    """A context for workers and commands, and methods for what users do."""

    store: Store
    slack: FakeSlack = field(default_factory=FakeSlack)
    docs: FakeDocs = field(default_factory=FakeDocs)
    clock: HeldClock = field(default_factory=HeldClock)
    keys: int = 0
    wakes: int = 0
    """How often the workers were woken."""

    def __post_init__(self) -> None:
        self.context = WorkerContext(
            store=self.store,
            docs=self.docs.client(),
            messenger=self.slack,
            clock=self.clock,
            member_cache=self._new_cache(),
            chance=lambda: 0.5,
            owner="one",
            hooks=list_hooks(FEATURES),
            bot_user=BOT,
            projects=Projects.only(PROJECT),
            wake=self._wake,
            timeouts=Timeouts(hold_most_seconds=0.0),
            wake_after=lambda _seconds: self._wake(),
            settings=Settings(poll_min_seconds=2.0, prompt_signature=False),
        )

    def _wake(self) -> None:
        self.wakes += 1

    @asynccontextmanager
    async def wakes_somebody(self) -> AsyncIterator[None]:
        """Fail if what happens inside leaves work in a queue that had none, and wakes no worker for it."""
        wakes, before = self.wakes, await self._due()
        yield
        if self.wakes > wakes:
            return
        left = await self._due() - before
        assert not left, f"nobody was woken for {', '.join(sorted(left))}"

    async def _due(self) -> frozenset[str]:
        return (await self.store.find_due(self.clock)).queues

    async def close(self) -> None:
        """Close the client of the docs service and the store."""
        await self.context.docs.aclose()
        await self.store.close()

    def change_settings(self, **changes: Any) -> None:
        """Change some of the settings."""
        settings = self.context.settings.model_copy(update=changes)
        self.context = replace(self.context, settings=settings, member_cache=self._new_cache())

    def _new_cache(self) -> TtlCache[UserId, bool]:
        return TtlCache(clock=lambda: self.clock().timestamp())

    def restart(self) -> None:
        """Continue as a new process, which does not own the leases of the old one."""
        self.context = replace(self.context, owner=f"{self.context.owner}+", under_way={})

    async def ask(
        self, text: str, *, user: UserId = ANA, key: str | None = None, channel: ChannelId = CHANNEL
    ) -> Asked:
        """Ask for a job, as ``/docs-agent`` does."""
        self.keys += 1
        typed = origin(key or f"command:{self.keys}", user, channel, RESPONSE_URL)
        async with self.wakes_somebody():
            return await ask(self.context, await admit(self.context, typed), PromptRequest(text))

    async def reads(self, number: int = 1, user: UserId = ANA, key: str = "press") -> Readable:
        """Return a job of which somebody was found to be allowed to see it."""
        return Readable(let_in(origin(key, user)), await self.job(number), maker=JOBS_MAKER)

    async def steers(self, prompt: int = 1, user: UserId = ANA) -> Steerable:
        """Return a prompt of which somebody was found to be allowed to decide about it."""
        found = await self.store.read(lambda tx: Prompts(tx).get(PromptId(prompt)))
        assert found is not None
        return Steerable(let_in(origin("press", user)), found, maker=JOBS_MAKER)

    async def started(self, text: str = "Add a quickstart", **options: Any) -> Asked:
        """Ask for a job and run the workers, so that the service works on it unless something fails."""
        asked = await self.ask(text, **options)
        await self.settle()
        return asked

    async def finished(self, text: str = "Add a quickstart", **options: Any) -> Asked:
        """Ask for a job and let it end with a pull request, which is reported in the thread."""
        asked = await self.started(text, **options)
        self.docs.finish()
        await self.settle()
        return asked

    async def reply(
        self, text: str, *, user: UserId = ANA, ts: str | None = None, files: tuple[SharedFile, ...] = ()
    ) -> None:
        """Reply in the thread of the first job."""
        self.keys += 1
        ts = ts or f"1700000500.{self.keys:06}"
        root = self.slack.root()
        key = RequestKey(f"message:{root.channel}:{ts}")
        said = Origin(key, user, root.channel, thread=root.ts, message_ts=MessageTs(ts))
        async with self.wakes_somebody():
            await take_message(self.context, ThreadReply(said, text, files, parent=BOT))

    async def ends(self, *answer: str | None, **options: str | None) -> None:
        """Let the service end every job, as ``FakeDocs.finish`` does, and run the workers."""
        self.docs.finish(*answer, **options)  # type: ignore[arg-type]
        await self.settle()

    async def corrects(
        self,
        ts: MessageTs,
        text: str | None,
        *,
        user: UserId = ANA,
        channel: ChannelId = CHANNEL,
        thread: MessageTs | None = None,
        at: str = "1",
        before: str | None = None,
    ) -> None:
        """Somebody edits their message, or deletes it without a text."""
        said = Origin(message_key(channel, ts), user, channel, thread, ts)
        await take_change(self.context, Changed(said, text, at, before))

    async def hears(
        self,
        text: str,
        *,
        ts: str | None = None,
        thread: str | None = None,
        parent: UserId = ANA,
        user: UserId = ANA,
        channel: ChannelId = CHANNEL,
        files: tuple[SharedFile, ...] = (),
    ) -> MessageTs:
        """Say something to the bot, in a thread that ``parent`` began if one is given. Return its timestamp.

        Outside of threads the text stands for one that mentions the bot, or for a direct message.
        """
        self.keys += 1
        said_at = MessageTs(ts or f"1700000600.{self.keys:06}")
        key, within = message_key(channel, said_at), MessageTs(thread) if thread else None
        said = Origin(key, user, channel, within, said_at)
        reply = ThreadReply(said, text, files, parent)
        async with self.wakes_somebody():
            await take_message(self.context, reply if thread else Mention(said, text, files))
        return said_at

    def missed(
        self, text: str, *, user: UserId = ANA, direct: bool = False, ts: str | None = None
    ) -> ThreadReply | Mention:
        """Say something that the bot does not hear now: a reply to the first job, or a direct message."""
        said_at = MessageTs(ts) if ts else ts_at(self.clock())
        channel = ChannelId(f"D{user[1:]}") if direct else self.slack.root().channel
        thread = None if direct else self.slack.root().ts
        said = Origin(RequestKey(f"message:{channel}:{said_at}"), user, channel, thread, said_at)
        message = Mention(said, text) if direct else ThreadReply(said, text)
        self.slack.messages.append(message)
        return message

    async def visitors(self, text: str = "", *, user: UserId = ANA, key: str | None = None) -> Message:
        """Type ``/docs-visitors`` and return its immediate answer, empty if nothing is said at once."""
        self.keys += 1
        answer = await self.types("/docs-visitors", text, user=user, key=key)
        return answer.message or Message("")

    async def types(
        self,
        command: str,
        text: str = "",
        *,
        user: UserId = ANA,
        channel: ChannelId = CHANNEL,
        key: str | None = None,
    ) -> Answer:
        """Somebody types a slash command; returns what the acknowledgement shows."""
        self.keys += 1
        typed = {"command": command, "text": text, "user_id": user, "channel_id": channel}
        typed |= {"trigger_id": key or f"{self.keys}", "response_url": RESPONSE_URL.get_secret_value()}
        answer = await self._sends(payloads.invocation(typed), _COMMANDS_BY_NAME[command].run)
        assert isinstance(answer, Answer)
        return answer

    async def _sends(
        self,
        arrived: Arrived[Request],
        run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
    ) -> Answer | FormErrors | None:
        async with self.wakes_somebody():
            return await run_if_allowed(self.context, arrived, run)

    async def press(
        self,
        action_id: str,
        value: str,
        *,
        user: UserId = ANA,
        ts: MessageTs | None = None,
        channel: ChannelId = CHANNEL,
        thread: MessageTs | None = None,
    ) -> Answer:
        """Press a button or choose from a menu, in the message ``ts``, which stands in ``thread``."""
        self.keys += 1
        pressed = replace(
            origin(f"press:{self.keys}", user, channel, BUTTON_URL), message_ts=ts, thread=thread
        )
        arrived = Arrived(
            pressed,
            lambda allowed: Press(allowed, action_id, value),
            None if is_direct_message(channel) else channel,
        )
        answer = await self._sends(arrived, _BUTTONS[action_id])
        assert isinstance(answer, Answer)
        return answer

    async def submits(
        self, callback_id: str, form: FormState, *, user: UserId = ANA, **fields: str
    ) -> FormErrors | None:
        """Submit a form that was opened with this state."""
        self.keys += 1
        typed = replace(origin(f"view:{self.keys}", user, form.channel or CHANNEL), thread=form.thread)
        arrived = Arrived(typed, lambda allowed: Submission(Claimed(allowed), fields, form), is_form=True)
        answer = await self._sends(arrived, _FORMS[callback_id])
        assert not isinstance(answer, Answer)
        return answer

    async def run_again(
        self, number: int = 1, *, user: UserId = ANA, prompt: str | None = None, channel: ChannelId = CHANNEL
    ) -> None:
        """Press *Run again* and send the form, with the prompt as it is unless another one is given."""
        answer = await self.press("run_again", str(number), user=user, channel=channel)
        assert answer.modal is not None, answer
        state = FormState.loads(answer.modal["private_metadata"])
        text = prompt or (await self.job(number)).text
        assert await self.submits("run_again", state, user=user, prompt=text) is None

    async def reading(self, runs: int = 60, step_seconds: float = 1.1) -> None:
        """Run the workers for visitors ``runs`` times, or let them rest when nothing is due.

        The clock moves after each time without work.
        """
        regular = self.clock()
        for _ in range(runs):
            handled = 0
            is_due = (await self.store.find_due(self.clock)).queues & _VISITORS_QUEUES
            if is_due or self.clock() >= regular:
                regular = self.clock() + _REGULAR
                await self.works(plan_digests)
                await self.works(answer_questions)
                handled = await self.works(fetch_snapshots)
                handled += await self.works(deliver_due)
            self.clock.pass_seconds(0 if handled else step_seconds)

    def answers(self) -> list[str]:
        """Return the texts sent to response URLs, in order."""
        return [message.text for _, message in self.slack.private]

    def posted(self) -> list[str]:
        """Return the texts posted outside threads, in order."""
        return [post.message.text for post in self.slack.posts if post.thread is None]

    async def rounds(self) -> int:
        """Run each worker for jobs once and return how many items were handled."""
        return await self._run(frozenset(_WORKERS))

    async def settle(self, seconds: float = 5.0) -> None:
        """Run the workers for jobs, with the clock moving half a second at a time."""
        left = int(seconds * 2)
        while left:
            due = await self.store.find_due(self.clock)
            while due.queues and await self._run(due.queues):
                due = await self.store.find_due(self.clock)
            steps = min(left, 1 if due.queues else self._steps_until(due.next_at))
            self.clock.pass_seconds(steps * 0.5)
            left -= steps

    async def works(self, worker: Callable[[WorkerContext], Awaitable[int]]) -> int:
        """Run a worker once and return how many items it handled."""
        return await worker(self.context)

    async def _run(self, queues: frozenset[str]) -> int:
        """Run the workers for jobs that have anything to claim, as the real scheduler does."""
        handled = 0
        for queue, work in _WORKERS.items():
            if queue in queues:
                handled += await self.works(work)
        return handled

    def _steps_until(self, at: datetime | None) -> int:
        """Return in how many half seconds to look again; two seconds at most, because leases may run out."""
        return min(ceil(max((at - self.clock()).total_seconds() * 2, 1)), 4) if at else 4

    async def pass_time(self, seconds: float) -> None:
        """Move the clock forward, then run the workers on everything that is due."""
        self.clock.pass_seconds(seconds)
        await self.works(show_trouble)
        await self.settle(1.0)

    async def job(self, number: int = 1) -> TrackedJob:
        """Return a job as the store has it."""
        return await self.store.read(lambda tx: Jobs(tx).get_or_raise(JobNumber(number)))

    def sent(self) -> list[str]:
        """Return the prompts that reached the docs service, in order."""
        return [text for _, text in self.docs.prompts]

    def said(self) -> list[str]:
        """Return the texts of all replies in threads, in order."""
        return [post.message.text for post in self.slack.replies()]

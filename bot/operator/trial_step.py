"""A step of ``docs-bot doctor --try``, its result, and the trial under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TypeVar

from bot.docs_api import DiscoveryClient, DocsApiError, DocsClient, Forbidden, NotFound
from bot.github import GithubClient, GithubError
from bot.health.checks import network_trouble
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, Refusal, UserId
from bot.logs import mask
from bot.operator.transcript import Recorder
from bot.ports import SlackError, SlackRefused, SlackThrottled
from bot.settings import DocsProject, Settings
from bot.slack.client import GONE_CODES, REFUSED_TOKENS, Identity, SlackClient, answered
from bot.slack.messenger import SlackMessenger
from bot.slack.uses import use_of
from bot.store import DatabaseTrouble, Store
from bot.store.database import explain_error
from bot.store.trials import TrialNote, Trials

Answer = TypeVar("Answer")
_MAX_WAIT_SECONDS = 30.0
"""For how long a call waits in all because Slack asks it to."""
_LOOK_SECONDS = 0.2
"""Between two looks for the notes of the running bot."""
_BOT_TOKEN = "SLACK_BOT_TOKEN"  # noqa: S105 (the name of a setting)
_ADVICE = {
    Refusal.NOT_A_MEMBER: "Invite the bot there: /invite.",
    Refusal.NOT_VISIBLE: (
        "Look at the channel's id; a private channel needs an invitation of the bot."
    ),
    Refusal.ARCHIVED: "Name another channel.",
    Refusal.RESTRICTED: "Let apps post there, or name another channel.",
}


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """The place of the trial, and its time limits."""

    channel: ChannelId
    user: UserId | None = None
    """The person who runs the trial; None if nobody can press or see."""
    press_seconds: float = 60.0
    """How long the person may take for one act."""
    call_seconds: float = 20.0
    """How long a call may take."""
    job_seconds: float = 900.0
    """How long a job, or its follow-up, may take."""
    with_job: bool = False
    """Whether a job is tried, too."""


@dataclass(frozen=True, slots=True)
class TrialClock:
    """The clock of a trial; tests pass their own."""

    now: Callable[[], float] = monotonic
    """Returns the seconds since a fixed moment."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits so many seconds."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step."""

    name: str
    state: str
    """ok, note (the bot has another way), bad, or left (not tried)."""
    seen: str
    """The observation, in words."""
    follows: str = ""
    """The effect of a failure."""
    advice: str = ""
    tries: tuple[str, ...] = ()
    """The methods, events and calls that the step is about."""


class StepSkipped(Exception):
    """A step that is not tried, with the reason."""


class StepFailed(Exception):
    """A step that failed without a refusal of Slack."""

    def __init__(self, text: str, advice: str = "") -> None:
        super().__init__(text)
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Remnant:
    """A post, file or other trace of the trial that is removed at the end."""

    label: str
    """Its name for people."""
    remove: Callable[[], Awaitable[object]]


@dataclass(slots=True)
class _Post:
    """A post of the trial."""

    channel: ChannelId
    delivery: DeliveryId
    thread: MessageTs | None
    ts: MessageTs | None = None
    """None until Slack has answered."""


@dataclass(slots=True)
class Trial:
    """A trial under way."""

    settings: Settings
    options: TrialOptions
    client: SlackClient
    messenger: SlackMessenger
    store: Store
    docs: DocsClient
    discovery: DiscoveryClient | None
    """None without an assistant key."""
    github: GithubClient
    token: str
    """A part of the ids of all posts. The person types it, and the running bot knows the trial."""
    ask: Callable[[str], None]
    """Shows an instruction to the person who runs the trial."""
    clock: TrialClock = field(default_factory=TrialClock)
    recorder: Recorder | None = None
    """None where nothing is recorded."""
    identity: Identity | None = None
    """None before Slack has answered."""
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    kind: str = ""
    """The prefix of the scopes of the channel's kind, such as ``channels``; empty until known."""
    is_member: bool = False
    """Whether the bot was in the channel before the trial."""
    is_open: bool = False
    """Whether the token is stored, so that the running bot knows it."""
    root: MessageTs | None = None
    """The post that begins the thread; None before it is posted."""
    file: str | None = None
    """The id of the file; None before it is shared."""
    direct: ChannelId | None = None
    """The conversation with the person; None before it is open."""
    remnants: list[Remnant] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    """Traces that only a person can remove."""
    pull_request: str | None = None
    """The link of the pull request of the trial's job; None without one."""
    has_reply: bool = False
    """Whether the running bot has noted the person's reply in the thread."""
    silent_steps: int = 0
    """The number of consecutive steps whose events the running bot did not note."""
    has_heard: bool = False
    """Whether the running bot has noted anything."""

    @property
    def project(self) -> DocsProject:
        """Return the project whose docs service is tried."""
        return self.settings.projects[0]

    def thread(self) -> MessageTs:
        """Return the thread. Raises StepSkipped if the first post failed."""
        if self.root is None:
            raise StepSkipped("there is no thread to do it in")
        return self.root

    def user(self) -> UserId:
        """Return the person who runs the trial. Raises StepSkipped without one."""
        if self.options.user is None:
            raise StepSkipped("name yourself: --as U…")
        return self.options.user

    async def call(
        self, make: Callable[[], Awaitable[Answer]], seconds: float | None = None
    ) -> Answer:
        """Make a call, and return its answer. A call that Slack throttles is made again.

        ``seconds``: how long it may take; None for the usual time.
        """
        waited_seconds = 0.0
        while True:
            try:
                async with asyncio.timeout(seconds or self.options.call_seconds):
                    return await make()
            except SlackThrottled as error:
                waited_seconds += error.retry_after_seconds
                if waited_seconds > _MAX_WAIT_SECONDS:
                    raise StepFailed(
                        "Slack asks to wait again and again (rate limit)", "Try again later."
                    ) from None
                await self.clock.sleep(error.retry_after_seconds)

    async def post(
        self,
        name: str,
        message: Message,
        thread: MessageTs | None,
        channel: ChannelId | None = None,
    ) -> MessageTs:
        """Post a message. It is deleted at the end, even if Slack's answer is lost."""
        place = channel or self.options.channel
        post = _Post(place, DeliveryId(f"try-{self.token}-{name}"), thread)
        self.add_remnant(f"the post “{name}”", lambda: self._delete(post))
        try:
            posted = await self.call(
                lambda: self.messenger.post(place, message, delivery=post.delivery, thread=thread)
            )
        except SlackRefused:
            self.remnants.pop()
            raise
        post.ts = posted.ts
        return posted.ts

    async def _delete(self, post: _Post) -> None:
        """Delete a post; one whose timestamp is not known is looked for first."""
        if post.ts is None:
            found = await self.messenger.find_posted(
                post.channel, deliveries=[post.delivery], thread=post.thread, since=self.begun_at
            )
            post.ts = found.get(post.delivery)
        if post.ts is not None:
            await answered(self.client.chat_delete(channel=post.channel, ts=post.ts))

    def add_remnant(self, label: str, remove: Callable[[], Awaitable[object]]) -> None:
        """Register an action that removes a trace at the end."""
        self.remnants.append(Remnant(label, remove))

    async def notes(self) -> tuple[TrialNote, ...]:
        """Return the notes of the running bot."""
        return await self.store.read(lambda tx: Trials(tx).notes(self.token))

    async def wait_for_events(
        self, instruction: str, *names: str, trace: str | None = None
    ) -> Mapping[str, TrialNote]:
        """Ask the person for an act, and wait until the running bot has noted its events.

        Args:
            instruction: the act.
            names: the events.
            trace: the trace of the act that only the person can remove; None without one.

        Raises StepFailed without the events in time, or for a call of the running bot that Slack
        refused.
        """
        self._check_hearing()
        if trace is not None:
            self.by_hand.append(trace)
        begun_at = len(await self.notes())
        seconds = self.options.press_seconds
        self.ask(f"{instruction} (within {seconds:g} s)")
        deadline = self.clock.now() + seconds
        while True:
            new = {note.name: note for note in (await self.notes())[begun_at:]}
            missing = [name for name in names if name not in new]
            if new:
                self.has_heard = True
                self.silent_steps = 0
            refused = next((new[name] for name in names if name in new and new[name].code), None)
            if refused is not None:
                raise StepFailed(f"Slack refuses {refused.name}: {refused.code}")
            if not missing or self.clock.now() >= deadline:
                break
            await self.clock.sleep(_LOOK_SECONDS)
        if missing:
            self.silent_steps += not new
            raise StepFailed(*_explain_silence(missing, seconds, is_alone=not new))
        return new

    def _check_hearing(self) -> None:
        """Raise StepSkipped if the running bot cannot note any event."""
        self.user()
        if not self.is_open:
            raise StepSkipped("the trial could not be stored in the database")
        if not self.has_heard and self.silent_steps > 1:
            raise StepSkipped("nothing of the trial has reached the running bot")


def _explain_silence(names: list[str], seconds: float, *, is_alone: bool) -> tuple[str, str]:
    """Return the text about missing events, and the advice."""
    text = f"no {' and no '.join(names)} within {seconds:g} s"
    hints = []
    for name in names:
        try:
            scopes = use_of(name).scopes
        except KeyError:
            continue
        needs = f", with the scope {' or '.join(scopes)}" if scopes else ""
        hints.append(f"Is the app subscribed to {name}{needs}?")
    if is_alone:
        hints.append("Does the bot run, with this database?")
    return text, " ".join([*hints, "Paste the manifest again and reinstall the app."])


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the trial tries."""

    name: str
    run: Callable[[Trial], Awaitable[str]]
    """Returns the observation, or raises."""
    tries: tuple[str, ...]
    """The methods and events of Slack (`bot.slack.uses`), or the calls of services."""
    follows: str = ""
    """The effect of a failure; empty where the list of uses has it."""
    refusal_advice: str = ""
    """The effect where the bot has another way; empty where it has none."""
    token_name: str = _BOT_TOKEN
    """The setting of the token with which Slack is called."""
    assumptions: tuple[str, ...] = ()
    """The assumptions (`bot.operator.assumptions`) that hold if the step worked."""

    @property
    def loss(self) -> str:
        """The effect of a failure."""
        return self.follows or use_of(self.tries[0]).loss


async def take_step(trial: Trial, step: Step) -> StepResult:
    """Take a step. Errors may quote a token, so they are masked."""
    hidden = trial.settings.secrets()

    def result(state: str, text: str, follows: str = "", advice: str = "") -> StepResult:
        return StepResult(step.name, state, mask(text, hidden), follows, advice, step.tries)

    def bad(text: str, advice: str = "") -> StepResult:
        return result("bad", text, step.loss, advice)

    try:
        return result("ok", await step.run(trial))
    except StepSkipped as reason:
        return result("left", f"not tried: {reason}")
    except SlackRefused as refused:
        text = "; ".join((f"Slack refuses it: {refused.code}", *refused.details[:2]))
        if refused.meaning is Refusal.BLOCKS and step.refusal_advice:
            return result("note", text, step.refusal_advice)
        return bad(text, _find_advice(refused, step.token_name))
    except StepFailed as failed:
        return bad(str(failed), failed.advice)
    except SlackError as error:
        finding = network_trouble(step.name, str(error), "SLACK_API_URL")
        return bad(f"Slack: {finding.seen}", finding.advice)
    except (Forbidden, NotFound) as error:
        if step.refusal_advice:
            return result("note", f"the docs service: {error}", step.refusal_advice)
        return bad(f"the docs service: {error}", "`docs-bot doctor` says what is wrong there.")
    except DocsApiError as error:
        return bad(f"the docs service: {error}", "`docs-bot doctor` says what is wrong there.")
    except GithubError as error:
        return bad(f"GitHub: {error}", "Look at GITHUB_TOKEN and GITHUB_API_URL.")
    except DatabaseTrouble as error:
        cause = explain_error(error)
        return bad(f"the database: {cause.cause}", cause.advice)
    except TimeoutError:
        return bad(f"no answer within {trial.options.call_seconds:g} s", "Look at the network.")


def _find_advice(refused: SlackRefused, token_name: str) -> str:
    """Return the remedy of a refusal."""
    # The bot's token gets its scopes from the manifest.
    is_about_token = refused.meaning is Refusal.TOKEN or token_name != _BOT_TOKEN
    if is_about_token and refused.code in REFUSED_TOKENS:
        cause, remedy = REFUSED_TOKENS[refused.code]
        return f"{cause[0].upper()}{cause[1:]}. {remedy.format(token=token_name)}"
    if refused.meaning is Refusal.SCOPE:
        return "Update the manifest and reinstall the app: `docs-bot doctor` lists what is missing."
    return _ADVICE.get(refused.meaning, "")


async def clean_up(trial: Trial) -> StepResult:
    """Remove all traces of the trial, the newest first, and name the remaining ones."""
    removed = 0
    left: list[str] = []
    while trial.remnants:
        remnant = trial.remnants.pop()
        removing = Step("clean up", _make_removal(remnant), (), follows="It stays.")
        result = await take_step(trial, removing)
        removed += result.state == "ok"
        if result.state != "ok":
            left.append(f"{remnant.label} ({result.seen})")
    text = f"{removed} removed"
    by_hand = "; ".join(trial.by_hand)
    if by_hand:
        text += f". Only you can remove: {by_hand}"
    if left:
        follows = f"Delete by hand what is left: {'; '.join(left)}."
        return StepResult("clean up", "bad", text, follows)
    return StepResult("clean up", "ok", text)


def _make_removal(remnant: Remnant) -> Callable[[Trial], Awaitable[str]]:
    async def run(trial: Trial) -> str:
        try:
            await trial.call(lambda: answered(remnant.remove()))
        except SlackRefused as refused:
            if refused.code not in GONE_CODES:
                raise
        return "removed"

    return run

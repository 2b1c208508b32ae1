"""``docs-bot doctor --try``: in a channel, the calls that the doctor's checks cannot replace."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from time import monotonic

from bot.health.checks import network_trouble
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, Refusal, UserId
from bot.jobs.model.prompts import Act
from bot.jobs.store.audit import Audit
from bot.logs import mask
from bot.messages import blocks, general
from bot.ports import SlackError, SlackRefused, SlackThrottled
from bot.settings import Settings
from bot.slack.client import SlackClient, answered, open_session, web_client
from bot.slack.messenger import SlackMessenger
from bot.store import DatabaseTrouble, Store
from bot.store.database import explain_error
from bot.visitors.messages.answers import chart, table
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts
from bot.visitors.model.reports import Page

_MAX_WAIT_SECONDS = 30.0
"""For how long a step waits in all because Slack asks it to."""
_ADVICE = {
    Refusal.TOKEN: "Look at SLACK_BOT_TOKEN: `docs-bot doctor` says what is wrong with it.",
    Refusal.SCOPE: (
        "Update the manifest and reinstall the app: `docs-bot doctor` says which are missing."
    ),
    Refusal.NOT_A_MEMBER: "Invite the bot there.",
    Refusal.NOT_VISIBLE: (
        "Look at the channel's id; a private channel needs an invitation of the bot."
    ),
    Refusal.ARCHIVED: "Name another channel.",
    Refusal.RESTRICTED: "Let apps post there, or name another channel.",
}


def native_blocks() -> Mapping[str, Message]:
    """Return a message for each kind of block that some workspaces lack, with made-up numbers."""
    counts = Counts(30, 70, 95)
    days = [Period(date(2026, 11, day), date(2026, 11, day + 1)) for day in range(2, 9)]
    return {
        "charts": blocks.message(chart([(day, counts) for day in days])),
        "tables": blocks.message(table("Pages", [Page("/quickstart", counts)])),
    }


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """The place of the trial, and its time limits."""

    channel: ChannelId
    user: UserId | None = None
    """The person who runs the trial; None for nobody who could press or see."""
    press_seconds: float = 60.0
    """How long the person may take to press the button."""
    call_seconds: float = 20.0
    """How long a call may take."""


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


class StepSkipped(Exception):
    """A step that is not tried, with the reason."""


class StepFailed(Exception):
    """A step that failed without a refusal of Slack."""


@dataclass(slots=True)
class Trial:
    """A trial under way."""

    settings: Settings
    options: TrialOptions
    client: SlackClient
    messenger: SlackMessenger
    ask: Callable[[str], None]
    """Shows an instruction to the person who runs the trial."""
    token: str = field(default_factory=lambda: secrets.token_hex(4))
    """A part of the ids of all posts."""
    root: MessageTs | None = None
    """The post that begins the thread; None before it is posted."""
    posted: list[MessageTs] = field(default_factory=list)
    """The posts to delete at the end."""

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

    async def post(self, name: str, message: Message, thread: MessageTs | None) -> MessageTs:
        """Post a message, to be deleted at the end."""
        delivery = DeliveryId(f"try-{self.token}-{name}")
        posted = await self.messenger.post(
            self.options.channel, message, delivery=delivery, thread=thread
        )
        self.posted.append(posted.ts)
        return posted.ts


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the bot."""

    name: str
    run: Callable[[Trial], Awaitable[str]]
    """Returns the observation, or raises."""
    follows: str
    """The effect of a failure."""
    if_blocks: str = ""
    """The effect where Slack refuses the blocks and the bot has a plain form."""
    is_quick: bool = True


async def _begin(trial: Trial) -> str:
    channel = trial.options.channel
    try:
        trial.root = await trial.post("root", general.FIRST_POST, None)
    except SlackRefused as refused:
        if refused.meaning is not Refusal.NOT_A_MEMBER:
            raise
        # The bot joins a public channel from which a request comes.
        if not await trial.messenger.is_public(channel):
            raise
        await trial.messenger.join(channel)
        trial.root = await trial.post("root", general.FIRST_POST, None)
        return "posted, after joining"
    return "posted"


async def _post(trial: Trial, name: str, message: Message) -> str:
    await trial.post(name, message, trial.thread())
    return "posted in the thread"


async def _edit(trial: Trial) -> str:
    await trial.messenger.edit(trial.options.channel, trial.thread(), general.EDITED_POST)
    return "the first post edited"


async def _whisper(trial: Trial) -> str:
    user = trial.user()
    thread = trial.thread()
    await trial.messenger.whisper(trial.options.channel, user, general.PRIVATE_POST, thread=thread)
    return f"shown to {user} only; it stays until they reload Slack"


async def _read_thread(trial: Trial) -> str:
    thread = trial.thread()
    answer = await answered(
        trial.client.conversations_replies(
            channel=trial.options.channel, ts=thread, include_all_metadata=True
        )
    )
    metadata = [message.get("metadata") for message in answer.get("messages") or []]
    if trial.token not in str(metadata):
        raise StepFailed("Slack returns the thread without the metadata of the bot's post")
    return "read, with the bot's own posts"


async def _press(trial: Trial) -> str:
    """Wait for the row that the running bot writes when it receives the press."""
    trial.user()
    options = trial.options
    store = Store.open(trial.settings.sqlalchemy_url)
    try:
        async with asyncio.timeout(options.call_seconds):
            last = await store.read(lambda tx: Audit(tx).last())
            await trial.post("press", general.PRESS_ME, trial.thread())
        trial.ask(f"Press the button *Press me* in the thread, within {options.press_seconds:g} s.")
        deadline = monotonic() + options.press_seconds
        while monotonic() < deadline:
            _, rows = await store.read(lambda tx: Audit(tx).after(last, 1_000))
            for row in rows:
                if row.act == Act.TRIED and row.channel == options.channel:
                    return f"pressed by {row.user}, and the bot received it"
            await asyncio.sleep(0.2)
    finally:
        await store.close()
    raise StepFailed(
        "no press was received: does the bot run, with this database? May you use it there?"
    )


async def _clean_up(trial: Trial) -> str:
    count = len(trial.posted)
    while trial.posted:
        await answered(trial.client.chat_delete(channel=trial.options.channel, ts=trial.posted[-1]))
        trial.posted.pop()
    return f"{count} deleted"


_BLOCK_STEPS = tuple(
    Step(
        name,
        partial(_post, name=name, message=message),
        f"Nobody gets {name}.",
        f"{name.capitalize()} are refused here: people get the numbers as text.",
    )
    for name, message in native_blocks().items()
)
STEPS = (
    Step("post", _begin, "The bot can say nothing here: no job, no answer, no digest."),
    *_BLOCK_STEPS,
    Step("edit", _edit, "The first message of a job keeps showing its first state."),
    Step("private message", _whisper, "Answers to one person come as direct messages."),
    Step(
        "read the thread",
        _read_thread,
        "Earlier messages don't reach the agent, and after a lost answer of Slack's the bot can't "
        "tell whether its message is there.",
    ),
    Step("press", _press, "Buttons, commands and replies don't reach the bot.", is_quick=False),
)
"""The steps, in this order."""
_CLEAN_UP = Step("clean up", _clean_up, "Delete by hand what is left in the doctor's thread.")


async def run_trial(
    settings: Settings,
    options: TrialOptions,
    report: Callable[[StepResult], None],
    ask: Callable[[str], None],
    steps: Sequence[Step] = STEPS,
) -> None:
    """Take the steps one after the other, and delete all posts in the end.

    Args:
        settings: the settings of the bot.
        options: the place of the trial, and its time limits.
        report: gets the result of each step.
        ask: gets the instructions for the person who runs the trial.
        steps: the steps.
    """
    proxy = settings.proxy_for(settings.slack_api_url)
    async with open_session(proxy) as session:
        client = web_client(settings.slack_bot_token, settings.slack_api_url, session, proxy)
        messenger = SlackMessenger(client, session, settings.slack_api_url)
        trial = Trial(settings, options, client, messenger, ask)
        try:
            for step in steps:
                report(await _result(trial, step))
        finally:
            report(await _result(trial, _CLEAN_UP))


async def _result(trial: Trial, step: Step) -> StepResult:
    """Take a step. Slack's errors may quote a token, so they are masked."""
    hidden = trial.settings.secrets()
    waited_seconds = 0.0

    def bad(text: str, advice: str = "") -> StepResult:
        return StepResult(step.name, "bad", mask(text, hidden), step.follows, advice)

    while True:
        try:
            async with asyncio.timeout(trial.options.call_seconds if step.is_quick else None):
                return StepResult(step.name, "ok", await step.run(trial))
        except StepSkipped as reason:
            return StepResult(step.name, "left", f"not tried: {reason}")
        except SlackThrottled as error:
            waited_seconds += error.retry_after_seconds
            if waited_seconds > _MAX_WAIT_SECONDS:
                return bad("Slack asks to wait again and again", "Try again later.")
            await asyncio.sleep(error.retry_after_seconds)
        except SlackRefused as refused:
            text = "; ".join((f"Slack refuses it: {refused.code}", *refused.details[:1]))
            if refused.meaning is Refusal.BLOCKS and step.if_blocks:
                return StepResult(step.name, "note", mask(text, hidden), step.if_blocks)
            return bad(text, _ADVICE.get(refused.meaning, ""))
        except StepFailed as failed:
            return bad(str(failed))
        except SlackError as error:
            finding = network_trouble(step.name, str(error), "SLACK_API_URL")
            return bad(f"Slack: {finding.seen}", finding.advice)
        except DatabaseTrouble as error:
            cause = explain_error(error)
            return bad(f"the database: {cause.cause}", cause.advice)
        except TimeoutError:
            return bad(f"no answer within {trial.options.call_seconds:g} s", "Look at the network.")

"""``docs-bot doctor --try``: takes steps in a channel, and says what the failure of each means for people.

The steps are in `bot.operator.trial_steps`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

from bot.health.checks import network_trouble
from bot.model.ids import ChannelId, DeliveryId, MessageTs, Refusal, UserId
from bot.settings import Settings
from bot.slack.client import open_session, web_client
from bot.slack.trial import TrialMessenger
from bot.store import DatabaseTrouble
from bot.store.limits import explain
from bot.work.ports import SlackError, SlackRefused, SlackThrottled

_MOST_WAIT_SECONDS = 30.0
"""For how long a step waits in all because Slack asks it to."""
_ADVICE = {
    Refusal.TOKEN: "Look at SLACK_BOT_TOKEN and SLACK_APP_TOKEN: `docs-bot doctor` says which is wrong.",
    Refusal.SCOPE: "Update the manifest and reinstall the app: `docs-bot doctor` says which are missing.",
    Refusal.NOT_A_MEMBER: "Invite the bot there.",
    Refusal.NOT_VISIBLE: "Look at the channel's id; a private channel needs an invitation of the bot.",
    Refusal.ARCHIVED: "Name another channel.",
    Refusal.RESTRICTED: "Let apps post there, or name another channel.",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is tried. ``user``: who runs the trial. ``pull_request``: the link of one to look at."""

    channel: ChannelId
    user: UserId | None = None
    pull_request: str | None = None
    with_job: bool = False
    press_seconds: float = 60.0
    call_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a step. ``state``: ok, note (the bot has another way), bad, or left (not tried)."""

    name: str
    state: str
    seen: str
    follows: str
    advice: str
    seconds: float


@dataclass(slots=True)
class Trial:
    """A trial under way. ``root``: the post in whose thread the rest is."""

    settings: Settings
    wanted: Wanted
    messenger: TrialMessenger
    ask: Callable[[str], None]
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    token: str = field(default_factory=lambda: secrets.token_hex(4))
    root: MessageTs | None = None
    face: MessageTs | None = None
    is_uploaded: bool = False

    @property
    def file(self) -> str:
        """The name of the file that is uploaded."""
        return f"docs-bot-{self.token}.txt"

    def delivery(self, name: str) -> DeliveryId:
        """Return the mark of a message."""
        return DeliveryId(f"try-{self.token}-{name}"[:40])

    def thread(self) -> MessageTs:
        """Return the thread. Raises Left if it could not be begun."""
        if self.root is None:
            raise Left("there is no thread to do it in")
        return self.root

    def user(self) -> UserId:
        """Return who runs the trial. Raises Left if nobody is named."""
        if self.wanted.user is None:
            raise Left("name yourself: --as U…")
        return self.wanted.user


class Left(Exception):
    """A step that is not tried, and why."""


class Failed(Exception):
    """A step that failed, with what was seen and what to do."""

    def __init__(self, seen: str, advice: str = "") -> None:
        super().__init__(seen)
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the bot does. ``run`` returns what was seen, or raises.

    ``follows``: what its failure means for people. ``if_blocks``: the same where Slack refuses its blocks and
    the bot has a plain form. ``is_quick``: it is ended after `Wanted.call_seconds`.
    """

    name: str
    run: Callable[[Trial], Awaitable[str]]
    follows: str
    if_blocks: str = ""
    is_quick: bool = True


async def _clean_up(trial: Trial) -> str:
    return f"{await trial.messenger.clean_up(trial.wanted.channel, trial.file)} deleted"


CLEAN_UP = Step("clean up", _clean_up, "Delete by hand what is left in the doctor's thread.")
"""The last step, which is taken whatever came of the others."""


async def try_out(
    settings: Settings,
    wanted: Wanted,
    tell: Callable[[Tried], None],
    ask: Callable[[str], None],
    steps: Sequence[Step],
) -> None:
    """Take all steps, one after the other, and tell what came of each. What was posted is always deleted.

    ``ask`` gets what the person who runs it should do meanwhile. The last step cleans up.
    """
    proxy = settings.proxy_for(settings.slack_api_url)
    async with open_session(proxy) as session:
        client = web_client(settings.slack_bot_token, settings.slack_api_url, session, proxy)
        trial = Trial(settings, wanted, TrialMessenger(client, session, settings.slack_api_url), ask)
        try:
            for step in steps:
                tell(await _taken(trial, step))
        finally:
            tell(await _taken(trial, CLEAN_UP))


async def _taken(trial: Trial, step: Step) -> Tried:
    began, waited = monotonic(), 0.0

    def tried(state: str, seen: str, follows: str = "", advice: str = "") -> Tried:
        return Tried(step.name, state, seen, follows, advice, round(monotonic() - began, 2))

    while True:
        try:
            async with asyncio.timeout(trial.wanted.call_seconds if step.is_quick else None):
                return tried("ok", await step.run(trial))
        except Left as why:
            return tried("left", f"not tried: {why}")
        except SlackThrottled as error:
            waited += error.retry_after_seconds
            if waited > _MOST_WAIT_SECONDS:
                return tried("bad", "Slack asks to wait again and again", step.follows, "Try again later.")
            await asyncio.sleep(error.retry_after_seconds)
        except SlackRefused as refused:
            seen = "; ".join((f"Slack refuses it: {refused.code}", *refused.details[:1]))
            if refused.meaning is Refusal.BLOCKS and step.if_blocks:
                return tried("note", seen, step.if_blocks)
            return tried("bad", seen, step.follows, _ADVICE.get(refused.meaning, ""))
        except Failed as failed:
            return tried("bad", str(failed), step.follows, failed.advice)
        except SlackError as error:
            found = network_trouble(step.name, str(error), "SLACK_API_URL")
            return tried("bad", f"Slack: {found.seen} ({error})", step.follows, found.advice)
        except DatabaseTrouble as error:
            cause = explain(error)
            return tried("bad", f"the database: {cause.cause}", step.follows, cause.advice)
        except TimeoutError:
            seen = f"no answer within {trial.wanted.call_seconds:g} s"
            return tried("bad", seen, step.follows, "Look at the network.")

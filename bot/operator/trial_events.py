"""The steps of ``docs-bot doctor --try`` for which a person acts in Slack.

The trial opens no socket, which would take events from the running bot. The running bot notes the
events (`bot.slack.trial_door`), and the trial reads its notes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from bot.messages import general
from bot.operator.trial_step import Step, StepFailed, StepSkipped, Trial
from bot.slack import trial_door
from bot.store.trials import OpenTrial, Trials

_JOIN_SECONDS = 5.0
"""How long the event of the bot's own joining may take."""
_OTHER_KINDS = {
    "message.channels": "a public channel",
    "message.groups": "a private channel",
    "message.mpim": "a group direct message",
}


async def open_trial(trial: Trial) -> str:
    """Store the trial, so that the running bot knows its token."""
    user = trial.user()
    now = datetime.now(UTC)
    opened = OpenTrial(trial.token, user, trial.options.channel)
    lasts = timedelta(seconds=len(EVENT_STEPS) * trial.options.press_seconds)
    async with asyncio.timeout(trial.options.call_seconds):
        await trial.store.write(lambda tx: Trials(tx).begin(opened, now, now + lasts))
    trial.is_open = True
    trial.add_remnant("the token", lambda: _invalidate_token(trial))
    return "stored, so that the running bot knows what you type"


async def _invalidate_token(trial: Trial) -> None:
    """Make the token invalid."""
    now = datetime.now(UTC)
    await trial.store.write(lambda tx: Trials(tx).end(trial.token, now))


async def _try_command(trial: Trial) -> str:
    await trial.wait_for_events(
        f"Type in the channel: /docs-agent {trial.token}",
        trial_door.COMMAND,
        trial_door.RESPONSE_URL,
    )
    return "received, and answered in private"


async def _try_mention(trial: Trial) -> str:
    if trial.kind == "im":
        raise StepSkipped("name a channel: in direct messages everything is meant for the bot")
    names = ["app_mention"]
    if trial.kind in ("channels", "groups"):
        names.append(f"message.{trial.kind}")
    if trial.kind == "mpim":
        names = ["message.mpim"]
    bot = trial.identity.bot_name if trial.identity else "docs-agent"
    await trial.wait_for_events(
        f"Type in the channel: @{bot} {trial.token}", *names, trace="your mention in the channel"
    )
    return f"received as {' and '.join(names)}"


def _make_reply_step(name: str) -> Callable[[Trial], Awaitable[str]]:
    async def run(trial: Trial) -> str:
        if f"message.{trial.kind}" != name:
            raise StepSkipped(f"name {_OTHER_KINDS[name]}: --try")
        trial.thread()
        await trial.wait_for_events(f"Reply in the bot's thread: {trial.token}", name)
        trial.has_reply = True
        return "received"

    return run


def _check_reply(trial: Trial) -> None:
    """Raise StepSkipped where the person has no reply in the thread."""
    trial.user()
    if not trial.has_reply:
        raise StepSkipped("no reply of yours has reached the running bot")


async def _try_edit(trial: Trial) -> str:
    _check_reply(trial)
    await trial.wait_for_events(f"Edit your reply to: {trial.token} edited", trial_door.EDIT)
    return "received"


async def _try_shortcut(trial: Trial) -> str:
    _check_reply(trial)
    await trial.wait_for_events(
        "At your reply choose More actions > Ask the docs agent", trial_door.SHORTCUT
    )
    return "received"


async def _try_deletion(trial: Trial) -> str:
    _check_reply(trial)
    await trial.wait_for_events("Delete your reply", trial_door.DELETION)
    return "received"


async def _try_direct(trial: Trial) -> str:
    if trial.direct is None:
        raise StepSkipped("there is no conversation with you")
    await trial.wait_for_events(
        f"Write to the bot in your direct messages: {trial.token}",
        "message.im",
        trace="your direct message to the bot",
    )
    return "received"


async def _try_press(trial: Trial) -> str:
    thread = trial.thread()
    trial.user()
    await trial.post("press", general.press_request(trial.token), thread)
    await trial.wait_for_events(
        "Press the button *Press me* in the bot's thread",
        trial_door.PRESS,
        "views.open",
        "views.update",
    )
    return "received; the form opened and changed"


async def _try_press_in_form(trial: Trial) -> str:
    trial.thread()
    await trial.wait_for_events(
        "Press *Next window* in the form", trial_door.PRESS_IN_FORM, "views.push"
    )
    return "received; a form opened above it"


async def _try_submission(trial: Trial) -> str:
    trial.thread()
    await trial.wait_for_events("Press *Submit* in the form", trial_door.SUBMISSION)
    return "received; the forms closed"


async def _try_home_tab(trial: Trial) -> str:
    await trial.wait_for_events("Open the Home tab of the app", "app_home_opened", "views.publish")
    return "received, and the tab is shown"


async def _try_bot_joined(trial: Trial) -> str:
    """Wait for the event of the bot's own joining at the beginning of the trial."""
    trial.user()
    if not trial.is_open:
        raise StepSkipped("the trial could not be stored in the database")
    if trial.is_member or trial.kind != "channels":
        raise StepSkipped("name a public channel in which the bot is not yet: --try")
    if not trial.has_heard:
        raise StepSkipped("nothing of the trial has reached the running bot")
    deadline = trial.clock.now() + _JOIN_SECONDS
    while all(note.name != "member_joined_channel" for note in await trial.notes()):
        if trial.clock.now() >= deadline:
            advice = "Is the app subscribed to member_joined_channel? Paste the manifest again."
            raise StepFailed("no member_joined_channel when the bot joined", advice)
        await trial.clock.sleep(0.2)
    return "received when the bot joined"


async def _try_moved_channel(trial: Trial) -> str:
    del trial
    raise StepSkipped("it comes only where a channel is shared with another organisation")


EVENT_STEPS = (
    Step(
        "command",
        _try_command,
        ("commands", "response_url"),
        "Slash commands don't reach the bot, or their answers don't reach people.",
        assumptions=("command-text", "response-url"),
    ),
    Step("mention", _try_mention, ("app_mention",), assumptions=("mention-is-two-events",)),
    *(
        Step(
            f"reply in {place}",
            _make_reply_step(name),
            (name,),
            assumptions=("bot-events-of-threads",),
        )
        for name, place in _OTHER_KINDS.items()
    ),
    Step(
        "edit of yours",
        _try_edit,
        (trial_door.EDIT,),
        "Edits of prompts are not noticed before the agent has them.",
        assumptions=("edit-has-both-texts",),
    ),
    Step(
        "shortcut",
        _try_shortcut,
        (trial_door.SHORTCUT,),
        "Nobody can start a job from a message.",
    ),
    Step(
        "deletion of yours",
        _try_deletion,
        (trial_door.DELETION,),
        "The bot does not notice that a prompt was deleted.",
        assumptions=("deletion-has-text",),
    ),
    Step("direct reply", _try_direct, ("message.im",)),
    Step(
        "press",
        _try_press,
        (trial_door.PRESS, "views.open", "views.update"),
        "Buttons don't reach the bot, or its forms don't open.",
        assumptions=("trigger",),
    ),
    Step("button in a form", _try_press_in_form, ("views.push",)),
    Step(
        "form",
        _try_submission,
        (trial_door.SUBMISSION,),
        "Nothing that people write into forms reaches the bot.",
    ),
    Step("Home tab", _try_home_tab, ("app_home_opened", "views.publish"), assumptions=("home",)),
    Step("invitation", _try_bot_joined, ("member_joined_channel",), assumptions=("joined",)),
    Step("another id", _try_moved_channel, ("channel_id_changed",)),
)
"""The steps, in this order."""
OPENING_STEP = Step(
    "trial",
    open_trial,
    ("database",),
    "The running bot can't know what belongs to the trial, so nothing you do is tried.",
)
"""The step before all others."""

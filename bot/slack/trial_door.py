"""The running bot's part in ``docs-bot doctor --try``: it notes the events of a trial.

A text that begins with a trial's token starts nothing, whoever writes it. If the token is valid and
its person wrote it, the event is noted. At the trial's button the bot opens, changes and takes a
form. Words are not stored, only the shapes of the payloads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.context import Context
from bot.ids import ChannelId, MessageTs, UserId
from bot.messages import general, slack_text
from bot.messages.blocks import Action
from bot.ports import Origin, SlackError, SlackRefused, message_key
from bot.slack.block_text import mapping, string
from bot.slack.client import answered
from bot.slack.intake import Background, say_privately
from bot.slack.messenger import SlackMessenger
from bot.slack.payloads import asker, raising_malformed, to_ts
from bot.store import Transaction
from bot.store.shapes import describe_shape
from bot.store.trials import TOKEN_HEAD, OpenTrial, TrialNote, Trials, token_in

log = structlog.get_logger(__name__)
Body = dict[str, Any]
EDIT = "message_changed"
DELETION = "message_deleted"
COMMAND = "slash_command"
SHORTCUT = "shortcut"
PRESS = "press"
PRESS_IN_FORM = "press in a form"
SUBMISSION = "view_submission"
RESPONSE_URL = "response_url"
"""The names of the notes; other notes have the name of Slack's event or method."""
_ADDRESSED_EVENTS = ("app_mention", "message.im")
"""The events of messages to the bot."""
_CHANNEL_TYPES = {"channel": "channels", "group": "groups"}
"""The names of Slack's subscriptions for types of channels with another name."""


@dataclass(frozen=True, slots=True)
class TrialDoor:
    """Notes the events of trials."""

    _context: Context
    _client: AsyncWebClient
    _messenger: SlackMessenger
    _background: Background

    def register(self, app: AsyncApp) -> None:
        """Register the trial's buttons and its form."""
        app.action(Action.TRY)(self._answer_press)
        app.action(Action.TRY_FURTHER)(self._answer_press_in_form)
        app.view(general.TRIAL_FORM)(self._answer_submission)

    async def takes_event(self, event: Mapping[str, Any]) -> bool:
        """Note a message, mention, edit or deletion with a token; return whether it has one."""
        subtype = string(event.get("subtype"))
        message: Mapping[str, Any] = event
        if subtype == EDIT:
            message = mapping(event.get("message"))
        elif subtype == DELETION:
            message = mapping(event.get("previous_message"))
        token = self._token_in(string(message.get("text")))
        if token is None:
            return False
        name = string(event.get("type"))
        if subtype in (EDIT, DELETION):
            name = subtype
        elif name == "message":
            kind = string(event.get("channel_type"))
            name = f"message.{_CHANNEL_TYPES.get(kind, kind)}"
        user = UserId(string(message.get("user")))
        trial = await self._note_of(token, user, name, event)
        if trial is None and name in _ADDRESSED_EVENTS:
            self._refuse(user, event)
        return True

    def _refuse(self, user: UserId, event: Mapping[str, Any]) -> None:
        """Tell a person that the token in their message to the bot is not valid."""
        with raising_malformed():
            channel = ChannelId(event["channel"])
            ts = MessageTs(event["ts"])
        thread = to_ts(string(event.get("thread_ts")))
        origin = Origin(message_key(channel, ts), user, channel, thread=thread)
        self._background.start("answer", say_privately(self._messenger, origin, general.TRIAL_OVER))

    async def takes_command(self, ack: AsyncAck, body: Body) -> bool:
        """Note a slash command with a token, and answer it; return whether it has one.

        The answer to a valid token goes through the response URL, to try that, too.
        """
        token = token_in(string(body.get("text")))
        if token is None:
            return False
        with raising_malformed():
            origin = asker(body, "command")
        trial = await self._note_of(token, origin.user, COMMAND, body)
        if trial is None:
            await ack(response_type="ephemeral", text=general.TRIAL_OVER.text)
            return True
        await ack()
        url = origin.response_url
        if url is not None:
            answer = self._messenger.answer(url, general.NOTED)
            self._background.start("answer", self._call(trial, RESPONSE_URL, answer))
        return True

    async def takes_shortcut(self, ack: AsyncAck, body: Body) -> bool:
        """Note the use of a shortcut at a message with a token; return whether it has one."""
        message = mapping(body.get("message"))
        token = self._token_in(string(message.get("text")))
        if token is None:
            return False
        with raising_malformed():
            user = UserId(body["user"]["id"])
        await self._note_of(token, user, SHORTCUT, body)
        await ack()
        return True

    async def note_home(self, user: UserId, event: Body, refusal: SlackError | None) -> None:
        """Note the opening of the Home tab during a trial, and Slack's answer to the tab's view."""
        trial = await self._context.store.read(
            lambda tx: Trials(tx).of_user(user, self._context.clock())
        )
        if trial is not None:
            await self._note(trial, self._make_note("app_home_opened", shape=describe_shape(event)))
            await self._note(trial, self._make_note("views.publish", refusal))

    async def note_joined(self, channel: ChannelId, event: Body) -> None:
        """Note that the bot has joined a channel with a trial under way."""
        trial = await self._context.store.read(
            lambda tx: Trials(tx).of_channel(channel, self._context.clock())
        )
        if trial is not None:
            await self._note(
                trial, self._make_note("member_joined_channel", shape=describe_shape(event))
            )

    async def _answer_press(self, ack: AsyncAck, body: Body) -> None:
        trial = await self._note_press(body, PRESS)
        await ack()
        if trial is not None:
            self._background.start("open a form", self._open(trial, body))

    async def _answer_press_in_form(self, ack: AsyncAck, body: Body) -> None:
        trial = await self._note_press(body, PRESS_IN_FORM)
        await ack()
        if trial is not None:
            view = general.further_trial_form(trial.token)
            pushing = answered(self._client.views_push(trigger_id=body["trigger_id"], view=view))
            self._background.start("open a form", self._call(trial, "views.push", pushing))

    async def _note_press(self, body: Body, name: str) -> OpenTrial | None:
        with raising_malformed():
            token = string(body["actions"][0].get("value"))
            user = UserId(body["user"]["id"])
        return await self._note_of(token, user, name, body)

    async def _answer_submission(self, ack: AsyncAck, body: Body) -> None:
        with raising_malformed():
            token = string(body["view"].get("private_metadata"))
            user = UserId(body["user"]["id"])
        await self._note_of(token, user, SUBMISSION, body)
        await ack(response_action="clear")

    async def _open(self, trial: OpenTrial, body: Body) -> None:
        """Open the form, then change it."""
        opened: Mapping[str, Any] = {}

        async def open_form() -> None:
            nonlocal opened
            view = general.trial_form(trial.token, is_changed=False)
            answer = await answered(
                self._client.views_open(trigger_id=body["trigger_id"], view=view)
            )
            opened = mapping(answer.get("view"))

        async def change_form() -> None:
            view = general.trial_form(trial.token, is_changed=True)
            view_id = string(opened.get("id"))
            await answered(self._client.views_update(view_id=view_id, view=view))

        await self._call(trial, "views.open", open_form())
        if opened:
            await self._call(trial, "views.update", change_form())

    async def _call(self, trial: OpenTrial, name: str, call: Awaitable[object]) -> None:
        """Make a call, and note its outcome."""
        refusal: SlackError | None = None
        try:
            await call
        except SlackError as error:
            refusal = error
        await self._note(trial, self._make_note(name, refusal))

    def _make_note(
        self, name: str, refusal: SlackError | None = None, *, shape: object = None
    ) -> TrialNote:
        code = ""
        if refusal is not None:
            code = refusal.code if isinstance(refusal, SlackRefused) else str(refusal)
        return TrialNote(name, self._context.clock(), code, shape)

    def _token_in(self, text: str) -> str | None:
        if TOKEN_HEAD not in text:  # as in nearly every message
            return None
        return token_in(slack_text.without_leading_mention(text, self._context.bot_user))

    async def _note_of(
        self, token: str, user: UserId, name: str, body: Mapping[str, Any]
    ) -> OpenTrial | None:
        """Note an event of the person's trial, and return the trial; None for an invalid token."""
        trial = await self._context.store.read(
            lambda tx: Trials(tx).of_token(token, user, self._context.clock())
        )
        if trial is None:
            log.info("trial_is_over", what=name, user=user)
            return None
        await self._note(trial, self._make_note(name, shape=describe_shape(body)))
        return trial

    async def _note(self, trial: OpenTrial, note: TrialNote) -> None:
        def add(tx: Transaction) -> None:
            Trials(tx).add_note(trial.token, note)

        await self._context.store.write(add)

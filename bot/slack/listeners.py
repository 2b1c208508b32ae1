"""Bolt's listeners: parse each request, pass it to its use case, and acknowledge it once it is stored.

``process_before_response`` makes Bolt respond after the listener has ended. So every acknowledged request has
been stored, and Slack delivers an event again if it could not be stored.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.commands.command import Answer, Command, Modal, PressRun, ShortcutRun, SubmitRun
from bot.logs import about_request
from bot.messages import problems
from bot.messages.blocks import bare
from bot.messages.job_answers import with_prompt
from bot.model import ChannelId, Message
from bot.slack import payloads
from bot.slack.answering import say_privately
from bot.slack.background import Background
from bot.slack.client import Identity
from bot.slack.errors import translated
from bot.slack.messenger import SlackMessenger
from bot.store import DatabaseTrouble
from bot.work.access.channels import rename_channel
from bot.work.context import Context
from bot.work.jobs.corrections import heard_change
from bot.work.jobs.missed import Gap
from bot.work.jobs.thread_events import TooEarly
from bot.work.ports import Mention, SlackError, ThreadReply

log = structlog.get_logger(__name__)
Body = dict[str, Any]
_ANY = re.compile(".*")
_TAKEN_EVERYWHERE = frozenset({"section", "context", "actions", "rich_text"})


class Listeners:
    """The listeners and the parts that they share."""

    def __init__(
        self,
        *,
        context: Context,
        client: AsyncWebClient,
        messenger: SlackMessenger,
        background: Background,
        on_message: Callable[[Context, ThreadReply | Mention], Awaitable[None]],
        gap: Gap,
        count: Callable[[str, str], None],
    ) -> None:
        self._context = context
        self._client = client
        self._messenger = messenger
        self._background = background
        self._on_message = on_message
        self._gap = gap
        self._count = count

    def register(self, app: AsyncApp, commands: Sequence[Command]) -> None:
        """Register every command with its buttons, forms and shortcuts, and the events for messages."""
        for command in commands:
            app.command(command.name)(self._command(command))
            for action_id, pressed in command.buttons.items():
                app.action(action_id)(self._press(pressed))
            for callback_id, submitted in command.forms.items():
                app.view(callback_id)(self._submit(submitted))
            for callback_id, used in command.shortcuts.items():
                app.shortcut(callback_id)(self._shortcut(used))
        # Catch-alls: buttons that only open a link, and actions that another version of the app offered.
        app.action(_ANY)(_acknowledge)
        for refuse in (app.command, app.shortcut):
            refuse(_ANY)(self._unknown)
        app.view(_ANY)(_acknowledge)
        app.event("message")(self._heard)
        app.event("app_mention")(self._heard)
        app.event("channel_id_changed")(self._renamed)
        app.event(_ANY)(_nothing)  # Slack would deliver unacknowledged events again

    @contextmanager
    def _arrived(self, kind: str, key: str, what: str | None) -> Iterator[None]:
        """Count and log a request, and put its reference into each log line until the block ends."""
        self._count("requests", kind)
        with about_request(key):
            log.info("request", kind=kind, what=what)
            yield

    def _command(self, command: Command) -> Callable[..., Awaitable[None]]:
        async def listener(ack: AsyncAck, body: Body) -> None:
            with self._arrived("command", f"command:{body.get('trigger_id')}", command.name):
                await handle(ack, body)

        async def handle(ack: AsyncAck, body: Body) -> None:
            try:
                answer = await command.run(self._context, payloads.invocation(body))
            except Exception as error:
                # The person is told here and the operator in the log, under one reference.
                broken = _broke("command_failed", error, command=command.name)
                told = with_prompt(broken, payloads.invocation(body).typed)
                await ack(**_private(Message(told.text, told.plain_blocks)))
                return
            if answer.message is None or not _is_taken_everywhere(answer.message):
                await ack()
                self._show(answer, body)
                return
            await ack(**_private(answer.message))
            self._open_later(answer, body)

        return listener

    def _press(self, pressed: PressRun) -> Callable[..., Awaitable[None]]:
        async def listener(ack: AsyncAck, body: Body, action: Body) -> None:
            name = action.get("action_id")
            with self._arrived("button", f"press:{body.get('trigger_id')}", name):
                try:
                    answer = await pressed(self._context, payloads.press(body, action))
                except Exception as error:
                    answer = Answer(message=_broke("button_failed", error, action=name))
                await ack()
                self._show(answer, body)

        return listener

    def _submit(self, submitted: SubmitRun) -> Callable[..., Awaitable[None]]:
        async def listener(ack: AsyncAck, body: Body) -> None:
            name = body["view"].get("callback_id")
            with self._arrived("form", f"view:{body['view'].get('id')}", name):
                try:
                    errors = await submitted(self._context, payloads.submission(body))
                except Exception as error:
                    broken = _broke("form_failed", error, form=name)
                    await ack(response_action="errors", errors={_first_input(body): bare(broken)})
                    return
                if errors is None:
                    await ack()
                else:
                    await ack(response_action="errors", errors=dict(errors.errors))

        return listener

    def _shortcut(self, used: ShortcutRun) -> Callable[..., Awaitable[None]]:
        async def listener(ack: AsyncAck, body: Body) -> None:
            key = f"shortcut:{body.get('trigger_id')}"
            with self._arrived("shortcut", key, body.get("callback_id")):
                try:
                    answer = await used(self._context, payloads.shortcut_use(body))
                except Exception as error:
                    answer = Answer(message=_broke("shortcut_failed", error))
                await ack()
                self._show(answer, body)

        return listener

    async def _unknown(self, ack: AsyncAck, body: Body) -> None:
        """Tell the person that this version of the bot does not know the command or shortcut."""
        log.warning("unknown_to_this_version", offered=body.get("command") or body.get("callback_id"))
        if "command" in body:
            await ack(**_private(problems.unknown_command()))
            return
        await ack()
        self._say_later(problems.unknown_command(), body)

    async def _heard(self, event: Body) -> None:
        """Handle a message event. An exception leaves it unacknowledged, so that Slack delivers it again."""
        heard = payloads.spoken(event, self._context.bot_user, self._context.access_policy.bots)
        if heard is None:
            if (changed := payloads.changed(event)) is not None:
                await heard_change(self._context, changed)
            return
        self._count("requests", "message")
        await self._gap.end()
        # It may be meant for nobody here, so its arrival is logged only when it is stored.
        with about_request(heard.origin.key):
            try:
                await self._on_message(self._context, heard)
            except DatabaseTrouble:
                # Slack gives up after three tries; then the message is missed.
                self._gap.begin()
                raise

    async def _renamed(self, event: Body) -> None:
        """https://docs.slack.dev/reference/events/channel_id_changed"""
        old, new = ChannelId(event["old_channel_id"]), ChannelId(event["new_channel_id"])
        await rename_channel(self._context, old, new)
        # What was said under the new id may have been missed.
        self._gap.begin()

    def _show(self, answer: Answer, body: Body) -> None:
        if answer.later is not None:
            self._show_when_decided(answer, body)
            return
        self._say_later(answer.message, body, replaces=answer.replaces)
        self._open_later(answer, body)

    def _show_when_decided(self, answer: Answer, body: Body) -> None:
        """Decide the answer in the background, because calls to Slack must not delay the acknowledgement."""

        async def look() -> None:
            try:
                shown = await answer.decided()
            except Exception as error:
                # The person is told privately and the operator in the log, under one reference.
                self._say_later(_broke("access_check_failed", error), body)
                return
            self._show(shown, body)

        self._background.start("who may", look())

    def _say_later(self, message: Message | None, body: Body, *, replaces: bool = False) -> None:
        if message is None:
            return
        asker = payloads.asker(body)
        if asker.thread or asker.response_url:
            said = say_privately(self._messenger, asker, message, replaces=replaces)
            self._background.start("answer", said)

    def _open_later(self, answer: Answer, body: Body) -> None:
        if answer.modal is not None:
            self._background.start("open a form", self._open(answer.modal, body))

    async def _open(self, modal: Modal, body: Body) -> None:
        """The trigger expires after three seconds (https://docs.slack.dev/surfaces/modals#trigger_id)."""
        try:
            async with translated():
                await self._client.views_open(trigger_id=body["trigger_id"], view=dict(modal.view))
        except SlackError as error:
            log.warning("form_not_opened", reason=str(error))
            await say_privately(self._messenger, payloads.asker(body), problems.form_not_opened())


def _is_taken_everywhere(message: Message) -> bool:
    """Return whether no workspace refuses the message.

    Some refuse charts and tables. In an acknowledgement these vanish without a word, so that the plain form
    could not follow. Other answers go with the acknowledgement, so that no crash comes between the two.
    """
    return all(block["type"] in _TAKEN_EVERYWHERE for block in message.blocks)


def _private(message: Message) -> dict[str, Any]:
    """Return the arguments of an acknowledgement with a message that only the person sees."""
    given: dict[str, Any] = {"response_type": "ephemeral", "text": message.text}
    return given | {"blocks": list(message.blocks)} if message.blocks else given


def _broke(event: str, error: Exception, **about: object) -> Message:
    """Log the exception under the request's reference, and return a message that quotes it."""
    reference = structlog.contextvars.get_contextvars().get("request") or secrets.token_hex(4)
    log.error(event, reference=reference, exc_info=error, **about)
    return problems.something_broke(reference)


def _first_input(body: Body) -> str:
    blocks = body["view"].get("blocks") or []
    return next((str(block["block_id"]) for block in blocks if block.get("type") == "input"), "prompt")


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()


async def _nothing() -> None:
    """Ignore an event; Bolt acknowledges it."""


def build_app(
    *,
    client: AsyncWebClient,
    identity: Identity,
    token: SecretStr,
    signing_secret: SecretStr | None,
    listeners: Listeners,
    commands: Sequence[Command],
) -> AsyncApp:
    """Return Bolt's app with all listeners.

    The bot's identity is given, so that no request has to ask Slack for it. ``signing_secret`` is None in
    Socket Mode, where nothing arrives over HTTP.
    """
    known = AuthorizeResult(
        enterprise_id=identity.enterprise_id,
        team_id=identity.team_id,
        bot_id=identity.bot_id,
        bot_user_id=identity.bot_user,
        bot_token=token.get_secret_value(),
    )

    async def authorize() -> AuthorizeResult:
        return known

    app = AsyncApp(
        name="docs-agent",
        # Without a token, because ``authorize`` returns it; Bolt warns when it gets both.
        client=AsyncWebClient(base_url=client.base_url, session=client.session),
        authorize=authorize,
        # Bolt does not start without a secret; ``http.py`` checks signatures before Bolt gets a request.
        signing_secret=signing_secret.get_secret_value() if signing_secret else secrets.token_hex(16),
        process_before_response=True,
        # Middleware for features that the bot does not use; each would cost every request time.
        request_verification_enabled=False,
        ignoring_self_assistant_message_events_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    app.error(_failed)
    listeners.register(app, commands)
    return app


async def _failed(error: Exception, body: Body) -> None:
    """Log an event that could not be stored; Bolt's status 500 makes Slack deliver it again."""
    if isinstance(error, TooEarly):
        log.info("event_too_early", event_id=body.get("event_id"))
        return
    log.error("event_not_stored", event_id=body.get("event_id"), exc_info=error)

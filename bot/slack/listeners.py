"""Bolt's listeners: each reads a request, runs its use case, and acknowledges it.

Bolt runs a listener before it responds, so every acknowledged request has been stored. An event
whose listener fails is not acknowledged, and Slack delivers it again.
https://docs.slack.dev/tools/bolt-python/concepts/acknowledge
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_sdk.web.async_client import AsyncWebClient

from bot.access.admit import NotAllowed, admit
from bot.commands.command import (
    Answer,
    Arrived,
    Command,
    FillModal,
    FormErrors,
    FormState,
    Request,
    run_if_allowed,
)
from bot.context import Context
from bot.ids import ChannelId, Message
from bot.inbox.outage import Outage
from bot.inbox.places import follow_channel, keep_private, note_invitation
from bot.inbox.receive import receive, receive_change
from bot.jobs.messages import problems
from bot.jobs.welcome import welcome
from bot.logs import about_request
from bot.messages.blocks import LINKS, bare, modal, text_blocks, with_prompt, words
from bot.ports import Mention, Origin, SlackError, SlackRefused, ThreadReply
from bot.slack import message_events, payloads
from bot.slack.client import answered
from bot.slack.intake import Background, say_privately
from bot.slack.messenger import SlackMessenger
from bot.slack.trial_door import TrialDoor
from bot.store import DatabaseTrouble
from bot.store.database import error_fields
from bot.store.deadline import OutcomeUnknown, current_deadline

log = structlog.get_logger(__name__)
Body = dict[str, Any]
SlackApp = AsyncApp
"""Bolt's own class, under a name for the layers above, which do not import Slack's libraries."""
_MESSAGES = re.compile("message|app_mention")
_LIMITED_SECONDS = 60.0
_HOME_TITLE = "Docs agent"
_IN_DIRECT = words("The answer comes in our messages, in a moment.")
_CONTROLS = frozenset({"block_actions", "view_submission", "shortcut", "message_action"})
"""Payloads of controls that a version of the app offers."""
_CLOSED = "not_found"
"""Slack's code for a form that was closed before its content came."""
_ACCEPTED_BLOCKS = frozenset({"section", "context", "actions", "rich_text"})
"""The blocks that every workspace accepts."""


def build_app(
    *,
    context: Context,
    client: AsyncWebClient,
    messenger: SlackMessenger,
    background: Background,
    outage: Outage,
    commands: Sequence[Command],
) -> AsyncApp:
    """Return Bolt's app with the listeners."""
    # None in Socket Mode, where no request comes over HTTP.
    secret = context.settings.slack_signing_secret
    app = AsyncApp(
        name="docs-agent",
        # Without a token, so that Bolt asks ``_authorize`` and not Slack.
        client=AsyncWebClient(base_url=client.base_url, session=client.session),
        authorize=_authorize,
        # Bolt does not start without a secret. ``http.py`` checks signatures before Bolt does.
        signing_secret=secret.get_secret_value() if secret else secrets.token_hex(16),
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        # Middleware that the bot does not use. Each would slow down every request.
        request_verification_enabled=False,
        ignoring_self_events_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
        ssl_check_enabled=False,
    )
    trials = TrialDoor(context, client, messenger, background)
    _Listeners(context, client, messenger, background, outage, commands, trials).register(app)
    return app


async def _authorize() -> AuthorizeResult:
    """Return the one workspace of the bot, without a call of Slack."""
    return AuthorizeResult(enterprise_id=None, team_id=None)


@dataclass(frozen=True, slots=True)
class _Listeners:
    """The listeners, and the parts that they share."""

    _context: Context
    _client: AsyncWebClient
    _messenger: SlackMessenger
    _background: Background
    _outage: Outage
    _commands: Sequence[Command]
    _trials: TrialDoor

    def register(self, app: AsyncApp) -> None:
        """Register the events, and the commands with their buttons, forms and shortcuts."""
        # Events first: Bolt tries one listener after the other, and most requests are messages that
        # the bot ignores. One costs 0.04 ms of processor time so, and 0.26 ms behind the commands.
        app.event(_MESSAGES)(self._message)
        app.event("app_home_opened")(self._home)
        app.event("channel_id_changed")(self._channel_moved)
        app.event("member_joined_channel")(self._joined)
        for command in self._commands:
            run = self._listener("command", command.name, payloads.invocation, command.run)
            app.command(command.name)(run)
            for name, pressed in command.buttons.items():
                app.action(name)(self._listener("button", name, payloads.press, pressed))
            for name, submitted in command.forms.items():
                app.view(name)(self._listener("form", name, payloads.submission, submitted))
            for name, used in command.shortcuts.items():
                app.shortcut(name)(self._listener("shortcut", name, payloads.shortcut_use, used))
        self._trials.register(app)
        for name in LINKS:
            app.action(name)(_acknowledge)
        app.error(self._failed)

    async def _message(self, body: Body) -> None:
        """Store a message, or a change of one.

        After an exception Slack gets no acknowledgement, and delivers the event again.
        """
        event = body["event"]
        bot = self._context.bot_user
        allowed_bots = self._context.settings.allowed_bots
        try:
            if await self._trials.takes_event(event):
                return
            if event.get("subtype") == message_events.MADE_PRIVATE:
                with payloads.raising_malformed():
                    channel = ChannelId(event["channel"])
                await keep_private(self._context, channel)
                return
            if event.get("subtype") in message_events.CHANGES:
                with payloads.raising_malformed():
                    changed = message_events.changed(event, bot, allowed_bots)
                if changed is not None:
                    await receive_change(self._context, changed)
                return
            with payloads.raising_malformed():
                message = message_events.spoken(event, bot, allowed_bots)
            if message is not None:
                await self._receive(message)
        except DatabaseTrouble:
            # Slack gives up after three tries. Then the message or its change is missed.
            self._outage.begin()
            raise

    async def _receive(self, message: ThreadReply | Mention) -> None:
        await self._outage.end()
        # The inbox may ignore the message, so only its row is logged.
        with about_request(message.origin.key):
            await receive(self._context, [message])

    async def _channel_moved(self, body: Body) -> None:
        """Follow a channel to its new id.

        https://docs.slack.dev/reference/events/channel_id_changed
        """
        with payloads.raising_malformed():
            old = body["event"]["old_channel_id"]
            new = body["event"]["new_channel_id"]
        await follow_channel(self._context, ChannelId(old), ChannelId(new))

    async def _joined(self, body: Body) -> None:
        """Note that somebody invited the bot to a channel.

        The event has no ``inviter`` where the bot joined by itself.
        https://docs.slack.dev/reference/events/member_joined_channel
        """
        event = body["event"]
        with payloads.raising_malformed():
            is_bot = event["user"] == self._context.bot_user
            is_invited = is_bot and event.get("inviter")
            channel = ChannelId(event["channel"])
        if is_bot:
            await self._trials.note_joined(channel, event)
        if is_invited:
            await note_invitation(self._context, channel)

    async def _home(self, body: Body) -> None:
        """Show the welcome in the Home tab. After a failure a person opens the tab again."""
        with payloads.raising_malformed():
            origin = payloads.home_opened(body["event"])
        if origin is not None:
            self._background.start("show the Home tab", self._publish_home(origin, body["event"]))

    async def _publish_home(self, origin: Origin, event: Body) -> None:
        try:
            page = await welcome(self._context, await admit(self._context, origin))
        except NotAllowed as refusal:
            page = refusal.message
        view = {
            "type": "home",
            "blocks": list(page.blocks),
            "private_metadata": FormState(origin.channel).dumps(),
        }
        failed: SlackError | None = None
        try:
            await answered(self._client.views_publish(user_id=origin.user, view=view))
        except SlackError as error:
            failed = error
            log.warning("home_not_shown", reason=str(error))
        await self._trials.note_home(origin.user, event, failed)

    def _listener(
        self,
        kind: str,
        name: str,
        read: Callable[[Body], Arrived[Request]],
        run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
    ) -> Callable[..., Awaitable[None]]:
        """Return a listener that runs a request, and acknowledges it with its answer.

        Args:
            kind: The kind of request, for the metrics and the log.
            name: The name of the command, the button or the form.
            read: Returns the request in a payload.
            run: Runs the request of an admitted sender.
        """

        async def listener(ack: AsyncAck, body: Body) -> None:
            if kind == "command" and await self._trials.takes_command(ack, body):
                return
            if kind == "shortcut" and await self._trials.takes_shortcut(ack, body):
                return
            with payloads.raising_malformed():
                arrived = read(body)
            with about_request(arrived.origin.key):
                log.debug("request", kind=kind, what=name)
                try:
                    answer = await run_if_allowed(self._context, arrived, run)
                except Exception as error:
                    # One reference is in the person's message and in the operator's log.
                    broken = _broke(error, kind=kind, what=name)
                    answer = _answer(with_prompt(broken, arrived.text), body)
                if isinstance(answer, FormErrors) and _has_no_input(body["view"]):
                    self._show_errors(answer, arrived.origin)
                    answer = None
                await ack(**self._acknowledgement(answer, body))

        return listener

    def _show_errors(self, errors: FormErrors, origin: Origin) -> None:
        """Post the errors of a form without inputs, at which alone Slack shows errors."""
        message = Message("\n".join(errors.errors.values()))
        self._background.start("answer", say_privately(self._messenger, origin, message))

    def _acknowledgement(self, answer: Answer | FormErrors | None, body: Body) -> Body:
        """Return the body of the acknowledgement. Other answers are posted in the background."""
        if isinstance(answer, FormErrors):
            return {"response_action": "errors", "errors": dict(answer.errors)}
        if answer is None:
            return {}
        if (body.get("view") or {}).get("type") == "home" and answer.modal is None:
            # The tab shows no messages, so a window does.
            blocks = text_blocks((answer.message or _IN_DIRECT).text)
            answer = Answer(modal=modal(_HOME_TITLE, *blocks, callback_id="shown"))
        if answer.modal is not None:
            opening = self._open(answer.modal, body, answer.fill_modal)
            self._background.start("open a form", opening)
        message = answer.message
        if message is None:
            return {}
        if "command" in body and _is_accepted(message):
            # A crash between the acknowledgement and a post would lose the answer.
            response: Body = {"response_type": "ephemeral", "text": message.text}
            return response | {"blocks": list(message.blocks)} if message.blocks else response
        asker = payloads.asker(body)
        reply = say_privately(self._messenger, asker, message, replaces=answer.replaces)
        self._background.start("answer", reply)
        return {}

    async def _failed(self, error: Exception, body: Body) -> BoltResponse | None:
        """Respond to requests without a listener or with an unreadable payload; log failed events.

        Bolt responds to a failed event with status 500, and Slack delivers it again.
        """
        if isinstance(error, BoltUnhandledRequestError):
            return BoltResponse(status=200, body=self._unknown(body))
        if isinstance(error, payloads.Malformed):
            log.warning("request_malformed", reason=str(error))
            return BoltResponse(status=400)
        log.error("event_not_stored", event_id=body.get("event_id"), **error_fields(error))
        return None

    def _unknown(self, body: Body) -> Body | str:
        """Return the acknowledgement of a control of another version, or of another event."""
        if body.get("type") == "app_rate_limited":
            # Slack drops events, and reports that once a minute. The report is no event for Bolt:
            # https://docs.slack.dev/reference/events/app_rate_limited
            log.warning("events_dropped")
            self._outage.begin(_LIMITED_SECONDS)
        if body.get("type") not in _CONTROLS and "command" not in body:
            return ""
        log.warning("request_of_other_version", type=body.get("type", "command"))
        return self._acknowledgement(_answer(problems.UNKNOWN_COMMAND, body), body)

    async def _open(
        self, modal: Mapping[str, Any], body: Body, fill_modal: FillModal | None
    ) -> None:
        """Open a form, above an open one, and put its content in place of ``modal``.

        The trigger expires after three seconds: https://docs.slack.dev/surfaces/modals#trigger_id
        """
        is_above_another = (body.get("view") or {}).get("type") == "modal"
        open_view = self._client.views_push if is_above_another else self._client.views_open
        try:
            opened = await answered(open_view(trigger_id=body["trigger_id"], view=dict(modal)))
            if fill_modal is not None:
                await self._fill(str(opened["view"]["id"]), modal, fill_modal)
        except SlackError as error:
            if isinstance(error, SlackRefused) and error.code == _CLOSED:
                log.info("form_closed")
                return
            log.warning("form_not_opened", reason=str(error))
            await say_privately(self._messenger, payloads.asker(body), problems.FORM_NOT_OPENED)

    async def _fill(self, view_id: str, modal: Mapping[str, Any], fill_modal: FillModal) -> None:
        """Show the content of an open form. After a failure the form names it, and ends there.

        https://docs.slack.dev/reference/methods/views.update
        """
        try:
            view = dict(await fill_modal())
        except Exception as error:
            broken = _broke(error, kind="form", what=str(modal["callback_id"]))
            view = {**modal, "blocks": text_blocks(broken.text)}
        await answered(self._client.views_update(view_id=view_id, view=view))


def _broke(error: Exception, **fields: object) -> Message:
    """Log an exception, and return a message with the reference of its log line.

    The message differs if a part of the request may have been stored.
    """
    reference = structlog.contextvars.get_contextvars().get("request") or secrets.token_hex(4)
    log.error("request_failed", reference=reference, **error_fields(error), **fields)
    request = current_deadline()
    is_stored = isinstance(error, OutcomeUnknown) or (request is not None and request.has_written)
    return problems.something_broke(reference, may_be_stored=is_stored)


def _answer(message: Message, body: Body) -> Answer | FormErrors:
    """Return an answer with a message. A form stays open, with the message at its first input."""
    if body.get("type") != "view_submission":
        return Answer(message)
    inputs = (
        block["block_id"] for block in body["view"].get("blocks") or [] if block["type"] == "input"
    )
    return FormErrors({next(inputs, "prompt"): bare(message)})


def _has_no_input(view: Body) -> bool:
    """Return whether a form has no inputs, as for a prompt that is too long for one."""
    blocks = view.get("blocks") or []
    return bool(blocks) and not any(block["type"] == "input" for block in blocks)


def _is_accepted(message: Message) -> bool:
    """Return whether every workspace accepts the blocks of a message.

    Some refuse charts and tables. In an acknowledgement these vanish without an error, so that no
    plain form could follow.
    """
    return all(block["type"] in _ACCEPTED_BLOCKS for block in message.blocks)


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()

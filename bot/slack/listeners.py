"""Bolt's listeners: read each request, pass it to its use case, and acknowledge it once it is stored.

Bolt runs a listener before it responds, so every acknowledged request has been stored. An event whose
listener fails is not acknowledged, and Slack delivers it again.
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
    FormErrors,
    FormState,
    Request,
    run_if_allowed,
)
from bot.context import Context
from bot.ids import Message
from bot.jobs.catch_up import Gap
from bot.jobs.inbox import receive, receive_change
from bot.jobs.messages import problems
from bot.jobs.welcome import welcome
from bot.logs import about_request
from bot.messages.blocks import LINKS, bare, modal, text_blocks, with_prompt, words
from bot.ports import Origin, SlackError
from bot.slack import payloads
from bot.slack.client import answered
from bot.slack.intake import Background, say_privately
from bot.slack.messenger import SlackMessenger
from bot.store import DatabaseTrouble
from bot.store.database import error_fields
from bot.store.deadline import OutcomeUnknown, current_deadline

log = structlog.get_logger(__name__)
Body = dict[str, Any]
SlackApp = AsyncApp
"""Bolt's own class, under a name for the layers above, which do not import Slack's libraries."""
_MESSAGES = re.compile("message|app_mention")
_LIMITED_SECONDS = 60.0
_HOME_TITLE, _IN_DIRECT = "Docs agent", words("The answer comes in our messages, in a moment.")
_OFFERED = frozenset({"block_actions", "view_submission", "shortcut", "message_action"})
_TAKEN_EVERYWHERE = frozenset({"section", "context", "actions", "rich_text"})


def build_app(
    *,
    context: Context,
    client: AsyncWebClient,
    messenger: SlackMessenger,
    background: Background,
    gap: Gap,
    commands: Sequence[Command],
) -> AsyncApp:
    """Return Bolt's app with the listeners of the commands and events."""
    secret = (
        context.settings.slack_signing_secret
    )  # None in Socket Mode, where nothing arrives over HTTP
    app = AsyncApp(
        name="docs-agent",
        # Without a token, so that Bolt asks ``_authorize`` and not Slack.
        client=AsyncWebClient(base_url=client.base_url, session=client.session),
        authorize=_authorize,
        # Bolt does not start without a secret; ``http.py`` checks signatures before Bolt gets a request.
        signing_secret=secret.get_secret_value() if secret else secrets.token_hex(16),
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        # Middleware that the bot does not use; each would cost every request time.
        request_verification_enabled=False,
        ignoring_self_events_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
        ssl_check_enabled=False,
    )
    _Listeners(context, client, messenger, background, gap, commands).register(app)
    return app


async def _authorize() -> AuthorizeResult:
    """The bot serves one workspace, whose token it knows, so there is nothing to find out."""
    return AuthorizeResult(enterprise_id=None, team_id=None)


@dataclass(frozen=True, slots=True)
class _Listeners:
    """The listeners and the parts that they share."""

    _context: Context
    _client: AsyncWebClient
    _messenger: SlackMessenger
    _background: Background
    _gap: Gap
    _commands: Sequence[Command]

    def register(self, app: AsyncApp) -> None:
        """Register the events, and the commands with their buttons, forms and shortcuts."""
        # Events first: Bolt tries one listener after the other, and most requests are messages for nobody
        # here. One costs 0.04 ms of processor time so, and 0.26 ms behind the commands and buttons.
        app.event(_MESSAGES)(self._message)
        app.event("app_home_opened")(self._home)
        for command in self._commands:
            run = self._listener("command", command.name, payloads.invocation, command.run)
            app.command(command.name)(run)
            for name, pressed in command.buttons.items():
                app.action(name)(self._listener("button", name, payloads.press, pressed))
            for name, submitted in command.forms.items():
                app.view(name)(self._listener("form", name, payloads.submission, submitted))
            for name, used in command.shortcuts.items():
                app.shortcut(name)(self._listener("shortcut", name, payloads.shortcut_use, used))
        for name in LINKS:
            app.action(name)(_acknowledge)
        app.error(self._failed)

    async def _message(self, body: Body) -> None:
        """Store a message event. An exception leaves it unacknowledged, so that Slack delivers it again."""
        event = body["event"]
        bot = self._context.bot_user
        allowed_bots = self._context.settings.allowed_bots
        is_change = event.get("subtype") in payloads.CHANGES
        with payloads.raising_malformed():
            changed = payloads.changed(event, bot) if is_change else None
            message = None if is_change else payloads.spoken(event, bot, allowed_bots)
        try:
            if message is not None:
                await self._gap.end()
                # It may be for nobody here, so its arrival is logged only when it is stored.
                with about_request(message.origin.key):
                    await receive(self._context, message, born=self._gap.began)
            elif changed is not None:
                await receive_change(self._context, changed)
        except DatabaseTrouble:
            # Slack gives up after three tries; then the message or its change is missed.
            self._gap.begin()
            raise

    async def _home(self, body: Body) -> None:
        """Show the welcome in the Home tab. Opening the tab again repeats a try that failed."""
        with payloads.raising_malformed():
            origin = payloads.home_opened(body["event"])
        if origin is not None:
            self._background.start("show the Home tab", self._publish_home(origin))

    async def _publish_home(self, origin: Origin) -> None:
        try:
            page = await welcome(self._context, await admit(self._context, origin))
        except NotAllowed as refusal:
            page = refusal.message
        blocks, private = list(page.blocks), FormState(origin.channel).dumps()
        view = {"type": "home", "blocks": blocks, "private_metadata": private}
        try:
            await answered(self._client.views_publish(user_id=origin.user, view=view))
        except SlackError as error:
            log.warning("home_not_shown", reason=str(error))

    def _listener(
        self,
        kind: str,
        name: str,
        read: Callable[[Body], Arrived[Request]],
        run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
    ) -> Callable[..., Awaitable[None]]:
        """Return a listener that acknowledges with the answer, or shows it right after."""

        async def listener(ack: AsyncAck, body: Body) -> None:
            with payloads.raising_malformed():
                arrived = read(body)
            with about_request(arrived.origin.key):
                log.debug("request", kind=kind, what=name)
                try:
                    answer = await run_if_allowed(self._context, arrived, run)
                except Exception as error:
                    # The person reads it here and the operator in the log, under one reference.
                    broken = _broke(error, kind=kind, what=name)
                    answer = _answer(with_prompt(broken, arrived.typed), body)
                if isinstance(answer, FormErrors) and _has_no_input(body["view"]):
                    # Slack shows errors only at inputs, so the form closes.
                    message = Message("\n".join(answer.errors.values()))
                    self._background.start(
                        "answer", say_privately(self._messenger, arrived.origin, message)
                    )
                    answer = None
                await ack(**self._acknowledgement(answer, body))

        return listener

    def _acknowledgement(self, answer: Answer | FormErrors | None, body: Body) -> Body:
        """Return the body of the acknowledgement. Longer answers are posted in the background."""
        if isinstance(answer, FormErrors):
            return {"response_action": "errors", "errors": dict(answer.errors)}
        if answer is None:
            return {}
        if (body.get("view") or {}).get("type") == "home" and answer.modal is None:
            # The tab shows no messages, so a window does.
            blocks = text_blocks((answer.message or _IN_DIRECT).text)
            answer = Answer(modal=modal(_HOME_TITLE, *blocks, callback_id="shown"))
        if answer.modal is not None:
            self._background.start("open a form", self._open(answer.modal, body))
        if answer.message is None:
            return {}
        message = answer.message
        # Some workspaces refuse charts and tables. In an acknowledgement these vanish without a word, so that
        # the plain form could not follow. Other answers go with it, so that no crash comes between the two.
        if "command" in body and all(
            block["type"] in _TAKEN_EVERYWHERE for block in message.blocks
        ):
            response: Body = {"response_type": "ephemeral", "text": message.text}
            return response | {"blocks": list(message.blocks)} if message.blocks else response
        reply = say_privately(
            self._messenger, payloads.asker(body), answer.message, replaces=answer.replaces
        )
        self._background.start("answer", reply)
        return {}

    async def _failed(self, error: Exception, body: Body) -> BoltResponse | None:
        """Respond to requests without a listener or with an unreadable payload, and log events that failed.

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
        """Return the acknowledgement of a control of another version of the app, or of another event."""
        if body.get("type") == "app_rate_limited":
            # Slack drops events and reports that once a minute. Bolt's listeners do not match this event,
            # because it contains no other: https://docs.slack.dev/reference/events/app_rate_limited
            log.warning("events_dropped")
            self._gap.begin(_LIMITED_SECONDS)
        if body.get("type") not in _OFFERED and "command" not in body:
            return ""
        log.warning("unknown_to_this_version", type=body.get("type", "command"))
        return self._acknowledgement(_answer(problems.UNKNOWN_COMMAND, body), body)

    async def _open(self, modal: Mapping[str, Any], body: Body) -> None:
        """The trigger expires after three seconds (https://docs.slack.dev/surfaces/modals#trigger_id)."""
        try:
            is_inside = (body.get("view") or {}).get("type") == "modal"
            open_view = self._client.views_push if is_inside else self._client.views_open
            await answered(open_view(trigger_id=body["trigger_id"], view=dict(modal)))
        except SlackError as error:
            log.warning("form_not_opened", reason=str(error))
            await say_privately(self._messenger, payloads.asker(body), problems.FORM_NOT_OPENED)


def _broke(error: Exception, **fields: object) -> Message:
    """Log the exception under the request's reference, and return a message that quotes it.

    The message differs if a part of the request may have been stored.
    """
    reference = structlog.contextvars.get_contextvars().get("request") or secrets.token_hex(4)
    log.error("request_failed", reference=reference, **error_fields(error), **fields)
    request = current_deadline()
    is_stored = isinstance(error, OutcomeUnknown) or (request is not None and request.has_written)
    return problems.something_broke(reference, may_be_stored=is_stored)


def _answer(message: Message, body: Body) -> Answer | FormErrors:
    """Return an answer with this message. A form stays open, with the message at its first input."""
    if body.get("type") != "view_submission":
        return Answer(message)
    inputs = (
        block["block_id"] for block in body["view"].get("blocks") or [] if block["type"] == "input"
    )
    return FormErrors({next(inputs, "prompt"): bare(message)})


def _has_no_input(view: Body) -> bool:
    """Return whether a form only shows something, as that of a prompt which is too long for a form."""
    blocks = view.get("blocks") or []
    return bool(blocks) and not any(block["type"] == "input" for block in blocks)


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()

"""The listeners: parse each request, pass it to its use case, and acknowledge it once it is stored.

A listener returns what the acknowledgement says. So every acknowledged request has been stored, and Slack
delivers an event again if it could not be stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.commands.command import Answer, Command, Modal, PressRun, ShortcutRun, SubmitRun
from bot.logs import about_request
from bot.messages import problems
from bot.messages.blocks import bare
from bot.messages.job_answers import with_prompt
from bot.model.message import Message
from bot.slack import payloads
from bot.slack.answering import say_privately
from bot.slack.background import Background
from bot.slack.dispatch import Body, Dispatch, Kind, Listener
from bot.slack.errors import translated
from bot.slack.messenger import SlackMessenger
from bot.store import DatabaseTrouble
from bot.store.deadline import Deadline, OutcomeUnknown, current
from bot.work.context import Context
from bot.work.jobs.corrections import heard_change
from bot.work.jobs.missed import Gap
from bot.work.jobs.thread_events import TooEarly
from bot.work.ports import Mention, SlackError, ThreadReply

log = structlog.get_logger(__name__)
_LIMITED_SECONDS = 60.0
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

    def dispatch(self, commands: Sequence[Command]) -> Dispatch:
        """Return the listeners of these commands, their buttons, forms and shortcuts, and of the events."""
        found = Dispatch()
        for command in commands:
            found.add(Kind.COMMAND, command.name, self._command(command))
            for action_id, pressed in command.buttons.items():
                found.add(Kind.BUTTON, action_id, self._press(pressed))
            for callback_id, submitted in command.forms.items():
                found.add(Kind.FORM, callback_id, self._submit(submitted))
            for callback_id, used in command.shortcuts.items():
                found.add(Kind.SHORTCUT, callback_id, self._shortcut(used))
        found.add(Kind.EVENT, "message", self._heard)
        found.add(Kind.EVENT, "app_mention", self._heard)
        found.add(Kind.EVENT, "app_rate_limited", self._limited)
        # Buttons that only open a link, events that Slack would deliver again if they were not acknowledged,
        # and what another version of the app offered.
        for kind in (Kind.BUTTON, Kind.FORM, Kind.EVENT):
            found.add_for_others(kind, _acknowledge)
        for kind in (Kind.COMMAND, Kind.SHORTCUT):
            found.add_for_others(kind, self._unknown)
        return found

    @contextmanager
    def _arrived(self, kind: Kind, key: str, what: str | None) -> Iterator[None]:
        """Count and log a request, and put its reference into each log line until the block ends."""
        self._count("requests", kind)
        with about_request(key):
            log.info("request", kind=kind, what=what)
            yield

    def _command(self, command: Command) -> Listener:
        async def listener(body: Body) -> Body | None:
            with self._arrived(Kind.COMMAND, f"command:{body.get('trigger_id')}", command.name):
                return await handle(body)

        async def handle(body: Body) -> Body | None:
            try:
                answer = await command.run(self._context, payloads.invocation(body))
            except Exception as error:
                # The person is told here and the operator in the log, under one reference.
                told = _to_copy(_broke("command_failed", error, command=command.name), body)
                return _private(Message(told.text, told.plain_blocks))
            if answer.message is None or not _is_taken_everywhere(answer.message):
                self._show(answer, body)
                return None
            self._open_later(answer, body)
            return _private(answer.message)

        return listener

    def _press(self, pressed: PressRun) -> Listener:
        async def listener(body: Body) -> None:
            action = body["actions"][0]
            name = action.get("action_id")
            with self._arrived(Kind.BUTTON, f"press:{body.get('trigger_id')}", name):
                try:
                    answer = await pressed(self._context, payloads.press(body, action))
                except Exception as error:
                    answer = Answer(message=_broke("button_failed", error, action=name))
                self._show(answer, body)

        return listener

    def _submit(self, submitted: SubmitRun) -> Listener:
        async def listener(body: Body) -> Body | None:
            name = body["view"].get("callback_id")
            with self._arrived(Kind.FORM, f"view:{body['view'].get('id')}", name):
                try:
                    errors = await submitted(self._context, payloads.submission(body))
                except Exception as error:
                    broken = _broke("form_failed", error, form=name)
                    return _refused({_first_input(body): bare(broken)})
                return _refused(errors.errors) if errors else None

        return listener

    def _shortcut(self, used: ShortcutRun) -> Listener:
        async def listener(body: Body) -> None:
            key = f"shortcut:{body.get('trigger_id')}"
            with self._arrived(Kind.SHORTCUT, key, body.get("callback_id")):
                try:
                    answer = await used(self._context, payloads.shortcut_use(body))
                except Exception as error:
                    answer = Answer(message=_broke("shortcut_failed", error))
                self._show(answer, body)

        return listener

    async def _unknown(self, body: Body) -> Body | None:
        """Tell the person that this version of the bot does not know the command or shortcut."""
        log.warning("unknown_to_this_version", offered=body.get("command") or body.get("callback_id"))
        if "command" in body:
            return _private(problems.unknown_command())
        self._say_later(problems.unknown_command(), body)
        return None

    async def _heard(self, body: Body) -> None:
        """Handle a message event. An exception leaves it unacknowledged, so that Slack delivers it again."""
        event = body["event"]
        heard = payloads.spoken(event, self._context.bot_user, self._context.access_policy.bots)
        try:
            if heard is not None:
                await self._spoken(heard)
            elif (changed := payloads.changed(event, self._context.bot_user)) is not None:
                await heard_change(self._context, changed)
        except DatabaseTrouble:
            # Slack gives up after three tries; then the message or its change is missed.
            self._gap.begin()
            raise

    async def _spoken(self, heard: ThreadReply | Mention) -> None:
        self._count("requests", "message")
        await self._gap.end()
        # It may be meant for nobody here, so its arrival is logged only when it is stored.
        with about_request(heard.origin.key):
            await self._on_message(self._context, heard)

    async def _limited(self, _body: Body) -> None:
        """Note that Slack drops events. It tells so once in each minute in which it does.

        https://docs.slack.dev/reference/events/app_rate_limited
        """
        log.warning("events_dropped")
        self._gap.begin(_LIMITED_SECONDS)

    def _show(self, answer: Answer, body: Body) -> None:
        if answer.later is not None:
            self._show_when_decided(answer, body)
            return
        self._say_later(answer.message, body, replaces=answer.replaces)
        self._open_later(answer, body)

    def _show_when_decided(self, answer: Answer, body: Body) -> None:
        """Decide the answer in the background, because calls to Slack must not delay the acknowledgement."""

        request = current()

        async def look() -> None:
            try:
                shown = await answer.decided()
            except Exception as error:
                # The person is told privately and the operator in the log, under one reference.
                self._say_later(_to_copy(_broke("access_check_failed", error, request), body), body)
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


def _private(message: Message) -> Body:
    """Return an acknowledgement with a message that only the person sees."""
    given: Body = {"response_type": "ephemeral", "text": message.text}
    return given | {"blocks": list(message.blocks)} if message.blocks else given


def _refused(errors: Mapping[str, str]) -> Body:
    """Return an acknowledgement with the errors of a form's inputs, which stays open."""
    return {"response_action": "errors", "errors": dict(errors)}


def _broke(event: str, error: Exception, request: Deadline | None = None, **about: object) -> Message:
    """Log the exception under the request's reference, and return a message that quotes it.

    ``request``: None for the current one. The message says so if something of it may have been stored.
    """
    reference = structlog.contextvars.get_contextvars().get("request") or secrets.token_hex(4)
    log.error(event, reference=reference, exc_info=error, **about)
    request = request or current()
    is_stored = isinstance(error, OutcomeUnknown) or (request is not None and request.has_written)
    return problems.something_broke(reference, may_be_stored=is_stored)


def _to_copy(broken: Message, body: Body) -> Message:
    """Return the message with the command that somebody typed, which Slack does not show any more."""
    return with_prompt(broken, payloads.invocation(body).typed) if "command" in body else broken


def _first_input(body: Body) -> str:
    blocks = body["view"].get("blocks") or []
    return next((str(block["block_id"]) for block in blocks if block.get("type") == "input"), "prompt")


async def _acknowledge(_body: Body) -> None:
    """Do nothing; the request is acknowledged."""


def build_app(
    *,
    client: AsyncWebClient,
    signing_secret: SecretStr | None,
    listeners: Listeners,
    commands: Sequence[Command],
) -> AsyncApp:
    """Return Bolt's app with all listeners.

    ``signing_secret`` is None in Socket Mode, where nothing arrives over HTTP.
    """
    app = AsyncApp(
        name="docs-agent",
        # Without a token, so that Bolt asks ``_authorize`` and not Slack.
        client=AsyncWebClient(base_url=client.base_url, session=client.session),
        authorize=_authorize,
        # Bolt does not start without a secret; ``http.py`` checks signatures before Bolt gets a request.
        signing_secret=signing_secret.get_secret_value() if signing_secret else secrets.token_hex(16),
        before_authorize=listeners.dispatch(commands),
        request_verification_enabled=False,
    )
    app.error(_failed)
    return app


async def _authorize() -> AuthorizeResult:
    """Let requests without a listener pass to Bolt's own middleware, which needs no token for them."""
    return AuthorizeResult(enterprise_id=None, team_id=None)


async def _failed(error: Exception, body: Body) -> None:
    """Log an event that could not be stored; Bolt's status 500 makes Slack deliver it again."""
    if isinstance(error, TooEarly):
        log.info("event_too_early", event_id=body.get("event_id"))
        return
    log.error("event_not_stored", event_id=body.get("event_id"), exc_info=error)

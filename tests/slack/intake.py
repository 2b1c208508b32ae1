"""Bolt's app with all listeners, on a database in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlencode

from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from sqlalchemy import select

from bot.access.model import Access, Members, access_fingerprint
from bot.commands.command import Command
from bot.context import Context
from bot.ids import ChannelId, Message, UserId
from bot.inbox.outage import Outage
from bot.inbox.store import inbox
from bot.jobs.store.jobs import Jobs
from bot.ports import Profile
from bot.projects import Projects
from bot.settings import Settings
from bot.slack.client import make_web_client, open_session
from bot.slack.intake import Background
from bot.slack.listeners import build_app
from bot.slack.messenger import SlackMessenger
from bot.store import Store
from bot.store.deadline import Deadline, current_deadline, within
from sandbox.workspace.bot_connection import signature_headers
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT, HeldClock, new_store, rows_of

SECRET = "signing-secret"
RESPONSE_URL = "https://hooks.slack.com/commands/1/2/3"
NOWHERE = "http://127.0.0.1:9/api/"
"""An address without a server: a listener that calls Slack before its acknowledgement fails."""


class FakeSlack:
    """The calls of Slack that requests make; it answers none about Ben's profile."""

    async def answer(self, _url: SecretStr, _message: Message, *, replaces: bool = False) -> None:
        pass

    async def is_public(self, _channel: ChannelId) -> bool:
        return True

    async def profile(self, user: UserId) -> Profile:
        if user == BEN:
            await asyncio.Event().wait()
        return Profile(False, False, False, False)


class Intake:
    """Bolt's app on a real registry."""

    def __init__(self, app: AsyncApp, store: Store, background: Background) -> None:
        self.app, self.store, self.background = app, store, background

    async def send(
        self, body: str, content_type: str = "application/x-www-form-urlencoded"
    ) -> BoltResponse:
        """Send a request of Slack."""
        headers: dict[str, Any] = {**signature_headers(SECRET, body), "Content-Type": content_type}
        with within(current_deadline() or Deadline.after(10)):
            return await self.app.async_dispatch(AsyncBoltRequest(body=body, headers=headers))

    async def command(
        self, text: str, name: str = "/docs-agent", trigger: str = "1.2.3", user: UserId = ANA
    ) -> BoltResponse:
        fields = {"command": name, "text": text, "trigger_id": trigger, "channel_id": CHANNEL}
        fields["user_id"] = user
        return await self.send(urlencode(fields | {"response_url": RESPONSE_URL}))

    async def interaction(self, **payload: Any) -> BoltResponse:
        common = {"user": {"id": ANA}, "trigger_id": "1.2.3", "team": {"id": "T1"}}
        return await self.send(urlencode({"payload": json.dumps({**common, **payload})}))

    async def event(self, **event: Any) -> BoltResponse:
        whole = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event}
        return await self.send(json.dumps(whole), "application/json")

    async def stored(self) -> int:
        """Count the jobs."""
        return len(await self.store.read(lambda tx: Jobs(tx).newest(100)))

    async def heard(self) -> int:
        """Count the messages in the inbox."""
        return len(await rows_of(self.store, select(inbox)))


@asynccontextmanager
async def open_intake(commands: Sequence[Command]) -> AsyncIterator[Intake]:
    store, background = await new_store(), Background()
    messenger = cast("SlackMessenger", FakeSlack())
    await store.write(
        lambda tx: Members(tx).remember(ANA, Access.MEMBER, access_fingerprint(Settings()), NOW)
    )
    async with open_session() as session:
        client = make_web_client(SecretStr("xoxb-1"), NOWHERE, session)
        settings = Settings(slack_signing_secret=SecretStr(SECRET))
        context = Context(
            store,
            messenger,
            HeldClock(),
            lambda: None,
            Projects.only(PROJECT),
            settings,
            UserId("U0BOT"),
        )
        app = build_app(
            context=context,
            client=client,
            messenger=messenger,
            background=background,
            outage=Outage(context),
            commands=commands,
        )
        yield Intake(app, store, background)
        await background.drain(2)
    await store.close()


MENTION = {
    "type": "app_mention",
    "channel": CHANNEL,
    "ts": "1.1",
    "user": ANA,
    "text": "<@U0BOT> Add a page on keys",
}

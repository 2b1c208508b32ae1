"""The client of Slack's Web API, and the identity of the bot's token."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
import structlog
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.model.ids import UserId
from bot.model.polling import back_off_seconds
from bot.model.refusal import Refusal
from bot.slack.errors import translated
from bot.work.ports import SlackError, SlackRefused, SlackThrottled

log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")

SlackClient = AsyncWebClient
"""Slack's own client class, under a name for the layers above, which do not import Slack's libraries."""

_MOST_PAUSE_SECONDS = 30.0
"""The longest pause between two questions of a start, unless Slack asks for a longer one."""
_TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=5)


@dataclass(frozen=True, slots=True)
class Identity:
    """The bot and workspace of the token (https://docs.slack.dev/reference/methods/auth.test)."""

    bot_user: UserId
    bot_name: str
    team: str
    team_id: str
    workspace_url: str
    enterprise_id: str | None


def open_session(proxy: str | None = None) -> aiohttp.ClientSession:
    """Return an HTTP session with time-outs. It uses this proxy and none from the environment."""
    return aiohttp.ClientSession(timeout=_TIMEOUT, trust_env=False, proxy=proxy)


def web_client(
    token: SecretStr, api_url: str, session: aiohttp.ClientSession, proxy: str | None = None
) -> AsyncWebClient:
    """Return Slack's client without its retries, which could post twice after a broken connection."""
    client = AsyncWebClient(
        token=token.get_secret_value(), base_url=api_url, session=session, retry_handlers=[]
    )
    # The library takes proxies from the environment, even for local addresses, and ignores NO_PROXY.
    client.proxy = proxy
    return client


async def until_answered(
    ask: Callable[[], Awaitable[Answer]], pause: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> Answer:
    """Ask Slack until it answers, with growing pauses of seconds. Raises SlackRefused if it refuses for good.

    A start needs Slack, and a fault of Slack passes: an operator can do nothing about it.
    """
    tries = 0
    while True:
        tries += 1
        seconds = back_off_seconds(tries, chance=1.0, cap=_MOST_PAUSE_SECONDS)
        try:
            return await ask()
        except SlackError as error:
            if isinstance(error, SlackRefused) and error.meaning is not Refusal.PASSING:
                raise
            if isinstance(error, SlackThrottled):
                seconds = max(seconds, error.retry_after_seconds)
            log.warning("start_waits_for_slack", reason=str(error), seconds=seconds)
        await pause(seconds)


async def identify(client: AsyncWebClient) -> Identity:
    """Return the identity of the client's token. Raises a SlackError; SlackRefused for a wrong token."""
    async with translated():
        answer = await client.auth_test()
    return Identity(
        bot_user=UserId(str(answer.get("user_id") or "")),
        bot_name=str(answer.get("user") or "docs-agent"),
        team=str(answer.get("team") or ""),
        team_id=str(answer.get("team_id") or ""),
        workspace_url=str(answer.get("url") or ""),
        enterprise_id=answer.get("enterprise_id"),
    )

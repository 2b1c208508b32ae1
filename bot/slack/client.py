"""The client of Slack's Web API, and the identity of the bot's token."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import UserId
from bot.slack.errors import translated

SlackClient = AsyncWebClient
"""Slack's own client class, under a name for the layers above, which do not import Slack's libraries."""

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

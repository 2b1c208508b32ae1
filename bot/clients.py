"""The clients of Slack, of the docs service and of GitHub, opened for the settings."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from time import monotonic

import aiohttp
import httpx

from bot.docs_api import DiscoveryClient, DocsClient, DocsClients
from bot.github import GithubClient
from bot.ids import ProjectId
from bot.ports import Clock
from bot.settings import Settings
from bot.slack.client import (
    Identity,
    SlackClient,
    identify,
    make_web_client,
    open_session,
    retry_until_answered,
)
from bot.slack.messenger import SlackMessenger


@dataclass(frozen=True, slots=True)
class Clients:
    """The clients of Slack, of the docs service and of GitHub."""

    slack: SlackClient
    identity: Identity
    messenger: SlackMessenger
    docs: DocsClient
    github: GithubClient
    discovery: Mapping[ProjectId, DiscoveryClient]


@dataclass(frozen=True, slots=True)
class Doors:
    """Connections that stay within the process, in place of the network, and in place of chance."""

    slack: aiohttp.ClientSession
    docs: httpx.AsyncBaseTransport
    github: httpx.AsyncBaseTransport
    chance: Callable[[], float] = random.random


async def connect(
    settings: Settings, stack: AsyncExitStack, doors: Doors | None, now: Clock
) -> Clients:
    """Open the clients, and close them when the stack ends.

    Waits for Slack while it cannot be reached.
    """
    proxy = settings.proxy_for(settings.slack_api_url)
    session = doors.slack if doors else await stack.enter_async_context(open_session(proxy))
    slack = make_web_client(settings.slack_bot_token, settings.slack_api_url, session, proxy)
    docs = await stack.enter_async_context(
        _make_docs_client(settings, doors.docs if doors else None, now)
    )
    address = settings.github_api_url
    github = GithubClient(
        api_url=address,
        token=settings.github_token,
        transport=doors.github if doors else None,
        proxy=settings.proxy_for(address),
        now=now,
    )
    stack.push_async_callback(github.aclose)
    identity = await retry_until_answered(partial(identify, slack))
    cache_clock = (lambda: now().timestamp()) if doors else monotonic
    messenger = SlackMessenger(
        slack,
        session,
        settings.slack_api_url,
        identity,
        settings.allowed_bots,
        cache_clock,
    )
    discovery = _make_discovery_client(settings, doors.docs if doors else None, now)
    for client in discovery.values():
        stack.push_async_callback(client.aclose)
    return Clients(slack, identity, messenger, docs, github, discovery)


def _make_docs_client(
    settings: Settings, transport: httpx.AsyncBaseTransport | None, now: Clock
) -> DocsClient:
    """Return a client for each project.

    Without DOCS_PROJECTS, the one is also used for former projects.
    """
    clients = {
        project.id: DocsClient(
            base_url=project.address,
            api_key=project.key,
            transport=transport,
            proxy=settings.proxy_for(project.address),
            now=now,
        )
        for project in settings.projects
    }
    return DocsClients(clients) if settings.docs_projects else clients[settings.projects[0].id]


def _make_discovery_client(
    settings: Settings, transport: httpx.AsyncBaseTransport | None, now: Clock
) -> Mapping[ProjectId, DiscoveryClient]:
    """Return a client of the discovery API for each project with a key for it.

    The key goes there only.
    """
    return {
        ProjectId(project.id): DiscoveryClient(
            project.assistant_domain,
            base_url=f"{project.address.rstrip('/')}/discovery",
            api_key=project.assistant_key,
            transport=transport,
            proxy=settings.proxy_for(project.address),
            now=now,
        )
        for project in settings.projects
        if project.assistant_key and project.assistant_domain
    }

"""Both sandbox services of one run, in this process, and the environment of bots that use them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from sandbox.docs_service import DocsService, DocsServiceOptions
from sandbox.docs_service.options import GITHUB_TOKEN
from sandbox.ports import free_port
from sandbox.workspace import Workspace, WorkspaceOptions
from sandbox.workspace.state import BOT_USER, Channel
from sandbox.world import MANIFEST, PROJECT
from tests.torture.clocks import Clocks
from tests.torture.plan import ADMIN, ARCHIVED, PEOPLE, Plan
from tests.torture.proxy import Proxy

_PAGES, _DAYS = 30, 20
_BUILD_SECONDS = 0.4
_BURST = 12
"""More messages at once than Slack allows, because a run takes seconds instead of minutes."""
_TICKET_SECONDS = 2.0
"""So short that a ticket expires while handshakes are refused."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The services and settings of a run."""

    folder: Path
    clocks: Clocks
    docs: DocsService
    docs_url: str
    workspace: Workspace
    session: aiohttp.ClientSession
    env: dict[str, str]
    database_url: str
    ports: tuple[int, ...]
    """The port of each bot for Slack's requests, or 0."""
    secrets: tuple[str, ...]
    """Texts that no log may contain."""


@asynccontextmanager
async def stage(plan: Plan, folder: Path, database_url: str) -> AsyncIterator[Stage]:
    """Start a docs service and a workspace for a plan, and stop both when the block ends."""
    docs_options = DocsServiceOptions(
        folder=folder / "docs",
        project=PROJECT,
        work_seconds=plan.work_seconds,
        seed=7,
        pages=_PAGES,
        days=_DAYS,
        uses_an_hour=plan.uses_an_hour,
        build_seconds=_BUILD_SECONDS,
    )
    clocks = Clocks(folder / "clock")
    docs = DocsService(docs_options, clocks.now)
    docs_url = await docs.start()
    is_http = plan.intake == "http"
    ports = tuple(free_port() if is_http else 0 for _ in range(plan.processes))
    proxy = Proxy([port for port in ports if port])
    workspace = Workspace(
        _workspace_options(plan, folder, docs_url, await proxy.start()), clocks.now
    )
    workspace.state.channels[ARCHIVED] = Channel(
        ARCHIVED, "old-docs", [*PEOPLE, BOT_USER], "Archived", is_archived=True
    )
    await workspace.start()
    slack = workspace.options
    keys = (docs_options.api_key, docs_options.assistant_key, GITHUB_TOKEN)
    secrets = (slack.bot_token, slack.app_token, slack.signing_secret, *keys)
    env = _environment(plan, workspace, docs_url, docs_options.api_key) | {
        "ASSISTANT_KEY": docs_options.assistant_key,
        "ASSISTANT_DOMAIN": docs_options.domain,
        "DATABASE_URL": database_url,
        "HEALTH_PORT": "0",
    }
    try:
        async with aiohttp.ClientSession() as session:
            yield Stage(
                folder,
                clocks,
                docs,
                docs_url,
                workspace,
                session,
                env,
                database_url,
                ports,
                secrets,
            )
    finally:
        await workspace.stop()
        await proxy.stop()
        await docs.stop()


def _workspace_options(plan: Plan, folder: Path, docs_url: str, port: int) -> WorkspaceOptions:
    tiers, others, minute_seconds = plan.limits
    return WorkspaceOptions(
        folder=folder / "workspace",
        events_url=f"http://127.0.0.1:{port}/slack/events" if plan.intake == "http" else None,
        manifest=MANIFEST,
        docs_service_url=docs_url,
        channel_burst=_BURST,
        redeliver_after_seconds=plan.redeliver_after_seconds,
        tier_calls_a_minute=tiers,
        special_calls_a_minute=others,
        minute_seconds=minute_seconds,
        ticket_seconds=_TICKET_SECONDS,
        refused_blocks=frozenset(plan.refused_blocks),
        ack_seconds=plan.ack_seconds,
        trigger_seconds=plan.ack_seconds,
    )


def _environment(plan: Plan, workspace: Workspace, docs_url: str, api_key: str) -> dict[str, str]:
    slack = workspace.options
    env = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "SLACK_API_URL": workspace.api_url,
        "DOCS_API_URL": docs_url,
        "DOCS_API_KEY": api_key,
        "DOCS_PROJECT_ID": PROJECT,
        "USES_AN_HOUR": str(plan.uses_an_hour),
        "ANSWERS": plan.answers,
        "ANSWERS_A_DAY": str(plan.answers_a_day),
        "ADMINS": ADMIN,
        "POLL_MIN_SECONDS": "0.1",
        "POLL_MAX_SECONDS": "0.2",
        "LOG_LEVEL": plan.log_level,
    }
    if plan.polls_pull_requests:
        env |= {"GITHUB_API_URL": f"{docs_url}/api/v3", "GITHUB_TOKEN": GITHUB_TOKEN}
    return env if plan.intake == "http" else env | {"SLACK_APP_TOKEN": slack.app_token}


async def order_slack(place: Stage, **fault: object) -> None:
    """Inject a fault into the next calls to Slack."""
    place.workspace.faults.order(
        [{key: value for key, value in fault.items() if value is not None}]
    )


async def order_docs(place: Stage, **fault: object) -> None:
    """Inject a fault into the next calls to the docs service."""
    body = {"next": [{key: value for key, value in fault.items() if value is not None}]}
    async with place.session.post(f"{place.docs_url}/sandbox/faults", json=body) as answer:
        answer.raise_for_status()


async def end_faults(place: Stage) -> None:
    """Remove all injected faults of both services."""
    place.workspace.faults.clear()
    place.workspace.bot_connection.repeats = 0
    async with place.session.delete(f"{place.docs_url}/sandbox/faults") as answer:
        answer.raise_for_status()


async def docs_log(place: Stage) -> list[dict[str, object]]:
    """Return all requests that the docs service received."""
    async with place.session.get(f"{place.docs_url}/sandbox/log") as answer:
        calls: list[dict[str, object]] = await answer.json()
    return calls

"""Start the whole sandbox: the docs service, the Slack workspace and the unmodified bot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path

from bot.app import Timeouts, running_bot
from bot.settings import Settings
from sandbox.docs_service import DocsService, DocsServiceOptions
from sandbox.docs_service.options import GITHUB_TOKEN
from sandbox.kept_secrets import kept_secrets
from sandbox.ports import free_port
from sandbox.workspace import Workspace, WorkspaceOptions
from sandbox.workspace.options import utcnow

MANIFEST = Path(__file__).resolve().parents[1] / "manifest.yml"
PROJECT = "acme-docs"
TIMEOUTS = Timeouts(look_seconds=5.0, live_seconds=2.0)
"""A person who merges a pull request here waits for it, and for the live page."""


@dataclass(frozen=True, kw_only=True)
class WorldOptions(DocsServiceOptions):
    """Options of the sandbox, of which `folder` has the data and the secrets.

    ``on_progress(done, total)`` is called after each generated day of visits. ``answer_seconds`` is the time
    limit for the bot to acknowledge a request and to open a modal. The default is Slack's three seconds;
    raise it where one slow or busy machine runs both the bot and the workspace.
    """

    folder: Path = field(kw_only=False)
    port: int = 0
    http_mode: bool = False
    answer_seconds: float = 3.0
    log_level: str = "ERROR"
    on_progress: Callable[[int, int], None] | None = None

    def docs_service(self) -> DocsServiceOptions:
        """Return the options of the docs service."""
        values = {field.name: getattr(self, field.name) for field in fields(DocsServiceOptions)}
        secrets = kept_secrets(self.folder)
        values |= {
            "folder": self.folder / "docs",
            "api_key": secrets.api_key,
            "assistant_key": secrets.assistant_key,
        }
        return DocsServiceOptions(**values)

    def workspace(self) -> WorkspaceOptions:
        """Return the options of the workspace, set up for Socket Mode."""
        secrets = kept_secrets(self.folder)
        return WorkspaceOptions(
            self.folder / "workspace",
            bot_token=secrets.bot_token,
            app_token=secrets.app_token,
            signing_secret=secrets.signing_secret,
            manifest=MANIFEST if MANIFEST.exists() else None,
            ack_seconds=self.answer_seconds,
            trigger_seconds=self.answer_seconds,
        )


class Clock:
    """The sandbox's clock: the present, unless it is set back to act out the past."""

    def __init__(self) -> None:
        self._behind = timedelta()

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return utcnow() - self._behind

    def set(self, at: datetime) -> None:
        """Go on from this time."""
        self._behind = utcnow() - at

    def catch_up(self) -> None:
        """Return to the present."""
        self._behind = timedelta()


@dataclass(frozen=True, slots=True)
class World:
    """The running docs service and workspace, and the settings and the clock of a bot beside them.

    ``environment`` has the variables of any bot that is to work with both. ``settings`` are those of the
    sandbox's own.
    """

    docs_service: DocsService
    docs_service_url: str
    workspace: Workspace
    workspace_url: str
    environment: Mapping[str, str]
    settings: Settings
    clock: Clock = field(default_factory=Clock)


@asynccontextmanager
async def both_sides(options: WorldOptions) -> AsyncIterator[World]:
    """Run the docs service and the workspace without a bot; yield them with the settings for one."""
    docs_options, clock = options.docs_service(), Clock()
    docs_service = DocsService(docs_options, clock, on_progress=options.on_progress)
    # The port after the page's, so that links to pull requests still work after a restart.
    docs_url = await docs_service.start(options.port + 1 if options.port else 0)
    bot_port = free_port()
    events_url = f"http://127.0.0.1:{bot_port}/slack/events" if options.http_mode else None
    workspace = Workspace(
        replace(options.workspace(), events_url=events_url, docs_service_url=docs_url),
        clock,
        docs_service.faults,
    )
    workspace_url = await workspace.start(options.port)
    try:
        environment = _environment(options, workspace, docs_options) | {"DOCS_API_URL": docs_url}
        environment |= {"GITHUB_API_URL": f"{docs_url}/api/v3"}
        environment |= {"PORT": str(bot_port)} if options.http_mode else {}
        settings = _settings(options, environment)
        yield World(docs_service, docs_url, workspace, workspace_url, environment, settings, clock)
    finally:
        await workspace.stop()
        await docs_service.stop()


def _environment(
    options: WorldOptions, workspace: Workspace, docs_options: DocsServiceOptions
) -> dict[str, str]:
    slack = workspace.options
    return {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": "" if options.http_mode else slack.app_token,
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "SLACK_API_URL": workspace.api_url,
        "DOCS_API_KEY": docs_options.api_key,
        "DOCS_PROJECT_ID": docs_options.project,
        "ASSISTANT_KEY": docs_options.assistant_key,
        "ASSISTANT_DOMAIN": docs_options.domain,
        "GITHUB_TOKEN": GITHUB_TOKEN,
        "USES_AN_HOUR": str(options.uses_an_hour),
        "POLL_MIN_SECONDS": "0.5",
        "POLL_MAX_SECONDS": "5",
    }


def _settings(options: WorldOptions, environment: Mapping[str, str]) -> Settings:
    own = {
        "DATABASE_URL": f"sqlite:///{options.folder.resolve() / 'docs-bot.db'}",
        "HEALTH_PORT": str(free_port()),
        "LOG_LEVEL": options.log_level,
    }
    return Settings.load({**environment, **own}, env_file=None)


@asynccontextmanager
async def sandbox(options: WorldOptions, timeouts: Timeouts = TIMEOUTS) -> AsyncIterator[World]:
    """Run the docs service, the workspace and the bot."""
    async with both_sides(options) as world, running_bot(world.settings, timeouts=timeouts):
        yield world

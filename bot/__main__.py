"""The command line."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.exc import SQLAlchemyError

from bot import __version__
from bot.app import EVERYTHING, Roles, migrate_database, running_bot
from bot.doctor import diagnose
from bot.listing import listed
from bot.model import JobState
from bot.settings import Settings, SettingsError
from bot.work.ports import SlackError

cli = typer.Typer(
    help="Ask a documentation agent for changes from Slack.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

BAD_SETTINGS = 78
"""EX_CONFIG of sysexits.h: something in the configuration is wrong."""
CANNOT_START = 69
"""EX_UNAVAILABLE: something that the bot needs is not there."""


def _settings() -> Settings:
    try:
        return Settings.load()
    except SettingsError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(BAD_SETTINGS) from None


async def _until_told(settings: Settings, roles: Roles) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running_bot(settings, roles=roles):
        await stop.wait()


def _run(roles: Roles) -> None:
    settings = _settings()
    try:
        asyncio.run(_until_told(settings, roles))
    except SlackError as error:
        typer.echo(f"Slack: {error}. Look at SLACK_BOT_TOKEN, SLACK_APP_TOKEN and SLACK_API_URL.", err=True)
        raise typer.Exit(CANNOT_START) from None
    except SQLAlchemyError as error:
        # The text may quote the address with its password; the kind is enough.
        typer.echo(f"The database cannot be used ({type(error).__name__}). Look at DATABASE_URL.", err=True)
        raise typer.Exit(CANNOT_START) from None
    except OSError as error:
        typer.echo(f"{error.strerror or error}. Is another process on port {settings.port}?", err=True)
        raise typer.Exit(CANNOT_START) from None


@cli.command()
def run() -> None:
    """Everything in one process: take requests in and carry them out."""
    _run(EVERYTHING)


@cli.command()
def serve() -> None:
    """Only take requests in; `work` carries them out."""
    _run(Roles(intake=True, rounds=False))


@cli.command()
def work() -> None:
    """Only carry requests out; `serve` takes them in."""
    _run(Roles(intake=False, rounds=True))


@cli.command()
def migrate() -> None:
    """Bring the database to this version's schema (a start does it too)."""
    asyncio.run(migrate_database(_settings()))
    typer.echo("The database is up to date.")


@cli.command()
def jobs(
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at the most.")] = 20,
) -> None:
    """The newest jobs of all channels, and what could not be said."""
    settings = _settings()
    try:
        typer.echo(asyncio.run(listed(settings.sqlalchemy_url, state, limit)))
    except SQLAlchemyError as error:
        typer.echo(f"The database cannot be used ({type(error).__name__}). Look at DATABASE_URL.", err=True)
        raise typer.Exit(CANNOT_START) from None


@cli.command()
def doctor() -> None:
    """Say what is wrong with this installation; exits with 1 when something is."""
    findings = asyncio.run(diagnose(_settings()))
    for finding in findings:
        sign = "ok  " if finding.ok else "BAD "
        typer.echo(f"{sign} {finding.name}: {finding.seen}")
        if not finding.ok and finding.advice:
            typer.echo(f"     {finding.advice}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@cli.command()
def sandbox(
    port: Annotated[int, typer.Option(help="Where the workspace's page is.")] = 8800,
    folder: Annotated[Path, typer.Option(help="Where the sandbox keeps its things.")] = Path("var/sandbox"),
    http: Annotated[bool, typer.Option("--http", help="Signed HTTP instead of Socket Mode.")] = False,
    play: Annotated[
        bool, typer.Option("--play", help="Tell one story without a person, then leave.")
    ] = False,
    only: Annotated[
        str, typer.Option(help="Run only `docs-service` or only `workspace`, on the given port.")
    ] = "",
    work_seconds: Annotated[float, typer.Option(help="How long the agent takes for an ordinary job.")] = 6.0,
) -> None:
    """A Slack workspace, a docs service and the bot on this machine, no account needed."""
    from bot.sandbox.command import Choice, sandbox_command

    sys.exit(sandbox_command(Choice(port, folder, http, play, only, work_seconds)))


@cli.command()
def version() -> None:
    """The version of the bot."""
    typer.echo(__version__)


def main() -> None:
    """The entry point of the `docs-bot` script."""
    cli()


if __name__ == "__main__":
    main()

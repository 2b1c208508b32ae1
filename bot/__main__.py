"""The command line. Each command imports only what it needs, because most need little of the bot."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer

from bot import __version__
from bot.model import JobState
from bot.settings import DocsSettings, Settings, SettingsError

if TYPE_CHECKING:
    from bot.app import Roles
    from bot.cli.visitors import Wanted

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

BAD_SETTINGS = 78
"""EX_CONFIG of sysexits.h: the settings are invalid."""
CANNOT_START = 69
"""EX_UNAVAILABLE of sysexits.h: something that the bot requires is not available."""
TERMINATED = 128 + signal.SIGTERM
"""The exit code by which shells report a process that SIGTERM ended."""

_Kind = TypeVar("_Kind", bound=DocsSettings)
_Given = TypeVar("_Given")
_Read = TypeVar("_Read")


def _settings() -> Settings:
    return _loaded(Settings)


def _loaded(kind: type[_Kind]) -> _Kind:
    try:
        return kind.load()
    except SettingsError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(BAD_SETTINGS) from None


async def _run_until_signal(settings: Settings, roles: Roles) -> None:
    from bot.app import running_bot

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running_bot(settings, roles=roles):
        # Imported modules are never freed. Each full collection would scan them and delay requests by 0.1 s.
        gc.collect()
        gc.freeze()
        await stop.wait()


@contextmanager
def _database_errors() -> Iterator[None]:
    """Exit with one line of text if the database cannot be used."""
    from sqlalchemy.exc import SQLAlchemyError

    from bot.store.database import UnusableFile

    try:
        yield
    except UnusableFile as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(CANNOT_START) from None
    except SQLAlchemyError as error:
        # Only the type is shown, because the text may quote the URL with its password.
        typer.echo(f"The database cannot be used ({type(error).__name__}). Look at DATABASE_URL.", err=True)
        raise typer.Exit(CANNOT_START) from None


def block_terminal_modules() -> None:
    """Prevent structlog and httpx from importing rich, pygments and click, which only a terminal requires.

    They take 7 MB, and rich's tracebacks would show the values of variables. Importing a module that is None
    in ``sys.modules`` raises ModuleNotFoundError, which both libraries handle:
    https://docs.python.org/3/reference/import.html#the-module-cache
    """
    cast("dict[str, ModuleType | None]", sys.modules).update(rich=None, pygments=None, click=None)


def _run(*, intake: bool, workers: bool) -> None:
    block_terminal_modules()
    from bot.app import Roles
    from bot.work.ports import SlackError

    settings = _settings()
    try:
        with _database_errors():
            asyncio.run(_run_until_signal(settings, Roles(intake=intake, workers=workers)))
    except SlackError as error:
        typer.echo(f"Slack: {error}. Look at SLACK_BOT_TOKEN, SLACK_APP_TOKEN and SLACK_API_URL.", err=True)
        raise typer.Exit(CANNOT_START) from None
    except OSError as error:
        typer.echo(f"{error.strerror or error}. Is another process on port {settings.port}?", err=True)
        raise typer.Exit(CANNOT_START) from None


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@cli.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="The version of the bot.")
    ] = False,
) -> None:
    """Ask a documentation agent for changes from Slack."""
    del version


@cli.command()
def run() -> None:
    """Everything in one process: take requests in and carry them out."""
    _run(intake=True, workers=True)


@cli.command()
def serve() -> None:
    """Only take requests in; `work` carries them out."""
    _run(intake=True, workers=False)


@cli.command()
def work() -> None:
    """Only carry requests out; `serve` takes them in."""
    _run(intake=False, workers=True)


@cli.command()
def migrate() -> None:
    """Bring the database to this version's schema (a start does it too)."""
    from bot.app import migrate_database

    settings = _settings()
    with _database_errors():
        asyncio.run(migrate_database(settings))
    typer.echo("The database is up to date.")


@cli.command()
def jobs(
    state: Annotated[
        JobState | None,
        typer.Option(metavar="STATE", help=f"Only jobs in this state: {', '.join(JobState)}."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at the most.")] = 20,
) -> None:
    """The newest jobs of all channels, and what could not be said."""
    from bot.cli.jobs import NotReady, listed

    settings = _settings()
    try:
        with _database_errors():
            typer.echo(asyncio.run(listed(settings.sqlalchemy_url, state, limit)))
    except NotReady as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(CANNOT_START) from None


def _option(read: Callable[[_Given], _Read]) -> Callable[[_Given], _Read]:
    """Return a parser for an option, which turns a ValueError into typer's error for a bad option."""

    def told(given: _Given) -> _Read:
        try:
            return read(given)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return told


def _day(given: str) -> date:
    from bot.cli.visitors import parse_day

    return parse_day(given)


def _target(given: str) -> Path:
    from bot.cli.visitors import check_target

    return check_target(Path(given))


@cli.command()
def visitors(
    first: Annotated[
        date, typer.Option("--from", parser=_option(_day), metavar="DAY", help="The first day.")
    ],
    last: Annotated[
        date,
        typer.Option("--to", parser=_option(_day), metavar="DAY", help="The last day, which belongs to it."),
    ],
    path: Annotated[
        str,
        typer.Option(help="Only pages at /api and below it; /api* is any beginning. Totals stay the site's."),
    ] = "",
    csv: Annotated[
        Path | None,
        typer.Option(
            parser=_option(_target), metavar="FILE", help="All pages as CSV; - is the standard output."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on the standard output.")
    ] = False,
) -> None:
    """Who read the docs between two days, both included, in UTC; needs only the settings DOCS_…."""
    from bot.cli.visitors import STDOUT, ExportError, Wanted, check_days

    now = datetime.now(UTC)
    try:
        check_days(first, last, now.date())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--from, --to") from None
    if as_json and csv == STDOUT:
        said = "both want the standard output; name a file for the CSV"
        raise typer.BadParameter(said, param_hint="--json, --csv -")
    settings = _loaded(DocsSettings)
    wanted = Wanted(first, last, path)
    try:
        asyncio.run(_export(settings, wanted, csv, as_json))
    except ExportError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.code) from None
    except asyncio.CancelledError:
        raise typer.Exit(TERMINATED) from None


async def _export(settings: DocsSettings, wanted: Wanted, csv: Path | None, as_json: bool) -> None:
    from bot.cli.visitors import export

    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await export(
        settings,
        wanted,
        csv=csv,
        as_json=as_json,
        stdout=sys.stdout.buffer,
        now=lambda: datetime.now(UTC),
        encoding=sys.stdout.encoding or "utf-8",
    )


@cli.command()
def doctor() -> None:
    """Say what is wrong with this installation; exits with 1 when something is."""
    from bot.cli.doctor import diagnose

    findings = asyncio.run(diagnose(_settings()))
    for finding in findings:
        sign = "ok  " if finding.ok else "BAD "
        typer.echo(f"{sign} {finding.name}: {finding.seen}")
        if not finding.ok and finding.advice:
            typer.echo(f"     {finding.advice}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@cli.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def sandbox(context: typer.Context) -> None:
    """A Slack workspace, a docs service and the bot on this machine, no account needed."""
    try:
        from sandbox.command import main
    except ModuleNotFoundError as missing:
        package = (missing.name or "a package").partition(".")[0]
        typer.echo(
            f"The sandbox is an extra ({package} is not installed). "
            "In a clone: make sandbox, or pip install '.[sandbox]'.",
            err=True,
        )
        raise typer.Exit(CANNOT_START) from None
    main(context.args)


@cli.command()
def version() -> None:
    """The version of the bot."""
    typer.echo(__version__)


def main() -> None:
    """The entry point of the `docs-bot` script."""
    cli()


if __name__ == "__main__":
    main()

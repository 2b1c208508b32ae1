"""``docs-bot run`` until a signal stops it; settings, store and exit codes of all commands."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click
import structlog
from click.exceptions import Exit
from sqlalchemy.exc import SQLAlchemyError

from bot import logs
from bot.loading import LoadedSettings, SettingsError
from bot.ports import SlackError, SlackRefused
from bot.settings import DatabaseSettings, Settings

if TYPE_CHECKING:
    from bot.health.stopping import Stopping
    from bot.store import Store


BAD_SETTINGS_EXIT_CODE = 78
"""EX_CONFIG of sysexits.h: something in the configuration is wrong."""
CANNOT_START_EXIT_CODE = 69
"""EX_UNAVAILABLE: something that the bot needs is not there."""
CRASHED_EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h: the bot has failed in an unexpected way."""
TERMINATED_EXIT_CODE = 128 + signal.SIGTERM
"""The exit code that shells give a process ended by SIGTERM."""
INTERRUPTED_EXIT_CODE = 128 + signal.SIGINT
"""The same for SIGINT (Ctrl-C); click alone would exit with 1."""

Kind = TypeVar("Kind", bound=LoadedSettings)


def echo(text: str, *, err: bool = False) -> None:
    """Print a text that may quote others, without keys and without signs that steer a terminal."""
    click.echo(logs.terminal_safe(logs.mask(text)), err=err)


def load_settings(kind: type[Kind]) -> Kind:
    """Return the settings of this kind; print their problems and exit if there are any."""
    try:
        return kind.load()
    except SettingsError as error:
        echo(str(error), err=True)
        raise Exit(BAD_SETTINGS_EXIT_CODE) from None


@contextmanager
def database_errors() -> Iterator[None]:
    """Print one line and exit when the database cannot be used."""
    try:
        yield
    except SQLAlchemyError as error:
        echo(describe_database_error(error), err=True)
        raise Exit(CANNOT_START_EXIT_CODE) from None


def with_store(run: Callable[[Store], Awaitable[str | None]], hint: str | None = None) -> None:
    """Run a command with the store of DATABASE_URL, and print its result.

    Exits when the database cannot be used or has no tables of this version. A ValueError of the
    command is about the parameter ``hint``.
    """
    url = load_settings(DatabaseSettings).sqlalchemy_url
    try:
        with database_errors():
            report = asyncio.run(_with_store(url, run))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None
    if report is not None:
        echo(report)


async def _with_store(url: str, run: Callable[[Store], Awaitable[str | None]]) -> str | None:
    from bot.app import open_store
    from bot.store.sqlite_files import UnusableDatabase, require_file, sqlite_file
    from bot.store.upgrade import Tables, find_tables

    file = sqlite_file(url)
    if file is not None:
        require_file(file)
    store = open_store(url)
    try:
        tables = await store.database.read(find_tables)
        if tables is Tables.NONE:
            raise UnusableDatabase("The database is empty: a start of the bot creates its tables.")
        if tables is Tables.EARLIER:
            raise UnusableDatabase(
                "The database is of an earlier version: a start of the bot upgrades its tables."
            )
        return await run(store)
    finally:
        await store.close()


def describe_database_error(error: SQLAlchemyError) -> str:
    """Return the reason why the database cannot be used, and the remedy."""
    from bot.store.database import explain_error
    from bot.store.sqlite_files import UnusableDatabase

    if isinstance(error, UnusableDatabase):
        return str(error)
    # The error's own text may quote the address with its password.
    trouble = explain_error(error)
    return f"The database cannot be used: {trouble.cause}. {trouble.advice}"


def run_until_stopped() -> NoReturn:
    """Run the bot until SIGTERM or SIGINT, and exit.

    A failed start is reported as the bot would log it: in words to a terminal, else in JSON.
    """
    from bot.health.listening import allow_open_files
    from bot.health.stopping import Stopping

    allow_open_files()
    stopping = Stopping()
    try:
        settings = Settings.load()
        with suppress(asyncio.CancelledError):  # stopped before it was ready
            asyncio.run(_run_until_stopped(settings, stopping))
    except SettingsError as error:
        _exit_unstarted(str(error), BAD_SETTINGS_EXIT_CODE)
    except SQLAlchemyError as error:
        _exit_unstarted(describe_database_error(error), CANNOT_START_EXIT_CODE)
    except SlackError as error:
        advice = "Look at SLACK_BOT_TOKEN, SLACK_APP_TOKEN and SLACK_API_URL."
        is_token = isinstance(error, SlackRefused) and error.meaning.needs_operator
        # Trying again mends no token, so no service manager shall start the bot again.
        code = BAD_SETTINGS_EXIT_CODE if is_token else CANNOT_START_EXIT_CODE
        _exit_unstarted(f"Slack: {error}. {advice}", code)
    except OSError as error:
        advice = "Look at HOST, PORT, HEALTH_HOST and HEALTH_PORT."
        _exit_unstarted(f"{error.strerror or error}. {advice}", CANNOT_START_EXIT_CODE)
    except Exception:
        # A traceback that Python prints has no format and may have a secret.
        if not structlog.is_configured():
            logs.configure("ERROR")
        structlog.get_logger(__name__).critical(
            "crashed", exc_info=True, exit_code=CRASHED_EXIT_CODE
        )
        raise Exit(CRASHED_EXIT_CODE) from None
    raise Exit(stopping.finish())


async def _run_until_stopped(settings: Settings, stopping: Stopping) -> None:
    from bot.app import running_bot

    stop = asyncio.Event()
    starting = asyncio.current_task()

    def begin_to_stop() -> None:
        if stop.is_set():  # a second signal must not cancel the clean-up
            return
        stopping.begin()
        stop.set()
        if starting is not None:
            starting.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, begin_to_stop)
    async with running_bot(settings, stopping=stopping):
        starting = None
        # Imported objects stay for good. Collecting them again would delay requests by 0.1 s.
        gc.collect()
        gc.freeze()
        # Nor does the configuration of the log change any more, so that no line has to look it up.
        structlog.configure(cache_logger_on_first_use=True)
        await stop.wait()


def _exit_unstarted(reason: str, code: int) -> NoReturn:
    """Report why the bot does not start, and exit."""
    if logs.is_terminal():
        echo(reason, err=True)
    else:
        logs.configure("ERROR")
        structlog.get_logger(__name__).error("not_started", about=reason, exit_code=code)
    raise Exit(code)

"""How a command ends: its exit codes, and the line that says why it could not do its work."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click
from click.exceptions import Exit

from bot.settings import DatabaseSettings, LoadedSettings, SettingsError

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError

    from bot.store import Store

BAD_SETTINGS = 78
"""EX_CONFIG of sysexits.h: something in the configuration is wrong."""
CANNOT_START = 69
"""EX_UNAVAILABLE: something that the bot needs is not there."""
CRASHED = 70
"""EX_SOFTWARE of sysexits.h: the bot has failed in a way that it does not know."""
TERMINATED = 128 + signal.SIGTERM
"""The exit code that shells give a process ended by SIGTERM."""
INTERRUPTED = 128 + signal.SIGINT
"""The same for SIGINT (Ctrl-C); click alone would exit with 1."""

Kind = TypeVar("Kind", bound=LoadedSettings)


def echo(text: str, *, err: bool = False) -> None:
    """Print a text that may quote others, so that it does not steer the terminal."""
    from bot.logs import terminal_safe

    click.echo(terminal_safe(text), err=err)


def loaded(kind: type[Kind]) -> Kind:
    """Return the settings of this kind; print what is wrong with them and exit when something is."""
    try:
        return kind.load()
    except SettingsError as error:
        echo(str(error), err=True)
        raise Exit(BAD_SETTINGS) from None


@contextmanager
def database_errors() -> Iterator[None]:
    """Print one line and exit when the database cannot be used."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        echo(about_database(error), err=True)
        raise Exit(CANNOT_START) from None


def with_store(run: Callable[[Store], Awaitable[str | None]], hint: str | None = None) -> None:
    """Run a command with the store of DATABASE_URL, and print what it returns.

    Exits when the database cannot be used or lacks this version's schema. A ValueError of the command is
    about the parameter ``hint``.
    """
    url = loaded(DatabaseSettings).sqlalchemy_url
    try:
        with database_errors():
            told = asyncio.run(_with_store(url, run))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None
    if told is not None:
        echo(told)


async def _with_store(url: str, run: Callable[[Store], Awaitable[str | None]]) -> str | None:
    from bot.store import Store
    from bot.store.database import UnusableDatabase
    from bot.store.migrate import HEAD, current

    store = Store.open(url)
    try:
        if (await current(store.database) or "") < HEAD:
            raise UnusableDatabase(
                "The database is not at this version's schema yet. `docs-bot migrate` brings it there, "
                "and so does a start."
            )
        return await run(store)
    finally:
        await store.close()


def about_database(error: SQLAlchemyError) -> str:
    """Return why the database cannot be used, and what to do."""
    from bot.store.database import UnusableDatabase
    from bot.store.trouble import explain

    if isinstance(error, UnusableDatabase):
        return str(error)
    # The error's own text may quote the address with its password.
    found = explain(error)
    return f"The database cannot be used: {found.cause}. {found.advice}"

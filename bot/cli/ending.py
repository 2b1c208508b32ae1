"""How a command ends: its exit codes, and the line that says why it could not do its work."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click
from click.exceptions import Exit

from bot.settings import LoadedSettings, SettingsError

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError

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
    """Print one line and exit when the database cannot be used, or lacks this version's schema."""
    from sqlalchemy.exc import SQLAlchemyError

    from bot.cli.ready_store import NotReady

    try:
        yield
    except NotReady as error:
        echo(str(error), err=True)
        raise Exit(CANNOT_START) from None
    except SQLAlchemyError as error:
        echo(about_database(error), err=True)
        raise Exit(CANNOT_START) from None


def about_database(error: SQLAlchemyError) -> str:
    """Return why the database cannot be used, and what to do."""
    from bot.store.database import UnusableDatabase
    from bot.store.trouble import explain

    if isinstance(error, UnusableDatabase):
        return str(error)
    # The error's own text may quote the address with its password.
    found = explain(error)
    return f"The database cannot be used: {found.cause}. {found.advice}"

"""What is wrong with a database, in words for its operator, from the errors of both drivers."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bot.store.database import UnusableDatabase


class Trouble(NamedTuple):
    """The cause of an error, and what to do. Neither quotes the address, which may hold a password."""

    cause: str
    advice: str


_LOOK = "Look at DATABASE_URL, at the database's log and at the network."
_FULL = Trouble("the disk is full", "Make room on the database's disk; the bot goes on by itself.")
_PASSWORD = Trouble(
    "the user name or the password is wrong", "Look at the user and password in DATABASE_URL."
)
_NO_DATABASE = Trouble(
    "there is no database of this name", "Create it, or look at the name at the end of DATABASE_URL."
)
_CONNECTIONS = Trouble(
    "the server has no connection left",
    "Lower DATABASE_CONNECTIONS, run fewer processes, or raise max_connections of the server.",
)
_STARTING = Trouble("the server is starting or stopping", "Wait; the bot tries again by itself.")
_RIGHTS = Trouble(
    "the user lacks rights", "Grant the user CREATE on the schema, and all rights to the bot's tables."
)
_READ_ONLY = Trouble("the database is read-only", "Give the address of the primary server in DATABASE_URL.")
_TLS = Trouble(
    "no encrypted connection (TLS)",
    "Look at sslmode and sslrootcert in DATABASE_URL, and at the server's certificate.",
)
_NOT_LET_IN = Trouble(
    "the server lets nobody in from here", "Let this user and address in, in the server's pg_hba.conf."
)
_DOWN = Trouble(
    "nothing listens at its address", "Start the database, or look at host and port in DATABASE_URL."
)
_NAME = Trouble("its host name is unknown", "Look at the host in DATABASE_URL.")
_SILENT = Trouble("no answer", "Look at the network between here and the database, and at its load.")

_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: Trouble("its file cannot be read or written", "Look at the disk."),
    sqlite3.SQLITE_READONLY: Trouble("its file is read-only", "Let this user write the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: Trouble("its file cannot be opened", "Look at the path in DATABASE_URL."),
    sqlite3.SQLITE_NOTADB: Trouble(
        "its file is no SQLite database", "Look at the path in DATABASE_URL, or put a backup in its place."
    ),
    sqlite3.SQLITE_CORRUPT: Trouble("its file is damaged", "Stop the bot and put a backup in its place."),
    sqlite3.SQLITE_BUSY: Trouble("another process has it locked", "Find the process that holds the file."),
}
"""https://www.sqlite.org/rescode.html"""
_STATES = {
    "28P01": _PASSWORD,
    "28000": _PASSWORD,
    "3D000": _NO_DATABASE,
    "53100": _FULL,
    "53300": _CONNECTIONS,
    "57P01": _STARTING,
    "57P03": _STARTING,
    "42501": _RIGHTS,
    "25006": _READ_ONLY,
}
"""https://www.postgresql.org/docs/current/errcodes-appendix.html"""
_PHRASES = (
    ("password authentication failed|no password supplied", _PASSWORD),
    ("too many clients|too many connections|remaining connection slots", _CONNECTIONS),
    ("role ", _PASSWORD),
    ("the database system is", _STARTING),
    ("no encryption|ssl off", _TLS),
    ("no pg_hba.conf entry", _NOT_LET_IN),
    ("certificate|ssl", _TLS),
    ("database ", _NO_DATABASE),
    ("refused|no such file", _DOWN),
    ("name or service|resolve|translate host|name resolution", _NAME),
    ("timeout|timed out", _SILENT),
)
"""What libpq's errors say before there is a connection; they have no code. Tried in order, in lower case."""


def explain(error: SQLAlchemyError | sqlite3.Error) -> Trouble:
    """Return the cause of a database's error, or the error's type where the cause is not known."""
    if isinstance(error, UnusableDatabase):
        cause, _, advice = str(error).partition(": ")
        return Trouble(cause, advice)
    driver = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(driver, sqlite3.Error):
        code = getattr(driver, "sqlite_errorcode", 0) & 0xFF
        return _SQLITE.get(code, Trouble(type(driver).__name__, _LOOK))
    state = getattr(driver, "sqlstate", None)
    if isinstance(state, str):
        return _STATES.get(state, Trouble(f"{type(driver).__name__} ({state})", _LOOK))
    # Names stand in quotes, and could contain any phrase.
    reason = "".join(str(driver).lower().split("failed: ", 1)[-1].split('"')[::2])
    known = (trouble for phrases, trouble in _PHRASES if any(each in reason for each in phrases.split("|")))
    return next(known, Trouble(type(driver).__name__, _LOOK))

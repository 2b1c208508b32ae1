"""Logging: one line for each event, through structlog, with secrets removed."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import RLock
from time import monotonic
from typing import Any, Protocol, runtime_checkable

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from bot.masking import HIDDEN, without_keys
from bot.ttl_cache import TtlCache

_REPEAT_SECONDS = 60.0
"""The same trouble is logged once in this time."""
_MAX_REMEMBERED = 1_000
"""Of different lines."""
_TROUBLE = frozenset({"warning", "error", "critical"})
_VARYING_FIELDS = frozenset(
    {"request", "attempts", "failures", "failed_polls", "deaf_seconds", "exc_info", "timestamp"}
)
"""Fields that differ between two lines about the same trouble."""
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of the signs that could steer a terminal or change how a line reads."""
_MIN_SECRET_LENGTH = 6
"""Shorter values are not hidden: they would hide parts of ordinary words."""
_OWN_FIELDS = frozenset({"level", "logger", "timestamp"})
"""Fields whose values are made here."""
_BEARER = re.compile(r"(?i)(?<=bearer )\S+")
_QUIET = {
    # Slack's libraries log whole requests, with people's texts, at levels up to WARNING.
    "slack_bolt": logging.ERROR,
    "slack_sdk": logging.ERROR,
    "aiohttp": logging.WARNING,
    "alembic": logging.WARNING,
    # It warns of each run that it drops, which the bot runs again.
    "apscheduler": logging.ERROR,
    "asyncio": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,
    "sqlalchemy": logging.WARNING,
}
"""The lowest level that is logged for each library, at every LOG_LEVEL."""


def _has_level(record: logging.LogRecord) -> bool:
    """Apply ``_QUIET``. At the handler, because some libraries set the level of their loggers."""
    library, _, _ = record.name.partition(".")
    return record.levelno >= _QUIET.get(library, logging.NOTSET)


def _is_new(repeats: RepeatFilter, record: logging.LogRecord) -> bool:
    """Apply a `RepeatFilter` to the lines of libraries."""
    event = {
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": record.getMessage(),
        "exc_info": record.exc_info and record.exc_info[1],
    }
    try:
        passed = repeats(None, "", event)
    except structlog.DropEvent:
        return False
    left_out = passed.get("left_out")
    if left_out:
        record.left_out = left_out
    return True


class Redactor:
    """A structlog processor that removes secrets from every field, tracebacks included."""

    def __init__(self, secrets: Sequence[str]) -> None:
        hidden = [secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH]
        # The longest first, because one may contain another.
        self._secrets = sorted(hidden, key=len, reverse=True)

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the event with secrets removed from its values."""
        return {
            key: value if key in _OWN_FIELDS else self.clean(value) for key, value in event.items()
        }

    def clean(self, value: Any) -> Any:
        """Return the value with secrets removed, in nested containers too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool | int | float | None):
            return value
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(item) for item in value]
        return self.text(str(value))

    def text(self, text: str) -> str:
        """Return the text with secrets removed."""
        if len(text) < _MIN_SECRET_LENGTH:
            return text
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = without_keys(text)
        if "bearer " in text.lower():
            text = _BEARER.sub(HIDDEN, text)
        return text


class _Lines:
    """A structlog logger that writes to standard error.

    Python's own logging would make and copy a record of each line, which doubles its cost.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name

    def write(self, line: str) -> None:
        """Write a line. Like Python's own logging, do not fail where nothing can be written."""
        with _WRITING, suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")

    debug = info = warning = error = critical = write


_WRITING = RLock()
"""Held for each line, because the database's threads log, too."""


def _as_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    return json.dumps(event)


def mask(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without these secrets and without anything that looks like one."""
    return Redactor(secrets).text(text)


@runtime_checkable
class Explained(Protocol):
    """An error of a client that has a reason for logs."""

    @property
    def reason_for_log(self) -> str:
        """Return the reason, without texts of people."""
        ...


def reason_of(error: BaseException) -> str:
    """Return the reason of a failed call for a log, without secrets and texts of people.

    Of an error that has none it is the class alone, because its own words may quote anything.
    """
    return mask(error.reason_for_log) if isinstance(error, Explained) else type(error).__name__


def configure(
    level: str,
    secrets: Sequence[str] = (),
    *,
    for_people: bool | None = None,
    clock: Callable[[], float] = monotonic,
) -> None:
    """Write all logs, the bot's and the libraries', in one form to standard error.

    Args:
        level: the lowest level that is written, such as ``INFO``.
        secrets: texts that are hidden in every line.
        for_people: whether people read the lines rather than programs, which get JSON; None where a
            terminal shows them.
        clock: returns seconds.
    """
    if for_people is None:
        for_people = is_terminal()
    repeats = RepeatFilter(clock)
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendering = _make_rendering(secrets, for_people=for_people)
    structlog.configure(
        processors=[*common, repeats, *rendering],
        logger_factory=_Lines,
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    of_libraries: list[Processor] = [
        *common,
        structlog.stdlib.ExtraAdder(allow=("left_out",)),
        structlog.stdlib.PositionalArgumentsFormatter(),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=of_libraries,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    handler.addFilter(_has_level)
    handler.addFilter(partial(_is_new, repeats))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


def _make_rendering(secrets: Sequence[str], *, for_people: bool) -> list[Processor]:
    """Return the last processors, which make an event a line without secrets."""
    # Before the Redactor: tracebacks become text, without local variables, and are cleaned too.
    cleaning: list[Processor] = [structlog.processors.format_exc_info, Redactor(secrets)]
    if not for_people:
        return [*cleaning, _as_json]
    plain = structlog.dev.plain_traceback
    return [*cleaning, _safe_values, structlog.dev.ConsoleRenderer(exception_formatter=plain)]


def is_terminal() -> bool:
    """Return whether the standard error is a terminal, which people read."""
    return sys.stderr.isatty()


def terminal_safe(text: str) -> str:
    r"""Return a text from outside so that it does not steer a terminal.

    Control and format characters become escapes such as ``\x1b``. Line feeds and tabs stay.
    """
    if text.isprintable():
        return text
    steering = {sign for sign in set(text) - set("\n\t") if unicodedata.category(sign) in _STEERING}
    return text.translate({ord(sign): sign.encode("unicode_escape").decode() for sign in steering})


def _safe_values(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Make every text safe for a terminal; only tracebacks keep their lines."""
    safe = dict(event)
    for key, value in event.items():
        # Other values are shown as their repr, which escapes their characters.
        if isinstance(value, str):
            text = terminal_safe(value)
            safe[key] = text if key == "exception" else text.replace("\n", "\\n")
    return safe


@contextmanager
def about_request(key: str | None) -> Iterator[None]:
    """Put the reference of a request into each line until the block ends.

    ``key``: the key under which the request is stored; None for no request.
    """
    if key is None:
        yield
        return
    before = structlog.contextvars.bind_contextvars(request=reference(key))
    try:
        yield
    finally:
        structlog.contextvars.reset_contextvars(**before)


def reference(key: str) -> str:
    """Return the reference of a request: short, and the same in every process."""
    return hashlib.blake2s(key.encode("utf-8", "replace"), digest_size=4).hexdigest()


class RepeatFilter:
    """A structlog processor that logs the same trouble at most once a minute.

    The next line counts the omitted ones in ``left_out``. Lines are the same when all their values
    are equal, counts of attempts excepted. Lines below the level of a warning all pass.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` returns seconds."""
        self._logged = TtlCache[object, bool](_MAX_REMEMBERED, clock)
        self._left_out = TtlCache[object, int](_MAX_REMEMBERED, clock)

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the event. Raises DropEvent when it repeats one of the last minute."""
        if event.get("level") not in _TROUBLE:
            return event
        same = _identify(event)
        left_out = self._left_out.get(same, math.inf) or 0
        if self._logged.get(same, _REPEAT_SECONDS):
            self._left_out.put(same, left_out + 1)
            raise structlog.DropEvent
        self._logged.put(same, True)
        self._left_out.put(same, 0)
        return {**event, "left_out": left_out} if left_out else event


def _identify(event: EventDict) -> object:
    """Return a value that is equal for two events about the same trouble."""
    error = event.get("exc_info")
    if error and not isinstance(error, BaseException):
        error = sys.exc_info()[1]
    fields = [f"{key}={value}" for key, value in event.items() if key not in _VARYING_FIELDS]
    return (*fields, type(error or None).__name__)

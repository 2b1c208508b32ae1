"""Logs: one line each, through structlog, with everything secret taken out."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

_HIDDEN = "[hidden]"
_PATTERNS = (
    re.compile(r"\bx(?:ox[a-z]|app|oxe)[-.][A-Za-z0-9.-]{6,}"),  # Slack's tokens
    re.compile(r"\bmint_[A-Za-z0-9_-]{6,}"),
    re.compile(r"(?i)(?<=bearer )\S+"),
    re.compile(r"\bv0=[0-9a-f]{16,}"),  # Slack's signatures
    re.compile(r"https?://hooks\.slack\.com/\S+"),
    re.compile(
        r"https?://[^\s\"']*/(?:response|commands|actions)/[^\s\"']+"
    ),  # response URLs, the sandbox's too
    re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),  # user:password in an address
)
_QUIET = {
    # Slack's libraries write whole requests, with what people typed, up to their warnings.
    "slack_bolt": logging.ERROR,
    "slack_sdk": logging.ERROR,
    "aiohttp": logging.WARNING,
    "alembic": logging.WARNING,
    "apscheduler": logging.WARNING,
    "asyncio": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,
    "sqlalchemy": logging.WARNING,
}
"""What of a library's lines is kept, whatever level was asked for."""


class _Quiet(logging.Filter):
    """Filters at the handler, since some libraries set the level of their own loggers."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= _QUIET.get(record.name.partition(".")[0], logging.NOTSET)


class Redactor:
    """Takes secrets out of everything that is about to be written, tracebacks included."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = sorted((secret for secret in secrets if len(secret) >= 6), key=len, reverse=True)

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """As a structlog processor."""
        return {key: self.clean(value) for key, value in event.items()}

    def clean(self, value: Any) -> Any:
        """The value without secrets, however deep they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool | int | float | None):
            return value
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean(each) for key, each in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(each) for each in value]
        return self.text(str(value))

    def text(self, text: str) -> str:
        """A text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        for pattern in _PATTERNS:
            text = pattern.sub(_HIDDEN, text)
        return text


def configure(level: str, form: str, secrets: Sequence[str] = ()) -> None:
    """Send all logs, our own and the libraries', through one renderer to standard error."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    pretty = form == "console" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.PositionalArgumentsFormatter()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                # Tracebacks become text first, without local variables, so that they are cleaned too.
                structlog.processors.format_exc_info,
                Redactor(secrets),
                _renderer(pretty),
            ],
        )
    )
    handler.addFilter(_Quiet())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


def _renderer(pretty: bool) -> Processor:
    if pretty:
        return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    return structlog.processors.JSONRenderer()


class LogOnce:
    """Remembers what has been logged in this process, so that a lasting refusal does not fill the log."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, ...]] = set()

    def first(self, *what: str) -> bool:
        """Return whether this is asked for the first time."""
        if what in self._logged:
            return False
        self._logged.add(what)
        return True

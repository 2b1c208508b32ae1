"""What can go wrong between a caller and the docs service, each with what the caller needs to go on."""

from __future__ import annotations


class DocsApiError(Exception):
    """Any failed call.

    ``text`` is short, one line, and safe to show: the service's own words where it gave some.
    ``status_code`` is the HTTP status of the answer, None when there was none.
    """

    def __init__(self, text: str, *, status_code: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.status_code = status_code

    def __str__(self) -> str:
        return self.text if self.status_code is None else f"{self.text} (HTTP {self.status_code})"


class InvalidArgument(DocsApiError, ValueError):
    """An argument that the service could not accept; nothing was sent."""


class Unavailable(DocsApiError):
    """No usable answer: time-out, broken connection, redirect, 5xx, or a body that is not the service's.

    ``sent`` is False only when the request certainly never reached the service (refused connection, unknown
    host, connect time-out), so that it can be sent again. When True it may have been carried out.
    ``retry_after_seconds`` is what the answer asked for, None when it asked for nothing.
    """

    def __init__(
        self,
        text: str,
        *,
        sent: bool,
        status_code: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(text, status_code=status_code)
        self.sent = sent
        self.retry_after_seconds = retry_after_seconds


class RateLimited(DocsApiError):
    """Too many requests (429); not carried out. ``retry_after_seconds`` is None when nobody said how long."""

    def __init__(
        self, text: str, *, status_code: int | None = None, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(text, status_code=status_code)
        self.retry_after_seconds = retry_after_seconds


class Rejected(DocsApiError):
    """The service refuses the request as it is (400, or another 4xx with no error of its own)."""


class Unauthorized(DocsApiError):
    """The key is unknown or has expired (401)."""


class Forbidden(DocsApiError):
    """The key lacks the scope, or the caller's address is not allowed (403)."""


class NotFound(DocsApiError):
    """The service does not know what was asked for (404)."""

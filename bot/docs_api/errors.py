"""The errors of the docs service's client."""

from __future__ import annotations


class DocsApiError(Exception):
    """Base class: a call has failed.

    ``text`` is one short line that is safe to show; it is the service's own error text if there was
    one. ``reason_for_log`` is without that error text where the request had texts of people, which
    the service may quote. ``status_code`` is the HTTP status of the response, None when there was
    none.
    ``retry_after_seconds`` is the response's `Retry-After`, None when it had none.
    """

    def __init__(
        self,
        text: str,
        *,
        sent: bool = True,
        status_code: int | None = None,
        retry_after_seconds: float | None = None,
        quotes: bool = False,
    ) -> None:
        """Store the details of a failed call. ``quotes``: the text may repeat texts of people."""
        super().__init__(text)
        self.text = text
        self._quotes = quotes
        self.sent = sent
        self.status_code = status_code
        self.retry_after_seconds = retry_after_seconds

    @property
    def reason_for_log(self) -> str:
        """Return the reason for a log, with the class and the status of the error."""
        words = "the service's own words" if self._quotes else self.text
        status = "" if self.status_code is None else f" (HTTP {self.status_code})"
        return f"{type(self).__name__}: {words}{status}"

    def __str__(self) -> str:
        return self.text if self.status_code is None else f"{self.text} (HTTP {self.status_code})"


class InvalidArgument(DocsApiError, ValueError):
    """An argument is invalid; nothing was sent."""


class Unavailable(DocsApiError):
    """There is no usable response.

    A time-out, a broken connection, a redirect, a 5xx, or a body that cannot be used.

    ``sent`` is False only when the request certainly did not reach the service (refused connection,
    unknown host, connect time-out), so that it is safe to retry. If True, it may have been carried
    out.
    """


class NotConfigured(DocsApiError):
    """There is no client for this project; nothing was sent."""


class RateLimited(DocsApiError):
    """Too many requests (429); not carried out."""


class Rejected(DocsApiError):
    """The service refuses this request (400 and other 4xx)."""


class Unauthorized(DocsApiError):
    """The key is unknown or has expired (401)."""


class Forbidden(DocsApiError):
    """The key lacks the scope, or the address is not allowed (403)."""


class NotFound(DocsApiError):
    """The service does not know the project or the job (404)."""

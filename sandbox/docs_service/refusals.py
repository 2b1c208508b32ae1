"""The error that rejects a request, and its JSON response."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web


class RefusedError(Exception):
    """The request is rejected with this status and `{"error": text}`; it has no effect."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = dict(headers or {})

    def response(self) -> web.Response:
        """Return the error as a JSON response."""
        return web.json_response({"error": self.text}, status=self.status, headers=self.headers)

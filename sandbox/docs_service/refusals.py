"""A request that is answered with an error, and the shape all errors have."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web


class RefusedError(Exception):
    """Answer with this status and `{"error": text}`; nothing was done."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = dict(headers or {})

    def response(self) -> web.Response:
        """The answer as JSON."""
        return web.json_response({"error": self.text}, status=self.status, headers=self.headers)

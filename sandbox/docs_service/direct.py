"""A request to the docs service from within its process, without a server and a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpVersion11, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import RequestHandler
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from sandbox.docs_service.options import BODY_LIMIT_BYTES


class _Line(asyncio.Transport):
    """Stands where a request has its connection, so that a fault can drop it."""

    is_dropped = False

    def abort(self) -> None:
        """Drop the connection."""
        self.is_dropped = True


class _Protocol:
    """Stands where a request has its protocol."""

    ssl_context = peername = sockname = None

    def __init__(self) -> None:
        self.transport = _Line()


class DirectRequest(web.Request):
    """A request whose body has arrived."""

    ATTRS = web.Request.ATTRS | frozenset(("_body",))

    def __init__(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> None:
        """``target``: the path with the query."""
        sent = CIMultiDictProxy(CIMultiDict(headers))
        raw = tuple((name.encode(), value.encode()) for name, value in sent.items())
        message = RawRequestMessage(
            method, target, HttpVersion11, sent, raw, False, None, False, False, URL(target)
        )
        super().__init__(
            message,
            EMPTY_PAYLOAD,
            cast("RequestHandler", _Protocol()),
            cast("AbstractStreamWriter", None),
            cast("asyncio.Task[None]", asyncio.current_task()),
            asyncio.get_running_loop(),
        )
        self._body = body

    @property
    def is_dropped(self) -> bool:
        """Whether the service closed the connection instead of answering."""
        return cast("_Line", self.transport).is_dropped

    def route(self, found: Any) -> None:
        """Set the operation that the router found."""
        self._match_info = found

    async def read(self) -> bytes:
        """Return the body. Raises HTTPRequestEntityTooLarge."""
        if len(self._body) > BODY_LIMIT_BYTES:
            raise web.HTTPRequestEntityTooLarge(BODY_LIMIT_BYTES, len(self._body))
        return self._body

"""Bodies of HTTP responses, read within a limit of bytes before and after decompression.

httpx's own decoding has no limit: 0.8 MB of gzip can become 800 MB.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable
from typing import cast

import httpx

MAX_RESPONSE_BYTES = 5_000_000
ACCEPTED_ENCODING = "gzip"
"""The `Accept-Encoding` of a request whose response `read_body` can read."""


class UnreadableBody(Exception):
    """A body is too large, or its compression is broken or was not asked for.

    The text quotes no body.
    """


async def read_body(response: httpx.Response, max_bytes: int = MAX_RESPONSE_BYTES) -> bytes:
    """Return the body of a response, decompressed. Raises UnreadableBody.

    ``response``: one whose stream has not been read, as a transport returns it.
    """
    raw = bytearray()
    async for chunk in cast("AsyncIterable[bytes]", response.stream):
        raw += chunk
        if len(raw) > max_bytes:
            raise UnreadableBody(f"more than {max_bytes} bytes")
    return inflate(bytes(raw), response.headers.get("content-encoding", ""), max_bytes)


def inflate(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo the content encoding without producing more than ``max_bytes``.

    Raises UnreadableBody.
    """
    if encoding.strip().lower() in ("", "identity"):
        return body
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        raise UnreadableBody("in an encoding that was not asked for")
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        plain = unpacker.decompress(body, max_bytes + 1)
    except zlib.error:
        plain = b""
    if len(plain) > max_bytes:
        raise UnreadableBody(f"more than {max_bytes} bytes")
    if not unpacker.eof:
        raise UnreadableBody("a broken compression")
    return plain

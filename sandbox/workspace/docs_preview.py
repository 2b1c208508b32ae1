"""What the page shows of the docs service beside it: a preview of a pull request, and the ordered faults."""

from __future__ import annotations

import re
from typing import Any

import aiohttp

from sandbox.workspace.state import Json

_SECONDS = 5.0
_MOST_BYTES = 1_000_000
_PULL = re.compile(r"/[A-Za-z0-9_-]+/pull/\d{1,9}")


class DocsPreview:
    """Reads from the sandbox's docs service; other addresses are never asked."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def pull(self, url: str) -> Json | None:
        """Return the title and the changed files of a pull request; None if it is none of this service."""
        path = url.removeprefix(self.url)
        if path == url or not _PULL.fullmatch(path):
            return None
        return await self._json("GET", f"{path}/files")

    async def faults(self) -> list[Json]:
        """Return the faults that will still happen."""
        read = await self._json("GET", "/sandbox/faults")
        return list(read["next"]) if read else []

    async def order(self, fault: Json) -> None:
        """Order a fault."""
        await self._json("POST", "/sandbox/faults", {"next": [fault]})

    async def clear(self) -> None:
        """Forget all faults that have not happened yet."""
        await self._json("DELETE", "/sandbox/faults")

    async def _json(self, method: str, path: str, body: Json | None = None) -> Json | None:
        """Return the object of an answer, or None for another answer than that."""
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(trust_env=False, timeout=timeout) as session,
                session.request(method, self.url + path, json=body, allow_redirects=False) as answer,
            ):
                if not answer.ok or (answer.content_length or 0) > _MOST_BYTES:
                    return None
                read: Any = await answer.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return None
        return read if isinstance(read, dict) else None

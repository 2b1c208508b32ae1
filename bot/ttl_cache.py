"""A cache in memory whose entries expire."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Generic, TypeVar

Key = TypeVar("Key")
Cached = TypeVar("Cached")


class TtlCache(Generic[Key, Cached]):
    """The newest results by key, ``most`` of them.

    Each has the time in seconds at which it was stored.
    """

    def __init__(self, most: int = 1_000, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._clock = clock
        self._entries: dict[Key, tuple[float, Cached]] = {}

    def get(self, key: Key, seconds: float) -> Cached | None:
        """Return the key's result if it is younger than ``seconds``; None otherwise."""
        at, cached = self._entries.get(key, (-inf, None))
        return cached if self._clock() - at < seconds else None

    def put(self, key: Key, result: Cached) -> None:
        self._entries.pop(key, None)
        self._entries[key] = (self._clock(), result)
        if len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]

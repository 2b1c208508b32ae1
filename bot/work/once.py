"""Saying a thing once: what Slack refuses as a matter of principle would fill the log otherwise."""

from __future__ import annotations


class Once:
    """Remembers what has been said in this process."""

    def __init__(self) -> None:
        self._said: set[tuple[str, ...]] = set()

    def first(self, *what: str) -> bool:
        """Whether this has not been said before; now it has."""
        if what in self._said:
            return False
        self._said.add(what)
        return True

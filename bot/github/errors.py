"""The errors of the GitHub client, with the data that a caller needs to handle them."""

from __future__ import annotations

from datetime import datetime


class GithubError(Exception):
    """Base class: a call has failed. The text is short and safe to show: it quotes nothing of the answer."""


class NotVisible(GithubError):
    """The pull request does not exist, or the token may not read it (404, 410, 451, and most 403)."""


class RefusedToken(GithubError):
    """The token is unknown or has expired (401)."""


class Limited(GithubError):
    """Too many calls. ``until``: when to call again, aware and in UTC; None if GitHub sends no time."""

    def __init__(self, text: str, until: datetime | None) -> None:
        super().__init__(text)
        self.until = until


class Paused(Limited):
    """No call was made, because GitHub's rate limit still lasts."""


class Unavailable(GithubError):
    """No usable answer: time-out, broken connection, redirect to another host, 5xx, or an unreadable body."""

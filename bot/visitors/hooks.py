"""The hooks by which digests call the features above them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.context import Context, Hooks
from bot.ids import ChannelId, ProjectId
from bot.store import Transaction
from bot.visitors.model.digests import Recommendation
from bot.visitors.model.own_questions import SentQuestion


def _list_nothing(*_arguments: object) -> tuple[()]:
    return ()


async def _wait_for_nothing(*_arguments: object) -> None:
    """Do nothing, as the default of a hook that is awaited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestHooks(Hooks):
    """The functions of a feature that adds to digests. Each does nothing by default."""

    list_recommendations: Callable[
        [Transaction, ProjectId, ChannelId, datetime, datetime, bool], Sequence[Recommendation]
    ] = _list_nothing
    """Returns a project's recommendations for a channel's digest, from a time until before
    another. The last argument: only those of the channel's own words.
    """
    list_sent: Callable[
        [Transaction, ProjectId, ChannelId, datetime, datetime], Sequence[SentQuestion]
    ] = _list_nothing
    """Returns a project's questions that were sent to the docs service from a time until before
    another, for a channel that may see some of them.
    """
    refresh_privacy: Callable[[Context, ProjectId], Awaitable[None]] = _wait_for_nothing
    """Asks Slack, before recommendations are listed, which channels are public now."""

"""The hooks by which answers call the features above them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.context import Hooks, WorkerContext
from bot.ids import RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHooks(Hooks):
    """The functions of the feature that stores the messages of questions."""

    must_wait: Callable[[WorkerContext, RequestKey, bool], Awaitable[bool]]
    """Returns whether a request waits, because one of its messages was changed.

    The last argument: whether to read the messages in Slack, too. Raises a SlackError or
    TimeoutError.
    """

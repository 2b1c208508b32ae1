"""What answers call of the subjects above them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.context import Hooks, WorkerContext
from bot.ids import RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHooks(Hooks):
    """The functions of the subject that holds the messages of questions."""

    must_wait: Callable[[WorkerContext, RequestKey, bool], Awaitable[bool]]
    """Returns whether a message of a request was changed, and is to be decided again first.

    The last argument: Slack is asked, too. Raises a SlackError or TimeoutError.
    """

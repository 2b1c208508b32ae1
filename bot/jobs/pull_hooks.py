"""What pull requests call of the subjects above them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.context import Context, Hooks
from bot.ids import JobNumber
from bot.store import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class PullHooks(Hooks):
    """The functions of a subject that follows what becomes of pull requests."""

    on_merged: Callable[[Context, Transaction, JobNumber], bool]
    """Gets a job whose pull request is merged.

    Where the bot cannot see the pull request, people's mark *Reviewed* counts as the merge. Returns
    whether the job's thread will get a message about it.
    """

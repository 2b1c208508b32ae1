"""The threads that deliveries go to, as the subject with the jobs declares them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, ScalarSelect

from bot.ids import MessageTs
from bot.store.schema import AnyTable

DECLARED: list[JobThreads] = []
"""The declared threads, which are those of one table."""


@dataclass(frozen=True, eq=False, slots=True)
class JobThreads:
    """The columns of jobs from which a delivery takes its thread.

    They are declared beside their table: the outbox stands below jobs and knows their numbers.
    """

    table: AnyTable
    number: Column[int]
    status_ts: Column[MessageTs | None]
    """The status message; empty until it is posted."""
    thread_ts: Column[MessageTs | None]
    """The beginning of its thread; empty where it begins the thread itself."""
    request: ScalarSelect[str]
    """The key of the request that has begun a job, for the log."""
    awaits_status_message: ColumnElement[bool]
    """The condition that a job will get its status message before it is sent."""

    def __post_init__(self) -> None:
        """Declare the threads, so that the outbox finds them."""
        DECLARED.append(self)


def job_threads() -> JobThreads:
    """Return the declared threads."""
    [threads] = DECLARED
    return threads

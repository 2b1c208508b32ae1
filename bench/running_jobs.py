"""The jobs that are under way when a benchmark begins, as each side knows them.

It imports nothing of the sandbox, whose modules would count as memory of a measured process.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

PROJECT = "bench"
CHANNELS = 50
CREATED_AT = datetime(2026, 11, 2, 9, tzinfo=UTC)


def answer_about(docs_url: str, number: int) -> dict[str, Any]:
    """Return the fields of the docs service's answers about an active job that the bot stores."""
    return {
        "id": f"job-{number}",
        "repository": f"{docs_url}/acme/{PROJECT}",
        "ref": f"agent/job-{number}",
        "model": "sandbox-writer-1",
        "created_at": CREATED_AT,
    }


def channel(number: int) -> str:
    """Return the id of one of the channels, in turns."""
    return f"C{number % CHANNELS:03}"


def root_ts(number: int) -> str:
    """Return the timestamp of a job's status message."""
    return f"{number + 1}.000000"

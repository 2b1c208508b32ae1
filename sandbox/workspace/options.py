"""How a workspace is set up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """Where the workspace keeps its state, its secrets, and how strict it is.

    ``events_url`` is where signed requests go; None means Socket Mode. ``redeliver_after_seconds`` are
    the waits before an event that was not acknowledged is delivered again
    (https://docs.slack.dev/apis/events-api: almost at once, a minute, five minutes).
    """

    folder: Path
    bot_token: str = "xoxb-sandbox"  # noqa: S105
    app_token: str = "xapp-sandbox"  # noqa: S105
    signing_secret: str = "sandbox-signing-secret"  # noqa: S105
    events_url: str | None = None
    manifest: Path | None = None
    docs_service_url: str | None = None
    enforce_channel_rate: bool = True
    channel_burst: int = 4
    ack_seconds: float = 3.0
    trigger_seconds: float = 3.0
    response_url_seconds: float = 1_800.0
    response_url_uses: int = 5
    redeliver_after_seconds: tuple[float, ...] = (0.5, 60.0, 300.0)


def utcnow() -> datetime:
    """The time, for everything that is not a test."""
    return datetime.now(UTC)

"""The options of the sandbox's docs service."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

GITHUB_TOKEN = "github_pat_sandbox"  # noqa: S105
"""The token that the sandbox's GitHub takes; without one its limit is small."""

SLOW_FACTOR = 10
"""Factor on the working time for a prompt that asks the agent to take its time."""

MAX_PAGES = 100_000
MAX_DAYS = 1_000

BODY_LIMIT_BYTES = 1_048_576
"""Maximum size of a request body; 40,000 characters fit in any JSON escaping."""


@dataclass(frozen=True, kw_only=True)
class SiteOptions:
    """Options shared by the docs service, the whole sandbox and its command line.

    An ordinary job takes `work_seconds`, the build of a preview `build_seconds`. Visits are generated from
    `seed` for a site of `pages` pages and for the last `days` days. `agent` is a program that works in
    `repository` in place of the agent that follows rules, for at most `agent_minutes`, with the variables
    named in `agent_env`; `publish` is run after it.
    """

    work_seconds: float = 6.0
    build_seconds: float = 8.0
    uses_an_hour: int = 100
    analytics_calls_an_hour: int = 100
    seed: int = 7
    pages: int = 300
    days: int = 120
    agent: str = ""
    repository: Path | None = None
    publish: str = ""
    agent_env: tuple[str, ...] = ()
    agent_minutes: float = 30.0

    def site_options(self) -> dict[str, Any]:
        """Return these options by name, as keyword arguments."""
        return {field.name: getattr(self, field.name) for field in fields(SiteOptions)}


@dataclass(frozen=True)
class DocsServiceOptions(SiteOptions):
    """Options of the docs service; raises `ValueError` for invalid ones. `folder` has its data."""

    folder: Path
    api_key: str = "sandbox_key"
    project: str = "acme-docs"

    def __post_init__(self) -> None:
        if self.agent and self.repository is None:
            raise ValueError("an agent of one's own needs a repository")
        if not 1 <= self.pages <= MAX_PAGES or not 1 <= self.days <= MAX_DAYS:
            raise ValueError(f"pages are 1 to {MAX_PAGES:,}, days 1 to {MAX_DAYS:,}")

    @property
    def worktrees(self) -> Path:
        """Return the folder of the worktrees of `repository`."""
        return self.folder / "worktrees"


def utcnow() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return datetime.now(UTC)


def product_name(project: str) -> str:
    """Return the product's name in a project's pages: "Acme" for "acme-docs"."""
    words = [word for word in re.split(r"[-_]+", project) if word.lower() not in ("docs", "documentation")]
    return " ".join(word[:1].upper() + word[1:] for word in words) or "Acme"

"""The options of the sandbox's docs service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

GITHUB_TOKEN = "github_pat_sandbox"  # noqa: S105
"""The token that the sandbox's GitHub takes; without one its limit is small."""

SLOW_FACTOR = 10
"""Factor on the working time for a prompt that asks the agent to take its time."""

MAX_PAGES = 100_000
MAX_DAYS = 1_000

BODY_LIMIT_BYTES = 1_048_576
"""Maximum size of a request body; 40,000 characters fit in any JSON escaping."""


@dataclass(frozen=True)
class DocsServiceOptions:
    """Options of the docs service; `folder` has its data, or None for a service in memory.

    An ordinary job takes `work_seconds`, the build of a preview `build_seconds`, and a merged page is live
    after `deploy_seconds`. Visits are generated from
    `seed` for a site of `pages` pages and for the last `days` days. `other_projects` take the same key,
    and `other_keys` may do what `api_key` may.
    `agent` is a program that works in
    `repository` in place of the agent that follows rules, for at most `agent_minutes`, with the variables
    named in `agent_env`; `publish` is run after it.
    """

    folder: Path | None
    api_key: str = "sandbox_key"
    project: str = "acme-docs"
    other_projects: tuple[str, ...] = ()
    other_keys: tuple[str, ...] = ()
    work_seconds: float = 6.0
    build_seconds: float = 8.0
    deploy_seconds: float = 3.0
    uses_an_hour: int = 100
    analytics_calls_an_hour: int = 100
    assistant_key: str = "sandbox_dsc_key"
    domain: str = "acme"
    discovery_calls_an_hour: int = 10_000
    seed: int = 7
    pages: int = 300
    days: int = 120
    agent: str = ""
    repository: Path | None = None
    publish: str = ""
    agent_env: tuple[str, ...] = ()
    agent_minutes: float = 30.0

    @property
    def admin_keys(self) -> tuple[str, ...]:
        """Return the keys of the organization of the projects."""
        return (self.api_key, *self.other_keys)

    @property
    def projects(self) -> tuple[str, ...]:
        """Return the projects that the key is for."""
        return (self.project, *self.other_projects)

    @property
    def worktrees(self) -> Path:
        """Return the folder of the worktrees of `repository`. Raises `ValueError` in memory."""
        if self.folder is None:
            raise ValueError("a service in memory has no worktrees")
        return self.folder / "worktrees"

    def file(self, name: str) -> Path | None:
        """Return the path of a file of the service's data; None in memory."""
        return None if self.folder is None else self.folder / name


def utcnow() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return datetime.now(UTC)


def product_name(project: str) -> str:
    """Return the product's name in a project's pages: "Acme" for "acme-docs"."""
    parts = [
        word
        for word in re.split(r"[-_]+", project)
        if word.lower() not in ("docs", "documentation")
    ]
    return " ".join(word[:1].upper() + word[1:] for word in parts) or "Acme"

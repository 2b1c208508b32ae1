"""Runs the git binary, since filters, attributes and formats of a real repository are git's own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

AUTHOR_NAME, AUTHOR_EMAIL = "Docs Agent", "docs-agent@sandbox.invalid"
INHERITED = ("PATH", "HOME", "LANG")
"""The only variables that git and an agent of one's own get without being named."""

_GIT_SECONDS = 300.0
# No program of a repository's owner runs: no hooks, no monitor, no clearing up.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
)


class GitError(Exception):
    """A git command failed; the text is the last line of git's output."""


def inherited() -> dict[str, str]:
    """Return the variables of `INHERITED` that are set."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def identity(at: datetime) -> dict[str, str]:
    """Return the variables that make the agent the author of a commit at this time."""
    values = {"NAME": AUTHOR_NAME, "EMAIL": AUTHOR_EMAIL, "DATE": f"{int(at.timestamp())} +0000"}
    return {
        f"GIT_{who}_{name}": value
        for who in ("AUTHOR", "COMMITTER")
        for name, value in values.items()
    }


def git(
    folder: Path, *arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None
) -> str:
    """Run a git command in a folder and return its output; raise `GitError` if it fails."""
    printed = git_bytes(
        folder, *arguments, stdin=stdin.encode("utf-8", "replace"), environment=environment
    )
    return printed.decode("utf-8", "replace").strip()


def git_bytes(
    folder: Path, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> bytes:
    """Do as `git` does, with bytes."""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    # With the ceiling, git never takes a repository around a worktree whose .git file an agent removed.
    fixed = {"GIT_TERMINAL_PROMPT": "0", "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    try:
        ran = subprocess.run(  # noqa: S603
            ["git", *settings, "-C", str(folder), *arguments],  # noqa: S607
            input=stdin,
            env={**inherited(), **fixed, **(environment or {})},
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {arguments[0]}: {error}") from error
    if ran.returncode:
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines() or [
            f"exit code {ran.returncode}"
        ]
        raise GitError(f"git {arguments[0]}: {lines[-1]}")
    return ran.stdout

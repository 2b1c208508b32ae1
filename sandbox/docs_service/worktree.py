"""Worktrees of a real repository. Its own checkout, index and branches are never touched.

Uses the git binary, because filters, attributes and formats of a real repository are git's own.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

log = logging.getLogger(__name__)

AUTHOR_NAME, AUTHOR_EMAIL = "Docs Agent", "docs-agent@sandbox.invalid"
INHERITED = ("PATH", "HOME", "LANG")
"""The only variables that git and the agent get without being named."""

_GIT_SECONDS = 300.0
# No program of the repository's owner runs because of a worktree: no hooks, no monitor, no clearing up.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
)
_NO_COMMIT = "0" * 40


class GitError(Exception):
    """A git command failed; the text is the last line that git said."""


def inherited() -> dict[str, str]:
    """Return the variables of `INHERITED` that are set."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


@dataclass(frozen=True)
class Worktree:
    """A checkout of one commit in a folder of its own."""

    repository: Path
    path: Path
    start: str

    @classmethod
    def add(cls, repository: Path, folder: Path, start: str) -> Worktree:
        """Check a commit out in a new folder below `folder`, without a branch."""
        folder.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix="docs-bot-", dir=folder.resolve()))
        _git(repository, "worktree", "add", "--detach", str(path), start)
        return cls(repository, path, start)

    def changed_files(self) -> tuple[str, list[str]]:
        """Stage every change, also what the agent committed itself; return the tree and the files' names."""
        _git(self.path, "add", "--all")
        tree = _git(self.path, "write-tree")
        names = _git(self.path, "diff", "--name-only", "-z", self.start, tree)
        return tree, [name for name in names.split("\0") if name]

    def commit(self, tree: str, branch: str, message: str, at: datetime) -> str:
        """Commit the tree on top of the start, move the branch there, and return the commit.

        Raises `GitError` if the branch is checked out somewhere, or is not where it was at the start.
        """
        words = ("commit-tree", tree, "-p", self.start)
        sha = _git(self.path, *words, stdin=message, environment=_identity(at))
        ref = f"refs/heads/{branch}"
        if used := _git(self.repository, "for-each-ref", "--format=%(worktreepath)", ref):
            raise GitError(f"{branch} is checked out in {used}; the change is kept as commit {sha}")
        exists = _git(self.repository, "for-each-ref", "--format=%(objectname)", ref)
        _git(self.repository, "update-ref", ref, sha, self.start if exists else _NO_COMMIT)
        return sha

    def switch_to(self, branch: str) -> None:
        """Make the branch, whose files are here already, the current one of this worktree."""
        _git(self.path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def remove(self) -> None:
        """Remove the folder and what the repository knows of it."""
        _remove(self.repository, self.path)


def remove_leftovers(repository: Path, folder: Path) -> None:
    """Remove the worktrees of a process that was killed."""
    for path in folder.resolve().glob("docs-bot-*"):
        _remove(repository, path)


def _remove(repository: Path, path: Path) -> None:
    try:
        # Twice: also a locked one.
        _git(repository, "worktree", "remove", "--force", "--force", str(path))
    except GitError as error:
        log.warning("the worktree %s could not be removed: %s", path, error)
    shutil.rmtree(path, ignore_errors=True)


def _identity(at: datetime) -> dict[str, str]:
    said = {"NAME": AUTHOR_NAME, "EMAIL": AUTHOR_EMAIL, "DATE": f"{int(at.timestamp())} +0000"}
    return {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in said.items()}


def _git(folder: Path, *words: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> str:
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    # With the ceiling, git never takes a repository around a worktree whose .git file an agent removed.
    fixed = {"GIT_TERMINAL_PROMPT": "0", "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    try:
        ran = subprocess.run(  # noqa: S603
            ["git", *settings, "-C", str(folder), *words],  # noqa: S607
            input=stdin.encode("utf-8", "replace"),
            env={**inherited(), **fixed, **(environment or {})},
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {words[0]}: {error}") from error
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {ran.returncode}"]
        raise GitError(f"git {words[0]}: {said[-1]}")
    return ran.stdout.decode("utf-8", "replace").strip()

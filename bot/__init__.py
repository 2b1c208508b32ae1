"""The docs-agent Slack bot, its version, and the commit that runs where that is known."""

import os
from pathlib import Path

__version__ = "1.0.0"


def read_commit() -> str:
    """Return the commit, which an image names and a clone has in ``.git``; empty without both."""
    return os.environ.get("DOCS_BOT_COMMIT") or head_of(Path(__file__).parents[1] / ".git")


def head_of(git: Path) -> str:
    """Return the commit of a clone's folder ``.git``; empty if it cannot be read there.

    Git itself is not asked: it may be missing, and it refuses a clone that another user owns.
    """
    try:
        head = (git / "HEAD").read_text("utf-8").strip()
        branch = head.removeprefix("ref: ")
        if branch == head:
            return head
        if (git / branch).exists():
            return (git / branch).read_text("utf-8").strip()
        for line in (git / "packed-refs").read_text("utf-8").splitlines():
            commit, _, name = line.partition(" ")
            if name == branch:
                return commit
    except (OSError, ValueError):
        pass
    return ""


def version_and_commit() -> str:
    """Return the version and the commit for people; the version alone if the commit is unknown."""
    commit = read_commit()
    return f"{__version__} (commit {commit})" if commit else __version__

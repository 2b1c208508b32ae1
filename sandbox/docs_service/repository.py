"""A project's git repository: whole files by commit, and commits without a checkout."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sandbox.docs_service.git import AUTHOR_EMAIL, AUTHOR_NAME, GitError, git, git_bytes

MAIN = "main"
_HEADS = "refs/heads/"
_MAX_TEXT_BYTES = 500_000
_LINE_KINDS = {"+": "added", "-": "removed", "@": "hunk"}
_STATUSES = {"A": "added", "D": "removed", "R": "renamed"}
_COMMIT_FORMAT = "--format=%H%n%P%n%ct%n%B"


@dataclass(frozen=True)
class CommitInfo:
    """A commit for display."""

    sha: str
    parent: str | None
    subject: str
    body: str
    at: datetime


class FileChange(NamedTuple):
    """A file that differs between two commits. Binary and huge files have no patch."""

    path: str
    status: str
    additions: int
    deletions: int
    was: str | None
    sha: str
    patch: str | None

    @property
    def anchor(self) -> str:
        """Return where the file stands on the page of its pull request, by GitHub's name."""
        return f"diff-{hashlib.sha256(self.path.encode('utf-8', 'replace')).hexdigest()}"

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Return the kind and the text of each line of the patch."""
        # split, not splitlines: for git a form feed or U+2028 ends no line.
        lines = (self.patch or " The file is binary or too large to be shown.").split("\n")
        return [(_LINE_KINDS.get(line[:1], "same"), line) for line in lines]


def site_path(file: str) -> str:
    """Return the path of a file's page on the site: "sdks" for docs/sdks/index.md."""
    return re.sub(r"(^|/)index$", "", file.removeprefix("docs/").rpartition(".")[0])


class _Entry(NamedTuple):
    """A file in a commit: its mode, and the id of its content."""

    mode: str
    sha: str


class SiteRepository:
    """Reads and writes whole files by branch.

    Calls block: run them in a thread. Commits and merges wait for each other. All raise `GitError`.
    """

    def __init__(self, path: Path, main: str = MAIN) -> None:
        self.path = path
        self.main = main
        # A commit moves the head that it has read, and git refuses one whose head moved meanwhile.
        self._moving_a_head = Lock()

    @classmethod
    def of(cls, path: Path) -> SiteRepository:
        """Return somebody's repository, whose main branch is the one that is checked out there.

        Raises `ValueError` with a reason for people.
        """
        if problem := cls.wrong(path):
            raise ValueError(problem)
        return cls(path.resolve(), git(path, "symbolic-ref", "HEAD").removeprefix(_HEADS))

    @classmethod
    def wrong(cls, path: Path) -> str | None:
        """Return why a folder's repository cannot be used, or None."""
        try:
            git(path, "rev-parse", "--git-dir")
        except GitError as error:
            return f"--repository takes the top folder of a git repository; {path}: {error}"
        try:
            git(path, "rev-parse", "--verify", git(path, "symbolic-ref", "HEAD"))
        except GitError:
            return (
                "--repository needs a commit, and the branch checked out that pull requests go to"
            )
        return None

    def seed(self, files: Mapping[str, str], now: datetime) -> None:
        """Create the repository with a first commit of these files, unless it exists."""
        if self.path.exists():
            return
        # Build it under another name and rename it, so that a killed start leaves no incomplete repository.
        draft = SiteRepository(self.path.with_suffix(".new"))
        shutil.rmtree(draft.path, ignore_errors=True)
        draft.path.mkdir(parents=True)
        git(draft.path, "init", "--quiet", "--bare", "--template=", f"--initial-branch={MAIN}")
        draft.commit(MAIN, files, "Write the documentation", now)
        draft.path.rename(self.path)

    def head(self, branch: str) -> str | None:
        """Return the newest commit of a branch, or None if there is no such branch."""
        return git(self.path, "for-each-ref", "--format=%(objectname)", _HEADS + branch) or None

    def before_head(self, commits: int) -> str | None:
        """Return the main branch's commit so many commits before its newest one.

        None without a branch; the oldest commit if there are fewer.
        """
        head = self.head(self.main)
        if head is None or not commits:
            return head
        newest = git(
            self.path, "rev-list", "--first-parent", f"--max-count={commits + 1}", head
        ).split()
        return newest[-1]

    def files(self, sha: str, only: Collection[str] | None = None) -> dict[str, str]:
        """Return the files of a commit by their paths: all, or those of `only` that it has."""
        entries = self._entries(sha)
        return self._texts(
            {path: one for path, one in entries.items() if only is None or path in only}
        )

    def changes(self, old: str, new: str) -> list[FileChange]:
        """Return the files that differ between two commits, with their patches, sorted by path."""
        what = ("diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--full-index", old, new)
        printed = git_bytes(self.path, *what, "-p", "--no-color").decode("utf-8", "replace")
        patches = re.split(r"^diff --git ", printed, flags=re.MULTILINE)[1:]
        counts = git(self.path, *what, "--numstat", "-z").split("\0")
        fields = iter(git(self.path, *what, "--raw", "-z").split("\0"))
        found = []
        for patch, about in zip(
            patches, filter(lambda field: field.startswith(":"), fields), strict=True
        ):
            *_, sha, status = about.split(" ")
            path = next(fields)
            was, path = (path, next(fields)) if status[0] == "R" else (None, path)
            added, removed, *_ = counts.pop(0).split("\t")
            if was is not None:
                del counts[:2]  # the two paths
            hunks = patch.find("\n@@ ") + 1
            is_shown = hunks > 0 and len(patch) <= _MAX_TEXT_BYTES
            plus, minus = (int(count) if count.isdecimal() else 0 for count in (added, removed))
            shown = patch[hunks:].removesuffix("\n") if is_shown else None
            found.append(
                FileChange(path, _STATUSES.get(status[0], "modified"), plus, minus, was, sha, shown)
            )
        return found

    def commit(
        self,
        branch: str,
        changes: Mapping[str, str],
        message: str,
        now: datetime,
        base: str | None = None,
    ) -> str:
        """Commit the changed texts and return the commit id. A new branch starts at `base`."""
        files = [
            b"M 100644 inline %s\n%s" % (_quoted(path), _data(text))
            for path, text in changes.items()
        ]
        with self._moving_a_head:
            return self._commit(branch, self.head(branch) or base, files, message, now)

    def merge(self, base: str, head: str, message: str, now: datetime) -> bool:
        """Commit the changes between two commits to the main branch, as a squash merge does.

        Return False, and commit nothing, if the main branch has changed the same files since `base`.
        """
        with self._moving_a_head:
            return self._merge(base, head, message, now)

    def _merge(self, base: str, head: str, message: str, now: datetime) -> bool:
        parent = self.head(self.main) or base
        entries = self._entries(parent)
        before, after = _differing(self._entries(base), self._entries(head))
        if any(
            entries.get(path) not in (before.get(path), after.get(path)) for path in before | after
        ):
            return False
        files = [
            b"D %s" % _quoted(path) for path in before.keys() - after.keys() if path in entries
        ]
        files += [
            f"M {one.mode} {one.sha} ".encode() + _quoted(path) for path, one in after.items()
        ]
        self._commit(self.main, parent, files, message, now)
        return True

    def commits(self, head: str, base: str | None = None) -> list[CommitInfo]:
        """Return the commits after `base` up to `head`, oldest first."""
        revisions = f"{base}..{head}" if base else head
        printed = git(
            self.path, "log", "-z", "--first-parent", "--reverse", _COMMIT_FORMAT, revisions
        )
        return [_info(one) for one in printed.split("\0") if one]

    def base_of(self, one: str, other: str) -> str | None:
        """Return the newest commit that is in both; None if there is none, or no such commits."""
        try:
            return git(self.path, "merge-base", one, other)
        except GitError:
            return None

    def lines(self, sha: str, pattern: str) -> list[tuple[str, str]]:
        """Return the paths and texts of the lines of Markdown files that an extended expression matches."""
        try:
            printed = git(
                self.path, "grep", "-I", "-z", "-E", "-e", pattern, sha, "--", "*.md", "*.mdx"
            )
        except GitError:  # git fails where nothing matches
            return []
        matches = (line.removeprefix(f"{sha}:").partition("\0") for line in printed.split("\n"))
        return [(path, text) for path, _, text in matches]

    def first_with(self, sha: str, path: str, text: str) -> datetime:
        """Return when the history up to a commit first brought a text into a file."""
        args = ("--first-parent", "-m", "--reverse", "--format=%ct", f"-S{text}", sha, "--", path)
        times = git(self.path, "log", *args).split() or [
            git(self.path, "log", "-1", "--format=%ct", sha)
        ]
        return datetime.fromtimestamp(int(times[0]), UTC)

    def info(self, sha: str) -> CommitInfo:
        """Return one commit."""
        return _info(git(self.path, "log", "-1", _COMMIT_FORMAT, sha))

    def _entries(self, sha: str) -> dict[str, _Entry]:
        """Return the files of a commit; a submodule, which is a commit of another repository, is none."""
        entries = {}
        for line in git(self.path, "ls-tree", "-r", "-z", "--full-tree", sha).split("\0"):
            attributes, _, path = line.partition("\t")
            if " blob " in attributes:
                mode, _, blob = attributes.split(" ")
                entries[path] = _Entry(mode, blob)
        return entries

    def _texts(self, entries: Mapping[str, _Entry]) -> dict[str, str]:
        shas = "".join(f"{entry.sha}\n" for entry in entries.values()).encode()
        printed, at, contents = git_bytes(self.path, "cat-file", "--batch", stdin=shas), 0, {}
        for path, entry in entries.items():
            begin = printed.index(b"\n", at) + 1
            end = begin + int(printed[at:begin].split()[-1])
            contents[path], at = _text(printed[begin:end], entry.sha), end + 1
        return contents

    def _commit(
        self, branch: str, parent: str | None, files: Sequence[bytes], message: str, now: datetime
    ) -> str:
        """Commit files in the form of https://git-scm.com/docs/git-fast-import, and return the commit id."""
        lines = [
            f"commit {_HEADS}{branch}\nmark :1".encode(),
            f"committer {AUTHOR_NAME} <{AUTHOR_EMAIL}> {int(now.timestamp())} +0000".encode(),
            _data(message),
            *([f"from {parent}".encode()] if parent else []),
            *files,
            b"\nget-mark :1\n",
        ]
        made = git_bytes(self.path, "fast-import", "--quiet", stdin=b"\n".join(lines))
        return made.decode().strip()


class EmptyRepository(SiteRepository):
    """A repository without a commit, in memory; its service has no pages of its own."""

    def __init__(self) -> None:
        super().__init__(Path(os.devnull))

    def seed(self, files: Mapping[str, str], now: datetime) -> None:
        """Do nothing."""

    def head(self, _branch: str) -> None:
        """Return None: there is no branch."""

    def base_of(self, _one: str, _other: str) -> None:
        """Return None: there is no commit."""

    def info(self, sha: str) -> CommitInfo:
        """Raise `GitError`: there is no commit."""
        raise GitError(f"there is no commit {sha}")


def _differing(
    old: Mapping[str, _Entry], new: Mapping[str, _Entry]
) -> tuple[dict[str, _Entry], dict[str, _Entry]]:
    before = {path: entry for path, entry in old.items() if new.get(path) != entry}
    after = {path: entry for path, entry in new.items() if old.get(path) != entry}
    return before, after


def _data(text: str) -> bytes:
    written = text.encode("utf-8", "replace")
    return b"data %d\n%s" % (len(written), written)


def _quoted(path: str) -> bytes:
    signs = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{signs}"'.encode("utf-8", "replace")


def _info(printed: str) -> CommitInfo:
    sha, parents, at, message = printed.split("\n", 3)
    subject, _, body = message.partition("\n\n")
    parent = parents.partition(" ")[0] or None
    return CommitInfo(
        sha, parent, subject.strip(), body.strip(), datetime.fromtimestamp(int(at), UTC)
    )


def _text(content: bytes, sha: str) -> str:
    """Return a file's text; for a large or a binary one, only its size."""
    if len(content) > _MAX_TEXT_BYTES or b"\0" in content:
        return f"{len(content):,} bytes that are not shown, with the checksum {sha}\n"
    return content.decode("utf-8", "replace")

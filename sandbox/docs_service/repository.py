"""A project's git repository, read and written with dulwich, so that no git program is needed."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dulwich.errors import NotGitRepository
from dulwich.index import commit_tree
from dulwich.objects import S_ISGITLINK, Blob, Commit, ObjectID
from dulwich.refs import HEADREF, Ref
from dulwich.repo import Repo, UnsupportedExtension, UnsupportedVersion

MAIN = "main"
AUTHOR = b"Docs Agent <docs-agent@sandbox.invalid>"
_FILE_MODE = 0o100644
_HEADS = "refs/heads/"
_MAX_TEXT_BYTES = 500_000


@dataclass(frozen=True)
class CommitInfo:
    """A commit for display."""

    sha: str
    parent: str | None
    subject: str
    body: str
    at: datetime


class SiteRepository:
    """Reads and writes whole files by branch.

    Calls block: run them in a thread, and never two at a time.
    """

    def __init__(self, path: Path, main: str = MAIN) -> None:
        self.path = path
        self.main = main

    @classmethod
    def of(cls, path: Path) -> SiteRepository:
        """Return somebody's repository, whose main branch is the one that is checked out there.

        Raises `ValueError` with a reason for people.
        """
        if said := cls.wrong(path):
            raise ValueError(said)
        with cls(path)._open() as repo:
            return cls(path.resolve(), repo.refs.follow(HEADREF)[0][-1].decode().removeprefix(_HEADS))

    @classmethod
    def wrong(cls, path: Path) -> str | None:
        """Return why a folder's repository cannot be used, or None."""
        try:
            with cls(path)._open() as repo:
                names, sha = repo.refs.follow(HEADREF)
        except (NotGitRepository, UnsupportedExtension, UnsupportedVersion, OSError, ValueError) as error:
            return f"--repository takes the top folder of a git repository; {path}: {error}"
        if sha is None or not names[-1].startswith(_HEADS.encode()):
            return "--repository needs a commit, and the branch checked out that pull requests go to"
        return None

    def seed(self, files: Mapping[str, str], now: datetime) -> None:
        """Create the repository with a first commit of these files, unless it exists."""
        if self.path.exists():
            return
        # Build it under another name and rename it, so that a killed start leaves no incomplete repository.
        draft = SiteRepository(self.path.with_suffix(".new"))
        shutil.rmtree(draft.path, ignore_errors=True)
        draft.path.mkdir(parents=True)
        Repo.init_bare(draft.path, default_branch=MAIN.encode()).close()
        draft.commit(MAIN, files, "Write the documentation", now)
        draft.path.rename(self.path)

    @contextmanager
    def _open(self) -> Iterator[Repo]:
        repo = Repo(str(self.path))
        try:
            yield repo
        finally:
            repo.close()

    def head(self, branch: str) -> str | None:
        """Return the newest commit of a branch, or None if there is no such branch."""
        with self._open() as repo:
            return repo.refs[_ref(branch)].decode() if _ref(branch) in repo.refs else None

    def files(self, sha: str, only: Collection[str] | None = None) -> dict[str, str]:
        """Return the files of a commit by their paths: all, or those of `only` that it has."""
        with self._open() as repo:
            return {
                path: _text(_blob(repo, blob_sha))
                for path, blob_sha in _entries(repo, sha).items()
                if only is None or path in only
            }

    def difference(self, old: str, new: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the files that differ between two commits, as they are in the one and in the other."""
        with self._open() as repo:
            before, after = _entries(repo, old), _entries(repo, new)
        differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        return self.files(old, differing), self.files(new, differing)

    def commit(
        self,
        branch: str,
        changes: Mapping[str, str | None],
        message: str,
        now: datetime,
        base: str | None = None,
    ) -> str:
        """Commit the changes and return the commit id; None deletes a file. A new branch starts at `base`."""
        with self._open() as repo:
            parent = self.head(branch) or base
            entries = {} if parent is None else _entries(repo, parent)
            for path, text in changes.items():
                if text is None:
                    entries.pop(path, None)
                else:
                    blob = Blob.from_string(text.encode("utf-8", "replace"))
                    repo.object_store.add_object(blob)
                    entries[path] = blob.id
            made = Commit()
            made.tree = commit_tree(
                repo.object_store, [(path.encode(), sha, _FILE_MODE) for path, sha in sorted(entries.items())]
            )
            made.parents = [] if parent is None else [ObjectID(parent.encode())]
            made.author = made.committer = AUTHOR
            made.author_time = made.commit_time = int(now.timestamp())
            made.author_timezone = made.commit_timezone = 0
            made.encoding = b"UTF-8"
            made.message = message.encode("utf-8", "replace")
            repo.object_store.add_object(made)
            repo.refs[_ref(branch)] = made.id
            return made.id.decode()

    def commits(self, head: str, base: str | None = None) -> list[CommitInfo]:
        """Return the commits after `base` up to `head`, oldest first."""
        found: list[CommitInfo] = []
        with self._open() as repo:
            sha: str | None = head
            while sha is not None and sha != base:
                info = _info(repo, sha)
                found.append(info)
                sha = info.parent
        return found[::-1]

    def info(self, sha: str) -> CommitInfo:
        """Return one commit."""
        with self._open() as repo:
            return _info(repo, sha)


def _ref(branch: str) -> Ref:
    return Ref(b"refs/heads/" + branch.encode())


def _info(repo: Repo, sha: str) -> CommitInfo:
    commit = _commit(repo, sha)
    subject, _, body = commit.message.decode("utf-8", "replace").partition("\n\n")
    return CommitInfo(
        sha=sha,
        parent=commit.parents[0].decode() if commit.parents else None,
        subject=subject.strip(),
        body=body.strip(),
        at=datetime.fromtimestamp(commit.commit_time, UTC),
    )


def _commit(repo: Repo, sha: str) -> Commit:
    found = repo[sha.encode()]
    if not isinstance(found, Commit):
        raise LookupError(f"{sha} is not a commit")
    return found


def _blob(repo: Repo, sha: ObjectID) -> Blob:
    found = repo[sha]
    if not isinstance(found, Blob):
        raise LookupError(f"{sha.decode()} is not a file")
    return found


def _text(blob: Blob) -> str:
    """Return a file's text; for a large or a binary one, only its size."""
    if len(blob.data) > _MAX_TEXT_BYTES or b"\0" in blob.data:
        return f"{len(blob.data):,} bytes that are not shown, with the checksum {blob.id.decode()}\n"
    return blob.data.decode("utf-8", "replace")


def _entries(repo: Repo, sha: str) -> dict[str, ObjectID]:
    tree = repo.object_store.iter_tree_contents(_commit(repo, sha).tree)
    # A submodule's entry names a commit of another repository.
    found = (entry for entry in tree if entry.path and entry.sha and not S_ISGITLINK(entry.mode or 0))
    return {entry.path.decode("utf-8", "replace"): entry.sha for entry in found if entry.path and entry.sha}

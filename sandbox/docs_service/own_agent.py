"""An agent of one's own: any program that changes files, in a fresh worktree of a real repository.

The repository's own checkout, index and branches are never touched.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from sandbox.docs_service.agent import Change
from sandbox.docs_service.agent.writing import clip, one_line, slug, without_background
from sandbox.docs_service.git import GitError, git, identity, inherited
from sandbox.docs_service.options import DocsServiceOptions
from sandbox.docs_service.repository import SiteRepository
from sandbox.docs_service.runner import Author, commit_message, recover, work_done
from sandbox.docs_service.store import Job, JobMessage, Outcome, WorkDone

log = logging.getLogger(__name__)
_NO_COMMIT = "0" * 40

MAX_FILES = 500
"""More changed files than this are a mistake, such as installed packages, and are not committed."""

_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(?::\d{1,5})?/[!-;=?-~]{1,1000}")
OUTPUT_BYTES = 65_536
"""How much of the end of a program's output is kept."""
_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def wrong(options: DocsServiceOptions) -> str | None:
    """Return the problem with the options of an agent of one's own, or None."""
    if not options.agent:
        paths = {
            "repository": options.repository,
            "publish": options.publish,
            "agent-env": options.agent_env,
        }
        return next((f"--{name} needs --agent" for name, value in paths.items() if value), None)
    if options.repository is None:
        return "--agent needs --repository"
    if any(name not in os.environ for name in options.agent_env):
        # The value that somebody may have typed is not repeated.
        return "--agent-env takes the name of a variable that is set, without its value"
    for option, command in (("--agent", options.agent), ("--publish", options.publish)):
        if command and not _split(command):
            return f"{option} takes a command; its first word is no program here"
    return SiteRepository.wrong(options.repository)


def _split(command: str) -> list[str]:
    """Return a command's words with the program's whole path; none if there is no such program."""
    try:
        arguments = shlex.split(command)
    except ValueError:
        return []
    program = shutil.which(arguments[0]) if arguments else None
    return [str(Path(program).absolute()), *arguments[1:]] if program else []


class CommandAuthor(Author):
    """Runs the operator's program for each message, and commits the files that it changed."""

    def __init__(
        self, options: DocsServiceOptions, repository: SiteRepository, clock: Callable[[], datetime]
    ) -> None:
        super().__init__(options, repository, clock)
        self._archived: dict[str, asyncio.Event] = {}

    def work_seconds(self, _prompt: str, /) -> float:
        """Return 0: the work begins at once and has no fixed length."""
        return 0.0

    def branch(self, job_id: str, prompt: str, /) -> str:
        """Return the name of a new job's branch."""
        title = slug(clip(one_line(without_background(prompt)), 40))
        return f"docs-bot/{job_id.replace('_', '-')[:12]}-{title}"

    def stop(self, job_id: str, /) -> None:
        """Kill the program that works for a job; start no other one for its message."""
        if job_id in self._archived:
            self._archived[job_id].set()

    async def write(self, job: Job, message: JobMessage) -> WorkDone:
        """Run the agent, commit its changes and publish them."""
        self._archived[job.id] = asyncio.Event()
        try:
            return await self._make(job, message)
        finally:
            del self._archived[job.id]

    async def _make(self, job: Job, message: JobMessage) -> WorkDone:
        repository = self._repository
        start = repository.head(job.branch) or repository.head(repository.main)
        if start is None:
            return WorkDone(Outcome.FAILED, f"The repository has no branch {repository.main}.")
        try:
            tree = await asyncio.to_thread(
                Worktree.add, repository.path, self._options.worktrees, start
            )
            try:
                return await self._make_in(tree, job, message)
            finally:
                await asyncio.to_thread(_remove, repository.path, tree.path)
        except (GitError, OSError) as error:
            return WorkDone(Outcome.FAILED, f"The change could not be made: {error}.")

    async def _make_in(self, tree: Worktree, job: Job, message: JobMessage) -> WorkDone:
        made = recover(self._repository, job, message)
        if made is None:
            ran = await self._run(self._options.agent, message.prompt, tree, job)
            if ran.failure:
                return WorkDone(Outcome.FAILED, f"The agent {ran.failure}.", output=ran.output)
            made = await asyncio.to_thread(self._commit, tree, job, message)
            made = replace(made, output=ran.output)
        if made.outcome is Outcome.CHANGED and self._options.publish:
            return await self._publish(made, tree, job)
        return made

    def _commit(self, tree: Worktree, job: Job, message: JobMessage) -> WorkDone:
        made, names = tree.changed_files()
        if not names:
            return WorkDone(Outcome.UNCHANGED, "The agent changed nothing.")
        if len(names) > MAX_FILES:
            summary = f"The agent changed {len(names):,} files, more than {MAX_FILES}; nothing is committed."
            return WorkDone(Outcome.FAILED, summary)
        title = clip(one_line(without_background(message.prompt)), 72) or "Change the docs"
        summary = clip(f"Changed {', '.join(one_line(name) for name in names)}.", 300)
        text = commit_message(Change({}, title, summary, one_line(names[0])), job, message)
        sha = tree.commit(made, job.branch, text, self._clock())
        return work_done(self._repository.info(sha), job.base_sha or tree.start)

    async def _publish(self, made: WorkDone, tree: Worktree, job: Job) -> WorkDone:
        """Run the publishing command; without its success and an address, the message has failed."""
        await asyncio.to_thread(tree.switch_to, job.branch)
        ran = await self._run(self._options.publish, "", tree, job)
        link = next(
            (line for line in reversed(ran.output.split("\n")) if _ADDRESS.fullmatch(line)), None
        )
        failure = ran.failure or ("" if link else "printed no line that is an https:// address")
        made = replace(made, output=f"{made.output}\n{ran.output}".strip())
        if not failure:
            return replace(made, link=link)
        summary = f"The change is on the branch {job.branch}, but the publishing command {failure}."
        return replace(made, outcome=Outcome.FAILED, summary=summary)

    async def _run(self, command: str, prompt: str, tree: Worktree, job: Job) -> Ran:
        """Run a program in a process group of its own, which is killed at the end in any case.

        It ends at its time limit, or when its job is archived. Raises `OSError` if it cannot be started.
        """
        named = {name: os.environ[name] for name in self._options.agent_env if name in os.environ}
        arguments, archived = _split(command), self._archived[job.id]
        if not arguments:
            raise OSError(f"there is no program for {shlex.split(command)[0]} any more")
        if archived.is_set():
            return Ran("was not started, because its job was archived", "")
        # Files, not pipes: nobody waits for a process that left the group and holds the pipe.
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as output:
            stdin.write(prompt.encode("utf-8", "replace"))
            stdin.seek(0)
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=stdin,
                stdout=output,
                stderr=output,
                cwd=tree.path,
                env={**inherited(), **named, "DOCS_BOT_JOB": job.id},
                start_new_session=True,
            )
            failure = await _end(process, self._options.agent_minutes * 60, archived)
            return Ran(failure, _last_of(output))


@dataclass(frozen=True)
class Ran:
    """How a program ended: the reason for a failure in words, "" for none, and the end of its output."""

    failure: str
    output: str


async def _end(process: asyncio.subprocess.Process, seconds: float, archived: asyncio.Event) -> str:
    """Wait for a program and kill its group; return why it failed, or ""."""
    ended, stopped = asyncio.create_task(process.wait()), asyncio.create_task(archived.wait())
    try:
        await asyncio.wait({ended, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            code = ended.result()
            if code < 0:
                return f"was killed by {signal.Signals(-code).name}"
            return f"ended with exit code {code}" if code else ""
        limit = f"after {seconds / 60:g} minutes, its limit"
        return f"was killed {'when its job was archived' if stopped.done() else limit}"
    finally:
        ended.cancel()
        stopped.cancel()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _last_of(output: IO[bytes]) -> str:
    """Return the end of an output, without the codes that steer a terminal."""
    left_out = max(0, output.seek(0, os.SEEK_END) - OUTPUT_BYTES)
    output.seek(left_out)
    text = _TERMINAL_CODES.sub("", output.read().decode("utf-8", "replace")).strip()
    return f"[the first {left_out:,} bytes are not kept]\n{text}" if left_out else text


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
        git(repository, "worktree", "add", "--detach", str(path), start)
        return cls(repository, path, start)

    def changed_files(self) -> tuple[str, list[str]]:
        """Stage every change, also the agent's own commits; return the tree and the files' names."""
        git(self.path, "add", "--all")
        tree = git(self.path, "write-tree")
        names = git(self.path, "diff", "--name-only", "-z", self.start, tree)
        return tree, [name for name in names.split("\0") if name]

    def commit(self, tree: str, branch: str, message: str, at: datetime) -> str:
        """Commit the tree on top of the start, move the branch there, and return the commit.

        Raises `GitError` if the branch is checked out somewhere, or is not where it was at the start.
        """
        arguments = ("commit-tree", tree, "-p", self.start)
        sha = git(self.path, *arguments, stdin=message, environment=identity(at))
        ref = f"refs/heads/{branch}"
        if used := git(self.repository, "for-each-ref", "--format=%(worktreepath)", ref):
            raise GitError(f"{branch} is checked out in {used}; the change is kept as commit {sha}")
        exists = git(self.repository, "for-each-ref", "--format=%(objectname)", ref)
        git(self.repository, "update-ref", ref, sha, self.start if exists else _NO_COMMIT)
        return sha

    def switch_to(self, branch: str) -> None:
        """Make the branch, whose files are here already, the current one of this worktree."""
        git(self.path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")


def remove_leftovers(repository: Path, folder: Path) -> None:
    """Remove the worktrees of a process that was killed."""
    for path in folder.resolve().glob("docs-bot-*"):
        _remove(repository, path)


def _remove(repository: Path, path: Path) -> None:
    try:
        # Twice: also a locked one.
        git(repository, "worktree", "remove", "--force", "--force", str(path))
    except GitError as error:
        log.warning("the worktree %s could not be removed: %s", path, error)
    shutil.rmtree(path, ignore_errors=True)

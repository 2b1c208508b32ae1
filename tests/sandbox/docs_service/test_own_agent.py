"""A program as the agent: what it changes in a worktree becomes a commit on a branch, however it ends."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.limits import HANG_SECONDS
from tests.sandbox.docs_service.programs import (
    PROMPT,
    WRITES,
    Program,
    asked,
    branches,
    ended,
    git,
    page,
    service,
)

FOREVER = 10 * HANG_SECONDS


async def test_what_the_agent_changes_is_a_commit_on_a_branch_and_the_checkout_is_untouched(
    tmp_path: Path, repository: Path, program: Program
) -> None:
    before = (
        git(repository, "status", "--porcelain=v2", "--branch"),
        git(repository, "diff", "HEAD"),
    )
    async with service(tmp_path, repository, program(WRITES)) as caller:
        job = await asked(caller)
        assert (job["status"], job["prLink"]) == (
            "completed",
            f"{caller.base_url}/acme/acme-docs/pull/1",
        )
        assert job["source"]["repository"] == f"{caller.base_url}/acme/acme-docs"
        assert "Fail on purpose" not in (await caller.request("GET", "/")).text
        pull = (await caller.request("GET", "/acme/acme-docs/pull/1")).text
        assert "1 file changed" in pull
        assert "<code>trunk</code>" in pull
    [branch] = branches(repository)
    assert job["source"]["ref"] == branch
    assert branch == f"docs-bot/{job['id'].replace('_', '-')[:12]}-explain-webhooks"
    assert git(repository, "show", f"{branch}:webhooks.md") == PROMPT
    assert git(repository, "rev-parse", f"{branch}^") == git(repository, "rev-parse", "trunk")
    assert git(repository, "log", "-1", "--format=%s", branch) == "Explain webhooks"
    assert before == (
        git(repository, "status", "--porcelain=v2", "--branch"),
        git(repository, "diff", "HEAD"),
    )
    assert len(git(repository, "worktree", "list").splitlines()) == 1


async def test_a_program_that_hangs_is_killed_at_its_limit(
    tmp_path: Path, repository: Path, program: Program
) -> None:
    hangs = program(f"{WRITES}; time.sleep({FOREVER})")
    async with service(tmp_path, repository, hangs, agent_minutes=0.005) as caller:
        assert "was killed after 0.005 minutes, its limit." in await page(
            caller, await asked(caller)
        )
    assert branches(repository) == []


async def test_what_a_program_leaves_running_is_killed_at_its_end(
    tmp_path: Path, repository: Path, program: Program
) -> None:
    child = f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep({FOREVER})'])"
    leaves = f"{WRITES}; print('child', {child}.pid, flush=True)"
    async with service(tmp_path, repository, program(leaves)) as caller:
        job = await asked(caller)
        assert job["status"] == "completed"
        pid = int((await page(caller, job)).partition("child ")[2].partition("<")[0])
    await gone(pid)


async def until(holds: Callable[[], bool]) -> None:
    """Return when a program has come so far."""
    async with asyncio.timeout(HANG_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


async def gone(pid: int) -> None:
    """Return when a process has ended."""
    await until(lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended and that nobody has waited for does not."""
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip()[:1] not in ("", "Z")


async def test_a_job_is_active_while_its_program_works_and_stopping_kills_the_program(
    tmp_path: Path, repository: Path, program: Program
) -> None:
    started = tmp_path / "started"
    waits = f"pathlib.Path({str(started)!r}).write_text(str(os.getpid())); time.sleep({FOREVER})"
    async with service(tmp_path, repository, program(waits)) as caller:
        job_id = (await caller.ask(PROMPT)).json["id"]
        await until(lambda: started.exists() and bool(started.read_text()))
        assert (await caller.job(job_id)).json["status"] == "active"
    await gone(int(started.read_text()))
    # The same prompt is worked on at the next start.
    async with service(tmp_path, repository, program(WRITES)) as caller:
        assert (await ended(caller, job_id))["status"] == "completed"
    assert len(branches(repository)) == len(git(repository, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("role", ["agent", "publishing command"])
async def test_archiving_a_job_kills_its_program_and_says_so(
    tmp_path: Path, repository: Path, program: Program, role: str
) -> None:
    started = tmp_path / "started"
    waits = program(
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep({FOREVER})'])\n"
        f"print('Thinking', os.getpid(), child.pid, flush=True)\n"
        f"pathlib.Path({str(started)!r}).touch()\n"
        f"time.sleep({FOREVER})"
    )
    agent, publish = (waits, "") if role == "agent" else (program(WRITES), waits)
    async with service(tmp_path, repository, agent, publish=publish) as caller:
        job_id = (await caller.ask(PROMPT)).json["id"]
        await until(started.exists)
        await caller.request("POST", f"/acme-docs/job/{job_id}/archive")
        assert (await caller.job(job_id)).json["status"] == "archived"
        async with asyncio.timeout(HANG_SECONDS):
            while "Thinking" not in (shown := await page(caller, {"id": job_id})):
                await asyncio.sleep(0.01)
        assert f"{role} was killed when its job was archived." in shown
        for pid in shown.partition("Thinking ")[2].partition("<")[0].split():
            await gone(int(pid))
        # The next job does not wait for the archived one.
        started.unlink()
        await caller.ask("Another")
        await until(started.exists)
    assert len(branches(repository)) == (0 if role == "agent" else 2)


async def test_the_environment_has_what_is_named_and_nothing_else_and_no_shell_reads_the_command(
    tmp_path: Path, repository: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "given")
    monkeypatch.setenv("OTHER_KEY", "kept back")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    prints = program(
        "print(sorted(set(os.environ) - {'LC_CTYPE'}), os.environ['AGENT_KEY'], sys.argv[1])"
    )
    prints += " $HOME;ls"
    async with service(tmp_path, repository, prints, agent_env=("AGENT_KEY",)) as caller:
        shown = await page(caller, await asked(caller))
    names = sorted(["AGENT_KEY", "DOCS_BOT_JOB", "HOME", "LANG", "PATH"])
    assert f"{names} given $HOME;ls</pre>".replace("'", "&#39;") in shown


async def test_a_submodule_a_link_and_hooks_do_no_harm(
    tmp_path: Path, repository: Path, program: Program
) -> None:
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},vendor")
    git(repository, "commit", "--quiet", "-m", "Add a submodule")
    for name in ("post-checkout", "reference-transaction", "pre-commit"):
        hook = repository / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/hook-ran'\nexit 1\n")
        hook.chmod(0o755)
    links = f"{WRITES}; os.symlink('index.md', 'link.md'); os.chmod('webhooks.md', 0o755)"
    async with service(tmp_path, repository, program(links)) as caller:
        assert (await asked(caller))["status"] == "completed"
        assert "2 files changed" in (await caller.request("GET", "/acme/acme-docs/pull/1")).text
    [branch] = branches(repository)
    modes = git(repository, "ls-tree", "--format=%(objectmode) %(path)", branch).splitlines()
    assert {"160000 vendor", "120000 link.md", "100755 webhooks.md"} <= set(modes)
    assert not (tmp_path / "hook-ran").exists()

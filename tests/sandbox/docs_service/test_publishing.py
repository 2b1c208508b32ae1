"""A publishing command turns the branch of a job into a pull request, and says where it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sandbox.docs_service.programs import (
    WRITES,
    Program,
    asked,
    branches,
    ended,
    git,
    page,
    service,
)

ADDRESS = "https://code.example/acme/docs/pull/7"


async def test_the_publishing_command_runs_on_the_branch_and_its_address_is_the_pull_request(
    tmp_path: Path, repository: Path, program: Program
) -> None:
    publish = program(
        f"subprocess.run(['git', 'branch', '--show-current']); print('{ADDRESS}'); print('Done')"
    )
    async with service(tmp_path, repository, program(WRITES), publish=publish) as caller:
        job = await asked(caller)
        assert (job["status"], job["prLink"]) == ("completed", ADDRESS)
        [branch] = branches(repository)
        assert f">{branch}\n{ADDRESS}\nDone</pre>" in await page(caller, job)


async def test_the_publishing_lines_of_the_docs_push_the_branch_and_know_its_pull_request_again(
    tmp_path: Path, repository: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = (Path(__file__).parents[3] / "docs/sandbox.md").read_text()
    (tmp_path / "publish.sh").write_text(shown.partition("```sh\n")[2].partition("```")[0])
    (tmp_path / "gh").write_text(
        f"#!/bin/sh\ncase $2 in create) touch {tmp_path}/open;; esac\n"
        f"test -e {tmp_path}/open || exit 1\necho {ADDRESS}\n"
    )
    (tmp_path / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    git(repository, "init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    git(repository, "remote", "add", "origin", str(tmp_path / "remote.git"))
    appends = program('open("log.md", "a").write(sys.stdin.read() + "\\n")')
    publish = f"sh -e '{tmp_path}/publish.sh'"
    async with service(tmp_path, repository, appends, publish=publish) as caller:
        job = await asked(caller, "One")
        await caller.follow_up(job["id"], "Two")
        job = await ended(caller, job["id"])
        assert (job["status"], job["prLink"]) == ("completed", ADDRESS)
    [branch] = branches(repository)
    assert git(tmp_path / "remote.git", "show", f"{branch}:log.md") == "One\nTwo"

"""The operator's page from nothing to a pull request, block by block, and what it says of a reverse proxy."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.settings import Settings
from bot.slack.http import BODY_BYTES
from bot.slack.http import PATH as SLACK_PATH
from sandbox.workspace import WorkspaceOptions
from sandbox.world import WorldOptions, both_sides
from tests.limits import HANG_SECONDS, STOPPED
from tests.papers import DOCS, ROOT, fences, section
from tests.scenarios.story import ANA, Story, environment

PAGE = (DOCS / "operating.md").read_text()
WALK = fences(section(PAGE, "From nothing to `/docs-agent` in ten minutes"))
BACKUPS = [each for each in fences(section(PAGE, "Backups")) if "docs-bot" in each[1].split()]
_CLONED = ("Makefile", "requirements.txt", "pyproject.toml", ".env.example")


@dataclass(frozen=True)
class FromManifest(WorldOptions):
    """A workspace with the app of a manifest that was printed."""

    def workspace(self) -> WorkspaceOptions:
        """Return the options of the workspace, with the app of this manifest."""
        return replace(super().workspace(), manifest=self.folder / "printed.yml")


class Operator:
    """Does what the page shows, in an empty folder with what a clone has, beside the sandbox's Slack."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.clone, self._world_folder, self._stack = folder / "clone", folder / "world", stack
        self.clone.mkdir()
        self._world_folder.mkdir()
        for name in _CLONED:
            shutil.copy(ROOT / name, self.clone)
        # What `make setup` installs is here already.
        (self.clone / ".venv").mkdir()
        (self.clone / ".venv/bin").symlink_to(Path(sys.executable).parent)
        (self.clone / ".venv/.run").touch()
        self.said: dict[str, str] = {}
        self.story: Story | None = None
        self._bot: asyncio.subprocess.Process | None = None

    async def do(self, language: str, block: str) -> None:
        """Do what a block shows: run its commands, fill in its settings, or type it in Slack."""
        for line in filter(None, map(str.strip, block.splitlines())):
            match language:
                case "console":
                    await self._run(line.removeprefix("$ "))
                case "ini":
                    self._fill_in(line.partition("=")[0])
                case _:
                    await self._type(line)

    async def _run(self, command: str) -> None:
        if command.endswith(" run"):
            self._bot = await self._start(command)
            await asyncio.wait_for(self._sockets().wait(), HANG_SECONDS)
            return
        if " restore " in command:
            await self.stop()  # as the page says
        process = await self._start(command)
        said = (await asyncio.wait_for(process.communicate(), HANG_SECONDS))[0].decode()
        assert process.returncode == 0, f"{command}: {said}"
        self.said[command] = said
        if command.endswith(" manifest"):
            await self._create_app(said)

    def _sockets(self) -> asyncio.Event:
        assert self.story is not None, "the app is created before the bot starts"
        return self.story.world.workspace.bot_connection.sockets.connected

    async def _start(self, command: str) -> asyncio.subprocess.Process:
        words = command.replace("/srv/backups", str(self.clone)).split()
        return await asyncio.create_subprocess_exec(
            *words,
            cwd=self.clone,
            env={"PATH": f"{self.clone}/.venv/bin:{os.environ['PATH']}"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def _create_app(self, manifest: str) -> None:
        (self._world_folder / "printed.yml").write_text(manifest)
        options = FromManifest(self._world_folder, work_seconds=0.3, answer_seconds=HANG_SECONDS)
        self.story = Story(await self._stack.enter_async_context(both_sides(options)))

    def _fill_in(self, name: str) -> None:
        """Write into `.env` what the page asks for, and what leads to the sandbox and keeps to free ports."""
        env = self._env() | {"ADMINS": ANA}
        file = self.clone / ".env"
        written = file.read_text()
        for each in (name, "SLACK_API_URL", "HEALTH_PORT"):
            assert re.search(rf"^{each}=", written, re.MULTILINE), each
            written = re.sub(rf"^{each}=.*$", f"{each}={env[each]}", written, flags=re.MULTILINE)
        file.write_text(written)

    def _env(self) -> dict[str, str]:
        assert self.story is not None, "the app is created before its tokens are copied"
        return environment(self.story.world)

    async def _type(self, line: str) -> None:
        assert self.story is not None
        command, _, text = line.partition(" ")
        answer = await self.story.command(command, text)
        assert answer["ok"], answer

    async def stop(self) -> None:
        """Press Ctrl+C."""
        if self._bot is not None:
            self._bot.send_signal(signal.SIGINT)
            said = (await asyncio.wait_for(self._bot.communicate(), HANG_SECONDS))[0].decode()
            assert self._bot.returncode in STOPPED, said
            self._bot = None


@pytest.fixture
async def operator(tmp_path: Path) -> AsyncIterator[Operator]:
    async with AsyncExitStack() as stack:
        operator = Operator(tmp_path, stack)
        stack.push_async_callback(operator.stop)
        yield operator


async def test_the_page_leads_from_nothing_to_a_pull_request_a_backup_and_back(operator: Operator) -> None:
    for language, block in WALK:
        await operator.do(language, block)
    assert operator.story is not None
    story = operator.story
    await story.answer("/docs-followup")
    root = await story.until(lambda: next(iter(story.roots()), None), "the thread of the job")
    await story.replies(root, 1)
    *_, jobs = operator.said.values()
    assert jobs.startswith("#1 "), jobs
    assert "BAD" not in operator.said[".venv/bin/docs-bot doctor"]
    for language, block in BACKUPS:
        await operator.do(language, block)
    await operator.do("console", "$ docs-bot jobs --state pull_request")
    assert operator.said["docs-bot jobs --state pull_request"].startswith("#1  pull_request")


def test_a_reverse_proxy_passes_on_what_slack_sends_and_keeps_the_rest_inside() -> None:
    [text] = [block for kind, block in fences(PAGE) if kind == "nginx"]
    assert re.findall(r"location = (/\S+)", text) == [SLACK_PATH]
    assert set(re.findall(r"(?:\d+\.){3}\d+:(\d+)", text)) == {str(Settings.model_fields["port"].default)}
    megabytes = re.findall(r"max_body_size (\d+)m", text)
    assert [int(each) * 1_000_000 for each in megabytes] == [BODY_BYTES]
    [connect] = re.findall(r"connect_timeout (\d+)s", text)
    [answer] = re.findall(r"read_timeout (\d+)s", text)
    slack_waits_seconds = 3
    assert int(connect) * 2 < slack_waits_seconds < int(answer)
    assert "404" in text

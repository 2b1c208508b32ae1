"""The operator's pages, as commands: install, first pull request, backups and a reverse proxy."""

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
from bot.slack.http import MAX_BODY_BYTES
from bot.slack.http import PATH as SLACK_PATH
from sandbox.workspace import WorkspaceOptions
from sandbox.world import WorldOptions, both_sides
from tests.limits import HANG_SECONDS, STOPPED
from tests.operator.trial_person import ASKS, TrialPerson
from tests.papers import DOCS, ROOT, fences, section
from tests.scenarios import story as people
from tests.scenarios.story import ANA, Story, environment

pytestmark = pytest.mark.slow
PAGE = (DOCS / "run.md").read_text()
WALK = fences(section((DOCS / "install.md").read_text(), "On a machine").split("\n## ")[0])
HOSTS = dict(
    part.split("\n", 1) for part in section(PAGE, "Backup, restore and upgrade").split("\n### ")[1:]
)
_IN_CLONE = (
    (
        r"sudo -u docs-bot env --chdir=\S+ /opt/docs-bot/|docker compose exec bot (?=docs-bot )",
        ".venv/bin/",
    ),
    (r"docker compose run --rm bot (?=restore )", ".venv/bin/docs-bot "),
    (
        r"sudo systemctl start docs-bot|docker compose up --detach --wait",
        ".venv/bin/docs-bot run",
    ),
    (
        r"docker compose run --rm -T --entrypoint sh bot -c 'umask 077; cat > (\S+)' < (\S+)",
        r"cp \2 \1",
    ),
    (r"docker compose cp bot:", "cp "),
    (r"\.venv/bin/\.venv/bin/", ".venv/bin/"),
)
"""Commands of a host, with their equivalents in a clone."""
_CLONED = ("Makefile", "requirements.txt", "pyproject.toml", ".env.example")


@dataclass(frozen=True)
class FromManifest(WorldOptions):
    """A workspace with the app of the printed manifest."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), manifest=self.folder / "printed.yml")


class Operator:
    """Carries out the page's commands in a small clone, with the sandbox's Slack."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.clone, self._world_folder, self._stack = folder / "clone", folder / "world", stack
        self.clone.mkdir()
        self._world_folder.mkdir()
        for name in _CLONED:
            shutil.copy(ROOT / name, self.clone)
        # A link replaces `make setup`.
        (self.clone / ".venv").mkdir()
        (self.clone / ".venv/bin").symlink_to(Path(sys.executable).parent)
        (self.clone / ".venv/.run").touch()
        self.outputs: dict[str, str] = {}
        self.story: Story | None = None
        self._bot: asyncio.subprocess.Process | None = None

    async def do(self, language: str, block: str) -> None:
        """Carry out a block: run its commands, fill in its settings, or type it in Slack."""
        for line in filter(None, map(str.strip, block.splitlines())):
            match language:
                case "console":
                    await self._run(line.removeprefix("$ "))
                case "ini":
                    self._fill_in(line.partition("=")[0])
                case _:
                    await self._type(line)

    async def back_up_and_restore(self, host: str) -> None:
        """Carry out the commands of a host up to its upgrade."""
        folder = self.clone / f"of-{'-'.join(host.split())}"
        folder.mkdir()
        for _, block in fences(HOSTS[host].split("\nUpgrade", 1)[0]):
            for line in block.splitlines():
                command = line.strip().removeprefix("$ ")
                for pattern, replacement in _IN_CLONE:
                    command = re.sub(pattern, replacement, command)
                command = re.sub(
                    r"/srv/backups|/var/lib/docs-bot|/srv/docs-bot/var", str(folder), command
                )
                is_stop = command.endswith(("stop docs-bot", "stop bot"))
                await (self.stop() if is_stop else self._run(command))

    async def _run(self, command: str) -> None:
        if command.endswith(" run"):
            self._bot = await self._start(command)
            await asyncio.wait_for(self._sockets().wait(), HANG_SECONDS)
            return
        if " restore " in command:
            await self.stop()  # as on the page
        process = await self._start(command.replace("C0123", people.DOCS).replace("U0123", ANA))
        acting = self._act_as_asked(process) if " --try " in command else self._read(process)
        output = await asyncio.wait_for(acting, 3 * HANG_SECONDS)
        assert process.returncode == 0, f"{command}: {output}"
        self.outputs[command] = output
        if command.endswith(" manifest"):
            await self._create_app(output)

    async def _read(self, process: asyncio.subprocess.Process) -> str:
        return (await process.communicate())[0].decode()

    async def _act_as_asked(self, process: asyncio.subprocess.Process) -> str:
        """Do in Slack what the doctor asks for; return its output."""
        story = self.story
        assert story is not None, "the app is created before the doctor tries it"
        assert process.stdout is not None
        person = TrialPerson(story.world.workspace, people.DOCS)
        lines: list[str] = []
        async for raw in process.stdout:
            lines.append(raw.decode())
            if lines[-1].startswith(ASKS):
                person.read(lines[-1].removeprefix(ASKS).strip())
        await process.wait()
        await person.ended()
        return "".join(lines)

    def _sockets(self) -> asyncio.Event:
        assert self.story is not None, "the app is created before the bot starts"
        return self.story.world.workspace.bot_connection.sockets.connected

    async def _start(self, command: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *command.split(),
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
        """Write a setting of the page into `.env`, and the sandbox's address and a free port."""
        env = self._env() | {"ADMINS": ANA}
        file = self.clone / ".env"
        text = file.read_text()
        for setting in (name, "SLACK_API_URL", "HEALTH_PORT"):
            text, count = re.subn(
                rf"^{setting}=.*$", f"{setting}={env[setting]}", text, flags=re.MULTILINE
            )
            assert count, setting
        file.write_text(text)

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
            output = (await asyncio.wait_for(self._bot.communicate(), HANG_SECONDS))[0].decode()
            assert self._bot.returncode in STOPPED, output
            self._bot = None


@pytest.fixture
async def operator(tmp_path: Path) -> AsyncIterator[Operator]:
    async with AsyncExitStack() as stack:
        operator = Operator(tmp_path, stack)
        stack.push_async_callback(operator.stop)
        yield operator


async def test_page_leads_to_pull_request_backup_and_restore(operator: Operator) -> None:
    for language, block in WALK:
        await operator.do(language, block)
    assert operator.story is not None
    story = operator.story
    await story.answer("starts a job, too")
    root = await story.until(lambda: next(iter(story.roots()), None), "the thread of the job")
    await story.replies(root, 1)
    *_, jobs = operator.outputs.values()
    assert jobs.startswith("#1 "), jobs
    assert "BAD" not in operator.outputs[".venv/bin/docs-bot doctor"]
    for host in ("A clone", "systemd", "Compose"):
        await operator.back_up_and_restore(host)
    await operator.do("console", "$ docs-bot jobs --state pull_request")
    assert operator.outputs["docs-bot jobs --state pull_request"].startswith("#1  pull_request")


def test_reverse_proxy_passes_on_only_slack_requests() -> None:
    [text] = [block for kind, block in fences(PAGE) if kind == "nginx"]
    assert re.findall(r"location = (/\S+)", text) == [SLACK_PATH]
    assert set(re.findall(r"(?:\d+\.){3}\d+:(\d+)", text)) == {
        str(Settings.model_fields["port"].default)
    }
    megabytes = re.findall(r"max_body_size (\d+)m", text)
    assert [int(number) * 1_000_000 for number in megabytes] == [MAX_BODY_BYTES]
    [connect] = re.findall(r"connect_timeout (\d+)s", text)
    [answer] = re.findall(r"read_timeout (\d+)s", text)
    slack_waits_seconds = 3
    assert int(connect) * 2 < slack_waits_seconds < int(answer)
    assert "404" in text

"""The command line in a process of its own, as an operator uses it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import bot
from bot import __version__, head_of
from bot.settings import Settings
from sandbox.command import write_settings
from sandbox.docs_service.git import git, identity
from sandbox.world import World
from tests.command_line import make_tables
from tests.limits import HANG_SECONDS, STOPPED
from tests.operator.faults import stamp_otherwise
from tests.scenarios.conftest import DocsBot
from tests.scenarios.story import environment

FAILING = """
import sys
from click.exceptions import Exit
from bot.operator.running import run_until_stopped

sys.modules["bot.app"] = None  # as in a damaged installation
try:
    run_until_stopped()
except Exit as end:
    sys.exit(end.exit_code)
"""


async def started(
    *arguments: str, env: dict[str, str] | None = None, folder: Path | None = None
) -> tuple[int, str]:
    """Run the command line in a new interpreter, and return the exit code and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *arguments,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **(env or {})},
        cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    written, _ = await process.communicate()
    return process.returncode or 0, written.decode()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--http"]])
async def test_sandbox_plays_story_to_its_end(options: list[str]) -> None:
    code, output = await started("sandbox", "--play", *options)
    assert code == 0, output
    assert "/docs-agent Add a quickstart for the Python SDK" in output
    assert output.rstrip().endswith("All of it came true.")


def test_failed_start_in_a_terminal_is_explained_in_words(tmp_path: Path) -> None:
    ours, terminal = os.openpty()
    ran = subprocess.run(
        [sys.executable, "-m", "bot", "run"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd()},
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, check=False,
    )  # fmt: skip
    os.close(terminal)
    with os.fdopen(ours, "rb") as screen:
        shown = screen.read1().decode().replace("\r\n", "\n")
    assert ran.returncode == 78
    assert shown.startswith("These settings cannot work:\n  - SLACK_BOT_TOKEN is missing\n")


async def test_wrong_settings_stop_start_with_one_list(docs_bot: DocsBot, tmp_path: Path) -> None:
    code, output = await docs_bot("run", env={"SLACK_BOT_TOKEN": "canary"}, folder=tmp_path)
    assert code == 78
    assert "SLACK_BOT_TOKEN must begin with xoxb-" in output
    assert "DOCS_API_KEY is missing" in output
    assert "canary" not in output
    assert "Traceback" not in output


async def test_refused_token_stops_start_with_its_code(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        prefix = "xoxb-" if "BOT" in name else "xapp-"
        code, output = await docs_bot(
            "run", env={**environment(world), name: f"{prefix}canary"}, folder=tmp_path
        )
        # The unit starts the bot again after any code but this one.
        assert code == 78
        assert "invalid_auth" in output
        assert "canary" not in output
        assert "Traceback" not in output


async def test_used_port_stops_start_with_one_line(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        env = {
            **environment(world),
            "HEALTH_PORT": port,
            "LOG_LEVEL": "ERROR",
        }
        code, output = await docs_bot("run", env=env, folder=tmp_path)
    assert code == 69
    line = json.loads(output)
    assert (line["event"], line["level"], line["exit_code"]) == ("not_started", "error", 69)
    assert line["about"] == (
        f"Address already in use: 127.0.0.1, port {port}. Look at HOST, PORT, HEALTH_HOST and HEALTH_PORT."
    )


async def test_unexpected_error_is_one_log_line(world: World, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **environment(world)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FAILING),
        env={**env, "LOG_LEVEL": "ERROR"},
        cwd=tmp_path,
        stderr=asyncio.subprocess.PIPE,
    )
    _, output = await process.communicate()
    line = json.loads(output.decode())
    assert (line["event"], line["level"], process.returncode) == ("crashed", "critical", 70)
    assert "Traceback" in line["exception"]


async def test_doctor_accepts_sound_installation(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    code, output = await docs_bot("doctor", env=environment(world), folder=tmp_path)
    assert code == 0, output
    assert [line.split(":")[0] for line in output.splitlines()] == [
        "ok   settings", "ok   files", "ok   database", "ok   waiting", "ok   slack", "ok   scopes",
        "ok   events", "ok   clock", "ok   intake", "ok   who may",
        "ok   docs service", "ok   assistant", "ok   github", "ok   ports",
    ]  # fmt: skip


async def test_commands_know_the_tables_of_all_subjects(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    """Each in a process of its own, which has to declare them by itself."""
    await asyncio.to_thread(make_tables, f"sqlite:///{tmp_path}/new.db")
    env = {**environment(world), "DATABASE_URL": "sqlite:///new.db"}
    for command in (["backup", "copy.db"], ["restore", "copy.db"], ["jobs"], ["doctor"]):
        code, output = await docs_bot(*command, env=env, folder=tmp_path)
        assert code == 0, output


async def test_command_in_a_wrong_folder_leaves_no_database(
    docs_bot: DocsBot, tmp_path: Path
) -> None:
    for command in (["audit"], ["jobs"], ["forget", "U012AB3CD"], ["backup", "copy.db"]):
        code, output = await docs_bot(*command, env={}, folder=tmp_path)
        assert code == 69
        assert f"There is no SQLite file {tmp_path}/var/docs-bot.db" in output
        assert "run this in the bot's folder" in output
        assert await asyncio.to_thread(os.listdir, tmp_path) == []


@pytest.mark.parametrize(
    ("command", "path", "reason"),
    [
        ("run", "file/bot.db", "The folder of the SQLite file cannot be made"),
        ("jobs", "file/bot.db", "There is no SQLite file"),
        ("run", "bot.db", "The database was made by a version of the bot that was never released"),
        ("jobs", "bot.db", "The database was made by a version of the bot that was never released"),
    ],
)
async def test_unusable_database_stops_every_command_with_one_line(
    docs_bot: DocsBot, world: World, tmp_path: Path, command: str, path: str, reason: str
) -> None:
    (tmp_path / "file").touch()
    await asyncio.to_thread(make_tables, f"sqlite:///{tmp_path}/bot.db")
    stamp_otherwise(tmp_path / "bot.db")
    env = {**environment(world), "DATABASE_URL": f"sqlite:///{path}"}
    code, output = await docs_bot(command, env=env, folder=tmp_path)
    assert code == 69
    assert reason in output
    assert "Traceback" not in output


async def test_bot_runs_until_sigterm(world: World, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **environment(world)}, cwd=tmp_path,
    )  # fmt: skip
    async with asyncio.timeout(HANG_SECONDS):
        await world.workspace.bot_connection.sockets.connected.wait()
        process.send_signal(signal.SIGTERM)
        assert await process.wait() in STOPPED


async def test_sandbox_writes_private_settings_of_another_bot(world: World, tmp_path: Path) -> None:
    written = write_settings(tmp_path, world)
    assert written.stat().st_mode & 0o777 == 0o600
    settings = Settings.load({}, env_file=written)
    assert settings.warnings() == ()
    same = Settings.model_fields.keys() - {"database_url", "health_port", "log_level"}
    assert {name: getattr(settings, name) for name in same} == {
        name: getattr(world.settings, name) for name in same
    }


async def test_version_has_the_commit() -> None:
    version = await started("--version", env={"DOCS_BOT_COMMIT": "c0ffee"})
    assert version == (0, f"{__version__} (commit c0ffee)\n")


def test_clone_has_commit_on_branch_packed_or_detached(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    assert head_of(clone / ".git") == ""
    git(tmp_path, "init", "--quiet", "--initial-branch", "a/branch", "clone")
    assert head_of(clone / ".git") == ""
    author = identity(datetime.now(UTC))
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "first", environment=author)
    commit = git(clone, "rev-parse", "HEAD").strip()
    assert head_of(clone / ".git") == commit
    git(clone, "pack-refs", "--all")
    assert head_of(clone / ".git") == commit
    git(clone, "checkout", "--quiet", "--detach")
    (clone / "bot").mkdir()
    (clone / "bot/__init__.py").write_text(Path(bot.__file__).read_text())
    process = subprocess.run(
        [sys.executable, "-c", "import bot; print(bot.read_commit())"],
        cwd=clone, env={"PYTHONPATH": str(clone)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stdout == f"{commit}\n"

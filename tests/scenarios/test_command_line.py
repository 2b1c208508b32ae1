"""The command line as an operator uses it: in a process of its own, which a test of its start begins anew."""

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
from tests.command_line import migrate
from tests.limits import HANG_SECONDS, STOPPED
from tests.operator.faults import mark_revision
from tests.scenarios.conftest import DocsBot
from tests.scenarios.story import environment

FAILING = """
import sys
from click.exceptions import Exit
from bot.operator.running import run_until_stopped

try:
    run_until_stopped(None)
except Exit as end:
    sys.exit(end.exit_code)
"""


async def started(
    *words: str, env: dict[str, str] | None = None, folder: Path | None = None
) -> tuple[int, str]:
    """Run it to its end in a process that has imported nothing; the exit code and what it wrote."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **(env or {})},
        cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--http"]])
async def test_the_sandbox_plays_the_story_to_its_end(options: list[str]) -> None:
    code, said = await started("sandbox", "--play", *options)
    assert code == 0, said
    assert "/docs-agent Add a quickstart for the Python SDK" in said
    assert said.rstrip().endswith("All of it came true.")


async def test_a_start_that_fails_says_so_to_people_in_their_format(tmp_path: Path) -> None:
    code, said = await started("work", env={"LOG_FORMAT": "Console"}, folder=tmp_path)
    assert code == 78
    assert said.startswith("These settings cannot work:\n  - SLACK_BOT_TOKEN is missing\n")


async def test_wrong_settings_stop_the_start_with_one_list(docs_bot: DocsBot, tmp_path: Path) -> None:
    code, said = await docs_bot("run", env={"SLACK_BOT_TOKEN": "canary"}, folder=tmp_path)
    assert code == 78
    assert "SLACK_BOT_TOKEN must begin with xoxb-" in said
    assert "DOCS_API_KEY is missing" in said
    assert "canary" not in said
    assert "Traceback" not in said


async def test_a_token_that_slack_refuses_stops_the_start_with_a_word(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        prefix = "xoxb-" if "BOT" in name else "xapp-"
        code, said = await docs_bot(
            "run", env={**environment(world), name: f"{prefix}canary"}, folder=tmp_path
        )
        assert code == 69
        assert "invalid_auth" in said
        assert "canary" not in said
        assert "Traceback" not in said


@pytest.mark.parametrize("command", ["run", "serve", "work"])
async def test_a_port_in_use_stops_the_start_with_one_line(
    docs_bot: DocsBot, world: World, tmp_path: Path, command: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        env = {**environment(world), "HEALTH_PORT": port, "LOG_LEVEL": "ERROR", "LOG_FORMAT": "json"}
        code, said = await docs_bot(command, env=env, folder=tmp_path)
    assert code == 69
    line = json.loads(said)
    assert (line["event"], line["level"], line["exit_code"]) == ("not_started", "error", 69)
    assert line["about"] == (
        f"Address already in use: 127.0.0.1, port {port}. Look at HOST, PORT, HEALTH_HOST and HEALTH_PORT."
    )


async def test_a_failure_that_the_bot_does_not_know_is_one_line_in_the_format_of_the_log(
    world: World, tmp_path: Path
) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **environment(world)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FAILING),
        env={**env, "LOG_FORMAT": "json", "LOG_LEVEL": "ERROR"},
        cwd=tmp_path,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    line = json.loads(said.decode())
    assert (line["event"], line["level"], process.returncode) == ("crashed", "critical", 70)
    assert "Traceback" in line["exception"]


async def test_the_doctor_finds_a_sound_installation_sound(
    docs_bot: DocsBot, world: World, tmp_path: Path
) -> None:
    code, said = await docs_bot("doctor", env=environment(world), folder=tmp_path)
    assert code == 0, said
    assert [line.split(":")[0] for line in said.splitlines()] == [
        "ok   settings", "ok   files", "ok   database", "ok   waiting", "ok   slack", "ok   clock",
        "ok   intake", "ok   who may", "ok   docs service", "ok   github", "ok   ports",
    ]  # fmt: skip


async def test_migrate_brings_a_database_up_to_date(docs_bot: DocsBot, world: World, tmp_path: Path) -> None:
    env = {**environment(world), "DATABASE_URL": "sqlite:///new.db"}
    code, said = await docs_bot("migrate", env=env, folder=tmp_path)
    assert (code, said.strip()) == (0, "The database is up to date.")
    assert (tmp_path / "new.db").exists()


@pytest.mark.parametrize("command", ["run", "work", "migrate", "jobs"])
async def test_a_database_that_cannot_be_used_stops_every_command_with_a_line(
    docs_bot: DocsBot, world: World, tmp_path: Path, command: str
) -> None:
    (tmp_path / "file").touch()
    env = {**environment(world), "DATABASE_URL": "sqlite:///file/bot.db"}
    code, said = await docs_bot(command, env=env, folder=tmp_path)
    assert code == 69
    assert "The folder of the SQLite file cannot be made" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("command", ["run", "work", "migrate", "jobs"])
async def test_a_database_of_before_0_2_0_stops_every_command_with_a_line(
    docs_bot: DocsBot, world: World, tmp_path: Path, command: str
) -> None:
    await asyncio.to_thread(migrate, f"sqlite:///{tmp_path}/bot.db")
    mark_revision(tmp_path / "bot.db", "0021")
    env = {**environment(world), "DATABASE_URL": "sqlite:///bot.db"}
    code, said = await docs_bot(command, env=env, folder=tmp_path)
    assert code == 69
    assert "The database was made by a version before 0.2.0" in said
    assert "Traceback" not in said


async def test_the_bot_runs_until_it_is_told_to_stop(world: World, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **environment(world)}, cwd=tmp_path,
    )  # fmt: skip
    async with asyncio.timeout(HANG_SECONDS):
        await world.workspace.bot_connection.sockets.connected.wait()
        process.send_signal(signal.SIGTERM)
        assert await process.wait() in STOPPED


async def test_the_sandbox_writes_the_settings_of_another_bot_for_its_owner_alone(
    world: World, tmp_path: Path
) -> None:
    written = write_settings(tmp_path, world)
    assert written.stat().st_mode & 0o777 == 0o600
    settings = Settings.load({}, env_file=written)
    assert settings.warnings() == ()
    same = Settings.model_fields.keys() - {"database_url", "health_port", "log_format", "log_level"}
    assert {name: getattr(settings, name) for name in same} == {
        name: getattr(world.settings, name) for name in same
    }


async def test_the_version_is_told_as_command_and_as_option_with_the_commit_that_the_image_names(
    docs_bot: DocsBot,
) -> None:
    told = await started("--version", env={"DOCS_BOT_COMMIT": "c0ffee"})
    assert told == await docs_bot("version", env={"DOCS_BOT_COMMIT": "c0ffee"})
    assert told == (0, f"{__version__} (commit c0ffee)\n")


def test_a_clone_has_its_commit_on_a_branch_packed_away_and_on_none(tmp_path: Path) -> None:
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
    told = subprocess.run(
        [sys.executable, "-c", "import bot; print(bot.read_commit())"],
        cwd=clone, env={"PYTHONPATH": str(clone)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout == f"{commit}\n"

"""The errors of ``docs-bot sandbox`` when it cannot start."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from sandbox.command import FAILED, USAGE, Choice, cli, sandbox_command
from sandbox.docs_service.git import git

ROOT = Path(__file__).parents[2]


@pytest.fixture
def choice(tmp_path: Path) -> Choice:
    """Return the options of a sandbox that can start."""
    return Choice(folder=tmp_path / "sandbox", port=0, work_seconds=1)


@pytest.mark.parametrize(
    "arguments",
    [
        *("--port 65535", "--work-seconds -1", "--pages 0", "--days 1001"),
        *("--uses-an-hour 0", "--agent-minutes 0"),
    ],
)
def test_number_out_of_range_is_refused(arguments: str) -> None:
    with pytest.raises(click.BadParameter, match="is not in the range"):
        options_of(*arguments.split())


def test_story_needs_bot(choice: Choice, capsys: pytest.CaptureFixture[str]) -> None:
    assert sandbox_command(replace(choice, play=True, services=True)) == USAGE
    assert "--services does not go with --play" in capsys.readouterr().err


def test_second_sandbox_in_folder_is_refused(
    choice: Choice, capsys: pytest.CaptureFixture[str]
) -> None:
    choice.folder.mkdir()
    with (choice.folder / "in-use").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert sandbox_command(choice) == FAILED
    assert f"Another sandbox uses {choice.folder}." in capsys.readouterr().err


def options_of(*arguments: str) -> Choice:
    return Choice(**cli.make_context("docs-bot sandbox", list(arguments)).params)


def test_options_reach_choice() -> None:
    arguments = (
        "--folder there --http --pages 40 --repository docs --agent a --agent-env A --agent-env B"
    )
    assert options_of(*arguments.split()) == Choice(
        folder=Path("there"),
        http_mode=True,
        pages=40,
        repository=Path("docs"),
        agent="a",
        agent_env=("A", "B"),
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"agent": ""}, "--repository needs --agent"),
        ({"agent": "", "repository": None, "publish": "git push"}, "--publish needs --agent"),
        ({"agent": "no-such-program --print"}, "--agent takes a command"),
        ({"agent": "git 'unbalanced"}, "--agent takes a command"),
        ({"publish": "no-such-program"}, "--publish takes a command"),
        ({"repository": None}, "--agent needs --repository"),
        ({"repository": ROOT / "tests"}, "--repository takes the top folder of a git repository"),
        ({"agent_env": ("KEY=secret",)}, "--agent-env takes the name of a variable that is set"),
        ({"play": True}, "--agent does not go with --play"),
    ],
)
def test_unusable_agent_is_refused_before_start(
    choice: Choice,
    changed: dict[str, Any],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    git(tmp_path, "init", "--quiet", "docs")
    chosen = {"agent": "git status", "repository": tmp_path / "docs", **changed}
    assert sandbox_command(replace(choice, **chosen)) == USAGE
    printed = capsys.readouterr().err
    assert message in printed
    assert "secret" not in printed


_WITHOUT_THE_EXTRA = """
import sys

sys.modules["jinja2"] = None  # as where it is not installed
sys.argv = ["docs-bot", "sandbox"]
from bot.__main__ import main

main()
"""


def test_missing_extra_is_named_with_its_installation() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _WITHOUT_THE_EXTRA],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 69
    assert ran.stderr == (
        "The sandbox is an extra (jinja2 is not installed). "
        "In a clone: make sandbox, or pip install '.[sandbox]'.\n"
    )


def test_production_install_has_no_sandbox_packages() -> None:
    pinned = (ROOT / "requirements.txt").read_text()
    for name in ("jinja2", "pygments", "rich"):
        assert f"\n{name}==" not in pinned
        assert f"\n{name}==" in (ROOT / "requirements-sandbox.txt").read_text()

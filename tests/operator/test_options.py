"""Help and bad options of the command line."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bot.__main__ import cli


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent a start by an option that is accepted by mistake."""
    monkeypatch.setenv("DOCS_API_URL", "ftp://nowhere")


def test_help_has_every_command_in_the_order_of_use() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    expected = " ".join(result.stdout.split())
    assert expected.endswith(
        " ".join(f"{name} {command.help}" for name, command in cli.commands.items())
    )
    assert list(cli.commands)[:2] == ["run", "jobs"]


def test_missing_command_prints_the_help_and_fails() -> None:
    result = CliRunner().invoke(cli, [])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Run the bot" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (
            ["jobs", "--state", "asleep"],
            "Invalid value for '--state': 'asleep' is not one of 'waiting'",
        ),
        (["jobs", "--limit", "0"], "Invalid value for '--limit': 0 is not in the range 1<=x<=1000"),
        *(
            (["audit", "--from", text], f"for '--from': {text!r} is no day; write year")
            for text in (
                "",
                "x",
                "2026-13-01",
                "2026-02-29",
                "20261001",
                "01.10.2026",
                "2026-W40-1",
            )
        ),
        (["sandbox", "--nope"], "--nope"),
    ],
)
def test_bad_option_is_named_with_exit_code_2(arguments: list[str], expected: str) -> None:
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert expected in result.stderr


def test_sandbox_has_its_own_help() -> None:
    result = CliRunner().invoke(cli, ["sandbox", "--help"])
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: docs-bot sandbox [OPTIONS]")
    assert "Tell one story without a person" in result.stdout

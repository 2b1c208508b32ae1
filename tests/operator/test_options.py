"""The help of the command line, and what a bad option is answered with."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bot.__main__ import cli

DAYS = ["--from", "2026-10-02", "--to", "2026-10-03"]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no option that is taken by mistake starts anything."""
    monkeypatch.setenv("DOCS_API_URL", "ftp://nowhere")


def test_the_help_tells_every_command_whole_and_in_the_order_of_use() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    told = " ".join(result.stdout.split())
    assert told.endswith(" ".join(f"{name} {command.help}" for name, command in cli.commands.items()))
    assert list(cli.commands)[:3] == ["run", "serve", "work"]


def test_no_command_is_answered_with_the_help_and_an_error() -> None:
    result = CliRunner().invoke(cli, [])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Everything in one process" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["jobs", "--state", "asleep"], "Invalid value for '--state': 'asleep' is not one of 'waiting'"),
        (["jobs", "--limit", "0"], "Invalid value for '--limit': 0 is not in the range 1<=x<=1000"),
        (["visitors", *DAYS[:2]], "Missing option '--to'"),
        (["visitors", "--from", "x", *DAYS[2:]], "Invalid value for '--from': 'x' is no day; write year"),
        (
            ["visitors", *DAYS[:2], "--to", "2026-10-01"],
            "Invalid value for --from, --to: 2026-10-01 is before",
        ),
        (["visitors", *DAYS, "--csv", "/dev/null"], "Invalid value for '--csv': /dev/null is not a file"),
        (
            ["visitors", *DAYS, "--json", "--csv", "-"],
            "Invalid value for --json, --csv -: both want the standard output",
        ),
        (["sandbox", "--nope"], "--nope"),
    ],
)
def test_a_bad_option_is_named_and_ends_with_2(words: list[str], told: str) -> None:
    result = CliRunner().invoke(cli, words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_the_sandbox_shows_its_own_help() -> None:
    result = CliRunner().invoke(cli, ["sandbox", "--help"])
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: docs-bot sandbox [OPTIONS]")
    assert "Tell one story without a person" in result.stdout

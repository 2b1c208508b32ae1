"""What the papers say is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from bot.__main__ import cli
from bot.commands import COMMANDS
from bot.model import JobState
from bot.settings import Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_every_setting_stands_in_the_readme_and_the_example_and_no_other_does() -> None:
    wanted = set(Settings.variables())
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE)) == wanted
    example = (ROOT / ".env.example").read_text()
    assert set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)) == wanted


def test_the_readme_tells_the_defaults() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| `([^`]+)` \|", README, re.MULTILINE))
    defaults = {name.upper(): field.default for name, field in Settings.model_fields.items()}
    for name, told in rows.items():
        default = defaults[name]
        value = default.get_secret_value() if hasattr(default, "get_secret_value") else default
        assert told == (f"{value:g}" if isinstance(value, float) else str(value)), name


def test_every_command_stands_in_the_readme() -> None:
    for command in COMMANDS:
        assert f"`{command.name} " in README


def test_every_state_of_a_job_stands_in_the_diagram() -> None:
    diagram = README.split("```mermaid")[1].split("```")[0]
    assert {state for state in JobState if not re.search(rf"\b{state}\b", diagram)} == set()


def test_every_subcommand_that_the_papers_name_exists() -> None:
    papers = README + (ROOT / "ARCHITECTURE.md").read_text()
    known = {command.callback.__name__ for command in cli.registered_commands if command.callback}
    assert set(re.findall(r"docs-bot (\w+)", papers)) <= known


def test_hosts_start_what_is_there_once_they_installed_the_requirements() -> None:
    # They install requirements.txt and not this project, so there is no docs-bot in their PATH.
    lines = (ROOT / "Procfile").read_text().splitlines()
    told = dict(re.findall(r"^(\w+): python -m bot (\w+)$", line)[0] for line in lines)
    assert told == {"release": "migrate", "web": "serve", "worker": "work"}


def test_files_that_the_readme_points_to_exist() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target

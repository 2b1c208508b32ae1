"""``manifest.yml``: valid, and neither asking for more than the code uses nor for less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from bot.__main__ import cli
from bot.slack.uses import EVENTS, scopes_of
from bot.slack.uses import METHODS as USED_METHODS
from bot.subjects import COMMANDS
from sandbox.workspace.methods import METHODS
from sandbox.workspace.options import App

ROOT = Path(__file__).parents[1]
MANIFEST: dict[str, Any] = yaml.safe_load((ROOT / "manifest.yml").read_text())
SCOPES = frozenset(MANIFEST["oauth_config"]["scopes"]["bot"])
SCHEMA = json.loads((ROOT / "tests/data/slack-manifest.schema.2.0.0.json").read_text())


def test_slack_would_accept_it() -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(MANIFEST)


def test_the_sandbox_demands_the_same_scopes() -> None:
    demanded = {name: set(one.scopes) for name, one in METHODS.items()}
    assert set(demanded) == {use.name for use in USED_METHODS}
    for use in USED_METHODS:
        assert set(use.scopes) <= demanded[use.name]
        assert bool(use.scopes) == bool(demanded[use.name])
    for event in EVENTS:
        assert App(scopes=frozenset(event.scopes)).hears(event.name)
        assert not event.scopes or not App(scopes=SCOPES - {*event.scopes}).hears(event.name)


def test_the_scopes_are_those_that_the_code_needs_and_no_more() -> None:
    assert scopes_of() == SCOPES


def test_the_events_are_those_of_the_list() -> None:
    subscribed = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    assert set(subscribed) == {event.name for event in EVENTS}


def test_commands_and_shortcuts_are_those_of_the_code() -> None:
    features = MANIFEST["features"]
    listed = features["slash_commands"]
    shown = {each["command"]: (each["usage_hint"], each["description"]) for each in listed}
    assert shown == {command.name: (command.usage_hint, command.summary) for command in COMMANDS}
    assert all(each["should_escape"] for each in listed)
    shortcuts = {each["callback_id"] for each in features["shortcuts"]}
    assert shortcuts == {name for command in COMMANDS for name in command.shortcuts}


def test_it_is_printed_as_it_stands() -> None:
    result = CliRunner().invoke(cli, ["manifest"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.strip() == (ROOT / "manifest.yml").read_text().strip()


@pytest.mark.parametrize(
    "address", ["https://bot.example", "https://bot.example/", "https://bot.example/slack/events"]
)
def test_for_http_every_request_goes_to_the_bots_address_and_nothing_else_changes(
    address: str,
) -> None:
    printed = yaml.safe_load(CliRunner().invoke(cli, ["manifest", "--http", address]).stdout)
    jsonschema.Draft7Validator(SCHEMA).validate(printed)
    url, settings = "https://bot.example/slack/events", printed["settings"]
    found = [command.pop("url") for command in printed["features"]["slash_commands"]]
    found += [
        settings[name].pop("request_url") for name in ("event_subscriptions", "interactivity")
    ]
    assert set(found) == {url}
    assert settings["socket_mode_enabled"] is False
    settings["socket_mode_enabled"] = True
    assert printed == MANIFEST


@pytest.mark.parametrize(
    "address",
    [
        "http://bot.example",
        "bot.example",
        "https://",
        "https://ana:secret@bot.example",
        "https://bot.example/x?y",
    ],
)
def test_an_address_that_slack_would_refuse_is_named(address: str) -> None:
    result = CliRunner().invoke(cli, ["manifest", "--http", address])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is no address of a bot" in " ".join(result.stderr.split())

"""``manifest.yml``: valid, and neither asking for more than the code uses nor for less."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from bot.__main__ import cli
from bot.features import COMMANDS
from sandbox.workspace.methods import METHODS
from sandbox.workspace.options import App

ROOT = Path(__file__).parents[1]
MANIFEST: dict[str, Any] = yaml.safe_load((ROOT / "manifest.yml").read_text())
SCOPES = frozenset(MANIFEST["oauth_config"]["scopes"]["bot"])
SCHEMA = json.loads((ROOT / "tests/data/slack-manifest.schema.2.0.0.json").read_text())

# Which scopes a method or an event needs: https://docs.slack.dev/reference/methods and /reference/events
NEEDS: dict[str, set[str]] = {
    "auth_test": set(),
    "apps_connections_open": set(),
    "chat_delete": {"chat:write"},
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_update": {"chat:write"},
    "conversations_history": {"channels:history", "groups:history", "im:history", "mpim:history"},
    "conversations_replies": {"channels:history", "groups:history", "im:history", "mpim:history"},
    "conversations_info": {"channels:read", "groups:read", "im:read", "mpim:read"},
    "conversations_members": {"channels:read", "groups:read", "im:read", "mpim:read"},
    "conversations_join": {"channels:join"},
    "conversations_open": {"im:write"},
    "files_info": {"files:read"},
    "files_getUploadURLExternal": {"files:write"},
    "files_completeUploadExternal": {"files:write"},
    "reactions_add": {"reactions:write"},
    "usergroups_list": {"usergroups:read"},
    "usergroups_users_list": {"usergroups:read"},
    "users_info": {"users:read"},
    "views_open": set(),
    "views_publish": set(),
    "views_push": set(),
    "views_update": set(),
}
EVENTS: dict[str, set[str]] = {
    "app_home_opened": set(),
    "app_mention": {"app_mentions:read"},
    "channel_id_changed": {"channels:read", "groups:read", "im:read", "mpim:read"},
    "member_joined_channel": {"channels:read", "groups:read"},
    "message.channels": {"channels:history"},
    "message.groups": {"groups:history"},
    "message.im": {"im:history"},
    "message.mpim": {"mpim:history"},
}


def methods_called() -> set[str]:
    """The Web API methods that the code calls."""
    rooms = (*(ROOT / "bot/slack").glob("*.py"), ROOT / "bot/operator/trial.py")
    source = "\n".join(path.read_text() for path in rooms)
    called = set(re.findall(r"client\.((?:[a-z]+)_[a-zA-Z_]+)\b", source))
    return {name for name in called if name.split("_")[0] in {key.split("_")[0] for key in NEEDS}}


def test_slack_would_accept_it() -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(MANIFEST)


def test_every_method_that_the_code_calls_is_known_here() -> None:
    assert methods_called() == set(NEEDS)


def test_the_sandbox_demands_the_same_scopes() -> None:
    demanded = {name.replace(".", "_"): set(one.scopes) for name, one in METHODS.items()}
    assert set(demanded) == set(NEEDS)
    for method, scopes in NEEDS.items():
        assert scopes <= demanded[method]
        assert bool(scopes) == bool(demanded[method])
    for event, scopes in EVENTS.items():
        assert App(scopes=frozenset(scopes)).hears(event)
        assert not scopes or not App(scopes=SCOPES - scopes).hears(event)


def test_the_scopes_are_those_that_the_code_needs_and_no_more() -> None:
    needed = {scope for method in methods_called() for scope in NEEDS[method]}
    needed |= {scope for event in EVENTS.values() for scope in event} | {"commands"}
    assert needed == SCOPES


def test_the_events_are_those_that_have_a_listener() -> None:
    listeners = (ROOT / "bot/slack/listeners.py").read_text()
    [heard] = re.findall(r'_MESSAGES = re\.compile\("([\w|]+)"\)', listeners)
    others = re.findall(r'app\.event\("(\w+)"\)', listeners)
    assert {*others, *heard.split("|")} == {event.split(".")[0] for event in EVENTS}
    assert set(MANIFEST["settings"]["event_subscriptions"]["bot_events"]) == set(EVENTS)


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

"""The list of what the bot uses in Slack: nothing that the code calls or hears is missing there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from slack_sdk.web.async_client import AsyncWebClient

from bot.operator.trial import STEPS
from bot.slack.uses import COMMAND_SCOPE, EVENTS, METHODS, losses_without, scopes_of, use_of

ROOT = Path(__file__).parents[2]
_OF_CLIENT = {name for name in vars(AsyncWebClient) if re.fullmatch("[a-z]+_[a-zA-Z_]+", name)} - {
    "api_call"
}
"""The names of the methods of Slack's client that stand for methods of the Web API."""


def attributes() -> Iterator[str]:
    """Yield the names of all attributes in the code of the bot."""
    for path in (ROOT / "bot").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                yield node.attr


def test_every_method_that_the_code_calls_is_in_the_list_and_no_other() -> None:
    called = {name.replace("_", ".") for name in attributes() if name in _OF_CLIENT}
    assert called == {use.name for use in METHODS}


def test_no_method_is_called_by_a_text_that_the_list_would_miss() -> None:
    callers = [
        path.name
        for path in (ROOT / "bot").rglob("*.py")
        if ".api_call(" in path.read_text(encoding="utf-8")
    ]
    assert callers == ["recording.py"]


def test_every_event_with_a_listener_is_in_the_list_and_no_other() -> None:
    listeners = (ROOT / "bot/slack/listeners.py").read_text(encoding="utf-8")
    [heard] = re.findall(r'_MESSAGES_PATTERN = re\.compile\("([\w|]+)"\)', listeners)
    others = re.findall(r'app\.event\("(\w+)"\)', listeners)
    listed = {event.name.split(".")[0] for event in EVENTS}
    assert {*others, *heard.split("|")} == listed


def test_trial_has_a_step_for_each_method_and_event() -> None:
    tried = {name for step in STEPS for name in step.tries}
    assert {use.name for use in (*METHODS, *EVENTS)} <= tried | {"chat.delete"}


def test_every_step_tells_what_people_lose() -> None:
    for step in STEPS:
        assert re.fullmatch(r"[A-Z].+[.]", step.loss), step.name


def test_losses_of_a_scope_are_those_of_its_methods_and_events() -> None:
    assert use_of("reactions.add").loss in losses_without("reactions:write")
    assert all(losses_without(scope) for scope in scopes_of())
    assert losses_without(COMMAND_SCOPE) == ("People have no slash commands and no shortcut.",)

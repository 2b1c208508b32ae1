"""A method or an event that the app's manifest has no scope for fails or does not come, as in Slack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_sdk.errors import SlackApiError

from sandbox.workspace import Workspace
from sandbox.world import MANIFEST
from tests.sandbox.workspace.conftest import Opener, client_of
from tests.sandbox.workspace.small_bot import ANA, ANAS_DM, BOT, DOCS, PRODUCT, SECRET, Json, until

Installer = Callable[..., Awaitable[Workspace]]


@pytest.fixture
def install(open_workspace: Opener, tmp_path: Path) -> Installer:
    """Opens a workspace with the bot's app, without some of its scopes and events or with more."""

    async def installed(*, without: Collection[str] = (), also: Collection[str] = ()) -> Workspace:
        declared: Json = yaml.safe_load(MANIFEST.read_text())
        scopes = declared["oauth_config"]["scopes"]
        scopes["bot"] = sorted({*scopes["bot"], *also} - {*without})
        subscribed = declared["settings"]["event_subscriptions"]
        subscribed["bot_events"] = sorted({*subscribed["bot_events"]} - {*without})
        path = tmp_path / "manifest.yml"
        path.write_text(yaml.safe_dump(declared))
        return await open_workspace(manifest=path, redeliver_after_seconds=())

    return installed


async def _call(workspace: Workspace, method: str, **arguments: Any) -> Json:
    try:
        answer = await client_of(workspace).api_call(method, json=arguments)
    except SlackApiError as error:
        answer = error.response
    assert isinstance(answer.data, dict)
    return answer.data


@pytest.mark.parametrize(
    ("method", "arguments", "scope"),
    [
        ("chat.postMessage", {"channel": DOCS, "text": "x"}, "chat:write"),
        ("conversations.history", {"channel": DOCS}, "channels:history"),
        ("conversations.history", {"channel": ANAS_DM}, "im:history"),
        ("conversations.info", {"channel": SECRET}, "groups:read"),
        ("conversations.members", {"channel": ANAS_DM}, "im:read"),
        ("conversations.join", {"channel": PRODUCT}, "channels:join"),
        ("conversations.open", {"users": ANA}, "im:write"),
        ("users.info", {"user": ANA}, "users:read"),
        ("usergroups.list", {}, "usergroups:read"),
        ("usergroups.users.list", {"usergroup": "S01WRITERS"}, "usergroups:read"),
        (
            "reactions.add",
            {"channel": DOCS, "timestamp": "1.000001", "name": "eyes"},
            "reactions:write",
        ),
        (
            "reactions.remove",
            {"channel": DOCS, "timestamp": "1.000001", "name": "eyes"},
            "reactions:write",
        ),
        ("files.info", {"file": "F1"}, "files:read"),
        ("files.delete", {"file": "F1"}, "files:write"),
        ("files.getUploadURLExternal", {"filename": "a.csv", "length": 1}, "files:write"),
    ],
)
async def test_a_call_without_its_scope_names_what_is_needed_and_what_is_there(
    install: Installer, method: str, arguments: Json, scope: str
) -> None:
    workspace = await install(without={scope})
    workspace.people.invite(ANA, SECRET, "@docs-agent")
    refused = await _call(workspace, method, **arguments)
    assert (refused["ok"], refused["error"], refused["needed"]) == (False, "missing_scope", scope)
    assert set(refused["provided"].split(",")) == set(workspace.people.app.scopes or ())


async def test_every_answer_lists_the_scopes_of_the_token(install: Installer) -> None:
    workspace = await install(without={"users:read"})
    answer = await client_of(workspace).auth_test()
    listed = answer.headers["X-OAuth-Scopes"].split(",")
    assert set(listed) == set(workspace.people.app.scopes or ())
    assert "users:read" not in listed


async def test_posting_outside_takes_a_scope_of_its_own_and_only_in_public(
    install: Installer,
) -> None:
    workspace = await install(also={"chat:write.public"})
    assert (await _call(workspace, "chat.postMessage", channel=PRODUCT, text="x"))["ok"]
    refused = await _call(workspace, "chat.postMessage", channel=SECRET, text="x")
    assert refused["error"] == "channel_not_found"
    without = await _call(await install(), "chat.postMessage", channel=PRODUCT, text="x")
    assert without["error"] == "not_in_channel"


async def _heard(workspace: Workspace, channel: str, text: str) -> int:
    """Say something in a channel and return how many events of it are delivered."""
    workspace.state.channels[SECRET].members.append(BOT)
    workspace.people.say(ANA, channel, text)
    await until(lambda: not workspace.bot_connection.has_pending_events() or None)
    return sum(entry["to"] == "bot" for entry in workspace.log)


@pytest.mark.parametrize(
    ("missing", "channel", "text"),
    [
        ("message.channels", DOCS, "hello"),
        ("channels:history", DOCS, "hello"),
        ("message.groups", SECRET, "hello"),
        ("groups:history", SECRET, "hello"),
        ("app_mention", DOCS, "hello @docs-agent"),
        ("app_mentions:read", DOCS, "hello @docs-agent"),
    ],
)
async def test_an_event_comes_only_with_its_subscription_and_scope(
    install: Installer, missing: str, channel: str, text: str
) -> None:
    with_it = await _heard(await install(), channel, text)
    without = await _heard(await install(without={missing}), channel, text)
    assert with_it - without == 1

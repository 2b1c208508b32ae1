"""The workspace takes as many calls as Slack does, for each method and channel."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.workspace.conftest import Opener, client_of
from tests.sandbox.workspace.small_bot import DOCS, HeldClock, Json


async def test_a_channel_takes_one_message_a_second_after_a_burst(
    open_workspace: Opener, clock: HeldClock
) -> None:
    workspace = await open_workspace(enforce_rates=True, channel_burst=2)
    client = client_of(workspace)
    for _ in range(2):
        await client.chat_postMessage(channel=DOCS, text="x")
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=DOCS, text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"
    clock.forward(1)
    assert (await client.chat_postMessage(channel=DOCS, text="x"))["ok"]


@pytest.mark.parametrize(
    ("method", "arguments", "calls"),
    [
        ("usergroups.users.list", {"usergroup": "S01WRITERS"}, 20),
        ("chat.update", {"channel": DOCS, "text": "y"}, 50),
        ("users.info", {"user": "U01ANA"}, 100),
        ("auth.test", {}, 300),
    ],
)
async def test_a_method_is_refused_above_its_limit_a_minute_and_no_other_one_is(
    open_workspace: Opener, clock: HeldClock, method: str, arguments: Json, calls: int
) -> None:
    workspace = await open_workspace(enforce_rates=True)
    client = client_of(workspace)
    ts = str((await client.chat_postMessage(channel=DOCS, text="x"))["ts"])
    asked = arguments | {"ts": ts, "message_ts": ts}
    for _ in range(calls):
        await client.api_call(method, json=asked)
    clock.forward(20.5)
    with pytest.raises(SlackApiError) as caught:
        await client.api_call(method, json=asked)
    answer = caught.value.response
    assert (answer.status_code, answer["error"], answer.headers["Retry-After"]) == (
        429,
        "ratelimited",
        "40",
    )
    assert (await client.chat_postMessage(channel=DOCS, text="x"))["ok"]
    clock.forward(40)
    assert (await client.api_call(method, json=asked))["ok"]

"""A start waits for Slack during an outage."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from bot.app import running_bot
from bot.settings import Settings
from sandbox.world import World
from tests.bots import Zygote
from tests.scenarios.conftest import FAST, DocsBot
from tests.scenarios.story import BEN, Json, Story, environment
from tests.scenarios.test_stopping import Bot
from tests.scenarios.timeouts import STEADY

LOOK_SECONDS = 4.0
"""A little less than the pause between two looks of the engine."""
TRIES = 5
PASSING = ["500", "502_html", "429", "error:internal_error"]


def order(world: World, method: str, fault: str, **more: object) -> None:
    world.workspace.faults.order([{"method": method, "fault": fault, **more}])


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
@pytest.mark.parametrize("fault", PASSING)
async def test_passing_fault_of_slack_only_delays_start(
    world: World, method: str, fault: str
) -> None:
    order(world, method, fault)
    async with running_bot(world.settings):
        assert world.workspace.faults.waiting() == []
        await Story(world).asked("Add a page on keys")


async def test_start_that_waits_for_slack_can_be_stopped(
    command_line: Zygote, world: World, tmp_path: Path
) -> None:
    env = environment(world) | {"HEALTH_PORT": "0", "LOG_LEVEL": "INFO"}
    order(world, "auth.test", "500", lasts=600)
    bot = Bot(command_line, env, tmp_path)
    await bot.start()
    await bot.until("start_waits_for_slack")
    assert await bot.stop() == 0
    assert [line["event"] for line in bot.log][-2:] == ["stopping", "stopped"]


async def test_start_that_waits_for_slack_answers_probes(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = world.settings.model_copy(update={"health_port": port})
    order(world, "auth.test", "500", lasts=600)
    starting = asyncio.create_task(_start(settings))
    try:
        address = f"http://127.0.0.1:{port}"
        async with aiohttp.ClientSession() as http:
            page = await _until_it_answers(http, f"{address}/readyz")
            assert page["checks"]["slack"] == {"ok": False, "about": "the start waits for Slack"}
            assert page["checks"]["database"]["ok"]
            assert not page["ok"]
            async with http.get(f"{address}/livez") as alive, http.get(f"{address}/metrics") as now:
                assert alive.status == 200
                assert 'docs_bot_check_ok{check="slack"} 0.0' in await now.text()
            world.workspace.faults.clear()
            await starting
    finally:
        starting.cancel()


async def _start(settings: Settings) -> None:
    """Start a bot, and stop it as soon as it is ready."""
    async with running_bot(settings):
        pass


async def _until_it_answers(http: aiohttp.ClientSession, address: str) -> Json:
    """Return the page at an address once somebody listens there."""
    while True:
        try:
            async with http.get(address) as answer:
                page: Json = await answer.json()
                return page
        except aiohttp.ClientConnectorError:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    "code", ["invalid_auth", "account_inactive", "token_revoked", "missing_scope"]
)
async def test_token_refused_for_good_ends_a_start_at_once(
    world: World, docs_bot: DocsBot, code: str
) -> None:
    order(world, "auth.test", f"error:{code}")
    ended, output = await docs_bot("run", env=environment(world))
    assert (ended, code in output) == (78, True), output
    assert [entry["method"] for entry in world.workspace.log].count("auth.test") == 1


async def test_post_waits_for_its_channel_no_longer_than_its_pace(world: World) -> None:
    paced = replace(STEADY, channel_pace_seconds=1.0)
    pauses = list[float]()
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=paced):
        story = Story(world)
        # A busy machine may be slow several times, but a bot that waits for its next look always is.
        while len(pauses) < TRIES and not any(pause < LOOK_SECONDS for pause in pauses):
            [end] = await story.replies(await story.asked(f"Add page {len(pauses)}"), 1)
            root = await story.asked("Describe the rate limits", user=BEN)
            pauses.append(float(root["ts"]) - float(end["ts"]))
    assert 0.9 < min(pauses) < LOOK_SECONDS

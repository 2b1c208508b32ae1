"""One bot for two docs services, each with its own address and key."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import aiohttp
import pytest

from bot.app import running_bot
from bot.settings import Settings
from sandbox.docs_service import DocsService, DocsServiceOptions
from sandbox.world import World
from tests.sandbox.docs_service.caller import Caller
from tests.scenarios.conftest import FAST
from tests.scenarios.story import DOCS, PRODUCT, Json, Story, environment
from tests.scenarios.timeouts import STEADY

KEY = "canary-of-beta"


pytestmark = pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])


@pytest.fixture
async def beta(tmp_path: Path) -> AsyncIterator[Caller]:
    """A second docs service, with another key and project."""
    options = DocsServiceOptions(
        tmp_path / "beta", api_key=KEY, project="beta-docs", work_seconds=0.3, pages=20, days=15
    )
    service = DocsService(options)
    url = await service.start()
    async with aiohttp.ClientSession() as session:
        yield Caller(session, url, KEY)
    await service.stop()


def settings_for(world: World, beta: Caller, *names: str) -> Settings:
    """Return the settings of a bot for these projects, the first of which is the default."""
    env = environment(world)
    assistant = {name.lower(): env.pop(name) for name in ("ASSISTANT_KEY", "ASSISTANT_DOMAIN")}
    entries = {
        "acme": {"id": "acme-docs", "label": "Acme docs", **assistant},
        "beta": {"id": "beta-docs", "label": "Beta", "address": beta.base_url, "key": KEY},
    }
    projects = json.dumps({name: entries[name] for name in names})
    env |= {"DOCS_PROJECT_ID": "", "DOCS_PROJECTS": projects}
    return Settings.load(env, env_file=None).model_copy(update=FAST)


async def calls(service: Caller) -> Sequence[str]:
    """Return the service's calls, and insist on the right key and project."""
    log = await service.log()
    assert not {entry["status"] for entry in log} & {401, 403, 404}, log
    return [entry["operation"] for entry in log]


async def test_each_of_two_projects_keeps_its_jobs(world: World, beta: Caller) -> None:
    story = Story(world)
    async with running_bot(settings_for(world, beta, "acme", "beta"), timeouts=STEADY):
        root = await story.finished("Add a page on keys to Acme")
        assert "Acme docs · <@" in root["text"]
        await story.command("/docs-agent", "project beta", channel=PRODUCT)
        await story.answer("From now on, what you ask here is for *Beta*")
        other = await story.asked("Add a page on keys to Beta", PRODUCT)
        await replies_with(story, other, ":memo:", 1)
        assert "Beta · <@" in other["text"]
        assert (await calls(beta)).count("create") == 1
        await story.command("/docs-visitors", "last week compare none project:beta", channel=DOCS)
        await story.answer("Who read the docs (Beta)")
        await story.command("/docs-agent", "project:gamma Add a page on keys")
        assert (
            "Add a page on keys" in (await story.answer("I don't know the project “gamma”"))["text"]
        )
    async with running_bot(settings_for(world, beta, "beta", "acme"), timeouts=STEADY):
        story.reply(root, "Now for Acme again")
        await replies_with(story, root, ":memo:", 2)
    async with running_bot(settings_for(world, beta, "acme"), timeouts=STEADY):
        before = list(await calls(beta))
        story.reply(other, "Add an example")
        await replies_with(story, other, "no longer set up here", 1)
        assert await calls(beta) == before, "a removed project gets no calls"
    assert before.count("create") == 1
    assert "visitors" in before


async def replies_with(story: Story, root: Json, phrase: str, count: int) -> None:
    """Wait for so many replies with this phrase."""
    await story.until(
        lambda: sum(phrase in reply["text"] for reply in story.replies_in(root)) >= count or None,
        phrase,
    )

"""The web page's requests and responses, as one person sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from sandbox.workspace import Workspace
from tests.limits import HANG_SECONDS
from tests.sandbox.workspace.small_bot import ANA, DOCS, FORM, GUS, SECRET, Json


class Page:
    """A client of the page's API, like one browser."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def state(self, user: str) -> Json:
        """Return the state that a reload shows."""
        async with self.session.get("/page/state", params={"user": user}) as answer:
            read: Json = await answer.json()
            return read

    async def post(self, what: str, **asked: object) -> Json:
        """Post an action and return the response."""
        async with self.session.post(f"/page/{what}", json=asked) as answer:
            read: Json = await answer.json()
            return read


@pytest.fixture
async def page(workspace: Workspace) -> AsyncIterator[Page]:
    async with aiohttp.ClientSession(workspace.base_url) as session:
        yield Page(session)


async def test_nobody_sees_what_is_not_theirs(page: Page, workspace: Workspace) -> None:
    workspace.state.add_ephemeral(DOCS, ANA, text="only Ana")
    workspace.people.show_view(ANA, dict(FORM))
    ana, gus = await page.state(ANA), await page.state(GUS)
    assert ana["ephemerals"][DOCS]
    assert ana["views"]
    assert not gus["ephemerals"][DOCS]
    assert not gus["views"]
    seen = {channel["id"] for channel in gus["channels"]}
    assert not seen & {SECRET, "D01ANA"}


async def test_news_arrive_by_themselves_and_only_those_since_the_last(
    page: Page, workspace: Workspace
) -> None:
    old = workspace.people.say(ANA, DOCS, "old")
    since = workspace.state.seq
    new = workspace.people.say(ANA, DOCS, "new")
    workspace.people.say(ANA, SECRET, "not for the guest")
    async with page.session.ws_connect(f"/page/events?user={GUS}&since={since}") as socket:
        first = await socket.receive_json(timeout=HANG_SECONDS)
        assert first["message"]["ts"] == new["ts"] != old["ts"]
        assert (await socket.receive_json(timeout=HANG_SECONDS))["type"] == "bot"
        workspace.people.edit(ANA, DOCS, new["ts"], "newer")
        changed = await socket.receive_json(timeout=HANG_SECONDS)
    assert changed["message"]["text"] == "newer"
    assert changed["seq"] > first["seq"] > since


async def test_a_page_from_elsewhere_can_neither_listen_nor_act(page: Page) -> None:
    for origin in ("http://elsewhere.example", "null"):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await page.session.ws_connect("/page/events?user=U01ANA", origin=origin)
    async with page.session.post("/page/message", data='{"user": "U01ANA"}') as answer:
        assert answer.status == 415


async def test_the_page_comes_from_here_alone(page: Page) -> None:
    async with page.session.get("/") as answer:
        text = await answer.text()
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert "http://" not in text
    assert "https://" not in text

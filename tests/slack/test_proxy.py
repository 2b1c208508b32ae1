"""Calls of Slack and of the docs service go through the proxy, and calls of this machine do not."""

from __future__ import annotations

import asyncio
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.docs_api import DocsClient, Unavailable
from bot.github import GithubClient, PullRequestId
from bot.github import GithubUnavailable as NoAnswer
from bot.ids import Message
from bot.ports import SlackUnreachable
from bot.settings import Settings
from bot.slack.client import identify, make_web_client, open_session
from bot.slack.messenger import SlackMessenger
from bot.slack.socket import SocketIntake
from tests.command_line import docs_bot
from tests.limits import HANG_SECONDS, STOPPED
from tests.operator.faults import CERTIFICATE, tls, tunnel
from tests.sandbox.workspace.small_bot import small_app
from tests.servers import serving

AUTHORIZATION = b"Proxy-Authorization: Basic " + b64encode(b"user:canary-7f3a")


class Proxy:
    """A forward proxy that notes each request for a tunnel and refuses it."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    def targets(self) -> set[bytes]:
        """Return the first lines of the requests."""
        return {head.partition(b" HTTP/")[0] for head in self.heads}


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    proxy = Proxy()
    async with serving(proxy.serve) as port:
        proxy.url = f"http://user:canary-7f3a@127.0.0.1:{port}"
        yield proxy


ENV = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "DATABASE_URL": ":memory:"}
ENV |= {"DOCS_API_URL": "https://docs.invalid", "DOCS_API_KEY": "key", "DOCS_PROJECT_ID": "acme"}
ENV |= {"SLACK_API_URL": "https://slack-gov.invalid/api/"}


def settings(proxy: Proxy, **changes: str) -> Settings:
    return Settings.load({**ENV, "HTTPS_PROXY": proxy.url, **changes}, env_file=None)


async def test_slack_is_called_through_the_proxy(proxy: Proxy) -> None:
    chosen = settings(proxy)
    slack_proxy = chosen.proxy_for(chosen.slack_api_url)
    async with open_session(slack_proxy) as session:
        client = make_web_client(chosen.slack_bot_token, chosen.slack_api_url, session, slack_proxy)
        with pytest.raises(SlackUnreachable) as error:
            await identify(client)
        with pytest.raises(Exception, match="403"):
            await session.post("https://hooks.slack-gov.invalid/commands/1", allow_redirects=False)
    assert proxy.targets() == {
        b"CONNECT slack-gov.invalid:443",
        b"CONNECT hooks.slack-gov.invalid:443",
    }
    assert all(AUTHORIZATION in head for head in proxy.heads)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize("host", ["hooks.slack.com", "hooks.slack-gov.com"])
async def test_answers_go_to_the_response_urls_of_slack_and_of_govslack(
    proxy: Proxy, host: str
) -> None:
    async with open_session(proxy.url) as session:
        client = make_web_client(
            SecretStr("xoxb-1"), "https://slack-gov.com/api/", session, proxy.url
        )
        messenger = SlackMessenger(client, session, "https://slack-gov.com/api/")
        with pytest.raises(SlackUnreachable):
            await messenger.answer(SecretStr(f"https://{host}/commands/1"), Message("hello"))
    assert proxy.targets() == {f"CONNECT {host}:443".encode()}


class Ticketing(AsyncWebClient):
    """A client that gets a ticket without a call."""

    async def apps_connections_open(self, **_arguments: Any) -> Any:
        return {"ok": True, "url": "wss://wss-primary.slack-gov.invalid/link?ticket=1"}


async def test_socket_is_opened_through_the_proxy(proxy: Proxy) -> None:
    client = Ticketing(token="xoxb-1", proxy=proxy.url)
    app, _ = small_app(client, "secret")
    intake = SocketIntake(app, client, SecretStr("xapp-1"), intake_seconds=2.5)
    opening = asyncio.create_task(intake.open())
    async with asyncio.timeout(HANG_SECONDS):
        while not proxy.heads:
            await asyncio.sleep(0.01)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    await intake.close(1.0)
    assert proxy.targets() == {b"CONNECT wss-primary.slack-gov.invalid:443"}
    assert AUTHORIZATION in proxy.heads[0]


async def test_doctor_uses_the_proxy_and_hides_its_password(proxy: Proxy) -> None:
    ran = await asyncio.to_thread(docs_bot, "doctor", **ENV, HTTPS_PROXY=proxy.url)
    hosts = (b"slack-gov.invalid", b"docs.invalid", b"api.github.com")
    assert proxy.targets() == {b"CONNECT " + host + b":443" for host in hosts}
    assert "canary" not in ran.output


async def test_docs_service_is_called_through_the_proxy_without_exception(proxy: Proxy) -> None:
    for excepted, count in (("", 1), ("docs.invalid", 1)):
        chosen = settings(proxy, NO_PROXY=excepted)
        url = chosen.projects[0].address
        async with DocsClient(
            base_url=url, api_key=SecretStr("key"), proxy=chosen.proxy_for(url)
        ) as docs:
            with pytest.raises(Unavailable) as error:
                await docs.get_job("acme", "1")
        assert not error.value.sent
        assert len(proxy.heads) == count


async def test_github_is_called_through_the_proxy(proxy: Proxy) -> None:
    chosen = settings(proxy, GITHUB_API_URL="https://git.invalid/api/v3")
    address = chosen.github_api_url
    async with GithubClient(api_url=address, proxy=chosen.proxy_for(address)) as github:
        with pytest.raises(NoAnswer):
            await github.pull_request(PullRequestId("acme", "docs", 7))
    assert proxy.targets() == {b"CONNECT git.invalid:443"}
    assert AUTHORIZATION in proxy.heads[0]


async def test_bot_connects_through_a_tunnel_with_a_private_ca(tmp_path: Path) -> None:
    """A process of its own is needed: OpenSSL and aiohttp read SSL_CERT_FILE when they are loaded."""
    pinged = asyncio.Event()
    answers: dict[str, dict[str, Any]] = {
        "/api/auth.test": {"ok": True, "user_id": "U1", "bot_id": "B1", "team_id": "T1"},
        "/api/apps.connections.open": {"ok": True, "url": "wss://slack.invalid/link"},
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != "/link":
            return web.json_response(
                answers.get(request.path, {"ok": False, "error": "unknown_method"})
            )
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        async for frame in socket:
            if frame.type == WSMsgType.PING:
                await socket.pong(frame.data)
                pinged.set()
        return socket

    slack = web.Application()
    slack.router.add_route("*", "/{rest:.*}", answer)
    server = TestServer(slack)
    await server.start_server(ssl=tls())
    async with server, serving(tunnel({"slack.invalid": server.port or 0})) as port:
        env = ENV | {
            "SLACK_API_URL": "https://slack.invalid/api/",
            "DATABASE_URL": f"sqlite:///{tmp_path}/bot.db",
            "HTTPS_PROXY": f"http://127.0.0.1:{port}",
            "SSL_CERT_FILE": str(CERTIFICATE),
            "HEALTH_PORT": "0",
            "PYTHONPATH": str(Path.cwd()),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "run", env=env, cwd=tmp_path
        )
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await pinged.wait()
            process.terminate()
            assert await process.wait() in STOPPED
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

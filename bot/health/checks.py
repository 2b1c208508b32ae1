"""Health checks: ``/readyz`` runs the cheap ones about its process, ``docs-bot doctor`` runs all."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

from bot.engine import Workers
from bot.logs import mask
from bot.ports import SlackError, SlackRefused, SlackThrottled
from bot.slack.client import REFUSED_TOKENS
from bot.slack.socket import SocketIntake
from bot.store import DatabaseTrouble, Store
from bot.store.database import explain_error

LIMIT_SECONDS = 1.5
"""How long the parts of a page may take, so that it comes within two seconds."""
_SLACK_SECONDS = 30.0
"""For how long it is believed that Slack accepts the token."""
_AGAIN_SECONDS = 5.0
_WORKER_LATE_SECONDS = 120.0
_MOST_REFUSED = 5
_REFUSED_SECONDS = 300.0
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: whether it passed, the finding, and the advice.

    A check that passed and has an advice is a remark: nothing is wrong yet. ``required``: whether a process
    is not ready without it.
    """

    name: str
    ok: bool
    seen: str
    advice: str = ""
    required: bool = True

    @property
    def state(self) -> str:
        """Return ``ok``, ``note`` or ``bad``."""
        if not self.ok:
            return "bad"
        return "note" if self.advice else "ok"


Checks = dict[str, Callable[[], Awaitable[Sequence[Finding]]]]


async def run_checks(
    checks: Checks, limit_seconds: float = LIMIT_SECONDS, *, is_logged: bool = True
) -> list[Finding]:
    """Run all checks concurrently and return their findings. One that raises or takes too long has failed."""

    async def one(
        name: str, check: Callable[[], Awaitable[Sequence[Finding]]]
    ) -> Sequence[Finding]:
        try:
            async with asyncio.timeout(limit_seconds):
                return await check()
        except TimeoutError:
            finding = f"no answer within {limit_seconds:g} s"
            return [Finding(name, False, finding, "Look at the network.")]
        except Exception as error:
            # A failing check must not hide the others' findings. Error texts can quote settings.
            if is_logged:
                log.warning("check_failed", check=name, exc_info=True)
            return [Finding(name, False, f"could not be looked at ({type(error).__name__})")]

    findings = await asyncio.gather(*(one(name, check) for name, check in checks.items()))
    return [finding for group in findings for finding in group]


# ---- the database and the workers


async def database_check(store: Store, clock: Callable[[], datetime]) -> Sequence[Finding]:
    """Check that the database can be written."""
    try:
        await store.try_writing(clock())
    except DatabaseTrouble as error:
        reason = explain_error(error)
        return [Finding("database", False, f"cannot be written: {reason.cause}", reason.advice)]
    return [Finding("database", True, "can be written")]


def free_bytes(store: Store) -> int | None:
    """Return the free bytes on the disk of the SQLite file; None if unknown."""
    file = store.database.file
    try:
        return shutil.disk_usage(file.parent).free if file else None
    except OSError:
        return None


async def runs_check(workers: Workers) -> Sequence[Finding]:
    """Check that no worker of this process is late."""
    late = workers.late(_WORKER_LATE_SECONDS)
    return [Finding("runs", not late, f"late: {', '.join(late)}" if late else "on time")]


# ---- Slack


async def socket_check(intake: SocketIntake) -> Sequence[Finding]:
    """Check that Slack's socket is connected."""
    if not await intake.is_connected():
        return [Finding("socket", False, f"not connected for {intake.deaf_seconds():.0f} s")]
    # More than there are processes: another bot has the same SLACK_APP_TOKEN.
    text = f"last request {intake.silent_seconds():.0f} s ago; sockets of the app: {intake.sockets}"
    return [Finding("socket", True, text)]


async def token_finding(
    name: str, token: str, ask: Callable[[], Awaitable[str]], required: bool = True
) -> Finding:
    """Return whether Slack accepts the token of this setting. ``ask`` returns the result of a call.

    ``required``: whether Slack must be reachable.
    """
    try:
        return Finding(name, True, await ask())
    except SlackThrottled:
        return Finding(name, True, "asks to wait, so it knows the token")
    except SlackRefused as error:
        cause, advice = REFUSED_TOKENS.get(error.code, ("Slack refuses", "Look at {token}."))
        return Finding(name, False, f"{cause} ({error.code})", advice.format(token=token))
    except (SlackError, TimeoutError) as error:
        message = str(error) or type(error).__name__
        message = "the answer is not JSON" if message in ("ValueError", "HTTP 200") else message
        return replace(network_trouble(name, message, "SLACK_API_URL"), required=required)


class SlackCheck:
    """Whether Slack accepts the token, asked twice a minute at most, or every five seconds in trouble."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[object]],
        *,
        required: bool,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """``ask`` raises a SlackError. ``required``: whether Slack must be reachable.

        ``clock`` returns seconds.
        """
        self._ask = ask
        self._required = required
        self._clock = clock
        self._last: Finding | None = None
        self._believed_until = 0.0

    async def __call__(self) -> Sequence[Finding]:
        if self._last is None or self._clock() >= self._believed_until:
            finding = await token_finding(
                "slack", "SLACK_BOT_TOKEN", self._accepted, self._required
            )
            self._last = finding
            self._believed_until = self._clock() + (
                _SLACK_SECONDS if finding.ok else _AGAIN_SECONDS
            )
        return [self._last]

    async def _accepted(self) -> str:
        async with asyncio.timeout(1.0):
            await self._ask()
        return "accepts the token"


class SignatureCheck:
    """Whether the signing secret seems right: not if the last five requests were refused within five minutes.

    Only requests that name the bot's workspace count. Anybody who knows its id can send such requests, so the
    process stays ready, and an operator looks whether the secret is wrong.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` returns seconds."""
        self._clock = clock
        self._refused_at: list[float] = []

    def record(self, accepted: bool) -> None:
        """Record whether the signature of a request that names the workspace was right."""
        self._refused_at = (
            [] if accepted else [*self._refused_at[1 - _MOST_REFUSED :], self._clock()]
        )

    async def __call__(self) -> Sequence[Finding]:
        lately = [at for at in self._refused_at if self._clock() - at < _REFUSED_SECONDS]
        if len(lately) < _MOST_REFUSED:
            return [Finding("signatures", True, "no trouble")]
        finding = (
            "the last signatures were refused: SLACK_SIGNING_SECRET is wrong, or strangers knock"
        )
        return [Finding("signatures", False, finding, required=False)]


# ---- the way to a remote service


def network_trouble(name: str, message: str, setting: str) -> Finding:
    """Return the finding about a service that cannot be used, in its client's own words."""
    advice = f"Look at {setting}, DNS, a firewall and HTTPS_PROXY; for a CA of your own, at SSL_CERT_FILE."
    return Finding(name, False, mask(message), advice)


def add_health_routes(
    server: web.Application,
    checks: Checks,
    metrics: Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]],
) -> None:
    """Add the routes for probes and for Prometheus. ``metrics`` gets the findings of the checks."""

    async def alive(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def ready(_request: web.Request) -> web.Response:
        findings = await run_checks(checks)
        is_ready = all(finding.ok or not finding.required for finding in findings)
        parts = {finding.name: {"ok": finding.ok, "about": finding.seen} for finding in findings}
        return web.json_response({"ok": is_ready, "checks": parts}, status=200 if is_ready else 503)

    async def counted(_request: web.Request) -> web.Response:
        body, content_type = await metrics(await run_checks(checks))
        return web.Response(body=body, headers={"Content-Type": content_type})

    server.router.add_get("/livez", alive)
    server.router.add_get("/readyz", ready)
    server.router.add_get("/metrics", counted)


HEAD_SECONDS = 5.0
_LINGERING_SECONDS = 1.0
"""For how long the rest of a refused body is read and discarded, so that the sender reads the refusal."""
_STOP_SECONDS = 2.5
"""For requests under way when listening ends; twice, because aiohttp waits again once they are cancelled."""
_QUEUE = 1_024
"""Connections that wait in the kernel until they are accepted."""
_OPEN_FILES = 10_240
"""As many as macOS allows a process that is allowed any number."""


def allow_open_files() -> None:
    """Let this process open as many files and connections as it may (`ulimit -Hn`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@asynccontextmanager
async def listening(
    server: web.Application,
    host: str,
    port: int,
    *,
    idle_seconds: float,
    head_seconds: float = HEAD_SECONDS,
) -> AsyncIterator[int]:
    """Serve an application until the block ends; yield the port. Raises OSError for a port in use.

    ``idle_seconds``: how long a connection is kept for another request; ``head_seconds``: for its first one.
    """
    loop = asyncio.get_running_loop()
    silent: set[asyncio.BaseProtocol] = set()

    @web.middleware
    async def requested(request: web.Request, handler: Handler) -> web.StreamResponse:
        silent.discard(request.protocol)
        return await handler(request)

    def end_silence(protocol: web.RequestHandler) -> None:
        if protocol not in silent:
            return
        silent.discard(protocol)
        if protocol.transport is not None:
            log.warning("connection_closed", kind="no request")
            protocol.transport.abort()

    def accepted() -> asyncio.BaseProtocol:
        protocol: web.RequestHandler = serve()
        silent.add(protocol)
        loop.call_later(head_seconds, end_silence, protocol)
        return protocol

    server.middlewares.append(requested)
    runner = web.AppRunner(
        server,
        access_log=None,
        logger=_ServerLog(logging.getLogger("aiohttp.server")),
        shutdown_timeout=_STOP_SECONDS,
        keepalive_timeout=idle_seconds,
        lingering_time=_LINGERING_SECONDS,
        auto_decompress=False,
    )
    await runner.setup()
    serve = cast("web.Server", runner.server)
    try:
        listener = await loop.create_server(accepted, sock=_listener(host, port), backlog=_QUEUE)
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            await close_listener(listener)
    finally:
        await runner.cleanup()


async def close_listener(listener: asyncio.Server) -> None:
    """Close a server that listens, and no connection is left open that comes at this moment.

    asyncio alone would lose one that it has just accepted: https://github.com/python/cpython/issues/109564
    """
    try:
        for server_socket in listener.sockets:
            asyncio.get_running_loop().remove_reader(server_socket)
        for _ in range(
            2
        ):  # the server gets the connections of this step, and then its protocol does
            await asyncio.sleep(0)
    finally:
        listener.close()


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        message = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"{message}: {host}, port {port}") from None


class _ServerLog(logging.LoggerAdapter[logging.Logger]):
    """The log of aiohttp's server. Requests that are not HTTP are one line a minute, without tracebacks."""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if isinstance(kwargs.get("exc_info"), HttpProcessingError):
            log.warning("connection_closed", kind="not HTTP")
            return
        super().log(level, msg, *args, **kwargs)

"""Health checks: ``/readyz`` makes the checks of its process, ``docs-bot doctor`` makes all checks."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic

import structlog
from aiohttp import web

from bot.engine import Workers
from bot.logs import mask
from bot.ports import SlackError, SlackRefused, SlackThrottled
from bot.slack.client import REFUSED_TOKENS
from bot.slack.http import Signature
from bot.slack.socket import SocketIntake
from bot.store import DatabaseTrouble, Store
from bot.store.database import explain_error

LIMIT_SECONDS = 1.5
"""How long the parts of a page may take, so that it comes within two seconds."""
_TOKEN_SECONDS = 30.0
"""For how long Slack's acceptance of the token is believed."""
_TOKEN_RETRY_SECONDS = 5.0
_LATE_SECONDS = 120.0
_MAX_REFUSED = 5
_REFUSED_SECONDS = 300.0
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    seen: str
    """The observation, in words."""
    advice: str = ""
    """What to do. A check that passed and has an advice is a remark: nothing is wrong yet."""
    required: bool = True
    """Whether a process is not ready without it."""

    @property
    def state(self) -> str:
        """Return ``ok``, ``note`` or ``bad``."""
        if not self.ok:
            return "bad"
        return "note" if self.advice else "ok"


Check = Callable[[], Awaitable[Sequence[Finding]]]
Checks = dict[str, Check]


async def run_checks(
    checks: Checks, limit_seconds: float = LIMIT_SECONDS, *, is_logged: bool = True
) -> list[Finding]:
    """Run all checks at the same time; return their findings.

    A check that raises, or takes longer than ``limit_seconds``, has failed. ``is_logged``: whether
    an error is logged.
    """

    async def run_one(name: str, check: Check) -> Sequence[Finding]:
        try:
            async with asyncio.timeout(limit_seconds):
                return await check()
        except TimeoutError:
            text = f"no answer within {limit_seconds:g} s"
            return [Finding(name, False, text, "Look at the network.")]
        except Exception as error:
            # A failing check must not hide the others' findings. Error texts can quote settings.
            if is_logged:
                log.warning("check_failed", check=name, exc_info=True)
            return [Finding(name, False, f"could not be looked at ({type(error).__name__})")]

    groups = await asyncio.gather(*(run_one(name, check) for name, check in checks.items()))
    return [finding for group in groups for finding in group]


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
    if file is None:
        return None
    try:
        return shutil.disk_usage(file.parent).free
    except OSError:
        return None


async def runs_check(workers: Workers) -> Sequence[Finding]:
    """Check that no worker of this process is late."""
    late = workers.late(_LATE_SECONDS)
    if late:
        return [Finding("runs", False, f"late: {', '.join(late)}")]
    return [Finding("runs", True, "on time")]


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
    """Return whether Slack accepts a token.

    Args:
        name: the name of the finding.
        token: the name of the setting with the token.
        ask: makes a call with the token and returns its result in words; raises a SlackError.
        required: whether a process is not ready while Slack cannot be reached.
    """
    try:
        return Finding(name, True, await ask())
    except SlackThrottled:
        return Finding(name, True, "asks to wait, so it knows the token")
    except SlackRefused as error:
        cause, advice = REFUSED_TOKENS.get(error.code, ("Slack refuses", "Look at {token}."))
        return Finding(name, False, f"{cause} ({error.code})", advice.format(token=token))
    except TimeoutError:
        trouble = network_trouble(name, "Slack gives no answer in time", "SLACK_API_URL")
        return replace(trouble, required=required)
    except SlackError as error:
        message = str(error) or type(error).__name__
        if message in ("ValueError", "HTTP 200"):
            message = "the answer is not JSON"
        return replace(network_trouble(name, message, "SLACK_API_URL"), required=required)


class SlackCheck:
    """Checks that Slack accepts the token: twice a minute, or every five seconds in trouble."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[object]],
        *,
        required: bool,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Prepare the check.

        Args:
            ask: makes a call with the token; raises a SlackError.
            required: whether a process is not ready while Slack cannot be reached.
            clock: returns seconds.
        """
        self._ask = ask
        self._required = required
        self._clock = clock
        self._last: Finding | None = None
        self._believed_until = 0.0

    async def __call__(self) -> Sequence[Finding]:
        if self._last is None or self._clock() >= self._believed_until:
            self._last = await token_finding(
                "slack", "SLACK_BOT_TOKEN", self._call_slack, self._required
            )
            seconds = _TOKEN_SECONDS if self._last.ok else _TOKEN_RETRY_SECONDS
            self._believed_until = self._clock() + seconds
        return [self._last]

    async def _call_slack(self) -> str:
        async with asyncio.timeout(1.0):
            await self._ask()
        return "accepts the token"


class SignatureCheck:
    """Checks the signing secret: it seems wrong once five signatures in a row were refused.

    They count for five minutes, and only where the request names the bot's workspace. Anybody who
    knows its id can send such requests, so the process stays ready, and an operator looks whether
    the secret or the clock is wrong.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` returns seconds."""
        self._clock = clock
        self._refused: list[tuple[float, Signature]] = []
        """The last refused ones, with the time at which each came."""

    def record(self, signature: Signature) -> None:
        """Record the result for a request that names the workspace."""
        if signature is Signature.ACCEPTED:
            self._refused = []
            return
        self._refused = [*self._refused[1 - _MAX_REFUSED :], (self._clock(), signature)]
        if signature is Signature.AT_ANOTHER_TIME:
            log.error("clock_may_be_off", about=_CLOCK_IS_OFF)

    async def __call__(self) -> Sequence[Finding]:
        recent = [kind for at, kind in self._refused if self._clock() - at < _REFUSED_SECONDS]
        if len(recent) < _MAX_REFUSED:
            return [Finding("signatures", True, "no trouble")]
        reason = "SLACK_SIGNING_SECRET is wrong, or strangers knock"
        if Signature.AT_ANOTHER_TIME in recent:
            reason = _CLOCK_IS_OFF
        text = f"the last signatures were refused: {reason}"
        return [Finding("signatures", False, text, _SET_THE_CLOCK, required=False)]


_CLOCK_IS_OFF = "this machine's clock differs from Slack's by more than five minutes"
_SET_THE_CLOCK = "Copy the Signing Secret again, and let NTP set this machine's clock."


# ---- the way to a remote service, and the pages


def network_trouble(name: str, message: str, setting: str) -> Finding:
    """Return the finding about a service that cannot be used, in its client's own words."""
    advice = (
        f"Look at {setting}, DNS, a firewall and HTTPS_PROXY; "
        "for a CA of your own, at SSL_CERT_FILE."
    )
    return Finding(name, False, mask(message), advice)


MetricsPage = Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]]
"""Gets the findings of the checks; returns the body of ``/metrics`` and its content type."""


@dataclass(slots=True)
class Health:
    """The parts that the pages report. A start replaces them at its end."""

    checks: Checks
    metrics: MetricsPage


async def start_check() -> Sequence[Finding]:
    """Return the finding that the process still starts."""
    return [Finding("slack", False, "the start waits for Slack")]


def add_health_routes(server: web.Application, health: Health) -> None:
    """Add the pages for probes and for Prometheus."""

    async def show_alive(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def show_ready(_request: web.Request) -> web.Response:
        findings = await run_checks(health.checks)
        is_ready = all(finding.ok or not finding.required for finding in findings)
        parts = {finding.name: {"ok": finding.ok, "about": finding.seen} for finding in findings}
        status = 200 if is_ready else 503
        return web.json_response({"ok": is_ready, "checks": parts}, status=status)

    async def show_metrics(_request: web.Request) -> web.Response:
        body, content_type = await health.metrics(await run_checks(health.checks))
        return web.Response(body=body, headers={"Content-Type": content_type})

    server.router.add_get("/livez", show_alive)
    server.router.add_get("/readyz", show_ready)
    server.router.add_get("/metrics", show_metrics)

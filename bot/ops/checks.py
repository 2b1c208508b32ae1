"""What is checked: by ``/readyz`` what is cheap and about its process, by ``docs-bot doctor`` all."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic

import structlog

from bot.slack.errors import REFUSED_TOKENS
from bot.slack.socket import SocketIntake
from bot.store import DatabaseTrouble, Store
from bot.store.heartbeats import GONE_AFTER
from bot.store.trouble import explain
from bot.work.ports import SlackError, SlackRefused, SlackThrottled
from bot.worker import Workers

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
    """The result of one check: whether it passed, what was found, and what to do about it.

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

    async def one(name: str, check: Callable[[], Awaitable[Sequence[Finding]]]) -> Sequence[Finding]:
        try:
            async with asyncio.timeout(limit_seconds):
                return await check()
        except TimeoutError:
            seen = f"no answer within {limit_seconds:g} s"
            return [Finding(name, False, seen, "Look at the network.")]
        except Exception as error:
            # A failing check must not hide the others' findings. Error texts can quote settings.
            if is_logged:
                log.warning("check_failed", check=name, exc_info=True)
            return [Finding(name, False, f"could not be looked at ({type(error).__name__})")]

    found = await asyncio.gather(*(one(name, check) for name, check in checks.items()))
    return [finding for group in found for finding in group]


# ---- the database and the workers


def database_check(
    store: Store, process: str, clock: Callable[[], datetime]
) -> Callable[[], Awaitable[Sequence[Finding]]]:
    """Return a check that writes to the database."""

    async def check() -> Sequence[Finding]:
        try:
            await store.try_writing(process, clock())
        except DatabaseTrouble as error:
            why = explain(error)
            return [Finding("database", False, f"cannot be written: {why.cause}", why.advice)]
        return [Finding("database", True, "can be written")]

    return check


def free_bytes(store: Store) -> int | None:
    """Return the room on the disk of the SQLite file; None for another database, or when nobody can tell."""
    file = store.database.file
    try:
        return shutil.disk_usage(file.parent).free if file else None
    except OSError:
        return None


def workers_check(
    store: Store, clock: Callable[[], datetime], *, required: bool
) -> Callable[[], Awaitable[Sequence[Finding]]]:
    """Return a check that some process runs workers; ``required`` as in `Finding`."""

    async def check() -> Sequence[Finding]:
        now = clock()
        try:
            last = await store.read(lambda tx: tx.heartbeats.last(now))
        except DatabaseTrouble as error:
            return [Finding("workers", False, f"not known: {explain(error).cause}", required=required)]
        alive = sum(at > now - GONE_AFTER for at in last.values())
        seconds = f"{GONE_AFTER.total_seconds():.0f} s"
        seen = f"{alive} alive" if alive else f"no process carries requests out: no heartbeat for {seconds}"
        return [Finding("workers", alive > 0, seen, required=required)]

    return check


async def runs_check(workers: Workers) -> Sequence[Finding]:
    """Check that no worker of this process is late."""
    late = workers.late(_WORKER_LATE_SECONDS)
    return [Finding("runs", not late, f"late: {', '.join(late)}" if late else "on time")]


# ---- Slack


async def socket_check(intake: SocketIntake) -> Sequence[Finding]:
    """Check that Slack's socket is connected."""
    connected = await intake.is_connected()
    silent = f"last request {intake.silent_seconds():.0f} s ago"
    deaf = f"not connected for {intake.deaf_seconds():.0f} s"
    return [Finding("socket", connected, silent if connected else deaf)]


async def token_finding(
    name: str, token: str, ask: Callable[[], Awaitable[str]], required: bool = True
) -> Finding:
    """Return whether Slack accepts the token of this setting. ``ask`` returns what a call has shown.

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
        told = str(error) or type(error).__name__
        told = "a web page" if told in ("ValueError", "HTTP 200") else told
        return replace(network_trouble(name, told, "SLACK_API_URL"), required=required)


class SlackCheck:
    """Whether Slack accepts the token, asked twice a minute at most, or every five seconds in trouble."""

    def __init__(
        self, ask: Callable[[], Awaitable[object]], *, required: bool, clock: Callable[[], float] = monotonic
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
            found = await token_finding("slack", "SLACK_BOT_TOKEN", self._accepted, self._required)
            self._last = found
            self._believed_until = self._clock() + (_SLACK_SECONDS if found.ok else _AGAIN_SECONDS)
        return [self._last]

    async def _accepted(self) -> str:
        async with asyncio.timeout(1.0):
            await self._ask()
        return "accepts the token"


class SignatureCheck:
    """Whether the signing secret seems right: not if the last five requests were refused within five minutes.

    Only requests that name the bot's workspace count. Whoever knows its id can send such requests, so the
    process stays ready, and an operator looks whether the secret is wrong.
    """

    def __init__(self, count: Callable[[str, str], None], clock: Callable[[], float] = monotonic) -> None:
        self._count = count
        self._clock = clock
        self._refused_at: list[float] = []

    def record(self, accepted: bool) -> None:
        """Record whether the signature of a request that names the workspace was right."""
        self._count("signatures", "accepted" if accepted else "refused")
        self._refused_at = [] if accepted else [*self._refused_at[1 - _MOST_REFUSED :], self._clock()]

    async def __call__(self) -> Sequence[Finding]:
        lately = [at for at in self._refused_at if self._clock() - at < _REFUSED_SECONDS]
        if len(lately) < _MOST_REFUSED:
            return [Finding("signatures", True, "no trouble")]
        seen = "the last signatures were refused: SLACK_SIGNING_SECRET is wrong, or strangers knock"
        return [Finding("signatures", False, seen, required=False)]


# ---- the way to a remote service

_NETWORK = (
    ("ClientConnectorDNSError", "its host name is unknown", "Look at the host in {setting}, and at DNS."),
    (
        "ClientConnectorCertificateError",
        "its certificate is not trusted",
        "If a CA of your own signs it, name the file of that CA in the environment as SSL_CERT_FILE.",
    ),
    (
        "ClientConnectorSSLError",
        "no encrypted connection (TLS)",
        "Look at {setting}: does this port speak https?",
    ),
    ("ClientProxyConnectionError", "the proxy cannot be reached", "Look at HTTPS_PROXY."),
    (
        "ClientHttpProxyError",
        "the proxy refuses to connect",
        "Look at the user and password in HTTPS_PROXY, and at what the proxy allows.",
    ),
    ("ClientConnectorError", "nothing listens there", "Look at {setting}, at a firewall and at HTTPS_PROXY."),
    ("Timeout", "no answer in time", "Look at the network, at a firewall and at HTTPS_PROXY."),
    ("did not answer in time", "no answer in time", "Look at the network, a firewall and HTTPS_PROXY."),
    ("ClientPayloadError", "it breaks the connection off", "Look at the network and at a proxy on the way."),
    ("Disconnected", "it breaks the connection off", "Look at the network and at {setting}."),
    ("HTTP 5", "it or a gateway before it is unwell", "Wait; look at its status page and at {setting}."),
    (
        "unreadable",
        "something unreadable came in place of an answer",
        "Look at {setting}, and at a proxy on the way.",
    ),
    ("web page", "a web page came in place of an answer", "Look at {setting}, and at a proxy on the way."),
    ("redirects", "it sends elsewhere, and the bot does not follow", "Write the final address in {setting}."),
)
"""A part of what an error says, its cause and the advice. The first part that is found counts."""


def network_trouble(name: str, said: str, setting: str) -> Finding:
    """Return why a service cannot be used, from what its client's error says."""
    for part, cause, advice in _NETWORK:
        if part in said:
            return Finding(name, False, cause, advice.format(setting=setting))
    return Finding(name, False, said, f"Look at {setting} and the network.")

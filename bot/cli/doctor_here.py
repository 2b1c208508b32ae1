"""The doctor's look at this machine: who can read the files, who has the ports, and a bot that runs here."""

from __future__ import annotations

import errno
import json
import re
import shlex
import socket
from pathlib import Path

import httpx

from bot.ops.checks import Finding
from bot.settings import Settings
from bot.store.database import exposed, is_exposed, sqlite_file

_ENV_FILE = Path(".env")
_MOST_SOCKETS = 10
"""https://docs.slack.dev/apis/events-api/using-socket-mode"""


def look_at_files(sqlalchemy_url: str) -> list[Finding]:
    """Check that other users of this machine cannot read the database and the settings."""
    found = [_open_to_others(_ENV_FILE)] if is_exposed(_ENV_FILE) else []
    file = sqlite_file(sqlalchemy_url)
    if file is None:
        return found or [Finding("files", True, "no other user can read them")]
    found += [_open_to_others(each) for each in exposed(file)] if file.is_file() else []
    remark = f"; others can list the folder {file.parent} (chmod 700)" if is_exposed(file.parent) else ""
    return found or [Finding("files", True, f"no other user can read them{remark}")]


def _open_to_others(file: Path) -> Finding:
    return Finding("files", False, f"other users can read {file}", f"Run: chmod 600 {shlex.quote(str(file))}")


async def look_at_ports(settings: Settings, seconds: float) -> list[Finding]:
    """Check that the ports are free, or that a bot has them; say what a bot that runs here says of itself."""
    host = f"[{settings.health_host}]" if ":" in settings.health_host else settings.health_host
    running = await _running_bot(f"http://{host}:{settings.health_port}", seconds)
    ports = [("HEALTH", settings.health_host, settings.health_port)]
    if not settings.socket_mode:
        ports.append(("", settings.host, settings.port))
    wrong = [trouble for each in ports if (trouble := _port_trouble(*each)) is not None]
    if running is not None:
        wrong = [trouble for trouble in wrong if "taken" not in trouble.seen]
    said = "a bot has them" if running is not None else "free"
    return [*(wrong or [Finding("ports", True, said)]), *(running or [])]


def _port_trouble(prefix: str, host: str, port: int) -> Finding | None:
    """Return why nobody can listen there now; None when it is free, or when any port will do."""
    if port == 0:
        return None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    names = f"{prefix}_HOST and {prefix}_PORT" if prefix else "HOST and PORT"
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            advice = f"Find out who has it (ss -ltnp), or set another one: {names}."
            return Finding("ports", False, f"{host}, port {port} is taken by another program", advice)
        seen = f"{host}, port {port} cannot be opened ({error.strerror or type(error).__name__})"
        return Finding("ports", False, seen, f"Look at {names}.")
    return None


async def _running_bot(address: str, seconds: float) -> list[Finding] | None:
    """Return what a bot at this address says is wrong with it; None when none runs there."""
    try:
        async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=seconds) as http:
            page = (await http.get(f"{address}/metrics")).text
            if "docs_bot_" not in page:
                return None
            ready = await http.get(f"{address}/readyz")
        checks = json.loads(ready.content)["checks"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
    return [*_not_ready(checks), *_signatures(page), *_sockets(page)]


def _not_ready(checks: dict[str, dict[str, object]]) -> list[Finding]:
    advice = "See docs/operating.md, Alerts; /readyz says it too."
    bad = [f"{name}: {check.get('about')}" for name, check in checks.items() if not check.get("ok")]
    return [Finding("running bot", False, each, advice) for each in bad] or [
        Finding("running bot", True, "ready")
    ]


def _figure(page: str, series: str) -> int | None:
    found = re.search(rf"^{re.escape(series)} ([0-9.e+]+)$", page, re.MULTILINE)
    return int(float(found[1])) if found else None


def _signatures(page: str) -> list[Finding]:
    """Say whether the running bot refused signatures. A few among many accepted ones are no trouble."""
    refused = _figure(page, 'docs_bot_signatures_total{outcome="refused"}') or 0
    accepted = _figure(page, 'docs_bot_signatures_total{outcome="accepted"}') or 0
    if not refused:
        return []
    seen = f"the running bot refused {refused} and accepted {accepted}"
    advice = (
        "If commands fail, copy the Signing Secret of this app into SLACK_SIGNING_SECRET, and look at the "
        "clock. Otherwise strangers sent them."
    )
    return [Finding("signatures", accepted > 0, seen, "" if accepted else advice)]


def _sockets(page: str) -> list[Finding]:
    count = _figure(page, "docs_bot_sockets")
    if count is None:
        return []
    ok = count <= _MOST_SOCKETS
    advice = "Slack gives an app ten sockets: run fewer of `run` and `serve`."
    return [Finding("sockets", ok, f"{count} of {_MOST_SOCKETS}", "" if ok else advice)]

"""Starts the sandbox's services and a bot beside them, and ends with 0 once a command led to a pull request.

    .venv/bin/python .ci/answer.py [COMMAND …]

COMMAND starts the bot, in a folder that has its .env; without one it is this checkout's `docs-bot run`. It
must share this machine's network, as a container does with `docker run --network host --env-file .env`.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

DOCS_BOT = str(Path(sys.executable).with_name("docs-bot"))
SERVICES = (
    DOCS_BOT,
    "sandbox",
    "--services",
    "--port",
    "0",
    "--folder",
    "sandbox",
    "--work-seconds",
    "1",
)
SMALL_SITE = ("--pages", "20", "--days", "10")
INHERITED = ("PATH", "HOME", "LANG", "DOCKER_HOST", "DOCKER_CONFIG")
"""So that no setting of this machine reaches the bot."""
PROMPT = "Add a quickstart for the Python SDK"
ASKED = {"user": "U01ANA", "channel": "C01DOCS", "command": "/docs-agent", "text": PROMPT}
STOPPED = (0, 75)
LIMIT_SECONDS = 120.0
_open = build_opener(ProxyHandler({})).open


def main(command: Sequence[str]) -> None:
    """Run the bot with this command, ask it for a change, and print how long each step took."""
    begun = monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="docs-bot-") as name,
        running(Path(name), SERVICES + SMALL_SITE),
    ):
        folder, health = Path(name), f"http://127.0.0.1:{(port := free_port())}/readyz"
        wait("the services", (folder / "sandbox/bot.env").exists, begun)
        settings = (folder / "sandbox/bot.env").read_text()
        (folder / ".env").write_text(f"{settings}HEALTH_PORT={port}\n")
        page = re.findall(r"^SLACK_API_URL=(.*)/api/$", settings, re.MULTILINE)[0]
        with running(folder, command):
            wait("readiness", lambda: call(health) is not None, begun)
            answer = call(f"{page}/page/command", ASKED)
            if not answer or not answer["ok"]:
                raise SystemExit(f"The command was not acknowledged: {answer}")
            wait("the pull request", lambda: is_told(page), begun)


@contextmanager
def running(folder: Path, command: Sequence[str]) -> Iterator[None]:
    """Run a program in a folder, and stop it at the end. It must stop in time and with a good exit code."""
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    process = subprocess.Popen(command, cwd=folder, env=env)
    try:
        yield
    finally:
        process.terminate()
        code = process.wait(LIMIT_SECONDS)
    if code not in STOPPED:
        raise SystemExit(f"{command[0]} ended with {code}")


def wait(what: str, is_there: Callable[[], bool], begun: float) -> None:
    """Wait until it is there, and print after how many seconds."""
    deadline = monotonic() + LIMIT_SECONDS
    while not is_there():
        if monotonic() > deadline:
            raise SystemExit(f"{what} did not come within {LIMIT_SECONDS:g} s")
        sleep(0.1)
    print(f"{monotonic() - begun:5.1f} s  {what}", flush=True)


def call(url: str, body: Mapping[str, str] | None = None) -> Any:
    """Return what is answered there, as JSON if it is any; None while nobody answers, or for an error."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"})  # noqa: S310
    with suppress(OSError), _open(request, timeout=10) as answer:
        text = answer.read()
        with suppress(ValueError):
            return json.loads(text)
        return text
    return None


def is_told(page: str) -> bool:
    """Whether the bot's message about the job says that its pull request is there."""
    messages = call(f"{page}/page/state")["messages"][ASKED["channel"]]
    return any(each["bot_id"] and "Pull request ready" in each["text"] for each in messages)


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main(sys.argv[1:] or [DOCS_BOT, "run"])

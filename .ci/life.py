"""Starts the image beside the sandbox's services, stops it, kills it and starts it again on its volume.

    .venv/bin/python .ci/life.py IMAGE ENGINE [OPTION …]

ENGINE is podman with its options; options of its `run` stand behind `--`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep

from answer import ASKED, SERVICES, SMALL_SITE, STOPPED, call, free_port, is_told, running, wait

NAME = "docs-bot-life"


class Container:
    """One container with its volume."""

    def __init__(
        self, engine: Sequence[str], options: Sequence[str], image: str, folder: Path
    ) -> None:
        self._engine, self._folder = list(engine), folder
        where = ["--network", "host", "--env-file", ".env", "--volume", f"{NAME}:/srv/docs-bot/var"]
        confined = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"]  # noqa: S108
        self._create = ["run", "--detach", "--name", NAME, *options, *where, *confined, image]

    def do(self, *words: str) -> str:
        """Run a command of the engine, and return its output."""
        command = [*self._engine, *words]
        done = subprocess.run(command, cwd=self._folder, check=True, capture_output=True, text=True)
        return done.stdout

    def create(self) -> None:
        """Create and start the container."""
        self.do(*self._create)

    def end(self, *words: str, codes: Sequence[int]) -> None:
        """End it by a command of the engine, print after how many seconds, and check its exit code."""
        begun = monotonic()
        self.do(*words, NAME)
        while self.do("inspect", "--format", "{{.State.Running}}", NAME).strip() == "true":
            sleep(0.05)
        code = int(self.do("inspect", "--format", "{{.State.ExitCode}}", NAME))
        print(f"{monotonic() - begun:5.1f} s  {words[0]}: exit code {code}", flush=True)
        if code not in codes:
            raise SystemExit(self.do("logs", NAME))


def main(image: str, engine: Sequence[str], options: Sequence[str]) -> None:
    """Lead the container through its life."""
    with (
        tempfile.TemporaryDirectory(prefix="docs-bot-") as name,
        running(Path(name), SERVICES + SMALL_SITE),
    ):
        folder, port = Path(name), free_port()
        wait("the services", (folder / "sandbox/bot.env").exists, monotonic())
        env = (folder / "sandbox/bot.env").read_text()
        # The SQLite file is the default one, on the volume.
        env = re.sub(r"^(DATABASE_URL|HEALTH_PORT)=.*\n", "", env, flags=re.MULTILINE)
        (folder / ".env").write_text(f"{env}HEALTH_PORT={port}\n")
        page = re.findall(r"^SLACK_API_URL=(.*)/api/$", env, re.MULTILINE)[0]
        container = Container(engine, options, image, folder)
        try:
            _live(container, page, f"http://127.0.0.1:{port}/readyz")
        finally:
            container.do("rm", "--force", NAME)
            container.do("volume", "rm", "--force", NAME)


def _live(container: Container, page: str, health: str) -> None:
    begun = monotonic()
    container.create()
    wait("readiness after the first start", lambda: call(health) is not None, begun)
    container.do("healthcheck", "run", NAME)
    container.do("exec", NAME, "docs-bot", "doctor")
    call(f"{page}/page/command", ASKED)
    wait("the pull request", lambda: is_told(page), begun)
    container.end("stop", codes=STOPPED)
    for way in (["kill"], ["stop"]):
        begun = monotonic()
        container.do("start", NAME)
        wait("readiness after a start on the volume", lambda: call(health) is not None, begun)
        if "1  " not in container.do("exec", NAME, "docs-bot", "jobs"):
            raise SystemExit("The job of before is not on the volume.")
        container.end(*way, codes=(137,) if way == ["kill"] else STOPPED)


if __name__ == "__main__":
    image, *rest = sys.argv[1:]
    at = rest.index("--") if "--" in rest else len(rest)
    main(image, rest[:at], rest[at + 1 :])

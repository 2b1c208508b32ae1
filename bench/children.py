"""Child processes of the benchmarks: starting them, talking to them, measuring and ending them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from bench.measure import cpu_seconds

READY = "ready"
"""The line that a child process prints once it is ready to be measured."""
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_RUNTIME_DIR", "VIRTUAL_ENV")


class Child:
    """A running process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self.process.pid

    def cpu_seconds(self) -> float:
        """Return the processor time used so far."""
        return cpu_seconds(self.pid)

    async def say(self, line: str) -> None:
        """Write a line to the standard input."""
        if self.process.stdin is None:
            raise RuntimeError("the process has no standard input")
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def hear(self, limit_seconds: float = 600.0) -> str:
        """Return the next line of the output. Raises RuntimeError when the process has ended."""
        if self.process.stdout is None:
            raise RuntimeError("the process has no standard output")
        async with asyncio.timeout(limit_seconds):
            line = await self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"process {self.pid} ended with {await self.process.wait()}")
        return line.decode().rstrip("\n")

    async def end(self) -> None:
        """Terminate the process; kill it after 60 seconds."""
        if self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(60):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def child(
    *arguments: str, env: Mapping[str, str] | None = None, log: Path | None = None, tree: Path | None = None
) -> AsyncIterator[Child]:
    """Run `python <arguments>` until the block ends; its standard error goes to ``log``.

    The environment has only ``env`` and a few basic variables. ``tree``, another checkout, becomes the
    working folder, so that modules (`-m …`) are found there first.
    """
    errors = log.open("ab") if log else asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        cwd=tree,
        env={**{name: os.environ[name] for name in _KEPT if name in os.environ}, **(env or {})},
    )
    if log and not isinstance(errors, int):
        errors.close()
    running = Child(process)
    try:
        yield running
    finally:
        await running.end()
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()

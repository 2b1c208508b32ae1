"""Run a program of the operator: a prompt on standard input, a time limit, its last output."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

OUTPUT_BYTES = 65_536
"""How much of the end of a program's output is kept."""

_DRAIN_SECONDS = 2.0
"""How long output is still read after the end, from a process that left the group and holds the pipe."""

_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Ran:
    """How a program ended: the reason for a failure in words, "" for none, and the end of its output."""

    failure: str
    output: str


async def run(
    words: Sequence[str],
    prompt: str,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    archived: asyncio.Event,
) -> Ran:
    """Run a program in a process group of its own, which is killed at the end, whatever the end is.

    It ends after `seconds`, or when its job is archived. Raises `OSError` if it cannot be started.
    """
    output = _Output()
    # Not subprocess.PIPE: asyncio would wait for everybody who holds the pipe, not for the program alone.
    reading_end, writing_end = os.pipe()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: output, os.fdopen(reading_end, "rb", buffering=0)
    )
    try:
        try:
            process = await _start(words, prompt, folder, environment, writing_end)
        finally:
            os.close(writing_end)
        failure = await _end(process, seconds, archived)
        await asyncio.wait({output.ended}, timeout=_DRAIN_SECONDS)
    finally:
        transport.close()
    return Ran(failure, output.text())


async def _start(
    words: Sequence[str], prompt: str, folder: Path, environment: Mapping[str, str], output: int
) -> asyncio.subprocess.Process:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(prompt.encode("utf-8", "replace"))
        stdin.seek(0)
        return await asyncio.create_subprocess_exec(
            *words,
            stdin=stdin,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )


async def _end(process: asyncio.subprocess.Process, seconds: float, archived: asyncio.Event) -> str:
    """Wait for a program and kill its group; return why it failed, or ""."""
    ended, stopped = asyncio.create_task(process.wait()), asyncio.create_task(archived.wait())
    try:
        await asyncio.wait({ended, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return _failure(ended.result())
        reason = (
            "when its job was archived" if stopped.done() else f"after {seconds / 60:g} minutes, its limit"
        )
        return f"was killed {reason}"
    finally:
        ended.cancel()
        stopped.cancel()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _failure(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}" if code else ""


class _Output(asyncio.Protocol):
    def __init__(self) -> None:
        self._tail = b""
        self._total = 0
        self.ended = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._total += len(data)
        self._tail = (self._tail + data)[-OUTPUT_BYTES:]

    def connection_lost(self, _: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def text(self) -> str:
        text = _TERMINAL_CODES.sub("", self._tail.decode("utf-8", "replace")).strip()
        left_out = self._total - len(self._tail)
        return f"[the first {left_out:,} bytes are not kept]\n{text}" if left_out else text

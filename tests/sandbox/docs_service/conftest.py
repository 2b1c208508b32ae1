"""Fixtures: a running docs service with a clock that tests control, and a caller of it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import Caller, HeldClock
from tests.sandbox.docs_service.programs import Program, git


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def options(tmp_path: Path) -> DocsServiceOptions:
    return DocsServiceOptions(tmp_path, pages=12, days=9)


@pytest.fixture
async def caller(options: DocsServiceOptions, clock: HeldClock) -> AsyncIterator[Caller]:
    service = DocsService(options, clock)
    base_url = await service.start()
    async with aiohttp.ClientSession(auto_decompress=True) as session:
        yield Caller(session, base_url)
    await service.stop()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout in the middle of somebody's work: one file staged, one changed, one new."""
    folder = tmp_path / "our-docs"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    (folder / "index.md").write_text("# Acme\n")
    (folder / "staged.md").write_text("before\n")
    (folder / "logo.bin").write_bytes(b"\0\1\2")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    (folder / "staged.md").write_text("staged\n")
    git(folder, "add", "staged.md")
    (folder / "index.md").write_text("# Acme, half written\n")
    (folder / "new.md").write_text("new\n")
    return folder


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Writes a Python program and returns the command that runs it."""

    def write(text: str) -> str:
        path = tmp_path / f"program {len(list(tmp_path.iterdir()))}.py"
        path.write_text(f"import os, pathlib, signal, subprocess, sys, time\n{text}\n")
        return f"'{sys.executable}' '{path}'"

    return write

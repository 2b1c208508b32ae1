"""Programs as the agent of a docs service that works on somebody's repository."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.limits import HANG_SECONDS
from tests.sandbox.docs_service.caller import Caller, HeldClock

PROMPT = "Explain webhooks\n\nAsked by ana in #docs."
Program = Callable[[str], str]


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@acme.example")
    ran = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@asynccontextmanager
async def service(
    tmp_path: Path, repository: Path, agent: str, **options: Any
) -> AsyncIterator[Caller]:
    """Run a docs service with this agent."""
    chosen = DocsServiceOptions(
        folder=tmp_path / "sandbox", pages=2, days=1, repository=repository, agent=agent, **options
    )
    docs_service = DocsService(chosen, HeldClock())
    base_url = await docs_service.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield Caller(session, base_url)
    finally:
        await docs_service.stop()


async def ended(caller: Caller, job_id: str) -> dict[str, Any]:
    """Return a job when its program has ended."""
    async with asyncio.timeout(HANG_SECONDS):
        while (job := (await caller.job(job_id)).json)["status"] == "active":
            await asyncio.sleep(0.01)
    return dict(job)


async def asked(caller: Caller, prompt: str = PROMPT) -> dict[str, Any]:
    return await ended(caller, (await caller.ask(prompt)).json["id"])


async def page(caller: Caller, job: dict[str, Any]) -> str:
    return (await caller.request("GET", f"/acme-docs/job/{job['id']}")).text


def branches(repository: Path) -> list[str]:
    return git(
        repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/docs-bot"
    ).split()


WRITES = 'pathlib.Path("webhooks.md").write_text(sys.stdin.read())'

"""The API conforms to its OpenAPI document, checked with schemathesis."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import aiohttp

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import Caller

# All checks of schemathesis are on. It gets one project id; job ids come from the jobs that it creates.
CONFIG = """
headers = { Authorization = "Bearer sandbox_key" }

[parameters]
"path.projectId" = "acme-docs"
"path.owner" = "acme"
"path.domain" = "acme"

[[operations]]
include-operation-id-regex = "pull_request|pull_files|compare"
headers = { Authorization = "Bearer github_pat_sandbox" }

[[operations]]
include-operation-id-regex = "^(search|page|answer)$"
headers = { Authorization = "Bearer sandbox_dsc_key" }

# Hardly any branch exists.
[[operations]]
include-operation-id = "preview"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400"]

[generation]
deterministic = true
database = "none"
max-examples = 14
"""


ANALYTICS = ("visitors", "views", "searches", "feedback_by_page", "feedback", "assistant")


async def test_schemathesis_finds_nothing_in_any_phase(
    options: DocsServiceOptions, tmp_path: Path
) -> None:
    plenty = replace(
        options, work_seconds=0.02, uses_an_hour=100_000, analytics_calls_an_hour=100_000
    )
    service = DocsService(plenty)
    base_url = await service.start()
    async with aiohttp.ClientSession() as session:
        await Caller(session, base_url).ask("Fix the typo on the webhooks page")
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config)),
        *("run", f"{base_url}/openapi.json", "--no-color"),
        cwd=tmp_path,
        env=os.environ
        | {
            "SCHEMATHESIS_HOOKS": "tests.sandbox.docs_service.schemathesis_hooks",
            "PYTHONPATH": str(Path(__file__).parents[3]),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    async with aiohttp.ClientSession() as session:
        log = await Caller(session, base_url).log()
    await service.stop()
    assert process.returncode == 0, output.decode()
    reached = {(entry["operation"], entry["status"]) for entry in log}
    assert reached >= {
        ("create", 201),
        ("create", 400),
        ("create", 401),
        ("create", 415),
        ("get", 200),
        ("follow_up", 200),
        *((name, status) for name in ANALYTICS for status in (200, 400, 401)),
        *((name, status) for name in ("search", "answer") for status in (200, 400, 401)),
        ("page", 404),
        ("preview", 400),
        ("build", 404),
        ("pull_request", 200),
        ("pull_request", 404),
        ("pull_files", 200),
        ("compare", 404),
        (None, 405),
    }

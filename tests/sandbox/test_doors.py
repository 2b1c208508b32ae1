"""Other sites in the same browser can neither read nor change the sandbox."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from sandbox.docs_service import DocsService, DocsServiceOptions
from sandbox.kept_secrets import FILE, kept_secrets
from sandbox.workspace import Workspace, WorkspaceOptions
from sandbox.world import WorldOptions, both_sides


@pytest.fixture
async def docs_url(tmp_path: Path) -> AsyncIterator[str]:
    service = DocsService(DocsServiceOptions(tmp_path / "docs", pages=12, days=2, work_seconds=0))
    yield await service.start()
    await service.stop()


@pytest.fixture
async def workspace_url(tmp_path: Path) -> AsyncIterator[str]:
    workspace = Workspace(WorkspaceOptions(tmp_path / "workspace"))
    yield await workspace.start()
    await workspace.stop()


@pytest.fixture
def urls(docs_url: str, workspace_url: str) -> tuple[str, str]:
    """The addresses of both servers."""
    return docs_url, workspace_url


async def test_only_own_host_names_are_answered(urls: tuple[str, str]) -> None:
    async with aiohttp.ClientSession() as session:
        for url in urls:
            port = url.rpartition(":")[2]
            for name in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
                async with session.get(url, headers={"Host": name}) as answer:
                    assert answer.status == 200, name
            for name in (
                f"evil.example:{port}",
                "localhost",
                "127.0.0.1:1",
                f"localhost.evil:{port}",
                "[::",
            ):
                async with session.get(f"{url}/sandbox/log", headers={"Host": name}) as answer:
                    assert answer.status == 421, name


async def test_pages_cannot_be_framed(urls: tuple[str, str]) -> None:
    async with aiohttp.ClientSession() as session:
        for url in urls:
            for path in ("/", "/sandbox/log", "/nothing"):
                async with session.get(url + path) as answer:
                    assert answer.headers["X-Frame-Options"] == "DENY"
                    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
async def test_controls_accept_only_json(urls: tuple[str, str], content_type: str) -> None:
    headers = {"Content-Type": content_type}
    async with aiohttp.ClientSession() as session:
        for url, path in zip(urls, ("sandbox/faults", "page/faults"), strict=True):
            async with session.post(
                f"{url}/{path}", data='{"next": []}', headers=headers
            ) as answer:
                assert answer.status == 415
            async with session.post(f"{url}/{path}", json={"next": []}) as answer:
                assert answer.status == 200


def test_each_folder_keeps_its_own_secrets(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    made = kept_secrets(first)
    assert kept_secrets(first) == made
    assert not {*vars_of(made)} & {*vars_of(kept_secrets(second))}
    assert stat.S_IMODE((first / FILE).stat().st_mode) == 0o600


async def test_files_of_sandbox_are_private(tmp_path: Path) -> None:
    async with both_sides(WorldOptions(tmp_path, pages=12, days=2)):
        pass
    written = {file.name: stat.S_IMODE(file.stat().st_mode) for file in _files(tmp_path)}
    assert {written["workspace.db"], written["service.db"]} == {0o600}


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def vars_of(made: object) -> list[str]:
    return [
        str(getattr(made, name)) for name in ("bot_token", "app_token", "signing_secret", "api_key")
    ]

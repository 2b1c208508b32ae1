"""`docs-bot visitors`: right numbers, whole files, and an exit code for each kind of trouble."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import pytest

from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.command_line import docs_bot
from tests.limits import HANG_SECONDS
from tests.sandbox.docs_service.caller import Caller

TODAY = datetime.now(UTC).date()
FIRST, LAST = TODAY - timedelta(days=9), TODAY - timedelta(days=3)
DAYS = ["--from", str(FIRST), "--to", str(LAST)]
KEY = "sandbox_key"
Result = TypeVar("Result")


@dataclass
class Site:
    """A docs service of 600 pages, three calls long, in a thread, and a folder for files."""

    loop: asyncio.AbstractEventLoop
    caller: Caller
    stored: Path
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        return {
            "DOCS_API_URL": self.caller.base_url,
            "DOCS_API_KEY": KEY,
            "DOCS_PROJECT_ID": "acme-docs",
        }

    def wait_for(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(HANG_SECONDS)

    def export(
        self, *arguments: object, code: int = 0, env: Mapping[str, str] | None = None
    ) -> str:
        """Run the command; return the standard output, or the error if it ends with another code than 0."""
        ran = docs_bot("visitors", *DAYS, *arguments, **(self.env | dict(env or {})))
        output = ran.stderr if code else ran.stdout_bytes.decode()
        assert (ran.exit_code, ran.stderr if not code else ran.stdout) == (code, ""), ran.output
        assert KEY not in output
        return output

    def fails(self, fault: str, **options: Any) -> None:
        self.wait_for(self.caller.order_fault(match="visitors", fault=fault, **options))

    def count_calls(self) -> int:
        return len(self.wait_for(self.caller.log()))

    def readers(self) -> dict[str, set[tuple[int, str]]]:
        """Return the readers of each page between the two days, from the visits themselves."""
        begin = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC).timestamp()
        [visits] = self.stored.glob("readers*.db")
        with closing(sqlite3.connect(visits)) as connection:
            names = dict(connection.execute("SELECT id, path FROM pages"))
            rows = connection.execute("SELECT page, visitor, kind, at FROM visits").fetchall()
        readers: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
        for page, visitor, kind, at in rows:
            if begin <= at < begin + 7 * 86_400:
                readers[names[page]].add((visitor, kind))
        return readers

    def totals(self) -> tuple[int, int, int]:
        """Return the people, the agents and all of the whole site."""
        return count(set().union(*self.readers().values()))


def count(readers: set[tuple[int, str]]) -> tuple[int, int, int]:
    kinds = [kind for _, kind in readers]
    return kinds.count("human"), kinds.count("ai"), len({visitor for visitor, _ in readers})


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    stored, started, stopped = tmp_path_factory.mktemp("service"), Future[Site](), asyncio.Event()

    async def serve() -> None:
        service = DocsService(
            DocsServiceOptions(stored, pages=600, days=20, analytics_calls_an_hour=1_000)
        )
        async with aiohttp.ClientSession() as session:
            caller = Caller(session, await service.start())
            started.set_result(Site(asyncio.get_running_loop(), caller, stored, stored))
            await stopped.wait()
        await service.stop()

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    yield (site := started.result(HANG_SECONDS))
    site.loop.call_soon_threadsafe(stopped.set)
    thread.join()


@pytest.fixture
def site(shared_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.chdir(tmp_path)
    shared_site.wait_for(shared_site.caller.request("DELETE", "/sandbox/faults"))
    shared_site.folder = tmp_path
    return shared_site


def rows_of(text: str) -> dict[str, tuple[int, int, int]]:
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return {row["page"]: (int(row["human"]), int(row["ai"]), int(row["total"])) for row in rows}


def test_csv_file_has_every_page_of_an_independent_count(site: Site) -> None:
    site.export("--csv", "out.csv")
    raw = (site.folder / "out.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfpage,human,ai,total\r\n")
    rows = rows_of(raw.decode("utf-8-sig"))
    assert len(rows) > 250
    assert rows == {path: count(readers) for path, readers in site.readers().items()}
    assert list(site.folder.iterdir()) == [site.folder / "out.csv"]


def test_table_has_the_totals_and_the_most_read_pages(site: Site) -> None:
    output = site.export()
    people, agents, everyone = site.totals()
    assert f"acme-docs, {FIRST} to {LAST}, both included (UTC)\n" in output
    assert f"The whole site: {people:,} people, {agents:,} AI agents, {everyone:,} in all" in output
    assert "Approximate, unique, never additive" in output
    table = [line.split() for line in output.split("  Page\n")[1].splitlines()]
    pages = {path: count(readers) for path, readers in site.readers().items()}
    best = sorted(pages, key=lambda path: (-pages[path][2], path))[:20]
    assert [row[-1] for row in table] == best
    assert [tuple(int(number) for number in row[:3]) for row in table] == [
        pages[path] for path in best
    ]


def test_json_document_has_the_same_numbers_of_the_same_fetch(site: Site) -> None:
    calls = site.count_calls()
    document = json.loads(site.export("--csv", "out.csv", "--json"))
    rows = rows_of((site.folder / "out.csv").read_text("utf-8-sig"))
    assert site.count_calls() - calls == -(-len(rows) // 250)
    pages = document.pop("pages")
    people, agents, everyone = site.totals()
    assert datetime.now(UTC) - datetime.fromisoformat(document.pop("taken_at")) < timedelta(
        minutes=5
    )
    assert document == {
        "project": "acme-docs",
        "from": str(FIRST),
        "to": str(LAST),
        "path": None,
        "totals": {"human": people, "ai": agents, "total": everyone},
        "complete": True,
    }
    assert {page["path"]: (page["human"], page["ai"], page["total"]) for page in pages} == rows
    assert set(pages[0]) == {"path", "human", "ai", "total"}


def test_section_has_its_pages_and_the_totals_of_the_site(site: Site) -> None:
    text = site.export("--path", "api", "--csv", "-")
    assert text.startswith("page,human,ai,total\r\n"), "there is no mark"
    rows = rows_of(text)
    assert len(rows) == text.count("\r\n") - 1
    assert set(rows) == {path for path in site.readers() if path.startswith("/api/")}
    output = site.export("--path", "/api")
    assert f"The whole site: {site.totals()[0]:,} people" in output
    assert f"Pages read under /api: {len(rows):,}" in output


def test_one_of_several_projects_is_read_with_its_own_key(site: Site) -> None:
    acme = {"id": "acme-docs", "address": site.caller.base_url, "key": KEY}
    first = {"id": "p-first", "address": "https://127.0.0.1:1", "key": "canary-4f2"}
    several = {"DOCS_PROJECTS": json.dumps({"first": first, "acme": acme}), "DOCS_PROJECT_ID": ""}
    output = site.export("--project", "acme", env=several)
    assert f"acme, {FIRST} to {LAST}" in output
    assert f"{site.totals()[0]:,} people" in output
    calls = site.count_calls()
    error = site.export("--project", "gam\nma", code=78, env=several)
    assert error == "I don't know the project gam\ufffdma. I know first, acme.\n"
    assert site.count_calls() == calls


@pytest.mark.parametrize(
    ("fault", "code", "expected"),
    [
        ("500", 69, "Look at DOCS_API_URL and the network"),
        ("502_html", 69, "a web page"),
        ("broken_json", 69, "something unreadable instead of JSON"),
        ("lost_answer", 69, "No usable answer"),
        ("401", 77, "Look at DOCS_API_KEY"),
        ("403", 77, "the right to read"),
        ("404", 78, "Look at DOCS_PROJECT_ID"),
        ("429", 75, "hourly limit is reached. Try again after "),
        ("429_no_header", 75, "did not say when"),
    ],
)
def test_trouble_has_its_code_and_leaves_the_old_file(
    site: Site, fault: str, code: int, expected: str
) -> None:
    (site.folder / "out.csv").write_text("old")
    site.fails("slow", seconds=0)  # the trouble comes at the second page
    # aiohttp asks once more when a kept connection closes without an answer.
    site.fails(fault, times=2, seconds=90)
    error = site.export("--csv", "out.csv", "--json", code=code)
    assert expected in error
    assert len(error.splitlines()) <= 2
    assert (site.folder / "out.csv").read_text() == "old"
    assert list(site.folder.iterdir()) == [site.folder / "out.csv"]


@pytest.mark.parametrize(
    ("env", "code", "expected"),
    [
        ({"DOCS_API_URL": "ftp://canary"}, 78, "DOCS_API_URL must be an address"),
        ({"DOCS_API_KEY": "canary"}, 77, "Look at DOCS_API_KEY"),
    ],
)
def test_wrong_setting_is_named(site: Site, env: dict[str, str], code: int, expected: str) -> None:
    error = site.export(code=code, env=env)
    assert expected in error
    assert "canary" not in error


def test_replaced_file_keeps_its_mode_and_its_link(site: Site) -> None:
    target, link = site.folder / "real.csv", site.folder / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    site.export("--csv", "link.csv")
    assert target.read_bytes().startswith(b"\xef\xbb\xbfpage,")
    assert target.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


def start(site: Site, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    # PATH and no Slack token, like the environment of a script.
    return subprocess.Popen(
        [sys.executable, "-m", "bot", "visitors", *DAYS, *arguments],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **site.env},
        cwd=site.folder,
        stderr=subprocess.PIPE,
        **options,
    )


def test_output_without_room_is_reported(site: Site) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(site, "--json", stdout=full)
        _, error = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, b"Cannot write: No space left" in error) == (73, True), error


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_export_leaves_no_half_file(site: Site, number: signal.Signals, code: int) -> None:
    site.fails("slow", seconds=60)
    process = start(site, "--csv", "out.csv")
    while site.wait_for(site.caller.request("GET", "/sandbox/faults")).json["next"]:
        assert process.poll() is None
    process.send_signal(number)
    _, error = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == code
    assert b"Traceback" not in error
    assert list(site.folder.iterdir()) == []

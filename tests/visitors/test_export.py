"""Visitors on the command line: the right numbers, whole files, and an exit code for each kind of trouble."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import signal
import sqlite3
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.settings import DocsSettings
from bot.visitors.export import MOST_ROWS_SHOWN, STDOUT, ExportError, VisitorsArgs, export
from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.limits import HANG_SECONDS
from tests.sandbox.docs_service.caller import Caller

NOW = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)
FIRST, LAST = date(2026, 10, 5), date(2026, 10, 11)
KEY = "sandbox_key"


def wanted(section: str = "") -> VisitorsArgs:
    return VisitorsArgs(FIRST, LAST, section)


@dataclass
class Site:
    """A docs service of 600 pages, three calls long, and what a script has: settings and an output."""

    caller: Caller
    folder: Path
    kept: Path
    stdout: io.BytesIO = field(default_factory=io.BytesIO)

    @property
    def env(self) -> dict[str, str]:
        return {"DOCS_API_URL": self.caller.base_url, "DOCS_API_KEY": KEY, "DOCS_PROJECT_ID": "acme-docs"}

    @property
    def said(self) -> str:
        return self.stdout.getvalue().decode()

    async def export(
        self,
        what: VisitorsArgs,
        *,
        to: Path | None = None,
        as_json: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> None:
        settings = DocsSettings.load({**self.env, **(env or {})}, env_file=None)
        await export(settings, what, csv=to, as_json=as_json, stdout=self.stdout, now=lambda: NOW)

    def readers(self) -> dict[str, set[tuple[int, str]]]:
        """Who came to each page between the two days, from the visits themselves."""
        begin = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC).timestamp()
        [visits] = self.kept.glob("readers*.db")
        with closing(sqlite3.connect(visits)) as connection:
            names = dict(connection.execute("SELECT id, path FROM pages"))
            stored = connection.execute("SELECT page, visitor, kind, at FROM visits").fetchall()
        found: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
        for page, visitor, kind, at in stored:
            if begin <= at < begin + 7 * 86_400:
                found[names[page]].add((visitor, kind))
        return found

    def totals(self) -> tuple[int, int, int]:
        """People, agents and all of the whole site."""
        return counted(set().union(*self.readers().values()))


def counted(who: set[tuple[int, str]]) -> tuple[int, int, int]:
    kinds = [kind for _, kind in who]
    return kinds.count("human"), kinds.count("ai"), len({visitor for visitor, _ in who})


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    kept = tmp_path / "service"
    service = DocsService(DocsServiceOptions(kept, pages=600, days=20), lambda: NOW)
    base_url = await service.start()
    folder = tmp_path / "out"
    folder.mkdir()
    async with aiohttp.ClientSession() as session:
        yield Site(Caller(session, base_url), folder, kept)
    await service.stop()


def rows_of(text: str) -> dict[str, tuple[int, int, int]]:
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return {row["page"]: (int(row["human"]), int(row["ai"]), int(row["total"])) for row in rows}


# ---- the numbers


async def test_the_csv_file_has_every_page_as_an_independent_count_finds_it(site: Site) -> None:
    target = site.folder / "out.csv"
    await site.export(wanted(), to=target)
    raw = target.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfpage,human,ai,total\r\n")
    rows = rows_of(raw.decode("utf-8-sig"))
    assert len(rows) > 250
    assert rows == {path: counted(who) for path, who in site.readers().items()}
    assert list(site.folder.iterdir()) == [target]


async def test_the_words_tell_the_totals_and_the_most_read_pages(site: Site) -> None:
    await site.export(wanted())
    people, agents, everyone = site.totals()
    assert "acme-docs, 2026-10-05 to 2026-10-11, both included (UTC)\n" in site.said
    assert f"The whole site: {people:,} people, {agents:,} AI agents, {everyone:,} in all" in site.said
    assert "Approximate, unique, never additive" in site.said
    table = [line.split() for line in site.said.split("  Page\n")[1].splitlines()]
    pages = {path: counted(who) for path, who in site.readers().items()}
    best = sorted(pages, key=lambda path: (-pages[path][2], path))[:MOST_ROWS_SHOWN]
    assert [row[-1] for row in table] == best
    assert [tuple(int(number) for number in row[:3]) for row in table] == [pages[path] for path in best]


async def test_the_json_document_says_the_same_and_is_alone_and_of_the_same_fetch(site: Site) -> None:
    await site.export(wanted(), to=site.folder / "out.csv", as_json=True)
    rows = rows_of((site.folder / "out.csv").read_text("utf-8-sig"))
    assert [entry["operation"] for entry in await site.caller.log()] == ["visitors"] * -(-len(rows) // 250)
    document = json.loads(site.said)
    pages = document.pop("pages")
    people, agents, everyone = site.totals()
    assert document == {
        "project": "acme-docs",
        "from": "2026-10-05",
        "to": "2026-10-11",
        "path": None,
        "totals": {"human": people, "ai": agents, "total": everyone},
        "complete": True,
        "taken_at": "2026-10-14T09:30:00Z",
    }
    assert [page["path"] for page in pages] == list(rows)
    assert rows.keys() == site.readers().keys()
    assert set(pages[0]) == {"path", "human", "ai", "total"}


async def test_a_section_chooses_pages_and_leaves_the_totals_the_sites(site: Site) -> None:
    await site.export(wanted("/api"), to=STDOUT)
    assert site.said.startswith("page,human,ai,total\r\n"), "there is no mark"
    rows = rows_of(site.said)
    assert len(rows) == site.said.count("\r\n") - 1
    assert set(rows) == {path for path in site.readers() if path.startswith("/api/")}
    site.stdout = io.BytesIO()
    await site.export(wanted("/api"))
    assert f"The whole site: {site.totals()[0]:,} people" in site.said
    assert f"Pages read under /api: {len(rows):,}" in site.said


# ---- several projects


def two_projects(site: Site) -> dict[str, str]:
    other = {"id": "acme-docs", "address": site.caller.base_url, "key": KEY}
    first = {"id": "p-first", "address": "https://127.0.0.1:1", "key": "canary-4f2"}
    return {"DOCS_PROJECTS": json.dumps({"first": first, "acme": other}), "DOCS_PROJECT_ID": ""}


async def test_one_of_several_projects_is_read_with_its_own_key_by_its_name(site: Site) -> None:
    await site.export(replace(wanted(), project="acme"), env=two_projects(site))
    assert "acme, 2026-10-05 to 2026-10-11" in site.said
    assert f"{site.totals()[0]:,} people" in site.said


async def test_a_project_that_is_not_known_is_told_with_those_that_are(site: Site) -> None:
    with pytest.raises(ExportError) as error:
        await site.export(replace(wanted(), project="gam\nma"), env=two_projects(site))
    assert str(error.value) == "I don't know the project gam\ufffdma. I know first, acme."
    assert error.value.code == 78
    assert await site.caller.log() == []


# ---- trouble


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ("500", 69, "Look at DOCS_API_URL and the network"),
        ("502_html", 69, "a web page"),
        ("broken_json", 69, "something unreadable instead of JSON"),
        ("lost_answer", 69, "No usable answer"),
        ("401", 77, "Look at DOCS_API_KEY"),
        ("403", 77, "the right to read"),
        ("404", 78, "Look at DOCS_PROJECT_ID"),
        ("429_no_header", 75, "did not say when"),
    ],
)
async def test_each_trouble_has_its_code_and_leaves_nothing(
    site: Site, fault: str, code: int, words: str
) -> None:
    # aiohttp asks once more when a kept connection closes without an answer.
    await site.caller.order_fault(match="visitors", fault=fault, times=2)
    with pytest.raises(ExportError) as error:
        await site.export(wanted(), to=site.folder / "out.csv", as_json=True)
    assert error.value.code == code
    assert words in str(error.value)
    assert KEY not in str(error.value)
    assert len(str(error.value).splitlines()) <= 2
    assert list(site.folder.iterdir()) == []
    assert site.said == ""


async def test_the_hourly_limit_says_until_when(site: Site) -> None:
    await site.caller.order_fault(match="visitors", fault="429", seconds=90)
    with pytest.raises(ExportError, match="Try again after 2026-10-14 09:31:30 UTC") as error:
        await site.export(wanted())
    assert error.value.code == 75


async def test_an_error_in_the_middle_leaves_the_old_file_and_writes_nothing(site: Site) -> None:
    target = site.folder / "out.csv"
    target.write_text("old")
    await site.caller.order_fault(match="visitors", fault="slow", seconds=0)
    await site.caller.order_fault(match="visitors", fault="500")
    with pytest.raises(ExportError) as error:
        await site.export(wanted(), to=target, as_json=True)
    assert error.value.code == 69
    assert target.read_text() == "old"
    assert list(site.folder.iterdir()) == [target]
    assert site.said == ""


class FullDisk(io.BytesIO):
    """An output on which there is no room."""

    def write(self, data: Any) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("as_json", [True, False])
async def test_an_output_without_room_is_told(site: Site, as_json: bool) -> None:
    site.stdout = FullDisk()
    with pytest.raises(ExportError, match="No space left") as error:
        await site.export(wanted(), as_json=as_json)
    assert error.value.code == 73


# ---- in a process of its own


def options() -> list[str]:
    day = datetime.now(UTC).date() - timedelta(days=1)
    return ["visitors", "--from", day.isoformat(), "--to", day.isoformat()]


async def started(site: Site, *words: str, **env: str) -> asyncio.subprocess.Process:
    # PATH and no Slack token: what a script on some machine has.
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *words),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **site.env, **env},
        cwd=site.folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ran(site: Site, words: Sequence[str], **env: str) -> tuple[int | None, str, str]:
    process = await started(site, *words, **env)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_the_command_needs_no_slack_and_writes_only_what_was_asked_for(site: Site) -> None:
    code, out, err = await ran(site, [*options(), "--csv", "out.csv", "--json"])
    assert (code, err) == (0, "")
    assert json.loads(out)["complete"] is True
    assert (site.folder / "out.csv").read_bytes().startswith(b"\xef\xbb\xbfpage,")


@pytest.mark.parametrize(
    ("env", "code", "told"),
    [
        ({"DOCS_API_URL": "ftp://canary"}, 78, "DOCS_API_URL must be an address"),
        ({"DOCS_API_KEY": "canary"}, 77, "Look at DOCS_API_KEY"),
    ],
)
async def test_scripts_get_a_code_and_people_a_sentence(
    site: Site, env: dict[str, str], code: int, told: str
) -> None:
    ended, out, err = await ran(site, options(), **env)
    assert (ended, out) == (code, ""), err
    assert told in err
    assert "Traceback" not in err
    assert "canary" not in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_stopped_in_the_middle_it_leaves_no_half_file(
    site: Site, number: signal.Signals, code: int
) -> None:
    await site.caller.order_fault(match="visitors", fault="slow", seconds=60)
    process = await started(site, *options(), "--csv", "out.csv")
    async with asyncio.timeout(HANG_SECONDS):
        while (await site.caller.request("GET", "/sandbox/faults")).json["next"]:
            await asyncio.sleep(0.05)
        process.send_signal(number)
        _, err = await process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in err
    assert list(site.folder.iterdir()) == []

"""Faults of a database: the doctor names the cause and the remedy of each."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from bot.operator.doctor_database import place_trouble
from tests.command_line import make_tables
from tests.databases import PostgresServer
from tests.operator.faults import (
    bad,
    contents,
    database_with_subscriptions,
    postgres_refusing,
    silent,
    stamp_otherwise,
)
from tests.operator.test_doctor import Finding, findings, findings_within
from tests.servers import serving
from tests.store.conftest import postgres
from tests.talk import Talk

__all__ = ["postgres"]
HTML = "<html></html>"


async def database_of(url: str) -> Finding:
    return (await findings(DATABASE_URL=url))["database"]


async def test_look_at_sqlite_writes_nothing(tmp_path: Path) -> None:
    finding = await database_of(f"sqlite:///{tmp_path}/var/none.db")
    assert finding.seen == "sqlite, none yet; a start makes it"
    assert contents(tmp_path) == {}
    url = await database_with_subscriptions(tmp_path)
    before = contents(tmp_path)
    assert (await database_of(url)).seen == "sqlite"
    assert contents(tmp_path) == before
    with closing(sqlite3.connect(tmp_path / "bot.db")) as live:
        live.execute("SELECT * FROM jobs").close()
        assert (await database_of(url)).ok, "also while a bot has it open"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_oldest_pending_work_is_named_with_its_reason(
    kind: str, tmp_path: Path, postgres: PostgresServer, talk: Talk
) -> None:
    url = plain(postgres.new_database()) if kind == "postgresql" else f"sqlite:///{tmp_path}/bot.db"
    await talk.process.starts(database_url=url, uses_an_hour=1)
    assert (await findings(DATABASE_URL=url))["waiting"].seen == "nothing waits"
    now = datetime.now(UTC)
    talk.time.at = now - timedelta(minutes=10)
    for prompt in ("Add keys", "Add two"):
        await talk.started(prompt)
    finding = (await findings(DATABASE_URL=url))["waiting"]
    assert (finding.state, "job 2, prompt waits for the hourly limit" in finding.seen) == (
        "ok",
        True,
    )
    talk.time.at = now - timedelta(hours=1)
    await talk.ben.asks("Add three")
    await talk.process.stops()
    finding = (await findings(DATABASE_URL=url))["waiting"]
    assert "job 3, prompt waits (since " in finding.seen
    assert (finding.state, "docs/runbook.md" in finding.advice) == ("bad", True)
    talk.everything()


async def test_sending_that_is_off_is_a_remark_and_nothing_is_stuck(
    tmp_path: Path, talk: Talk
) -> None:
    url = f"sqlite:///{tmp_path}/bot.db"
    await talk.process.starts(database_url=url, admins=talk.chika.id)
    assert "sending" not in await findings(DATABASE_URL=url)
    talk.time.at = datetime.now(UTC) - timedelta(hours=1)
    await talk.chika.types("/docs-agent sending off")
    await talk.started("Add a page on keys")
    found = await findings(DATABASE_URL=url)
    assert found["sending"].state == "note"
    assert f"switched off by {talk.chika.id} since" in found["sending"].seen
    assert "`/docs-agent sending on`" in found["sending"].advice
    assert found["waiting"].ok
    assert "for an admin to switch sending on" in found["waiting"].seen
    assert (await talk.metrics())["waiting_seconds prompt"] == 0
    talk.everything()


async def test_empty_sqlite_file_needs_a_start(tmp_path: Path) -> None:
    (tmp_path / "bot.db").touch()
    finding = await database_of(f"sqlite:///{tmp_path}/bot.db")
    assert (finding.ok, finding.seen) == (True, "sqlite, empty; a start creates the tables")


async def test_database_of_another_version_is_reported(tmp_path: Path, prepared: str) -> None:
    url = await database_with_subscriptions(tmp_path)
    stamp_otherwise(tmp_path / "bot.db")
    execute(prepared, "UPDATE revision SET version_num = '0001_other'")
    remedies = {url: "move its file", prepared: "name an empty database in DATABASE_URL"}
    for database, remedy in remedies.items():
        finding = await database_of(database)
        assert not finding.ok
        assert "never released" in finding.seen
        assert remedy in finding.advice


async def test_path_without_a_usable_sqlite_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "page.db").write_text(HTML * 100)
    for path, expected in {
        "": "its path is a folder | Name a file in DATABASE_URL.",
        "/page.db": "file is not a database",
        "/page.db/bot.db": "cannot be made",
    }.items():
        assert expected in bad(await database_of(f"sqlite:///{tmp_path}{path}"))


def test_full_disk_is_reported(tmp_path: Path) -> None:
    assert place_trouble(tmp_path / "bot.db", min_free_bytes=1) is None
    more = shutil.disk_usage(tmp_path).free + 10**12
    finding = place_trouble(tmp_path / "bot.db", min_free_bytes=more)
    assert finding is not None
    assert "the disk is full" in bad(finding)


async def test_database_in_memory_is_noted() -> None:
    finding = await database_of("sqlite://")
    assert (finding.ok, finding.state, "lost at every restart" in finding.advice) == (
        True,
        "note",
        True,
    )


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:{port}/d", "sorry, too many clients already"),
        ("127.0.0.1:1/d", "Connection refused"),
        ("postgres.invalid/d", "postgres.invalid"),
        ("127.0.0.1:{port}/d?sslmode=require", "SSL"),
    ],
)
async def test_unusable_postgresql_is_reported_with_the_drivers_reason(
    address: str, expected: str
) -> None:
    async with serving(postgres_refusing("53300", "sorry, too many clients already")) as port:
        finding = bad(await database_of(f"postgres://u:canary@{address.format(port=port)}"))
    assert expected in finding
    assert "| Look at DATABASE_URL" in finding


async def test_silent_postgresql_is_reported_in_time() -> None:
    async with serving(silent) as port:
        report = await findings_within(
            1.0, {"DATABASE_URL": f"postgres://u:canary@127.0.0.1:{port}/d"}
        )
    assert "timeout" in bad(report["database"])


def plain(url: str) -> str:
    """Return a URL in the form of the settings."""
    return url.replace("+psycopg", "")


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture
async def prepared(postgres: PostgresServer) -> str:
    url = plain(postgres.new_database())
    await asyncio.to_thread(make_tables, url)
    return url


def as_role(url: str, *statements: str) -> str:
    """Make a role with these rights; return the URL for it."""
    role = f"r{abs(hash((url, statements)))}"
    execute(
        url, f"CREATE ROLE {role} LOGIN", *(statement.format(role=role) for statement in statements)
    )
    return url.replace("postgres:@", f"{role}:@")


async def test_sound_postgresql_has_no_findings(prepared: str) -> None:
    assert (await findings(DATABASE_URL=prepared))["database"].seen == "postgresql"


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_wrong_encoding_is_reported_beside_slack(
    postgres: PostgresServer, encoding: str
) -> None:
    report = await findings(DATABASE_URL=plain(postgres.new_database("template0", encoding)))
    assert f"has the encoding {encoding}" in bad(report["database"])
    assert report["slack"].ok


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["ALTER ROLE {role} CONNECTION LIMIT 0"], "too many connections for role"),
        ([], "permission denied"),
    ],
)
async def test_refusal_of_a_role_is_reported(
    prepared: str, statements: list[str], expected: str
) -> None:
    assert expected in bad(await database_of(as_role(prepared, *statements)))

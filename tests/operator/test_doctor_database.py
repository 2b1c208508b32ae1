"""Each fault of a database, planted, and the cause that the doctor names with what to do."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, text

from bot.operator.doctor_database import place_trouble
from bot.store import Store
from bot.store.database import Database
from bot.store.migrate import migrate
from bot.visitors.tables import subscriptions
from tests.builders import NOW, PROJECT, add_job, add_prompt, mark_revision
from tests.databases import PostgresServer
from tests.operator.faults import (
    contents,
    database_with_subscriptions,
    listening_with,
    postgres_refusing,
    silent,
    told,
)
from tests.operator.test_doctor import findings, findings_within
from tests.store.conftest import postgres

__all__ = ["postgres"]
HTML = "<html></html>"


async def test_a_look_at_sqlite_writes_and_makes_nothing(tmp_path: Path) -> None:
    none = await findings(DATABASE_URL=f"sqlite:///{tmp_path}/var/none.db")
    assert none["database"].seen == "sqlite, none yet; a start makes it"
    assert contents(tmp_path) == {}
    url = await database_with_subscriptions(tmp_path)
    before = contents(tmp_path)
    assert (await findings(DATABASE_URL=url))["database"].seen == "sqlite, up to date"
    assert contents(tmp_path) == before
    database = Database.open(url)
    try:
        await database.read(lambda connection: connection.execute(text("SELECT 1")).close())
        assert (await findings(DATABASE_URL=url))["database"].ok, "while a bot has it open, too"
    finally:
        await database.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_the_oldest_that_waits_is_named_with_why(
    kind: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.new_database() if kind == "postgresql" else f"sqlite:///{tmp_path}/bot.db"
    store = Store.open(url)
    await migrate(store.database)
    settings = {"DATABASE_URL": url.replace("postgresql+psycopg", "postgres")}
    assert (await findings(**settings))["waiting"].seen == "nothing waits"
    now = datetime.now(UTC)
    number = await add_job(store, asked_at=now, root_ts="1.1")
    asked_at, due_at = now - timedelta(hours=2), now + timedelta(hours=1)
    await add_prompt(store, number, asked_at=asked_at, state="waiting", due_at=due_at, in_queue=True)
    found = (await findings(**settings))["waiting"]
    assert (found.state, "job 1, prompt waits for the hourly limit" in found.seen) == ("ok", True)
    await add_prompt(store, await add_job(store, asked_at=now), key="k2", asked_at=now - timedelta(hours=1))
    await store.close()
    found = (await findings(**settings))["waiting"]
    assert "job 2, prompt waits (since " in found.seen
    assert (found.state, "docs/runbook.md" in found.advice) == ("bad", True)


async def test_a_sqlite_without_this_versions_tables_is_told(tmp_path: Path) -> None:
    (tmp_path / "bot.db").touch()
    found = (await findings(DATABASE_URL=f"sqlite:///{tmp_path}/bot.db"))["database"]
    assert (found.ok, "at revision none of" in found.seen) == (True, True)
    assert "a start brings it up to date" in found.seen


async def test_a_database_of_before_0_2_0_is_told(tmp_path: Path, migrated: str) -> None:
    for url in (await database_with_subscriptions(tmp_path), migrated):
        database = Database.open(url)
        await mark_revision(database, "0021")
        await database.close()
        found = (await findings(DATABASE_URL=url.replace("postgresql+psycopg", "postgres")))["database"]
        assert not found.ok
        assert "made by a version before 0.2.0" in found.seen
        assert "move the SQLite file" in found.advice


async def test_a_path_of_sqlite_that_is_none_is_told(tmp_path: Path) -> None:
    found = (await findings(DATABASE_URL=f"sqlite:///{tmp_path}"))["database"]
    assert "its path is a folder | Name a file in DATABASE_URL." in told(found)
    (tmp_path / "page.db").write_text(HTML * 100)
    found = (await findings(DATABASE_URL=f"sqlite:///{tmp_path}/page.db"))["database"]
    assert "file is not a database" in told(found)
    found = (await findings(DATABASE_URL=f"sqlite:///{tmp_path}/page.db/bot.db"))["database"]
    assert "cannot be made" in told(found)


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    assert place_trouble(tmp_path / "bot.db", least_bytes=1) is None
    more = shutil.disk_usage(tmp_path).free + 10**12
    found = place_trouble(tmp_path / "bot.db", least_bytes=more)
    assert found is not None
    assert "the disk is full" in told(found)


async def test_a_database_in_memory_is_remarked() -> None:
    found = (await findings(DATABASE_URL="sqlite://"))["database"]
    assert (found.ok, found.state, "lost at every restart" in found.advice) == (True, "note", True)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:{refusing}/d", "sorry, too many clients already"),
        ("127.0.0.1:1/d", "Connection refused"),
        ("postgres.invalid/d", "postgres.invalid"),
        ("127.0.0.1:{refusing}/d?sslmode=require", "SSL"),
        ("127.0.0.1:{silent}/d", "timeout"),
    ],
)
async def test_the_driver_says_why_a_postgresql_cannot_be_used(address: str, expected: str) -> None:
    async with (
        listening_with(postgres_refusing("53300", "sorry, too many clients already")) as refusing,
        listening_with(silent) as mute,
    ):
        url = f"postgres://u:canary@{address.format(refusing=refusing, silent=mute)}"
        seen = told((await findings_within(1.0, {"DATABASE_URL": url}))["database"])
    assert expected in seen
    assert "| Look at DATABASE_URL" in seen


@pytest.fixture
async def migrated(postgres: PostgresServer) -> str:
    url = postgres.new_database()
    database = Database.open(url)
    await migrate(database)
    await database.close()
    return url


async def as_role(url: str, *statements: str) -> str:
    """Make a role with these rights; return the URL for it."""
    role = f"r{abs(hash((url, statements)))}"
    database = Database.open(url)
    for statement in (f"CREATE ROLE {role} LOGIN", *statements):
        await database.write(
            lambda connection, sql=statement: connection.execute(text(sql.format(role=role))).close()  # type: ignore[misc]
        )
    await database.close()
    return url.replace("postgres:@", f"{role}:@").replace("postgresql+psycopg", "postgres")


async def test_a_postgresql_that_is_well_is_well(migrated: str) -> None:
    found = await findings(DATABASE_URL=migrated.replace("postgresql+psycopg", "postgres"))
    assert found["database"].seen == "postgresql, up to date"
    assert found["connections"].ok


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_an_encoding_but_utf_8_is_reported_and_hides_nothing_of_slack(
    postgres: PostgresServer, encoding: str
) -> None:
    url = postgres.new_database("template0", encoding).replace("postgresql+psycopg", "postgres")
    found = await findings(DATABASE_URL=url)
    assert f"has the encoding {encoding}" in told(found["database"])
    assert found["slack"].ok


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["ALTER ROLE {role} CONNECTION LIMIT 0"], "too many connections for role"),
        ([], "permission denied"),
        (["GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"], "may not write to the bot's tables"),
        (
            [
                "ALTER ROLE {role} SET default_transaction_read_only = on",
                "GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}",
            ],
            "is read-only",
        ),
    ],
)
async def test_rights_that_are_missing_are_told(migrated: str, statements: list[str], expected: str) -> None:
    url = await as_role(migrated, *statements)
    assert expected in told((await findings(DATABASE_URL=url))["database"])


async def test_a_user_who_may_not_make_missing_tables_is_told(postgres: PostgresServer) -> None:
    url = await as_role(postgres.new_database(), "REVOKE CREATE ON SCHEMA public FROM public")
    assert "may not create tables, and some are missing" in told(
        (await findings(DATABASE_URL=url))["database"]
    )


async def test_too_few_connections_are_told(migrated: str) -> None:
    url = migrated.replace("postgresql+psycopg", "postgres")
    found = (await findings(DATABASE_URL=url, DATABASE_CONNECTIONS="100"))["connections"]
    assert "each process may open 100 | Lower DATABASE_CONNECTIONS" in told(found)


async def spoilt(url: str) -> None:
    """Give the digest of a channel a zone that no machine knows."""
    database = Database.open(url)
    weekly = {"place": "C1", "project": PROJECT, "channel": "C1", "weekday": 0, "at": "09:00", "owner": "U1"}
    weekly |= {"zone": "Europe/Newborg", "state": "active", "created_at": NOW}
    statement = insert(subscriptions).values(**weekly)
    await database.write(lambda connection: connection.execute(statement).close())
    await database.close()


async def test_zones_that_are_not_known_are_told(tmp_path: Path, migrated: str) -> None:
    for url in (await database_with_subscriptions(tmp_path), migrated):
        assert "rows" not in await findings(DATABASE_URL=url.replace("postgresql+psycopg", "postgres"))
        await spoilt(url)
        found = await findings(DATABASE_URL=url.replace("postgresql+psycopg", "postgres"))
        assert "digests at times in Europe/Newborg | Run the bot on a machine" in told(found["rows"])
        assert not found["rows"].ok

"""A PostgreSQL database that one test has left is as new for the next one, or is not used again."""

from __future__ import annotations

import psycopg
import pytest

from tests.databases import PostgresServer, connected
from tests.store.conftest import MigratedDatabases

CALLED = "INSERT INTO analytics_calls (project, at) VALUES ('acme-docs', now()) RETURNING id"
REST = "INSERT INTO back_offs (project, until, attempts, reason) VALUES ('acme-docs', now(), 1, 'busy')"


@pytest.fixture
def databases(postgres: PostgresServer) -> MigratedDatabases:
    return MigratedDatabases(postgres)


def execute(url: str, statement: str) -> object:
    """Execute a statement, and return the first value of its first row, if there is one."""
    with connected(url) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def test_the_next_test_finds_no_row_and_the_same_first_number(databases: MigratedDatabases) -> None:
    with databases.one() as first:
        assert [execute(first, CALLED), execute(first, CALLED)] == [1, 2]
        execute(first, REST)
    with databases.one() as second:
        assert second == first
        assert execute(second, "SELECT count(*) FROM back_offs") == 0
        assert execute(second, CALLED) == 1


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE questions",
        "ALTER TABLE back_offs ADD COLUMN more TEXT",
        "ALTER TABLE back_offs ALTER COLUMN until DROP NOT NULL",
        "ALTER TABLE back_offs ALTER COLUMN reason TYPE TEXT",
        "UPDATE alembic_version SET version_num = '9999'",
        "CREATE INDEX more ON back_offs (reason)",
    ],
)
def test_one_whose_tables_were_changed_is_not_used_again(databases: MigratedDatabases, change: str) -> None:
    with databases.one() as first:
        execute(first, change)
    with databases.one() as second:
        assert second != first
        assert execute(second, "SELECT count(*) FROM questions") == 0


def test_who_is_still_connected_cannot_disturb_the_next_test(databases: MigratedDatabases) -> None:
    with databases.one() as first:
        connection = connected(first)
        connection.execute("BEGIN; LOCK TABLE back_offs")
    with databases.one() as second:
        assert second == first
        assert execute(second, "SELECT count(*) FROM back_offs") == 0
    with pytest.raises(psycopg.OperationalError):
        connection.execute("COMMIT")
    connection.close()

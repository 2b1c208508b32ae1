"""What 0.2.0 adds: pull requests, previews, reviewers, replies of a channel, and what readers miss.

A process of 0.1.0 cannot work beside it: the choices of channels move to another table.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1001"
down_revision = "1000_edited_until_0.2.0"

_TIME = sa.DateTime(timezone=True)
_NUMBER, _TEXT, _JSON = sa.Integer(), sa.Text(), sa.JSON()
_id = sa.String


def upgrade() -> None:
    """Add the tables and columns, and write what 0.1.0 has stored as 0.2.0 does."""
    _add_tables()
    _add_columns()
    _carry_over()


def _index_if_set(name: str, table: str, *columns: str) -> None:
    """Make an index without the rows in which its last column is not set."""
    only = sa.text(f"{columns[-1]} IS NOT NULL")
    op.create_index(name, table, list(columns), postgresql_where=only, sqlite_where=only)


def _lease() -> tuple[sa.Column[object], sa.Column[object]]:
    return sa.Column("claimed_by", _id(80)), sa.Column("claimed_until", _TIME)


def _add_tables() -> None:
    op.create_table(
        "channels",
        sa.Column("id", _id(40), nullable=False),
        sa.Column("project", _id(200)),
        sa.Column("by_mention", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "reviewers",
        sa.Column("reviewer", _id(40), nullable=False),
        sa.Column("channel", _id(40), nullable=False),
        sa.PrimaryKeyConstraint("reviewer", "channel"),
    )
    op.create_table(
        "previews",
        sa.Column("job", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("iteration", _NUMBER, nullable=False),
        sa.Column("requester", _id(40), nullable=False),
        sa.Column("branch", _TEXT, nullable=False),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("asked_at", _TIME, nullable=False),
        sa.Column("asks", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("called_at", _TIME),
        sa.Column("status_id", _id(400)),
        sa.Column("url", _TEXT),
        sa.Column("files", _JSON),
        sa.Column("log", _TEXT),
        sa.Column("due_at", _TIME),
        *_lease(),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"]),
        sa.PrimaryKeyConstraint("job"),
    )
    _index_if_set("ix_previews_called_at", "previews", "called_at")
    _index_if_set("ix_previews_due_at", "previews", "due_at")
    op.create_table(
        "pull_requests",
        sa.Column("job", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("requester", _id(40), nullable=False),
        sa.Column("link", _TEXT, nullable=False),
        sa.Column("iteration", _NUMBER, nullable=False),
        sa.Column("iteration_ended_at", _TIME, nullable=False),
        sa.Column("since", _TIME, nullable=False),
        sa.Column("seen", _JSON),
        sa.Column("etag", _TEXT),
        sa.Column("looked_at", _TIME),
        sa.Column("look_at", _TIME),
        sa.Column("failures", _NUMBER, server_default=sa.text("0"), nullable=False),
        *_lease(),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"]),
        sa.PrimaryKeyConstraint("job"),
    )
    _index_if_set("ix_pull_requests_look_at", "pull_requests", "look_at")


def _add_columns() -> None:
    op.add_column("jobs", sa.Column("version", _NUMBER, server_default=sa.text("0"), nullable=False))
    op.add_column("jobs", sa.Column("pr_version", _NUMBER))
    op.add_column("jobs", sa.Column("about", _JSON))
    op.add_column("limits", sa.Column("no_previews_until", _TIME))
    # Alembic would add the constraint by itself, which SQLite cannot.
    older = "older INTEGER CONSTRAINT fk_questions_older REFERENCES snapshots (id)"
    op.execute(f"ALTER TABLE questions ADD COLUMN {older}")
    op.add_column("questions", sa.Column("missed", _JSON))
    visitors = sa.text("'visitors'")
    op.add_column("snapshots", sa.Column("source", _id(20), server_default=visitors, nullable=False))
    op.add_column("snapshots", sa.Column("words", _JSON))
    op.drop_index("ix_snapshots_window", table_name="snapshots")
    window = ["project", "source", "first", "end", "generation"]
    op.create_index("ix_snapshots_window", "snapshots", window, unique=True)


def _carry_over() -> None:
    op.execute("INSERT INTO channels (id, project) SELECT channel, project FROM channel_projects")
    op.drop_table("channel_projects")
    op.execute("UPDATE jobs SET state = 'no_pull_request' WHERE state = 'no_change'")
    op.execute("""UPDATE audit SET "end" = 'no_pull_request' WHERE "end" = 'no_change'""")
    # 0.1.0 told each iteration's end, and of a pull request with the first end that had one.
    op.execute("UPDATE jobs SET version = iteration")
    op.execute(
        "UPDATE jobs SET pr_version = 1 WHERE pr_link IS NOT NULL AND (iteration > 1 OR ended_at IS NOT NULL)"
    )

"""Write the revision that brings a database to the declared tables: ``make revision NAME="add pins"``.

A person reads it then, and completes it: Alembic compares tables, and knows nothing of their rows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine, text
from sqlalchemy.pool import StaticPool

import bot.app  # noqa: F401 - declares the tables of all features
from bot.store.schema import metadata
from bot.store.upgrade import REVISIONS, list_revisions, revision_config, upgrade

_REMARKS = re.compile(r"^ *# ###.*\n", re.MULTILINE)


def declare_partial_indexes() -> None:
    """Tell SQLAlchemy for both databases which rows an index has, as Alembic compares and writes it."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if index.info:
                for dialect in ("sqlite", "postgresql"):
                    index.dialect_options[dialect]["where"] = text(index.info["where"])


def next_number(folder: Path = REVISIONS) -> str:
    """Return the number of the next revision, such as ``0002``."""
    return f"{int(list_revisions(folder)[-1]) + 1:04}"


def write_revision(message: str, folder: Path = REVISIONS) -> Path:
    """Write the next revision into a folder; return its file."""
    number = next_number(folder)
    declare_partial_indexes()
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        upgrade(connection, now=datetime.now(UTC), folder=folder)
        config = revision_config(connection, folder)
        config.attributes["metadata"] = metadata
        config.set_main_option("file_template", "r%%(rev)s")
        command.revision(config, message, autogenerate=True, rev_id=number)
    file = folder / "versions" / f"r{number}.py"
    file.write_text(_REMARKS.sub("", file.read_text()))
    for words in (["format"], ["check", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *words, "-q", file], check=True)
    return file


def main() -> None:
    """Write the revision that the arguments name."""
    message = " ".join(sys.argv[1:]).strip()
    if not message:
        sys.exit('Name what it does: make revision NAME="add pins"')
    print(write_revision(message))


if __name__ == "__main__":
    main()

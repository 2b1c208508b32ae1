"""Write the revision that brings a database to the declared tables: ``make revision NAME="add pins"``.

Until 1.0.0 is released the first revision is made anew instead: ``make revision``. Its number then
has a hash of its content, so that a database of the one before is refused and not taken for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine, text
from sqlalchemy.pool import StaticPool

import bot.app  # noqa: F401 - declares the tables of all features
from bot import __version__
from bot.store.schema import metadata
from bot.store.upgrade import REVISIONS, list_revisions, number_of, revision_config, upgrade

_IS_RELEASED = not re.search("dev|rc", __version__)
_REMARKS = re.compile(r"^ *# ###.*\n", re.MULTILINE)
_BODY = re.compile(r"def upgrade.*", re.DOTALL)


def declare_partial_indexes() -> None:
    """Tell SQLAlchemy for both databases which rows an index has, as Alembic compares and writes it."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if index.info:
                for dialect in ("sqlite", "postgresql"):
                    index.dialect_options[dialect]["where"] = text(index.info["where"])


def write_revision(message: str, folder: Path = REVISIONS, *, anew: bool = False) -> Path:
    """Write the next revision into a folder, or the first one anew; return its file."""
    if anew:
        for file in (folder / "versions").glob("r*.py"):
            file.unlink()
    known = list_revisions(folder)
    number = f"{number_of(known[-1]) + 1 if known else 1:04}"
    declare_partial_indexes()
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        if known:
            upgrade(connection, now=datetime.now(UTC), folder=folder)
        config = revision_config(connection, folder)
        config.attributes["metadata"] = metadata
        config.set_main_option("file_template", "r%%(rev)s")
        command.revision(config, message, autogenerate=True, rev_id=number)
    file = folder / "versions" / f"r{number}.py"
    if anew:
        file = name_by_content(file, number)
    file.write_text(_REMARKS.sub("", file.read_text()))
    for words in (["format"], ["check", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *words, "-q", file], check=True)
    return file


def name_by_content(file: Path, number: str) -> Path:
    """Give a revision a number that has a hash of its content."""
    written = file.read_text()
    [body] = _BODY.findall(written)
    revision = f"{number}_{blake2b(body.encode(), digest_size=4).hexdigest()}"
    file.unlink()
    renamed = file.with_name(f"r{revision}.py")
    renamed.write_text(written.replace(f"revision = '{number}'", f"revision = '{revision}'", 1))
    return renamed


def main() -> None:
    """Write the revision that the arguments name."""
    message = " ".join(sys.argv[1:]).strip()
    if not _IS_RELEASED:
        print(write_revision("create the tables", anew=True))
        print("A database of the revision before is refused: say so in CHANGELOG.md.")
    elif message:
        print(write_revision(message))
    else:
        sys.exit('Name what it does: make revision NAME="add pins"')


if __name__ == "__main__":
    main()

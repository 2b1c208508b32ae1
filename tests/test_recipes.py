"""The first two recipes of CONTRIBUTING.md, followed to the letter in a copy of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.papers import CONTRIBUTING, ROOT, codes, fences, section

LISTS = "bot/jobs/commands/job_lists.py"
WORDS = "WORDS = (FIND, JOBS, STATUS"
GENERAL = "tests/messages/families/general.py"
ANSWERS = "tests/messages/families/job_answers.py"
STATUS = "tests/messages/families/status_message.py"
RULES = [f"tests/{name}.py" for name in ("commands/test_words", "messages/test_approved")]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "var", "dist", "__pycache__", ".*_cache")


class Tree:
    """A copy of the tree, which somebody changes as a recipe says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED)
        self.unchanged = self._files()

    def append(self, path: str, block: str) -> None:
        file = self.folder / path
        file.write_text(f"{file.read_text()}\n\n{block}")

    def insert(self, path: str, block: str, *, before: str) -> None:
        """Put lines before the only line that begins with a text, indented like it."""
        file = self.folder / path
        lines = file.read_text().splitlines(keepends=True)
        found = [number for number, line in enumerate(lines) if line.strip().startswith(before)]
        assert len(found) == 1, f"{path} has {len(found)} lines that begin with {before!r}"
        at = found[0]
        margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines.insert(at, indent(f"{block.rstrip()}\n", margin))
        file.write_text("".join(lines))

    def add_word(self, name: str, block: str, imports: str) -> None:
        """Put a word before the list of words and into it, and the imports beside the others."""
        self.insert(LISTS, f"{block}\n\n", before=WORDS)
        file = self.folder / LISTS
        file.write_text(file.read_text().replace(WORDS, f"{WORDS}, {name}"))
        self.insert(LISTS, imports, before="from bot.access.admit")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a module of Python in the copy."""
        own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.folder,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
        )

    def passes(self, *command: str) -> None:
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr

    def fails(self, *command: str, because: str) -> None:
        done = self.run(*command)
        assert done.returncode != 0
        assert because in done.stdout, done.stdout + done.stderr

    def format(self) -> None:
        """Sort the imports as `ruff check --fix` does, and find what the recipe forgot."""
        self.passes("ruff", "check", "--fix", "-q", "bot", "tests")
        self.passes("ruff", "format", "-q", "bot", "tests")

    def changed(self) -> set[str]:
        """Return the files that differ from those before the recipe."""
        now = self._files()
        return {path for path in now if now[path] != self.unchanged.get(path)}

    def _files(self) -> dict[str, bytes]:
        files = [file for file in self.folder.rglob("*") if file.suffix in {".py", ".md", ".txt"}]
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in files}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree")


def recipe(heading: str) -> tuple[list[str], list[str]]:
    """Return the blocks of Python of a recipe, and the samples that its prose gives."""
    text = section(CONTRIBUTING.read_text(), heading)
    blocks = [dedent(block) for language, block in fences(text) if language == "python"]
    return blocks, [code for code in codes(text) if code.startswith('"')]


@pytest.mark.slow
def test_first_change_works_as_written(tree: Tree) -> None:
    (test, message, word), [sample] = recipe("A first change in fifteen minutes")
    path = "tests/commands/test_version.py"
    assert test.startswith(f"# {path}\n")
    (tree.folder / path).write_text(test)
    tree.fails("pytest", path, because="Ana types in docs: /docs-agent version")

    tree.append("bot/messages/general.py", message)
    tree.add_word(
        "VERSION", word, "from bot import __version__\nfrom bot.messages import general\n"
    )
    tree.format()
    tree.passes("pytest", path)

    tree.fails("pytest", *RULES, because="docs/jobs.md")
    row = "| `/docs-agent version` | Shows the version. |"
    tree.insert("docs/jobs.md", row, before="| `/docs-agent help` |")
    tree.insert(GENERAL, f"{sample},", before='"too long a text"')
    tree.passes("tests.messages.approval")
    tree.passes("pytest", path, *RULES)


@pytest.mark.slow
def test_word_with_a_column_works_as_written(tree: Tree) -> None:
    heading = "A word of your own, with a column"
    (test, column, field, use_case, answer, line, word), samples = recipe(heading)
    path = "tests/jobs/test_note.py"
    assert test.startswith(f"# {path}\n")
    (tree.folder / path).write_text(test)

    tree.insert("bot/jobs/store/tables.py", f"{column.rstrip()},", before="# Its thread.")
    tree.insert("bot/jobs/model/jobs.py", field, before="is_mention_only: bool = False")
    tree.fails("pytest", path, because="No revision makes jobs.note. Run: make revision")
    tree.passes("tests.store.new_revision", "add notes")

    tree.append("bot/jobs/job_acts.py", use_case)
    tree.insert("bot/jobs/job_acts.py", "from dataclasses import replace", before="from datetime")
    tree.append("bot/jobs/messages/job_answers.py", answer)
    tree.insert("bot/jobs/messages/status_message.py", line, before="return notes")
    tree.add_word(
        "NOTE",
        word,
        "from bot.jobs.commands.job_references import NUMBER\n"
        "from bot.jobs.job_acts import write_note\n"
        "from bot.messages import slack_text\n",
    )
    tree.format()
    tree.passes("pytest", path)

    row = "| `/docs-agent note 42 TEXT` | Writes a note. |"
    tree.insert("docs/jobs.md", row, before="| `/docs-agent help` |")
    noted, with_note = samples
    tree.insert(ANSWERS, f"{noted},", before='"no such channel"')
    tree.insert(STATUS, f"{with_note},", before='"few uses left"')
    tree.passes("tests.messages.approval")
    tree.append("CHANGELOG.md", "- Jobs have notes.")
    revisions = [
        f"tests/store/test_upgrade.py::{name}"
        for name in (
            "test_revisions_make_the_declared_tables",
            "test_next_revision_is_written_from_the_declared_tables",
            "test_later_version_upgrades_and_the_one_before_goes_on",
        )
    ]
    tree.passes("pytest", path, *RULES, *revisions)
    changed = tree.changed()
    text = section(CONTRIBUTING.read_text(), heading)
    assert f"It takes {len(changed)} files" in text, sorted(changed)

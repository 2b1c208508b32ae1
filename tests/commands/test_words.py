"""The words of commands have the meaning of their help, and are in the docs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from bot.commands.command import Command, Word
from bot.features import COMMANDS
from bot.ids import ProjectId
from bot.messages.blocks import LINKS, TRIAL_BUTTONS, Action
from bot.projects import Project, Projects
from tests.papers import DOCS, README, rows, section

SEVERAL = Projects(tuple(Project(ProjectId(name), name, name.title()) for name in ("beta", "acme")))
WORDS = [(command, word) for command in COMMANDS for word in command.all_words]
each_word = pytest.mark.parametrize(
    ("command", "word"),
    WORDS,
    ids=[f"{command.name} {word.usage}".strip() for command, word in WORDS],
)


@each_word
def test_word_is_not_taken_for_another(command: Command, word: Word) -> None:
    for typed in (word.usage, word.example or word.usage):
        meaning = command.meaning(typed, SEVERAL)
        assert meaning is not None
        assert meaning[0] is word
    assert sum(other.usage == word.usage for other in command.all_words) == 1
    if word.after_mention is not None and command.name != "/docs-visitors":
        meaning = command.meaning(
            word.usage.replace("42 PROMPT", "#42 PROMPT"), SEVERAL, after_mention=True
        )
        assert meaning is not None
        assert meaning[0] is word, "its shape after a mention is that of another word"


@each_word
def test_word_is_explained_in_one_sentence(command: Command, word: Word) -> None:
    del command
    assert re.fullmatch(r"[A-Z][^.]+\.", word.help_text)


TABLES = ((DOCS / "jobs.md", "All commands"), (DOCS / "visitors.md", "Commands"))


def _documented(paper: Path, heading: str) -> list[tuple[str, str]]:
    """Return command and word of each slash command in the first column of a table."""
    typed = [row[0].strip("`") for row in rows(section(paper.read_text(), heading))]
    return [_word(*text.split(" ", 1)) for text in typed if text.startswith("/")]


def _word(name: str, text: str = "") -> tuple[str, str]:
    [command] = [command for command in COMMANDS if command.name == name]
    meaning = command.meaning(text, SEVERAL)
    assert meaning is not None
    return name, meaning[0].usage


def test_the_docs_have_each_word() -> None:
    documented = {word for paper, heading in TABLES for word in _documented(paper, heading)}
    words = {(command.name, word.usage) for command, word in WORDS}
    assert words - documented == set(), (
        'give each of these words a row under "All commands" in docs/jobs.md, '
        'or under "Commands" in docs/visitors.md'
    )


def test_readme_shows_words_of_the_docs() -> None:
    table = rows(section(README.read_text(), "Commands"))
    usages = [row[0].strip("`") for row in table if row[0].startswith("`/")]
    assert usages
    assert set(usages) <= {f"{command.name} {word.usage}".strip() for command, word in WORDS}


VISITORS = (
    "visitors",
    "visitors last week",
    "visitors csv",
    "subscribe",
    "digest now",
    "Unsubscribe /api",
)
NO_WORDS = (
    *("", "Add a quickstart", "jobs in the navigation are out of date", "jobs mine are old"),
    *("jobsmine", "status codes are missing", "subscriptions need a page", "project setup fails"),
    *("visitors-page.md is wrong", "42 Shorter", "#42", "limits are wrong"),
    *("visitors cannot find the login page, add a link", "subscribe button is missing, add one"),
)


@pytest.mark.parametrize("text", [*VISITORS, *NO_WORDS])
def test_mention_asks_about_visitors_or_is_a_prompt(text: str) -> None:
    meant = [
        command.name for command in COMMANDS if command.meaning(text, SEVERAL, after_mention=True)
    ]
    assert meant == (["/docs-visitors"] if text in VISITORS else [])


def test_every_button_of_a_message_has_one_handler_unless_it_is_a_link() -> None:
    handled = Counter(action for command in COMMANDS for action in command.buttons)
    assert handled == Counter(action for action in Action if action not in (*LINKS, *TRIAL_BUTTONS))

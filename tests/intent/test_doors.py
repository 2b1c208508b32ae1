"""Every door asks the one decision, and nothing else judges what a text means."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import bot

ROOT = Path(bot.__path__[0])
DOORS = {
    "commands.own_words.run_other_word": "a command that has not understood a text",
    "jobs.commands.agent._ask": "/docs-agent",
    "jobs.thread_context._is_for_the_bot_alone": "earlier messages of a thread",
    "jobs.thread_context._find_small_talk": "earlier messages of a question's thread",
    "inbox.meaning._is_for_agent": "an edit of a request, beside what was sent",
    "inbox.meaning.may_answer": "replies among people, which may answer a question",
    "inbox.meaning.interpret": "mentions, direct messages, replies, their edits, reading again",
    "inbox.meaning.is_talk": "replies that a listener need not store",
    "jobs.unsent_texts.answer_unless_request": "forms and /docs-followup",
}
"""The functions that ask for the meaning of a text, each with its door."""
OF_THE_INTERFACE = {"decision", "kinds", "own_words", "vocabulary"}
"""The modules of ``bot.intent`` that others may import."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the bot outside of the decision, by name."""
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not name.startswith("intent."):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def functions_that_call(name: str) -> set[str]:
    """Return the outermost functions that call a function, each with its module."""
    callers = set()
    for module, tree in modules():
        for function in tree.body:
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
            if name in [call.id for call in calls if isinstance(call, ast.Name)]:
                callers.add(f"{module}.{function.name}")
    return callers


def test_every_door_asks_for_the_meaning() -> None:
    assert functions_that_call("find_meaning") == {*DOORS}


def test_one_function_asks_the_decision() -> None:
    assert functions_that_call("decide") == {"commands.meaning.find_meaning"}


def test_nobody_else_looks_into_the_decision() -> None:
    imported = {
        node.module.removeprefix("bot.intent.")
        for _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bot.intent")
        if node.module is not None
    }
    assert imported <= OF_THE_INTERFACE

"""The modules of messages: their functions and their strings."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType, ModuleType

import bot

_READS_ONLY = "bot.messages.slack_text"


def message_modules() -> list[ModuleType]:
    """Return the modules of messages."""
    names = [
        module.name for module in pkgutil.walk_packages(bot.__path__, "bot.") if not module.ispkg
    ]
    return [importlib.import_module(name) for name in names if _has_messages(name)]


def public_functions() -> Mapping[str, FunctionType]:
    """Return every public function by its module and name."""
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": function
        for module in message_modules()
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def literals() -> list[str]:
    """Return every string of the modules of messages but docstrings."""
    trees = [
        ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for module in message_modules()
    ]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in alone]
    return [node.value for node in strings if isinstance(node.value, str)]


def _has_messages(name: str) -> bool:
    """Return whether a module is one of messages: its name, or that of its package, ends with the word."""
    return any(part.endswith("messages") for part in name.split(".")[-2:]) and name != _READS_ONLY

"""The functions that return messages, found by walking the packages."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import FunctionType, ModuleType

import bot

_READS_ONLY = "bot.messages.slack_text"


def message_modules() -> list[ModuleType]:
    """Return the modules of messages."""
    names = [found.name for found in pkgutil.walk_packages(bot.__path__, "bot.") if not found.ispkg]
    return [importlib.import_module(name) for name in names if _has_messages(name)]


def public_functions() -> Mapping[str, FunctionType]:
    """Return every public function by its module and name."""
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": function
        for module in message_modules()
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def _has_messages(name: str) -> bool:
    """Return whether a module is one of messages: its name, or that of its package, ends with the word."""
    return any(part.endswith("messages") for part in name.split(".")[-2:]) and name != _READS_ONLY

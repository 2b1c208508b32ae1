"""The functions of ``bot.messages``, found by walking it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import FunctionType

import bot.messages


def public_functions() -> Mapping[str, FunctionType]:
    """Return every public function by its module and name."""
    modules = [
        importlib.import_module(f"{bot.messages.__name__}.{found.name}")
        for found in pkgutil.iter_modules(bot.messages.__path__)
    ]
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }

"""How many tests name something inside of the bot: those that a change of the inside may have to rewrite.

`make size` prints the number, and `python -m tests.doors` that of each module. The doors are those that
somebody outside uses: the bot in a process, its settings, the command line that operators type, and the
public names of the two clients, which work without the rest of the bot.
"""

from __future__ import annotations

import ast
import enum
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NewType

ROOT = Path(__file__).parents[1]
_DOORS = {
    *("bot.__main__", "bot.__version__", "bot.app", "bot.docs_api", "bot.github"),
    *("bot.settings", "bot.loading.SettingsError"),
}
_MODELS = {"bot.ids"}
"""Modules of values besides those of a package or module named model."""
_VALUES = {"Counts", "Period"}
"""Values of models besides ids and enums, such as the states of a job."""
_Definition = tuple[Path, str]
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def _definitions(path: Path) -> dict[str, ast.stmt]:
    """Return the top-level functions, classes and constants of a module by name."""
    found: dict[str, ast.stmt] = {}
    for node in _tree(path).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = node
            case ast.Assign():
                found |= {name.id: node for name in ast.walk(node) if isinstance(name, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
    return found


@cache
def _imports(path: Path) -> dict[str, tuple[str, str]]:
    """Return the module and the name behind each imported name; types alone are left out."""
    found: dict[str, tuple[str, str]] = {}
    for node in _run(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {each.asname or each.name: (node.module, each.name) for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                each.asname or each.name.partition(".")[0]: (each.name, "") for each in node.names
            }
    return found


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are executed: no annotations, and no imports of types alone."""
    yield node
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for each in child if isinstance(child, list) else [child]:
            is_for_types = isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test)
            if isinstance(each, ast.AST) and not is_for_types:
                yield from _run(each)


def _is_inside(module: str, name: str) -> bool:
    """Return whether a name that is imported from the bot is none of its doors and no value of a model."""
    if f"{module}.{name}" in _DOORS or (module in _DOORS and not name.startswith("_")):
        return False
    if "model" not in module.split(".") and module not in _MODELS:
        return True
    value = getattr(import_module(module), name, None)  # None for a module of a package
    is_enum = isinstance(value, type) and issubclass(value, enum.Enum)
    return not (is_enum or isinstance(value, NewType) or name in _VALUES)


@cache
def _reaches_inside(path: Path, name: str) -> bool:
    """Return whether a definition names something inside, or uses a helper or a fixture that does."""
    seen: set[_Definition] = set()
    waiting: list[_Definition] = [(path, name)]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        for module, used in _used(*at):
            if module.partition(".")[0] == "bot":
                if _is_inside(module, used):
                    return True
            elif (helper := _file(module)) is not None:
                waiting.append((helper, used))
    return False


@cache
def _used(path: Path, name: str) -> frozenset[tuple[str, str]]:
    """Return the module and the name of all that a definition uses."""
    return frozenset(_uses(path, name))


def _uses(path: Path, name: str) -> Iterator[tuple[str, str]]:
    node = _definitions(path).get(name)
    if node is None:  # imported there to be imported from there
        if name in _imports(path):
            yield _imports(path)[name]
        return
    imported, own = _imports(path), _definitions(path)
    for each in _run(node):
        if isinstance(each, ast.Name) and each.id in imported:
            yield imported[each.id]
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            module, imported_name = imported.get(each.value.id, ("", ""))
            inner = f"{module}.{imported_name}".strip(".")
            if _file(inner):
                yield inner, each.attr
        elif isinstance(each, ast.Name) and each.id in own:
            yield _dotted(path), each.id
        elif isinstance(each, ast.arg):
            yield from _fixture(path, each.arg)


def _fixture(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield where the fixture of this name is defined for a module, if it is one."""
    folders = [folder for folder in path.parents if folder.is_relative_to(ROOT / "tests")]
    for file in (path, *(folder / "conftest.py" for folder in folders)):
        if file.exists() and isinstance(_definitions(file).get(name), _Function):
            yield _dotted(file), name
            return


@cache
def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path if module.startswith("tests.") and path.exists() else None


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def count() -> Counter[str]:
    """Return how many test functions of each module name something inside."""
    found: Counter[str] = Counter()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tests = [name for name in _definitions(path) if name.startswith("test")]
        found[str(path.relative_to(ROOT))] = sum(_reaches_inside(path, name) for name in tests)
    return found


if __name__ == "__main__":
    for name, number in count().most_common():
        print(f"{number:5} {name}")
    print(f"{count().total():5}")

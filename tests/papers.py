"""The papers: the README, the pages of ``docs/`` and the pages beside them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DOCS = ROOT / "docs"
PAPERS = (README, CONTRIBUTING, ARCHITECTURE, ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md")))

_SHELLS = ("console", "bash", "sh", "shell")
_PROGRAMS = (
    "make",
    "docs-bot",
    "python",
    "python3",
    "pip",
    "git",
    "curl",
    "systemctl",
    "docker",
)
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def fences(text: str) -> list[tuple[str, str]]:
    """Return the language, which may be empty, and the text of every fenced block."""
    return _FENCE.findall(text)


def prose(text: str) -> str:
    """Return a paper without its fenced blocks."""
    return _FENCE.sub("", text)


def codes(text: str) -> list[str]:
    """Return the code spans of the prose, each in one line."""
    return [" ".join(code.split()) for code in _CODE.findall(prose(text))]


def section(text: str, heading: str) -> str:
    """Return the text under a heading of the second level."""
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of all rows of tables in a text, without heads and rulers."""
    lines = re.findall(r"^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n?)+)", text, re.MULTILINE)
    return [
        [cell.strip() for cell in row.strip("|").split("|")]
        for body in lines
        for row in body.splitlines()
    ]


def links(text: str) -> Iterator[tuple[str, str]]:
    """Yield every link to a file of ours: its path, which is empty within the page, and its anchor."""
    for target in _LINK.findall(prose(text)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield path, anchor


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub gives the headings of a paper."""
    return {_anchor(heading) for heading in _HEADING.findall(prose(text))}


def _anchor(heading: str) -> str:
    bare = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    signs = (sign for sign in bare if sign in " -_" or unicodedata.category(sign)[0] in "LN")
    return "".join(signs).replace(" ", "-")


def shown_in(text: str) -> list[str]:
    """Return every command that a paper shows, in its order, each once."""
    commands = [*_fenced(text), *(code for code in codes(text) if _is_command(code))]
    return list(dict.fromkeys(commands))


def _fenced(text: str) -> Iterator[str]:
    for language, block in fences(text):
        lines = [line.strip() for line in block.replace("\\\n", " ").splitlines()]
        typed = [line[2:] for line in lines if line.startswith("$ ")]
        if language in _SHELLS:
            yield from (typed or [line for line in lines if line and not line.startswith("#")])
        else:
            yield from (line for line in lines if line.startswith("/docs-"))
            yield from (line.partition("=")[2] for line in lines if line.startswith("ExecStart="))


def _is_command(code: str) -> bool:
    """Whether a code in the prose is a command, rather than the name of a program or of a file."""
    program, _, rest = code.partition(" ")
    return program.startswith("/docs-") or (Path(program).name in _PROGRAMS and bool(rest))

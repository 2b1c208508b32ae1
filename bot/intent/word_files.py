"""The files ``words/*.toml``: people's words, a file for each language.

``words/README.md`` describes them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("words")


@cache
def read_files() -> Mapping[str, Mapping[str, Any]]:
    """Return the content of each file by the code of its language: ``en``, ``de``."""
    paths = sorted(FOLDER.glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in paths}


def read_lists(section: str) -> Mapping[str, Sequence[str]]:
    """Return the lists of a section, each with its words in all languages."""
    merged: dict[str, list[str]] = {}
    for content in read_files().values():
        for name, words in content.get(section, {}).items():
            merged.setdefault(name, []).extend(words)
    return merged

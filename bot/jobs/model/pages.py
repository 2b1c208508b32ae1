"""The pages that texts name, by names that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from bot.jobs.model.jobs import TrackedJob

_WORD = re.compile(r"[^\s`\"“”‘’<>()\[\]|,;:!?*]+")
_KINDS = frozenset(("page", "pages", "guide", "article"))
_NO_NAMES = frozenset(
    [
        *("a", "an", "the", "this", "that", "our", "your", "my", "its", "each", "every", "whole", "new"),
        *("on", "of", "to", "in", "at", "from", "for", "with", "and", "or", "about"),
        *("fix", "update", "improve", "change", "edit", "rewrite", "shorten", "correct", "check", "mend"),
        *("add", "write", "create", "extend", "make"),
    ]
)
"""Words before ``page`` that do not belong to its name."""
_LONGEST = 3


def pages_named(text: str) -> frozenset[str]:
    """Return the pages that a text names: by a path, an address, a file, or as *the quickstart page*."""
    tokens = [word.strip(".'_") for word in _WORD.findall(text.casefold())]
    return frozenset(filter(None, _names(tokens)))


def _names(tokens: list[str]) -> Iterator[str]:
    for at, word in enumerate(tokens):
        if word.startswith("/") or word.endswith((".md", ".mdx")):
            yield name_of(word)
        elif word in _KINDS:
            before = reversed(tokens[max(0, at - _LONGEST) : at])
            name = list(takewhile(lambda word: word not in _NO_NAMES and "/" not in word, before))
            yield " ".join(reversed(name)).replace("-", " ")


def name_of(path: str) -> str:
    """Return the name of the page at a path or an address: ``/docs/rate-limits.md`` is *rate limits*."""
    _, _, of_site = path[2:].partition("/") if path.startswith("//") else ("", "", path)
    parts = [part for part in re.split("[?#]", of_site)[0].split("/") if part]
    parts = [re.sub(r"\.mdx?$", "", part) for part in parts]
    named = [part for part in parts if part not in ("index", "readme")]
    return re.sub("[-_]", " ", named[-1]).casefold() if named else ""


def pages_of(job: TrackedJob) -> frozenset[str]:
    """Return the pages that a job's prompt names, and those that its pull request changes."""
    pull = job.pull_request
    changed: Iterable[str] = (*pull.paths, *(line.page for line in pull.lines)) if pull else ()
    return pages_named(job.text) | {name_of(path) for path in changed}

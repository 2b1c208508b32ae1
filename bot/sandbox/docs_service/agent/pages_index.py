"""Which page of the site a text speaks of."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping

from bot.sandbox.docs_service.agent.page import Page
from bot.sandbox.docs_service.agent.wording import stems

_ALIASES = {
    "docs/index.md": ("introduction", "home page", "start page", "landing page", "homepage"),
    "docs/authentication.md": ("auth", "api keys", "authentification"),
    "docs/rate-limits.md": ("rate limiting", "rate limit"),
    "docs/errors.md": ("error codes", "error handling"),
    "docs/pagination.md": ("paging",),
    "docs/faq.md": ("faq",),
    "docs/changelog.md": ("release notes", "change log"),
    "docs/guides/migrate-to-v2.md": ("migration guide", "migration"),
    "docs/guides/testing.md": ("test mode",),
    "docs/installation.md": ("install",),
    "docs/sdks/index.md": ("sdk overview",),
    "docs/sdks/python.md": ("python",),
    "docs/sdks/javascript.md": ("javascript",),
    "docs/sdks/go.md": ("golang",),
}
NAMED = 10
"""The score of a name that is followed by "page" or the like, so that the page itself must be meant."""

_PLACED = re.compile(
    r"\b(?:in|to|on|of|from|into|at|under|within|for|update|improve|shorten|rewrite|fix|proofread|expand|simplify)\s+"
    r"(?:(?:the|our|this)\s+)?$",
    re.IGNORECASE,
)
_NAMED = re.compile(r"^\s*(?:page|guide|docs?|documentation|section|article|reference)\b", re.IGNORECASE)


def is_page(path: str) -> bool:
    """Whether a file of the repository is a page of the site."""
    return path.startswith("docs/") and path.endswith(".md")


def find_page(files: Mapping[str, str], text: str, *, least: int = 1) -> str | None:
    """The page that the text names best; `least` may be `NAMED`, for one that is called a page."""
    best, best_score = None, least - 1
    for path in sorted(files):
        if is_page(path):
            score = _score(path, files[path], text)
            if score > best_score:
                best, best_score = path, score
    return best


def _score(path: str, content: str, text: str) -> int:
    address = path.removeprefix("docs/").removesuffix(".md")
    if re.search(
        rf"(?<![\w/-])(?:docs/|/)?{re.escape(address)}(?:\.md)(?![\w-])|(?<![\w-])/{re.escape(address)}(?![\w/-])",
        text,
    ):
        return 100
    names = [Page.parse(content).title, address.rpartition("/")[2].replace("-", " "), *_ALIASES.get(path, ())]
    return max(_phrase_score(name, text) for name in names)


def place_names(files: Mapping[str, str]) -> list[str]:
    """What people call the pages, longest first."""
    found = {alias for aliases in _ALIASES.values() for alias in aliases}
    for path in filter(is_page, files):
        found |= {Page.parse(files[path]).title.lower(), path.rpartition("/")[2][:-3].replace("-", " ")}
        found |= {path, path.removesuffix(".md"), path.removeprefix("docs/")}
    return sorted(found - {""}, key=lambda name: (-len(name), name))


def _phrase_score(name: str, text: str) -> int:
    words = stems(name)
    if not words:
        return 0
    pattern = (
        r"\b"
        + r"[\s_-]+".join(re.escape(word.removesuffix("y")) + r"(?:s|y|ys|ies)?" for word in words)
        + r"\b"
    )
    found = re.search(pattern, text, re.IGNORECASE)
    if found is None:
        return 0
    placed = 2 if _PLACED.search(text[: found.start()]) else 0
    named = NAMED if _NAMED.match(text[found.end() :]) else 0
    return len(words) + placed + named


def title_of(files: Mapping[str, str], path: str) -> str:
    """A page's title, or its path when it has none."""
    return Page.parse(files[path]).title or path


def link(files: Mapping[str, str], origin: str, target: str) -> str:
    """A Markdown link from one page to another."""
    address = posixpath.relpath(target, posixpath.dirname(origin))
    return f"[{title_of(files, target)}]({address})"


def with_menu_entry(navigation: str, path: str, group: str) -> str:
    """The menu with the page at the end of its group, which is made when it is missing."""
    menu = json.loads(navigation)
    address = path.removeprefix("docs/").removesuffix(".md")
    for entry in menu["groups"]:
        if entry["group"] == group:
            if address not in entry["pages"]:
                entry["pages"].append(address)
            break
    else:
        menu["groups"].append({"group": group, "pages": [address]})
    return json.dumps(menu, indent=2, ensure_ascii=False) + "\n"

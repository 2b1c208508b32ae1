"""Find pages of the site, and text in them about a subject; write links and the menu."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping

from sandbox.docs_service.agent.page import Page
from sandbox.docs_service.agent.wording import keywords, one_line, shared, stems

MENU = "docs/navigation.json"
_GROUPS = {"sdks": "SDKs", "api": "API reference", "guides": "Guides"}
_NOUN = r"(?:page|guide|docs?|documentation|article|reference|section)\b"
_PLACES = (
    r"(?<![\w/.])(?:docs)?/(?P<path>[\w/-]+)(?:\.md)?(?![\w/])",
    rf"(?:\b(?:in|on|to|of|from|for)\s+)?\b(?:the|our|this)\s+(?P<name>(?:(?!the\s)[\w.-]+\s+){{1,4}}?){_NOUN}",
    r"\b(?:in|on|from)\s+(?!(?:go|python|javascript|curl)$)(?:the\s+|our\s+)?(?P<name>[\w -]+)$",
)


def pages(files: Mapping[str, str]) -> dict[str, Page]:
    """Return the pages of the site by path."""
    texts = sorted(files.items())
    return {path: Page.parse(text) for path, text in texts if re.fullmatch(r"docs/.+\.md", path)}


def named_page(site: Mapping[str, Page], instruction: str) -> tuple[str | None, str]:
    """Return the page that the instruction names, and the instruction without that name."""
    for pattern in _PLACES:
        for match in re.finditer(pattern, instruction, re.IGNORECASE):
            found = match.groupdict()
            path = f"docs/{found['path']}.md" if "path" in found else find_page(site, found["name"])
            if path in site:
                return path, one_line(instruction[: match.start()] + instruction[match.end() :])
    return None, instruction


def find_page(site: Mapping[str, Page], phrase: str) -> str | None:
    """Return the page whose title and path have every word of the phrase; the shortest if several do."""
    wanted = stems(re.sub(rf"\b{_NOUN}|\bthe\b", "", phrase, flags=re.IGNORECASE))
    fits = [path for path in related(site, wanted) if shared(wanted, _name(site, path)) == len(wanted)]
    return min(fits, key=lambda path: len(_name(site, path)), default=None)


def related(site: Mapping[str, Page], wanted: set[str]) -> list[str]:
    """Return the pages whose title or path has some of the stems, the closest first."""
    scores = {path: shared(wanted, _name(site, path)) for path in site}
    return sorted((path for path in site if scores[path]), key=lambda path: -scores[path])


def _name(site: Mapping[str, Page], path: str) -> str:
    return f"{site[path].title} {path.removeprefix('docs/').removesuffix('.md')}"


def facts(site: Mapping[str, Page], subject: str) -> list[str]:
    """Return up to three paragraphs of the site about the subject, the closest first."""
    wanted, scores = keywords(subject), dict[str, int]()
    for page in site.values():
        for heading, body in {"": page.intro, **page.sections}.items():
            for paragraph in re.sub(r"```.*?```", "", body, flags=re.DOTALL).split("\n\n"):
                text = one_line(paragraph)
                if re.fullmatch(r"[A-Z](?:(?!\]\().){20,258}[.]", text) and heading[-1:] != "?":
                    scores[text] = 2 * shared(wanted, page.title) + shared(wanted, f"{heading} {text}")
    least = max(1, *scores.values(), 0) / 2
    fits = [text for text in scores if scores[text] > least]
    return sorted(fits, key=lambda text: -scores[text])[:3] if len(fits) > 1 else []


def link(site: Mapping[str, Page], origin: str, target: str) -> str:
    """Return a Markdown link from one page to another."""
    return f"[{site[target].title}]({posixpath.relpath(target, posixpath.dirname(origin))})"


def with_menu_entry(menu: str, path: str) -> str:
    """Return the menu with the page added at the end of its folder's group."""
    made = json.loads(menu)
    _, folder, _ = path.split("/")
    group = next(one for one in made["groups"] if one["group"] == _GROUPS[folder])
    group["pages"].append(path.removeprefix("docs/").removesuffix(".md"))
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"

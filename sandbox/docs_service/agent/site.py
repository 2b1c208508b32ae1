"""The site as the agent reads it: Markdown pages, the search for a page, and passages about a subject."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sandbox.docs_service.agent.writing import keywords, one_line, shared, stems

_LAST = ("Next steps", "Get help")


@dataclass(frozen=True)
class Page:
    """A page; `sections` maps second-level headings to the text below them, in page order."""

    title: str
    intro: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Page:
        """Parse a page; a line in fenced code is never a heading."""
        title, heading, fenced = "", "", False
        parts: dict[str, str] = {"": ""}
        for line in text.split("\n"):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and line.startswith("## "):
                heading = line[3:].strip()
                parts.setdefault(heading, "")
            elif not fenced and line.startswith("# ") and not title:
                title = line[2:].strip()
            else:
                parts[heading] += line + "\n"
        intro, *bodies = (part.strip() for part in parts.values())
        return cls(title, intro, dict(zip([*parts][1:], bodies, strict=True)))

    def render(self) -> str:
        """Return the page as Markdown, with one empty line between its parts."""
        parts = [f"# {self.title}", self.intro]
        for heading, body in self.sections.items():
            parts += [f"## {heading}", body]
        return "\n\n".join(part for part in parts if part) + "\n"

    def with_section(self, heading: str, body: str) -> Page:
        """Return the page with this section replaced, or added before the closing sections."""
        if heading in self.sections:
            return replace(self, sections={**self.sections, heading: body})
        last = {one: text for one, text in self.sections.items() if one in _LAST}
        first = {one: text for one, text in self.sections.items() if one not in _LAST}
        return replace(self, sections={**first, heading: body, **last})

    def with_bullet(self, heading: str, text: str) -> Page:
        """Return the page with this item in the section's list, once; create the section if it is missing."""
        lines = self.sections.get(heading, "").split("\n")
        new = lines if f"- {text}" in lines else [*lines, f"- {text}"]
        return self.with_section(heading, "\n".join(new).strip())


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
            groups = match.groupdict()
            path = (
                file_of(site, groups["path"])
                if "path" in groups
                else find_page(site, groups["name"])
            )
            if path:
                return path, one_line(instruction[: match.start()] + instruction[match.end() :])
    return None, instruction


def file_of(site: Mapping[str, Page], address: str) -> str | None:
    """Return the page that an address leads to: its path, or that of its file, at any place below a host."""
    steps = re.sub(r"\.(?:md|html?)$", "", address.strip("/.,;:")).split("/")
    ends = ("/".join(steps[at:]) for at in range(len(steps)))
    files = (file for end in ends for file in (f"docs/{end}.md", f"docs/{end}/index.md"))
    return next((file for file in files if file in site), None)


def find_page(site: Mapping[str, Page], phrase: str) -> str | None:
    """Return the page whose title and path have every word of the phrase; the shortest if several do."""
    stemmed = stems(re.sub(rf"\b{_NOUN}|\bthe\b", "", phrase, flags=re.IGNORECASE))
    fits = [
        path
        for path in related(site, stemmed)
        if shared(stemmed, _name(site, path)) == len(stemmed)
    ]
    return min(fits, key=lambda path: len(_name(site, path)), default=None)


def related(site: Mapping[str, Page], topic: set[str]) -> list[str]:
    """Return the pages whose title or path has some of the stems, the closest first."""
    scores = {path: shared(topic, _name(site, path)) for path in site}
    return sorted((path for path in site if scores[path]), key=lambda path: -scores[path])


def _name(site: Mapping[str, Page], path: str) -> str:
    return f"{site[path].title} {path.removeprefix('docs/').removesuffix('.md')}"


def facts(site: Mapping[str, Page], subject: str) -> list[str]:
    """Return up to three paragraphs of the site about the subject, the closest first."""
    topic, scores = keywords(subject), dict[str, int]()
    for page in site.values():
        for heading, body in {"": page.intro, **page.sections}.items():
            for paragraph in re.sub(r"```.*?```", "", body, flags=re.DOTALL).split("\n\n"):
                text = one_line(paragraph)
                if re.fullmatch(r"[A-Z](?:(?!\]\().){20,258}[.]", text) and heading[-1:] != "?":
                    scores[text] = 2 * shared(topic, page.title) + shared(
                        topic, f"{heading} {text}"
                    )
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

"""Parse and render a Markdown page: a title, an introduction and sections by heading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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

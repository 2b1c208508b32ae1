"""A Markdown page as a title, an introduction and sections; headings in code are code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bot.sandbox.docs_service.agent.wording import key_stems

_LAST = ("next steps", "related", "see also", "get help")


@dataclass(frozen=True)
class Section:
    """A heading of the second level and the text below it."""

    heading: str
    body: str


@dataclass(frozen=True)
class Page:
    """A page; `sections` are in the order of the page."""

    title: str
    intro: str = ""
    sections: tuple[Section, ...] = field(default=())

    @classmethod
    def parse(cls, text: str) -> Page:
        """The page that a text is; a text without a title has an empty one."""
        title, fenced = "", False
        intro: list[str] = []
        sections: list[tuple[str, list[str]]] = []
        for line in text.split("\n"):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and line.startswith("## "):
                sections.append((line[3:].strip(), []))
            elif not fenced and line.startswith("# ") and not title and not sections:
                title = line[2:].strip()
            else:
                (sections[-1][1] if sections else intro).append(line)
        made = tuple(Section(heading, "\n".join(lines).strip()) for heading, lines in sections)
        return cls(title, "\n".join(intro).strip(), made)

    def render(self) -> str:
        """The page as text, one empty line between its parts."""
        parts = [f"# {self.title}" if self.title else "", self.intro]
        for section in self.sections:
            parts += [f"## {section.heading}", section.body]
        return "\n\n".join(part for part in parts if part) + "\n"

    def find(self, subject: str) -> Section | None:
        """The section whose heading has most words of the subject in it."""
        wanted = key_stems(subject)
        scored = [(len(wanted & key_stems(section.heading)), section) for section in self.sections]
        best = max(scored, key=lambda entry: entry[0], default=None)
        return best[1] if best is not None and best[0] else None

    def named(self, heading: str) -> Section | None:
        """The section with exactly this heading, in any case."""
        return next((one for one in self.sections if one.heading.lower() == heading.lower()), None)

    def with_section(self, section: Section, before: str | None = None) -> Page:
        """The page with the section in place of one of that name, else before the closing ones."""
        if self.named(section.heading) is not None:
            return self._with(
                section if one.heading.lower() == section.heading.lower() else one for one in self.sections
            )
        stops = (before.lower(),) if before is not None else _LAST
        at = next(
            (at for at, one in enumerate(self.sections) if one.heading.lower() in stops), len(self.sections)
        )
        return self._with([*self.sections[:at], section, *self.sections[at:]])

    def with_bullet(self, heading: str, bullet: str) -> Page:
        """The page with one more line in the list of that section, which is made when it is missing."""
        found = self.named(heading)
        line = f"- {bullet}"
        if found is None:
            return self.with_section(Section(heading, line))
        if line in found.body.split("\n"):
            return self
        return self.with_section(Section(found.heading, f"{found.body}\n{line}".strip()))

    def without(self, section: Section) -> Page:
        """The page without that section."""
        return self._with(one for one in self.sections if one is not section)

    def _with(self, sections: Iterable[Section]) -> Page:
        return replace(self, sections=tuple(sections))


def first_sentence(paragraph: str) -> str:
    """The paragraph up to the end of its first sentence."""
    found = re.match(r".+?[.!?](?=\s|$)", paragraph, re.DOTALL)
    return found[0] if found else paragraph

"""Edit an existing page; if nothing in it matches the instruction, it is returned unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sandbox.docs_service.agent.page import Page
from sandbox.docs_service.agent.site import facts
from sandbox.docs_service.agent.template import SHELL, Topic, example, language_of, steps
from sandbox.docs_service.agent.wording import capital, clip, keywords, sentence, shared

_NOTES = "Good to know"
_ASIDES = ("What to know", "If a request fails", _NOTES)
_MISSPELT = {"recieve": "receive", "seperate": "separate", "occured": "occurred", "teh": "the"}
SITE_WIDE = re.compile(r"(?i)\b(?:typos?|spelling|grammar)\b|^(?:rename|replace|remove|delete)\b")
SHORTEN = re.compile(r"(?i)\b(?:shorten|shorter|too (?:long|wordy))\b")
ASIDE = re.compile(
    r"(?i)\b(?P<example>examples?|samples?|snippets?)\b|^(?:mention|note|say|state|warn about)\b"
)
_REPLACE = re.compile(r"(?i)^(?:rename|replace)\s+\W*(?P<old>.+?)\W?\s+(?:to|with|by)\s+\W?(?P<new>.+?)\W?$")
_REMOVE = re.compile(r"(?i)^(?:remove|delete)\s+(?:the\s+)?(?:\w+\s+(?:about|on)\s+)?(?P<subject>.+)$")
_NOTE = re.compile(r"(?i)^(?:mention|note|say|state|(?P<warn>warn about))\s+(?P<that>that\s+)?(?P<said>.+)$")
_SECTION = re.compile(r"(?i)^(?:an?\s|the\s|new\s)*(?:section|paragraph|table|more)\s+(?:about|on|of)\s+")
_CODE_OR_LINK = re.compile(r"(```.*?```|`[^`\n]*`|\]\([^)\n]*\))", re.DOTALL)


def edit(site: Mapping[str, Page], path: str, instruction: str, subject: str) -> Page:
    """Return the page after the instruction; `subject` is the instruction without its verb."""
    page = site[path]
    if match := _REPLACE.match(instruction):
        return Page.parse(replace_words(page.render(), match["old"], match["new"]))
    if match := _REMOVE.match(instruction):
        return remove(page, match["subject"])
    if SITE_WIDE.search(instruction):
        wrong = re.compile(rf"\b(?:{'|'.join(_MISSPELT)})")
        return Page.parse(wrong.sub(lambda match: _MISSPELT[match[0]], page.render()))
    if SHORTEN.search(instruction):
        return shorten(page)
    if (match := ASIDE.search(instruction)) and match["example"]:
        return add_example(page, instruction)
    if match := _NOTE.match(instruction):
        lead = "Be careful with " if match["warn"] else "" if match["that"] else "This also holds for "
        return page.with_bullet(_NOTES, sentence(lead + match["said"]))
    if subject == instruction:
        return page.with_bullet(_NOTES, sentence(instruction))
    return add_section(page, site, subject)


def replace_words(text: str, old: str, new: str) -> str:
    """Replace words, also in the plural, but not in code and links."""
    pattern = re.compile(rf"(?i)(?<!\w){re.escape(old)}(?=s?(?!\w))")

    def swap(match: re.Match[str]) -> str:
        return capital(new) if match[0][0].isupper() else new

    parts = _CODE_OR_LINK.split(text)
    return "".join(part if at % 2 else pattern.sub(swap, part) for at, part in enumerate(parts))


def shorten(page: Page) -> Page:
    """Keep the first sentence of each paragraph and drop the sections of `_ASIDES`."""
    kept = {heading: _shorter(body) for heading, body in page.sections.items() if heading not in _ASIDES}
    return replace(page, intro=_shorter(page.intro), sections=kept)


def _shorter(body: str) -> str:
    # Leave code, tables and lists as they are: they begin with one of the excluded characters.
    parts = re.split(r"(```[\s\S]*?```|\n\n)", body)
    return "".join(re.sub(r"(?s)^([^-|\d\n`].*?[.!?])\s.*$", r"\1", part) for part in parts)


def remove(page: Page, subject: str) -> Page:
    """Remove the sections whose headings have every word of the subject."""
    wanted = keywords(subject)
    kept = {one: body for one, body in page.sections.items() if shared(wanted, one) < max(1, len(wanted))}
    return replace(page, sections=kept)


def add_example(page: Page, instruction: str) -> Page:
    """Add sample code in the language that the instruction names, or else in the page's language."""
    language = language_of(instruction) or language_of(page.render()) or SHELL
    about = re.search(r"\b(?:examples?|samples?|snippets?)\b.*?\b(?:for|of|about|on)\s+(.+)$", instruction)
    heading = f"Example: {clip(about[1], 50)}" if about else f"Example in {language.name}"
    return page.with_section(heading, example(about[1] if about else page.title, language))


def add_section(page: Page, site: Mapping[str, Page], subject: str) -> Page:
    """Add a section on the subject, with text from other pages or else with steps.

    If the subject adds nothing to the page's title, write the section about the page's own topic.
    """
    topic = Topic.read(_SECTION.sub("", subject))
    heading = topic.title
    if not keywords(topic.subject) - keywords(page.title):
        heading, topic = f"{page.title} step by step", Topic(page.title.lower())
    known = facts({path: other for path, other in site.items() if other != page}, topic.subject)
    return page.with_section(heading, "\n\n".join(known[:2]) or f"Try it in test mode:\n\n{steps(topic)}")

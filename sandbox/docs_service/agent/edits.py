"""Edit an existing page; if nothing in it matches the instruction, it is returned unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sandbox.docs_service.agent.navigation import START, facts, find_page, link, related
from sandbox.docs_service.agent.page import Page
from sandbox.docs_service.agent.samples import example, find_language, language_of
from sandbox.docs_service.agent.template import Topic, steps
from sandbox.docs_service.agent.wording import (
    capital,
    clip,
    correct_spelling,
    keywords,
    numbered,
    sentence,
    shared,
)

_NOTES = "Good to know"
_ASIDES = ("What to know", "If a request fails", _NOTES)
_SHORTEN = re.compile(r"(?i)\b(?:shorten|shorter|condense|trim|more concise|too (?:long|wordy))\b")
_SPELLING = re.compile(r"(?i)\b(?:typos?|(?:mis)?spell\w*|proof-?read|grammar)\b")
_EXAMPLE = re.compile(r"(?i)\b(?:examples?|samples?|snippets?)\b")
_REPLACE = re.compile(
    r"(?i)^(?:rename|replace|swap)\s+(?:the\s+)?[\"'“`]?(?P<old>.+?)[\"'”`]?\s+(?:to|with|by)\s+[\"'“`]?(?P<new>.+?)[\"'”`]?$"
)
_REMOVE = re.compile(
    r"(?i)^(?:remove|delete|drop)\s+(?:the\s+|all\s+)?(?:\w+\s+(?:about|on|of)\s+(?:the\s+)?)?(?P<subject>.+)$"
)
_NOTE = re.compile(
    r"(?i)^(?:(?P<warn>warn)(?: \w+)? about|mention|note|say|state|include|add an? \w*\s*(?:note|warning|tip)"
    r"(?: about| saying)?)\s+(?:that\s+)?(?P<said>.+)$"
)
_SECTION = re.compile(
    r"(?i)^(?:an?\s|the\s|new\s)*(?:section|paragraph|part|table|more)\s+(?:about|on|of)\s+"
)
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|must|should|can|cannot|may|will|has|have|needs?|uses?|does|expires?|works?|requires?)\b"
)
_VERSION = re.compile(r"(?i)\b(?P<name>Python|Node\.js|Go)\s+(?P<number>\d+(?:\.\d+)*)")
_CODE_OR_LINK = re.compile(r"(```.*?```|`[^`\n]*`|\]\([^)\n]*\))", re.DOTALL)


def pages_to_edit(site: Mapping[str, Page], instruction: str, subject: str) -> list[str] | None:
    """Return the pages to edit for an instruction that names none; None if it needs a new page."""
    if _SHORTEN.search(instruction):
        return []
    if any(pattern.search(instruction) for pattern in (_SPELLING, _REPLACE, _REMOVE)):
        return [*site]
    if path := find_page(site, re.split(r"\s(?:for|with|to|by)\s", subject)[0]):
        return [path]
    if any(pattern.search(instruction) for pattern in (_EXAMPLE, _NOTE)):
        return [next(iter(related(site, keywords(subject))), START)]
    return None


def edit(site: Mapping[str, Page], path: str, instruction: str, rest: str, subject: str) -> Page:
    """Return the page after the instruction; `rest` is the instruction without the page that it names."""
    page = site[path]
    if match := _REPLACE.match(rest):
        return Page.parse(replace_words(page.render(), match["old"], match["new"]))
    if _SPELLING.search(rest):
        return Page.parse(correct_spelling(page.render()))
    if match := _REMOVE.match(rest):
        return remove(page, match["subject"])
    if _SHORTEN.search(rest):
        return shorten(page, rest)
    if _EXAMPLE.search(rest):
        return add_example(page, instruction)
    if match := _NOTE.match(rest):
        return add_note(page, site, path, match)
    if subject == rest:
        return page.with_bullet(_NOTES, sentence(rest))
    return add_section(page, site, subject)


def replace_words(text: str, old: str, new: str) -> str:
    """Replace words, also in the plural; change code and links only if the words are nowhere else."""
    pattern = re.compile(rf"(?i)(?<!\w){re.escape(old)}(?=s?(?!\w))")

    def swap(match: re.Match[str]) -> str:
        return capital(new) if match[0][0].isupper() else new

    parts = _CODE_OR_LINK.split(text)
    prose = "".join(part if at % 2 else pattern.sub(swap, part) for at, part in enumerate(parts))
    return prose if prose != text else pattern.sub(swap, text)


def shorten(page: Page, instruction: str) -> Page:
    """Keep the first sentence of each paragraph and drop the sections of `_ASIDES`.

    If the instruction names the introduction, shorten only that.
    """
    short = replace(page, intro=_shorter(page.intro))
    if re.search(r"(?i)\bintro", instruction):
        return short
    kept = {heading: _shorter(body) for heading, body in page.sections.items() if heading not in _ASIDES}
    return replace(short, sections=kept)


def _shorter(body: str) -> str:
    # Leave code, tables and lists as they are: they begin with one of the excluded characters.
    parts = re.split(r"(```[\s\S]*?```|\n\n)", body)
    return "".join(re.sub(r"(?s)^([^-|\d\n`].*?[.!?])\s.*$", r"\1", part) for part in parts)


def remove(page: Page, subject: str) -> Page:
    """Remove the sections about the subject, or else the list items and table rows that name it."""
    wanted = keywords(subject)
    kept = {
        one: body for one, body in page.sections.items() if not wanted or shared(wanted, one) < len(wanted)
    }
    if kept != page.sections or not wanted:
        return replace(page, sections=kept)
    lines = page.render().split("\n")
    return Page.parse("\n".join(one for one in lines if one[:1] not in "-|" or not wanted <= keywords(one)))


def add_example(page: Page, instruction: str) -> Page:
    """Add sample code in the language that the instruction names, or else in the page's language."""
    language = find_language(instruction) or language_of(page.render())
    about = re.search(r"\b(?:for|of|about|on)\s+(.+)$", _EXAMPLE.split(instruction)[-1])
    heading = f"Example: {clip(about[1], 50)}" if about else f"Example in {language.name}"
    return page.with_section(heading, example(about[1] if about else page.title, language))


def add_note(page: Page, site: Mapping[str, Page], path: str, instruction: re.Match[str]) -> Page:
    """Add an item to the notes; a version number replaces the one that the page requires."""
    said, version, other = (
        instruction["said"],
        _VERSION.search(instruction["said"]),
        find_page(site, instruction["said"]),
    )
    if version and not _VERB.search(said):
        older = rf"{re.escape(version['name'])} [\d.]+ or newer"
        said = f"{version[0]} or newer"
        if re.search(older, page.render()):
            return Page.parse(re.sub(older, said, page.render()))
    elif instruction["warn"]:
        said = f"Be careful with {said}"
    elif other:
        said = f"See also {link(site, path, other)}"
    elif not _VERB.search(said):
        said = f"This also applies to {said}"
    return page.with_bullet(_NOTES, sentence(said))


def add_section(page: Page, site: Mapping[str, Page], subject: str) -> Page:
    """Add a section on the subject, with text from other pages or else with steps.

    If the subject adds nothing to the page's title, write the section about the page's own topic.
    """
    topic = Topic.read(_SECTION.sub("", subject))
    heading = topic.title
    if not keywords(topic.subject) - keywords(page.title):
        heading, topic = f"{page.title} step by step", Topic(page.title.lower())
    known = facts({path: other for path, other in site.items() if other != page}, topic.subject)
    plan = f"Try it in test mode first, then go live:\n\n{numbered(steps(topic))}"
    return page.with_section(heading, "\n\n".join(known[:2]) or plan)

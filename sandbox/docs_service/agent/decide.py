"""Turn a prompt and the files of the site into changed files and the text of the commit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.docs_service.agent import edits
from sandbox.docs_service.agent.page import Page
from sandbox.docs_service.agent.site import MENU, find_page, named_page, pages, related, with_menu_entry
from sandbox.docs_service.agent.template import Topic, new_page
from sandbox.docs_service.agent.wording import capital, clip, keywords, one_line, sentence, without_background
from sandbox.docs_service.seeding import fill

_MAX_INSTRUCTIONS, _MAX_INSTRUCTION_LENGTH = 8, 400
_VERBS = (
    r"(?:add|create|write|draft|document|explain|describe|clarify|improve|update|expand|fix|correct|mention|note|"
    r"say|state|include|warn|remove|delete|rename|replace|shorten|make)\b"
)
_SPLIT = re.compile(rf"(?i)(?<=[.!?;])\s+|\s*\n\s*|,?\s+(?:and|then)\s+(?={_VERBS})")
_POLITE = re.compile(r"(?i)^(?:(?:please|and|also|then|can you|could you)\s+)+|[\s,]+(?:please|too|as well)$")
_SMALL_TALK = re.compile(
    r"(?i)(?:\W|_|\b(?:thanks?|thank you|great|ok|yes|no|hi|hello|lgtm|looks good|to me)\b)*"
)
_LEADING_VERB = re.compile(rf"(?i)^(?:{_VERBS}\s*)?(?:the\s+)?")
_NEW_PAGE = re.compile(
    r"(?i)^(?:(?:add|create|write|draft)\s+)?(?P<asked>(?:an?|new)\s(?!.*\b(?:section|note|table|examples?)\b).*"
    r"\b(?:quick-?start|tutorial|guide|reference|FAQ|page)\b.*)"
)


@dataclass(frozen=True)
class Change:
    """Files to write; `title` is the first line of the commit message, `page` the path of the main file."""

    files: Mapping[str, str]
    title: str
    summary: str
    page: str


@dataclass(frozen=True)
class Unchanged:
    """The prompt needs no change, for this reason."""

    reason: str


def decide(
    files: Mapping[str, str], prompt: str, project: str, page: str | None = None
) -> Change | Unchanged:
    """Return the change for a prompt; `page` is the main page of the job's earlier changes, if any."""
    instructions, now = _instructions(prompt), dict(files)
    page = page if page in files else None
    for instruction in instructions:
        new, page = _carry_out(now, instruction, page)
        now |= {path: fill(text, project) for path, text in new.items()}
    changed = {path: text for path, text in now.items() if files.get(path) != text}
    if not changed:
        return Unchanged("There is nothing to change on the site for this prompt.")
    page = page if page in changed else next(path for path in changed if path != MENU)
    told = [f"{'updated' if path in files else 'added'} {path}" for path in sorted(changed, key=page.__ne__)]
    return Change(changed, clip(capital(instructions[0]), 72), sentence(", ".join(told)), page)


def _instructions(prompt: str) -> list[str]:
    """Return the instructions of a prompt: its first sentence, and all others that begin with a verb."""
    parts = [one_line(part)[:_MAX_INSTRUCTION_LENGTH] for part in _SPLIT.split(without_background(prompt))]
    plain = [_POLITE.sub("", part.strip(" .!?,;:…-*>#")).strip() for part in parts]
    instructions = [part for part in plain if not _SMALL_TALK.fullmatch(part)]
    further = [one for one in instructions[1:] if re.match(_VERBS, one, re.IGNORECASE)]
    return [*instructions[:1], *further][:_MAX_INSTRUCTIONS]


def _carry_out(
    files: Mapping[str, str], instruction: str, page: str | None
) -> tuple[dict[str, str], str | None]:
    """Return the files to write and the page for the job's next instruction."""
    site = pages(files)
    if asked := _NEW_PAGE.fullmatch(instruction):
        return _create(files, site, Topic.read(asked["asked"]))
    named, rest = named_page(site, instruction)
    subject = _LEADING_VERB.sub("", rest)
    paths = [named or page] if named or page else _pages_to_edit(site, rest, subject)
    if paths is None:
        return _create(files, site, Topic.read(re.sub(r"^.*/(?=[\w-]+$)", "", subject).replace("-", " ")))
    changed = {path: edits.edit(site, path, rest, subject) for path in paths if path}
    changed = {path: new for path, new in changed.items() if new != site[path]}
    return {path: new.render() for path, new in changed.items()}, named or page or next(iter(changed), None)


def _pages_to_edit(site: Mapping[str, Page], instruction: str, subject: str) -> list[str] | None:
    """Return the pages to edit for an instruction that names none; None if it needs a new page."""
    if edits.SHORTEN.search(instruction):
        return []
    if edits.SITE_WIDE.search(instruction):
        return [*site]
    if path := find_page(site, re.split(r"\s(?:for|with|to|by)\s", subject)[0]):
        return [path]
    return related(site, keywords(subject))[:1] or None if edits.ASIDE.search(instruction) else None


def _create(files: Mapping[str, str], site: Mapping[str, Page], topic: Topic) -> tuple[dict[str, str], str]:
    """Return the new page and the updated menu; if the page exists, add a section to it instead."""
    if topic.path in site:
        return {topic.path: edits.add_section(site[topic.path], site, topic.subject).render()}, topic.path
    new = {topic.path: new_page(topic, site).render()}
    return (new | {MENU: with_menu_entry(files[MENU], topic.path)} if MENU in files else new), topic.path

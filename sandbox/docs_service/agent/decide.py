"""Turn a prompt and the files of the site into changed files and the text of the commit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.docs_service.agent import edits
from sandbox.docs_service.agent.navigation import MENU, named_page, pages, with_menu_entry
from sandbox.docs_service.agent.page import Page
from sandbox.docs_service.agent.samples import without_language
from sandbox.docs_service.agent.template import Topic, new_page
from sandbox.docs_service.agent.wording import capital, clip, one_line, sentence
from sandbox.docs_service.seeding import fill

_MAX_INSTRUCTIONS, _MAX_INSTRUCTION_LENGTH = 8, 400
_VERBS = (
    r"(?:add|create|write|draft|document|explain|describe|cover|clarify|improve|update|expand|fix|correct|"
    r"mention|note|say|state|include|warn|remove|delete|drop|rename|replace|swap|shorten|make)\b"
)
_SPLIT = re.compile(rf"(?i)(?<=[.!?;])\s+|\s*\n\s*|,?\s+(?:and|then)\s+(?={_VERBS})")
_POLITE = re.compile(
    r"(?i)^(?:(?:please|and|also|then|now|(?:can|could) you|(?:we|i) (?:need|want)(?: to)?)\s+)+"
    r"|[\s,]+(?:please|too|as well)$"
)
_SMALL_TALK = re.compile(
    r"(?i)(?:\W|_|\b(?:thanks?|thank you|great|perfect|nice|ok|okay|yes|no|hi|hello|lgtm|looks good|to me|"
    r"well done|good job|take your time)\b)*"
)
_LEADING_VERB = re.compile(rf"(?i)^(?:{_VERBS}\s*)?(?:the\s+)?")
_NEW_PAGE = re.compile(
    r"(?i)^(?:(?:add|create|write|draft|make)\s+)?(?P<asked>(?:(?:an?|new)\s(?!.*\b(?:section|paragraph|note|"
    r"warning|tip|examples?|samples?|snippets?|table)\b).*)?\b(?:quick-?start|tutorial|guide|reference|FAQ|page)\b.*)"
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
    parts = [one_line(part)[:_MAX_INSTRUCTION_LENGTH] for part in _SPLIT.split(prompt)]
    plain = [_POLITE.sub("", part.strip(" .!?,;:…-*>#")).strip() for part in parts]
    instructions = [part for part in plain if not _SMALL_TALK.fullmatch(part)]
    further = [one for one in instructions[1:] if re.match(_VERBS, one, re.IGNORECASE)]
    return [*instructions[:1], *further][:_MAX_INSTRUCTIONS]


def _carry_out(
    files: Mapping[str, str], instruction: str, page: str | None
) -> tuple[dict[str, str], str | None]:
    """Return the files to write and the page for the job's next instruction."""
    site, plain = pages(files), without_language(instruction)
    if asked := _NEW_PAGE.fullmatch(plain):
        return _create(files, site, Topic.read(asked["asked"]))
    named, rest = named_page(site, plain)
    subject = _LEADING_VERB.sub("", rest)
    target = named or page
    paths = edits.pages_to_edit(site, rest, subject) if target is None else [target]
    if paths is None:
        address = re.search(r"/([\w-]+)$", subject)
        return _create(files, site, Topic.read(address[1].replace("-", " ") if address else subject))
    made = {path: edits.edit(site, path, instruction, rest, subject) for path in paths}
    changed = {path: new.render() for path, new in made.items() if new != site[path]}
    return changed, target or next(iter(changed), None)


def _create(files: Mapping[str, str], site: Mapping[str, Page], topic: Topic) -> tuple[dict[str, str], str]:
    """Return the new page and the updated menu; if the page exists, add a section to it instead."""
    if topic.path in site:
        return {topic.path: edits.add_section(site[topic.path], site, topic.subject).render()}, topic.path
    new = {topic.path: new_page(topic, site).render()}
    if MENU in files:
        new[MENU] = with_menu_entry(files[MENU], topic.path)
    return new, topic.path

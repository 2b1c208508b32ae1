"""From a prompt and the files of the site to a change of some files, with the words for its commit."""

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

_MOST_WISHES, _LONGEST_WISH = 8, 400
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
_LEAD = re.compile(rf"(?i)^(?:{_VERBS}\s*)?(?:the\s+)?")
_NEW_PAGE = re.compile(
    r"(?i)^(?:(?:add|create|write|draft|make)\s+)?(?P<asked>(?:(?:an?|new)\s(?!.*\b(?:section|paragraph|note|"
    r"warning|tip|examples?|samples?|snippets?|table)\b).*)?\b(?:quick-?start|tutorial|guide|reference|FAQ|page)\b.*)"
)


@dataclass(frozen=True)
class Change:
    """Files to write; `title` is the commit's first line, `page` the main file."""

    files: Mapping[str, str]
    title: str
    summary: str
    page: str


@dataclass(frozen=True)
class Unchanged:
    """Nothing to do, and why."""

    reason: str


def decide(
    files: Mapping[str, str], prompt: str, project: str, page: str | None = None
) -> Change | Unchanged:
    """Return the change for a prompt; `page` is the one that the job wrote before, if it did."""
    wishes, now = _wishes(prompt), dict(files)
    page = page if page in files else None
    for wish in wishes:
        new, page = _carry_out(now, wish, page)
        now |= {path: fill(text, project) for path, text in new.items()}
    changed = {path: text for path, text in now.items() if files.get(path) != text}
    if not changed:
        return Unchanged("There is nothing to change on the site for this prompt.")
    page = page if page in changed else next(path for path in changed if path != MENU)
    told = [f"{'updated' if path in files else 'added'} {path}" for path in sorted(changed, key=page.__ne__)]
    return Change(changed, clip(capital(wishes[0]), 72), sentence(", ".join(told)), page)


def _wishes(prompt: str) -> list[str]:
    """Return the sentences that ask for something: the first one, and all that begin with a verb."""
    parts = [one_line(part)[:_LONGEST_WISH] for part in _SPLIT.split(prompt)]
    plain = [_POLITE.sub("", part.strip(" .!?,;:…-*>#")).strip() for part in parts]
    wishes = [part for part in plain if not _SMALL_TALK.fullmatch(part)]
    return [*wishes[:1], *(one for one in wishes[1:] if re.match(_VERBS, one, re.IGNORECASE))][:_MOST_WISHES]


def _carry_out(files: Mapping[str, str], wish: str, page: str | None) -> tuple[dict[str, str], str | None]:
    """Return the files to write and the page that the job goes on with."""
    site, plain = pages(files), without_language(wish)
    if asked := _NEW_PAGE.fullmatch(plain):
        return _create(files, site, Topic.read(asked["asked"]))
    named, rest = named_page(site, plain)
    subject = _LEAD.sub("", rest)
    target = named or page
    looked_at = edits.scope(site, rest, subject) if target is None else [target]
    if looked_at is None:
        address = re.search(r"/([\w-]+)$", subject)
        return _create(files, site, Topic.read(address[1].replace("-", " ") if address else subject))
    made = {path: edits.edit(site, path, wish, rest, subject) for path in looked_at}
    changed = {path: new.render() for path, new in made.items() if new != site[path]}
    return changed, target or next(iter(changed), None)


def _create(files: Mapping[str, str], site: Mapping[str, Page], topic: Topic) -> tuple[dict[str, str], str]:
    """Return the new page and the menu with it; a page that exists gets a section instead."""
    if topic.path in site:
        return {topic.path: edits.add_section(site[topic.path], site, topic.subject).render()}, topic.path
    new = {topic.path: new_page(topic, site).render()}
    if MENU in files:
        new[MENU] = with_menu_entry(files[MENU], topic.path)
    return new, topic.path

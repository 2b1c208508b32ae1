"""Turn a prompt and the files of the site into changed files and the text of the commit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sandbox.docs_service.agent.site import (
    MENU,
    Page,
    facts,
    find_page,
    named_page,
    pages,
    related,
    with_menu_entry,
)
from sandbox.docs_service.agent.talk import (
    Said,
    corrected,
    earlier_messages,
    leans_back,
    missing,
    points_back,
    sought,
    spoken_page,
)
from sandbox.docs_service.agent.template import SHELL, Topic, example, language_of, new_page, steps
from sandbox.docs_service.agent.writing import (
    capital,
    clip,
    fill,
    keywords,
    one_line,
    sentence,
    without_background,
)

_MAX_INSTRUCTIONS, _MAX_INSTRUCTION_LENGTH = 8, 400
_VERBS = (
    r"(?:add|create|write|draft|document|explain|describe|clarify|improve|update|expand|fix|correct|mention|note|"
    r"say|state|include|warn|remove|delete|rename|replace|shorten|make)\b"
)
_SPLIT = re.compile(rf"(?i)(?<=[.!?;])\s+|\s*\n\s*|,?\s+(?:and|then)\s+(?={_VERBS})")
_POLITE = re.compile(
    r"(?i)^(?:(?:please|and|also|then|can you|could you)\s+)+|[\s,]+(?:please|too|as well)$"
)
_SMALL_TALK = re.compile(
    r"(?i)(?:\W|_|\b(?:thanks?|thank you|great|ok|yes|no|hi|hello|lgtm|looks good|to me)\b)*"
)
_LEADING_VERB = re.compile(rf"(?i)^(?:{_VERBS}\s*)?(?:the\s+)?")
_NEW_PAGE = re.compile(
    r"(?i)^(?:(?:add|create|write|draft)\s+)?(?P<asked>(?:an?|new)\s(?!.*\b(?:section|note|table|examples?)\b).*"
    r"\b(?:quick-?start|tutorial|guide|reference|FAQ|page)\b.*)"
)

_FIX = re.compile(r"(?i)^(?:fix|correct)\b|\bwrong\b")
_NOTHING = "There is nothing to change on the site for this prompt."
_NO_PAGE = "Neither the prompt nor the messages before it name a page of the site."


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
    """Return the change for a prompt; `page` is the main page of the job's earlier edits, if any."""
    instructions, messages, now = _instructions(prompt), earlier_messages(prompt), dict(files)
    steps, page = list[_Step](), page if page in files else None
    for instruction in instructions:
        # "It" in a further sentence is the subject of the first one.
        steps.append(step := _step(now, instruction, messages if not steps else [], page))
        now, page = (
            now | {path: fill(text, project) for path, text in step.files.items()},
            step.page,
        )
    changed = {path: text for path, text in now.items() if files.get(path) != text}
    if not changed:
        return Unchanged(next((step.reason for step in steps if step.reason), _NOTHING))
    page = page if page in changed else next(path for path in changed if path != MENU)
    edits = [
        f"{'updated' if path in files else 'added'} {path}"
        for path in sorted(changed, key=page.__ne__)
    ]
    title = next((step.title for step in steps if step.title), capital(instructions[0]))
    return Change(changed, clip(title, 72), sentence(", ".join(edits)), page)


@dataclass(frozen=True)
class _Step:
    """The result of an instruction: files to write, and the page for the job's next instruction."""

    files: Mapping[str, str]
    page: str | None
    title: str = ""
    reason: str = ""


def _step(
    files: Mapping[str, str], instruction: str, messages: Sequence[Said], page: str | None
) -> _Step:
    """Carry out an instruction, with the messages before it if they hold its subject."""
    site = pages(files)
    named, rest = named_page(site, instruction)
    if not leans_back(_LEADING_VERB.sub("", rest)):
        return _Step(*_carry_out(files, instruction, page))
    page = named or spoken_page(site, messages) or page
    if page is None:
        return _Step({}, None, reason=_NO_PAGE)
    if not _OWN_WAY.search(rest):
        new, heeded = corrected(site[page], "\n".join([*(one.text for one in messages), rest]))
        if heeded:
            return _Step({page: new.render()}, page, f"{new.title}: {'; '.join(heeded)}")
        if points_back(rest) and (wish := missing(messages)):
            return _Step(*_carry_out(files, wish, page), title=capital(wish))
    if _FIX.search(rest):
        return _Step({}, page, reason=f"Nobody says what is wrong on {page}.")
    return _Step(*_carry_out(files, instruction, page))


def _instructions(prompt: str) -> list[str]:
    """Return the instructions of a prompt: its first sentence, and all others that begin with a verb.

    An instruction that quotes a reader's search asks for a page about it.
    """
    if search_text := sought(prompt):
        subject = re.sub(
            r"(?i)^how (?:do|can) (?:I|we)\b", "how to", one_line(search_text).rstrip("?")
        )
        return [f"Add a page about {subject}"[:_MAX_INSTRUCTION_LENGTH]]
    parts = [
        one_line(part)[:_MAX_INSTRUCTION_LENGTH]
        for part in _SPLIT.split(without_background(prompt))
    ]
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
        return _create(
            files, site, Topic.read(re.sub(r"^.*/([\w-]+)”?$", r"\1", subject).replace("-", " "))
        )
    changed = {path: edit(site, path, rest, subject) for path in paths if path}
    changed = {path: new for path, new in changed.items() if new != site[path]}
    return {path: new.render() for path, new in changed.items()}, named or page or next(
        iter(changed), None
    )


def _pages_to_edit(site: Mapping[str, Page], instruction: str, subject: str) -> list[str] | None:
    """Return the pages to edit for an instruction that names none; None if it needs a new page."""
    if _SITE_WIDE.search(instruction):
        return [*site]
    if path := find_page(site, re.split(r"\s(?:for|with|to|by)\s", subject)[0]):
        return [path]
    return related(site, keywords(subject))[:1] or None if _ASIDE.search(instruction) else None


def _create(
    files: Mapping[str, str], site: Mapping[str, Page], topic: Topic
) -> tuple[dict[str, str], str]:
    """Return the new page and the updated menu; if the page exists, add a section to it instead."""
    if topic.path in site:
        return {topic.path: add_section(site[topic.path], site, topic.subject).render()}, topic.path
    new = {topic.path: new_page(topic, site).render()}
    return (
        new | {MENU: with_menu_entry(files[MENU], topic.path)} if MENU in files else new
    ), topic.path


_NOTES = "Good to know"
_MISSPELT = {"recieve": "receive", "seperate": "separate", "occured": "occurred", "teh": "the"}
_SITE_WIDE = re.compile(r"(?i)\b(?:typos?|spelling|grammar)\b")
_ASIDE = re.compile(
    r"(?i)\b(?P<example>examples?|samples?|snippets?)\b|^(?:mention|note|say|state|warn about)\b"
)
_ADDS = re.compile(
    r"(?i)(?:add|create|write|draft|document|explain|describe|mention|note|include|warn)\b"
)
_OWN_WAY = re.compile(r"(?i)\b(?:typos?|spelling|grammar|examples?|samples?|snippets?)\b")
"""Instructions that name a change but no mistake."""
_NOTE = re.compile(
    r"(?i)^(?:mention|note|say|state|(?P<warn>warn about))\s+(?P<that>that\s+)?(?P<said>.+)$"
)
_SECTION = re.compile(
    r"(?i)^(?:an?\s|the\s|new\s)*(?:section|paragraph|table|more)\s+(?:about|on|of)\s+"
)


def edit(site: Mapping[str, Page], path: str, instruction: str, subject: str) -> Page:
    """Return the page after the instruction; `subject` is the instruction without its verb."""
    page = site[path]
    if _SITE_WIDE.search(instruction):
        wrong = re.compile(rf"\b(?:{'|'.join(_MISSPELT)})")
        return Page.parse(wrong.sub(lambda match: _MISSPELT[match[0]], page.render()))
    if (fixed := corrected(page, instruction))[1] and not _ADDS.match(instruction):
        return fixed[0]
    if (match := _ASIDE.search(instruction)) and match["example"]:
        return add_example(page, instruction)
    if match := _NOTE.match(instruction):
        lead = (
            "Be careful with " if match["warn"] else "" if match["that"] else "This also holds for "
        )
        return page.with_bullet(_NOTES, sentence(lead + match["said"]))
    if subject == instruction:
        return page.with_bullet(_NOTES, sentence(instruction))
    return add_section(page, site, subject)


def add_example(page: Page, instruction: str) -> Page:
    """Add sample code in the language that the instruction names, or else in the page's language."""
    language = language_of(instruction) or language_of(page.render()) or SHELL
    match = re.search(
        r"\b(?:examples?|samples?|snippets?)\b.*?\b(?:for|of|about|on)\s+(.+)$", instruction
    )
    heading = f"Example: {clip(match[1], 50)}" if match else f"Example in {language.name}"
    return page.with_section(heading, example(match[1] if match else page.title, language))


def add_section(page: Page, site: Mapping[str, Page], subject: str) -> Page:
    """Add a section on the subject, with text from other pages or else with steps.

    If the subject adds nothing to the page's title, write the section about the page's own topic.
    """
    topic = Topic.read(_SECTION.sub("", subject))
    heading = topic.title
    if not keywords(topic.subject) - keywords(page.title):
        heading, topic = f"{page.title} step by step", Topic(page.title.lower())
    others = facts({path: other for path, other in site.items() if other != page}, topic.subject)
    return page.with_section(
        heading, "\n\n".join(others[:2]) or f"Try it in test mode:\n\n{steps(topic)}"
    )


class End(StrEnum):
    """An outcome that a prompt can ask for."""

    FAILED = "failed"
    ARCHIVED = "archived"
    UNCHANGED = "unchanged"


# The lookaheads exclude ordinary prompts such as "change nothing else" and "archive this page".
_PHRASES = {
    End.FAILED: r"\bfail on purpose\b",
    End.ARCHIVED: r"\barchive this(?= job\b|\s*[.!,;]|\s*$)",
    End.UNCHANGED: r"\b(?:change nothing|nothing to change)\b(?!\s+(?:else|but|except|in|on|about))",
}
EXAMPLES = (
    ("Add a quickstart for the Python SDK", "a new page and a pull request"),
    (
        "Fix the page please, where people said “the rate limits page says 60, it is 100”",
        "that page is corrected",
    ),
    ("Check the changelog, there is nothing to change", "completed, no pull request"),
    ("Add a page and fail on purpose", "failed"),
    ("Explain webhooks, then archive this job", "archived; follow-ups are refused from then on"),
    ("Describe how to rotate API keys. Take your time", "a pull request, after ten times as long"),
)
"""Prompts to try, and their outcomes."""


def asked_end(prompt: str) -> End | None:
    """Return the outcome that the prompt asks for; None for an ordinary prompt."""
    asked = without_background(prompt)
    return next(
        (end for end, phrase in _PHRASES.items() if re.search(phrase, asked, re.IGNORECASE)), None
    )


def is_slow(prompt: str) -> bool:
    """Return whether the prompt asks the agent to work slowly."""
    return "take your time" in without_background(prompt).lower()

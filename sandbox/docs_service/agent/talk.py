"""Earlier messages of a prompt: the page that they are about, and corrections of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sandbox.docs_service.agent.site import Page, file_of, named_page
from sandbox.docs_service.agent.writing import keywords, one_line, stems


@dataclass(frozen=True)
class Said:
    """One earlier message: its author and its text."""

    name: str
    text: str


_QUOTED = re.compile(r"(?m)^(?!File )(?:[^>\n].*)?\n((?:>.*(?:\n|\Z))+)")
_LINE = re.compile(r"> ?(?:(?P<name>[^:/`]{1,80}): )?(?P<text>.*)")


def earlier_messages(prompt: str) -> list[Said]:
    """Return the messages that are quoted in a prompt, oldest first; quoted files are none."""
    messages: list[Said] = []
    for quoted in _QUOTED.findall(f"\n{prompt}"):
        for line in filter(None, map(_LINE.fullmatch, quoted.splitlines())):
            if line["name"] or not messages:
                messages.append(Said(line["name"] or "", line["text"]))
            else:
                messages[-1] = Said(messages[-1].name, f"{messages[-1].text}\n{line['text']}")
    return messages


_ASKED = re.compile(r"(?im)^readers ask:(?: [“\"]|\n> )([^”\"\n]+)")
_SOUGHT = re.compile(r"(?ims)^readers\s+(?:searched|asked)\b.*\bquoted\b")


def sought(prompt: str) -> str | None:
    """Return the first search or question that a prompt quotes; None for another prompt."""
    if question := _ASKED.search(prompt):
        return question[1]
    quoted = earlier_messages(prompt)
    return quoted[0].text.partition("\n")[0] if quoted and _SOUGHT.search(prompt) else None


_BACK = re.compile(
    r"(?i)\b(?:it|this|these|those|them|there|here|above)\b|\bso\W*$"
    r"|\bthat\b(?=['’]s\b|\s+(?:is|was|page|one|part|section|sentence|up|down|in|on|to)\b|\W*$)"
    r"|\b(?:the|that|this|our)\s+(?:page|docs?|documentation|section|wording|text)\b(?!\s+(?:about|on|for|of)\b)"
)

_WEAK_WORDS = """
above better can care change clear clearer correct date fix here look longer must no not old out outdated
please right see take up wrong
"""
_WEAK = frozenset(_WEAK_WORDS.split())


def leans_back(subject: str) -> bool:
    """Return whether the subject of an instruction is in earlier messages, as in "fix the page".

    "The field and what it is for" names its subject itself.
    """
    own = keywords(_BACK.sub("", subject)) - _WEAK
    return not own or (points_back(subject) and len(own) < 2)


def points_back(subject: str) -> bool:
    """Return whether a subject has a word that refers to earlier messages."""
    return bool(_BACK.search(subject))


def spoken_page(site: Mapping[str, Page], messages: Sequence[Said]) -> str | None:
    """Return the page that the newest message speaks of that speaks of one: by link, path, name or title."""
    for text in (one_line(one.text) for one in reversed(messages)):
        linked = (
            file_of(site, link) for link in re.findall(r"https?://[^/\s]+/([^\s?#>)]+)", text)
        )
        if (
            page := next(filter(None, linked), None)
            or named_page(site, text)[0]
            or _titled(site, text)
        ):
            return page
    return None


def _titled(site: Mapping[str, Page], text: str) -> str | None:
    fits = [path for path, page in site.items() if stems(page.title) <= stems(text)]
    return max(fits, key=lambda path: len(site[path].title), default=None)


_VALUE = r"([`\"“][^`\"”\n]{1,40}[`\"”]|[$€]?\d(?:[\w.,:-]*\w)?%?)"
_REST = r"[^\d`\"“?!]{0,80}?"
_IS = r"(?:\b(?:is|are|be|say)\b|['’]s)\s+(?:[a-z]+\s+){0,2}?"
_WRONG_RIGHT = (
    rf"\b(?:says?|states?|lists?|shows?|gives?|reads?)\b{_REST}{_VALUE}{_REST}{_IS}{_VALUE}",
    rf"\b(?:change|replace|correct|fix|update|from)\b{_REST}{_VALUE}\s+(?:to|with|by|into)\s+{_VALUE}",
)
_RIGHT_WRONG = rf"{_IS}{_VALUE}{_REST}\b(?:not|instead of|rather than)\s+{_VALUE}"


def corrections(text: str) -> Iterator[tuple[str, str]]:
    """Return the wrong and the right value of "says 60, it is 100", "100, not 60", "change 60 to 100"."""
    pairs = [
        match for pattern in _WRONG_RIGHT for match in re.findall(pattern, text, re.IGNORECASE)
    ]
    pairs += [(wrong, right) for right, wrong in re.findall(_RIGHT_WRONG, text, re.IGNORECASE)]
    yield from ((wrong.strip('`"“”'), right.strip('`"“”')) for wrong, right in pairs)


def corrected(page: Page, text: str) -> tuple[Page, list[str]]:
    """Return the page with the correction of a text, and a description of the correction."""
    now, notes = page.render(), list[str]()
    for wrong, right in corrections(text):
        parts = re.split(rf"(?<![\w.,]){re.escape(wrong)}(?!\w|[.,]\d)", now)
        if len(parts) > 1:
            now, notes = right.join(parts), [*notes, f"{right} instead of {wrong}"]
    return Page.parse(now), notes


_LACKS = re.compile(
    r"(?i)(?:\b(?:does(?: not|n['’]t)|never|nothing|nowhere)\s+(?:say|mention|explain|cover|list|tell)s?"
    r"|\b(?:lacks?|misses|is missing|leaves out|says nothing (?:about|on)))\s+([^.!?;\n]+)"
)


def missing(messages: Sequence[Said]) -> str | None:
    """Return an instruction from the newest message that misses something; None if there is none."""
    lacks = [thing for one in messages for thing in _LACKS.findall(one.text)]
    return (
        f"{'mention' if lacks[-1].startswith('that ') else 'explain'} {lacks[-1]}"
        if lacks
        else None
    )

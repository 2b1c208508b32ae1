"""Changes to a page that is there: each gives the new page and what was done, or says why nothing was."""

from __future__ import annotations

import re

from bot.sandbox.docs_service.agent.drafts import code, explain, steps
from bot.sandbox.docs_service.agent.page import Page, Section, first_sentence
from bot.sandbox.docs_service.agent.reading import Clause
from bot.sandbox.docs_service.agent.samples import LANGUAGES, SHELL, Language, fenced_language, find_language
from bot.sandbox.docs_service.agent.topics import find_topics
from bot.sandbox.docs_service.agent.wording import capital, clip, key_stems, one_line, sentence

GOOD_TO_KNOW = "Good to know"
_VERSION = re.compile(
    r"\b(?P<what>Python|Node(?:\.js)?|Go|Ruby|Java|PHP|\.NET|Rust|TypeScript)\s+(?P<version>v?\d+(?:\.\d+)*)(?P<only>\s+only)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
_HAS_VERB = re.compile(
    r"\b(?:is|are|was|were|must|should|can|cannot|may|will|has|have|had|need|needs|require|requires|expire|expires|work|"
    r"works|does|do|don't|doesn't|support|supports|use|uses|allow|allows|return|returns|start|starts|cost|costs|take|takes)\b",
    re.IGNORECASE,
)
_MISSPELT = {
    "recieve": "receive",
    "recieved": "received",
    "seperate": "separate",
    "seperately": "separately",
    "occured": "occurred",
    "adress": "address",
    "definately": "definitely",
    "succesful": "successful",
    "succesfully": "successfully",
    "teh": "the",
    "wich": "which",
    "begining": "beginning",
    "lenght": "length",
    "paramter": "parameter",
    "authentification": "authentication",
    "responce": "response",
    "enviroment": "environment",
    "untill": "until",
    "neccessary": "necessary",
    "prefered": "preferred",
    "transfered": "transferred",
}
_MISSPELT_WORD = re.compile(rf"\b(?:{'|'.join(_MISSPELT)})\b", re.IGNORECASE)


def correct_spelling(text: str) -> tuple[str, int]:
    """The text without the usual misspellings, and how many there were."""

    def correct(match: re.Match[str]) -> str:
        right = _MISSPELT[match[0].lower()]
        return capital(right) if match[0][0].isupper() else right

    return _MISSPELT_WORD.subn(correct, text)


def replace_words(text: str, old: str, new: str) -> tuple[str, int]:
    """The text with `old` as a whole word or phrase replaced, capitals kept, and how often."""
    if not old or old == new:
        return text, 0
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)

    def put(match: re.Match[str]) -> str:
        return capital(new) if match[0][:1].isupper() and not old[:1].isupper() else new

    return pattern.subn(put, text)


def replace_number(text: str, about: str, value: str) -> tuple[str, float]:
    """The text with the number of the line about `about` changed, and how well it fits; 0 for none."""
    number = re.search(r"\d[\d,.]*", value)
    if number is None:
        return text, 0
    lines = text.split("\n")
    wanted, heading, around = key_stems(about) | key_stems(re.sub(r"\d\S*", "", value)), "", set[str]()
    best, best_at = 0.0, 0
    for at, line in enumerate(lines):
        if line.startswith("#"):
            heading = f"{heading} {line}" if line.startswith("##") and heading.count("#") == 1 else line
        if line.startswith("|") and not lines[at - 1].startswith("|"):
            around = key_stems(line)
        context = key_stems(heading) | (around if line.startswith("|") else set())
        score = len(wanted & key_stems(line)) + 0.6 * len(wanted & (context - key_stems(line)))
        if score > best and _NUMBER.search(line) and not line.startswith("#"):
            best, best_at = score, at
    changed = _NUMBER.sub(number[0].rstrip(".,"), lines[best_at], count=1)
    if best < 2 or changed == lines[best_at]:
        return text, 0
    return "\n".join([*lines[:best_at], changed, *lines[best_at + 1 :]]), best


def improve(page: Page) -> tuple[Page, str]:
    """The page with what it still lacks of its subject: facts, steps, then an example."""
    topics = find_topics(page.title) or find_topics(page.intro) or find_topics("testing")
    topic, text = topics[0], page.render()
    facts = [fact for fact in topic.facts if fact not in text]
    done = f"Improve {clip(page.title, 50)}"
    if facts:
        for fact in facts:
            page = page.with_bullet(GOOD_TO_KNOW, fact)
        return page, done
    if page.named("What to do") is None:
        return page.with_section(Section("What to do", steps(topic.steps))), done
    if page.named("Example") is None:
        language = fenced_language(text) or SHELL
        return page.with_section(Section("Example", code(language, topic.sample))), done
    return page, done


def mention(page: Page, clause: Clause) -> tuple[Page, str]:
    """The page with a sentence, a requirement or a callout, and what was done."""
    subject = one_line(clause.subject)
    if match := _VERSION.search(subject):
        changed = _require(page, match)
        if changed != page:
            return changed, f"Mention {match['what']} {match['version']}"
    text = _sentence_about(subject)
    done = f"Mention {clip(_as_noun(subject), 48)}"
    if clause.callout in ("Warning", "Tip"):
        note = f"> **{clause.callout}:** {text}"
        intro = page.intro if note in page.intro else f"{page.intro}\n\n{note}".strip()
        return Page(page.title, intro, page.sections), f"Add a {clause.callout.lower()}: {clip(subject, 46)}"
    return page.with_bullet(GOOD_TO_KNOW, text), done


def _as_noun(subject: str) -> str:
    return (
        f"that {subject}"
        if _HAS_VERB.search(subject) and not subject.lower().startswith("that ")
        else subject
    )


def _sentence_about(subject: str) -> str:
    subject = re.sub(r"^that\s+", "", subject, flags=re.IGNORECASE)
    if _HAS_VERB.search(subject):
        return sentence(subject)
    topics = find_topics(subject)
    if topics:
        return f"{capital(subject)}: {topics[0].summary[0].lower()}{topics[0].summary[1:]}"
    return f"Keep {subject} in mind when you follow this page."


def _require(page: Page, match: re.Match[str]) -> Page:
    spelled = next(
        (one.name for one in LANGUAGES if re.search(one.pattern, match["what"], re.IGNORECASE)), match["what"]
    )
    shown = {"JavaScript": "Node.js", "C#": ".NET"}.get(spelled, spelled)
    tail = "" if match["only"] else " or newer"
    needs = f"{shown} {match['version'].lstrip('v')}{tail}"
    old = re.compile(rf"{re.escape(shown)} \d+(?:\.\d+)*(?: or newer)?")
    if old.search(page.render()):
        return Page.parse(old.sub(needs, page.render()))
    if page.named("Before you start") is not None:
        return page.with_bullet("Before you start", needs)
    return Page(page.title, page.intro, (Section("Before you start", f"- {needs}"), *page.sections))


def add_explanation(page: Page, clause: Clause) -> tuple[Page, str]:
    """The page with a section about the clause's subject, and what was done."""
    if (match := _VERSION.search(clause.text)) and (changed := _require(page, match)) != page:
        return changed, f"Bring up to date for {match['what']} {match['version']}"
    language = find_language(clause.text)
    made = explain(clause.subject or page.title, language)
    for number in range(2, 9):
        if page.named(made.heading) is None:
            break
        made = _further(made, clause.subject, number)
    for extra in clause.extras:
        made = Section(made.heading, f"{made.body}\n\n**{capital(extra)}.** {explain(extra, None).body}")
    return page.with_section(made), f"Explain {clip(_plain(clause.subject) or page.title, 48)}"


def _further(made: Section, subject: str, number: int) -> Section:
    topics = find_topics(subject)
    base = re.sub(r", part \d+$|: more$", "", made.heading)
    if topics and number == 2:
        return Section(
            f"{base}: more", "\n".join(f"{at}. {step}" for at, step in enumerate(topics[0].steps, 1))
        )
    return Section(f"{base}, part {number}", made.body)


def _plain(subject: str) -> str:
    return subject[:1].lower() + subject[1:] if subject[1:2].islower() else subject


def add_example(page: Page, clause: Clause) -> tuple[Page, str]:
    """The page with one more example, in the language that is asked for or that the page is written in."""
    topics = find_topics(clause.subject)
    language = find_language(clause.text) or fenced_language(page.render()) or SHELL
    kind = _fresh(language, topics[0].sample if topics else "first", page.render())
    named = _without_language(clause.subject, language.pattern)
    heading = clip(f"Example: {named}" if named else f"Example in {language.name}", 64)
    said = topics[0].summary if topics else f"The same with {language.name}:"
    body = f"{said}\n\n{code(language, kind)}"
    for number in range(2, 9):
        if page.named(heading) is None:
            break
        heading = f"{re.sub(r' [(]?[0-9]+[)]?$', '', heading)} {number}"
    about = f" for {clip(named, 40)}" if named else f" in {language.name}"
    return page.with_section(Section(heading, body)), f"Add an example{about}"


def _fresh(language: Language, wanted: str, text: str) -> str:
    """The kind of sample that is wanted, or a near one when its code stands on the page already."""
    for kind in (wanted, "pages" if wanted == "list" else "list", "errors", "first"):
        lines = [line for line in language.samples.get(kind, "").split("\n") if line and "<<" not in line]
        if lines and not all(line in text for line in lines):
            return kind
    return wanted


def _without_language(subject: str, pattern: str) -> str:
    plain = re.sub(rf"\s*(?:\b(?:in|with|using|for)\s+)?(?:{pattern})", "", subject, flags=re.IGNORECASE)
    return plain.strip(" .,")


def add_table(page: Page, clause: Clause) -> tuple[Page, str]:
    """The page with a table about the subject, and what was done."""
    topics = find_topics(clause.subject) or find_topics(page.title) or find_topics("errors")
    rows = [f"| {number} | {step} |" for number, step in enumerate(topics[0].steps, 1)]
    rows += [f"| | {fact} |" for fact in topics[0].facts]
    heading = clip(capital(clause.subject or topics[0].name), 60)
    table = Section(heading, "\n".join(["| Step | What to know |", "|---|---|", *rows]))
    return page.with_section(table), f"Add a table of {clip(_plain(clause.subject) or topics[0].name, 46)}"


def remove(page: Page, clause: Clause) -> tuple[Page, str]:
    """The page without the section on the subject, or without the lines that speak of it."""
    subject = _plain(clause.subject)
    section = page.find(subject)
    if section is not None and key_stems(subject):
        return page.without(section), f"Remove {clip(subject, 50)}"
    wanted = key_stems(subject)
    if not wanted:
        return page, f"Remove {clip(subject, 50)}"
    kept = [
        line for line in page.render().split("\n") if not wanted <= key_stems(line) or line.startswith("#")
    ]
    return Page.parse("\n".join(kept)), f"Remove {clip(subject, 50)}"


def shorten(page: Page) -> tuple[Page, str]:
    """The page with the first sentence of each paragraph, short lists, and no asides."""
    asides = {GOOD_TO_KNOW.lower(), "what you have now", "check that it works"}
    kept = [one for one in page.sections if one.heading.lower() not in asides]
    sections = tuple(Section(one.heading, _shorter(one.body)) for one in kept)
    return Page(page.title, _shorter(page.intro), sections), "Shorten it"


def _shorter(body: str) -> str:
    parts, fenced, kept = body.split("\n\n"), False, []
    for part in parts:
        inside = fenced
        fenced ^= part.count("```") % 2 == 1
        if inside or "```" in part or part.startswith("|"):
            kept.append(part)
        elif re.match(r"(?:-|\d+\.) ", part):
            kept.append("\n".join(part.split("\n")[:3]))
        else:
            kept.append(first_sentence(part))
    return "\n\n".join(kept)


def add_link(page: Page, markdown: str) -> tuple[Page, str]:
    """The page with a link among its next steps, and what was done."""
    where = next(
        (one.heading for one in page.sections if one.heading in ("Next steps", "Related")), "Related"
    )
    return page.with_bullet(where, markdown), f"Link {clip(markdown[1:].partition(']')[0], 50)}"

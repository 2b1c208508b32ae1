"""New pages: a quickstart, guide, tutorial, reference, questions, help with trouble, or a plain page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bot.sandbox.docs_service.agent.page import Page, Section
from bot.sandbox.docs_service.agent.reading import Clause, PageKind
from bot.sandbox.docs_service.agent.samples import SHELL, Language, find_language
from bot.sandbox.docs_service.agent.topics import Topic, find_topics
from bot.sandbox.docs_service.agent.wording import capital, choose, clip, listed, slug

_FILLER = re.compile(r"\b(?:the|a|an|our|your|how to|using|use of)\b\s*", re.IGNORECASE)
_GROUPS = {"sdks": "SDKs", "api": "API reference", "guides": "Guides"}


def page_path(clause: Clause) -> str:
    """Where a new page for the clause belongs."""
    kind, subject = clause.kind or PageKind.CONCEPT, clause.subject
    about_sdk = re.search(r"\bsdks?\b", subject, re.IGNORECASE) is not None
    if about_sdk or (kind is PageKind.QUICKSTART and find_language(subject) is not None):
        folder = "docs/sdks"
        subject = re.sub(r"\b(?:sdks?|client library)\b", "", subject, flags=re.IGNORECASE)
    elif kind is PageKind.REFERENCE:
        folder = "docs/api"
    elif kind is PageKind.CONCEPT:
        folder = "docs"
    else:
        folder = "docs/guides"
    name = slug(_FILLER.sub("", subject))
    suffix = kind if kind in (PageKind.QUICKSTART, PageKind.TUTORIAL, PageKind.FAQ) else ""
    prefix = "troubleshooting-" if kind is PageKind.TROUBLESHOOTING else ""
    return f"{folder}/{prefix}{name}{'-' + suffix if suffix else ''}.md"


def menu_group(path: str) -> str:
    """The group of the menu for a page at this path."""
    folder = path.split("/")[1]
    return _GROUPS.get(folder, "Basics")


def page_title(clause: Clause) -> str:
    """The title of a new page."""
    subject = clip(re.sub(r"^how to\s+", "", clause.subject, flags=re.IGNORECASE), 60)
    match clause.kind:
        case PageKind.QUICKSTART:
            return f"{capital(subject)} quickstart"
        case PageKind.TUTORIAL:
            return f"Tutorial: {subject}"
        case PageKind.FAQ:
            return f"{capital(subject)}: questions and answers"
        case PageKind.TROUBLESHOOTING:
            return f"Troubleshooting {subject}"
        case _:
            return capital(subject)


def commit_title(clause: Clause) -> str:
    """What adding the page is called in the commit."""
    subject = clip(re.sub(r"^how to\s+", "", clause.subject, flags=re.IGNORECASE), 48)
    match clause.kind:
        case PageKind.QUICKSTART:
            return f"Add a quickstart for {_the(subject)}"
        case PageKind.FAQ:
            return f"Answer questions about {subject}"
        case PageKind.TROUBLESHOOTING:
            return f"Add help for troubleshooting {subject}"
        case None:
            return f"Add a page: {subject}"
        case _:
            return f"Add a {clause.kind}: {subject}"


def draft(clause: Clause, product: str) -> Page:
    """A new page for the clause; names of the product's package are still to be filled in."""
    page = _WRITERS[clause.kind or PageKind.CONCEPT](clause, product)
    for extra in clause.extras:
        page = page.with_section(explain(extra, find_language(clause.subject)))
    return page


def code(language: Language, kind: str) -> str:
    """Fenced code."""
    return f"```{language.fence}\n{language.sample(kind)}\n```"


def steps(items: tuple[str, ...] | list[str]) -> str:
    """A numbered list."""
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))


def bullets(items: tuple[str, ...] | list[str]) -> str:
    """A plain list."""
    return "\n".join(f"- {item}" for item in items)


def explain(subject: str, language: Language | None) -> Section:
    """A section about the subject, with code when a language is wanted."""
    heading = clip(capital(re.sub(r"^how to\s+", "", subject, flags=re.IGNORECASE)), 60)
    topics = find_topics(subject)
    wanted = find_language(subject) or language
    if not topics:
        body = f"{_about(subject)}\n\n{steps(_general_steps(subject))}"
        return Section(heading, body if wanted is None else f"{body}\n\n{code(wanted, 'first')}")
    topic = topics[0]
    how = subject.lower().startswith("how to")
    parts = [topic.summary, steps(topic.steps) if how else bullets(topic.facts)]
    if wanted is not None and topic.sample in wanted.samples:
        parts.append(code(wanted, topic.sample))
    return Section(heading, "\n\n".join(parts))


def _about(subject: str) -> str:
    subject = clip(re.sub(r"^how to\s+", "how to ", subject), 120)
    return choose(
        (
            f"This part covers {subject}: when you need it, what to do, and how to see that it worked.",
            f"Most questions about {subject} are answered in a few steps. Try them with a test key first.",
            f"Here is what you need to know about {subject}, in the order in which you will meet it.",
        ),
        subject,
    )


def _general_steps(subject: str) -> list[str]:
    plain = clip(re.sub(r"^how to\s+", "", subject, flags=re.IGNORECASE), 80)
    first = choose(
        (
            f"Find the place in your integration where {plain} matters, and begin with that one.",
            f"Write down what you expect of {plain} before you change anything.",
            f"Read the settings of your account that have to do with {plain}.",
        ),
        plain,
    )
    last = choose(
        (
            "Move it to production when the result is what you expected.",
            "Watch it for a day before you do the same everywhere.",
            "Note the `request_id` of one good answer; it helps when you compare later.",
        ),
        plain + "!",
    )
    return [first, "Try it with a test key; nothing real is moved.", last]


def _for_whom(clause: Clause) -> str:
    return f" It is written for {clause.audience}." if clause.audience else ""


def _before(language: Language) -> Section:
    return Section(
        "Before you start",
        bullets(["An account with a test key; test keys begin with `test_`", capital(language.needs)]),
    )


def _next(topics: list[Topic], page: str) -> Section:
    known = [topic for topic in topics if topic.page is not None][:2]
    lines = [f"[[{topic.page}]]" for topic in known if topic.page is not None] + [
        "[[webhooks]]",
        "[[errors]]",
    ]
    return Section("Next steps", bullets([line for line in dict.fromkeys(lines) if page not in line][:3]))


def _quickstart(clause: Clause, product: str) -> Page:
    language = find_language(clause.subject) or SHELL
    topics = find_topics(clause.subject)
    intro = (
        f"Send your first request to {product} with {clip(_the(clause.subject), 60)} and read the answer. "
        f"It takes about five minutes; in test mode no parcel moves.{_for_whom(clause)}"
    )
    install = f"```bash\n{language.install}\n```\n\nThen set your test key:\n\n"
    install += '```bash\nexport << constant >>_API_KEY="test_..."\n```'
    first = f"{code(language, topics[0].sample if topics else 'first')}\n\n"
    first += "Run it. The answer has the id of the new shipment and its status, `created`."
    errors = (
        "The client repeats `429` and `5xx` up to three times. Other errors have a `request_id`: log it."
        if language is not SHELL
        else "A `429` says in `Retry-After` how long to wait. Other errors have a `request_id`: keep it."
    )
    if "errors" in language.samples:
        errors += f"\n\n{code(language, 'errors')}"
    sections = [
        _before(language),
        Section("1. Install and set your key", install),
        Section("2. Send your first request", first),
        Section("3. Expect errors", errors),
    ]
    if "list" in language.samples:
        sections.append(Section("4. Read a list", code(language, "list")))
    return Page(page_title(clause), intro, (*sections, _next(topics, "quickstart")))


def _the(subject: str) -> str:
    return f"the {subject}" if re.search(r"\b(?:sdk|api|client|cli)$", subject, re.IGNORECASE) else subject


def _guide(clause: Clause, product: str) -> Page:
    topics = find_topics(clause.subject)
    language = find_language(clause.subject)
    topic = topics[0] if topics else None
    intro = (
        topic.summary
        if topic
        else f"This guide shows {_how(clause.subject)} with {product}, from the first try to production."
    )
    sections = [
        _before(language or SHELL),
        Section("Steps", steps(topic.steps if topic else _general_steps(clause.subject))),
        Section("Example", code(language or SHELL, topic.sample if topic else "first")),
        Section(
            "Check that it works",
            "Use a test key and look at the answer: the status is `2xx` and there is a `request_id`. "
            + choose(
                (
                    "Then do it once more, to see that nothing happens twice.",
                    "Then try the case that should fail.",
                ),
                clause.subject,
            ),
        ),
    ]
    if topic:
        sections.append(Section("Good to know", bullets(topic.facts)))
    return Page(page_title(clause), intro + _for_whom(clause), (*sections, _next(topics, "")))


def _how(subject: str) -> str:
    return subject if subject.lower().startswith("how to ") else f"how to work with {subject}"


def _tutorial(clause: Clause, product: str) -> Page:
    language = find_language(clause.subject) or find_language("python")
    topics = find_topics(clause.subject)
    made = language or SHELL
    intro = (
        f"In this tutorial you build a small program around {clip(clause.subject, 80)} with {product}. "
        f"You need about twenty minutes.{_for_whom(clause)}"
    )
    middle = topics[0] if topics else None
    sections = [
        _before(made),
        Section("Step 1: prepare", f"```bash\n{made.install}\n```"),
        Section("Step 2: write the first version", code(made, "first")),
        Section(
            f"Step 3: {middle.name if middle else 'read what is there'}",
            f"{middle.summary}\n\n{code(made, middle.sample)}" if middle else code(made, "list"),
        ),
        Section("Step 4: expect errors", code(made, "errors")),
        Section("What you have now", bullets(middle.facts if middle else _general_steps(clause.subject))),
    ]
    return Page(page_title(clause), intro, (*sections, _next(topics, "")))


def _reference(clause: Clause, product: str) -> Page:
    name = slug(re.sub(r"\b(?:api|endpoints?|reference|the)\b", "", clause.subject, flags=re.IGNORECASE))
    noun = name.replace("-", " ")
    table = (
        "| Field | Type | Required | Meaning |\n|---|---|---|---|\n"
        f"| `name` | string | yes | What people see, up to 80 characters |\n"
        f"| `reference` | string | no | Your own number for {noun} |\n"
        "| `enabled` | boolean | no | `true` unless it is given |"
    )
    fields = [
        f'  "id": "{name[:3]}_41",',
        '  "name": "First one",',
        '  "enabled": true,',
        '  "request_id": "req_8fK2"',
    ]
    answer = "\n".join(["```json", "{", *fields, "}", "```"])
    topics = find_topics(clause.subject)
    intro = (
        topics[0].summary
        if topics
        else f"With these calls you read and change {noun} of your {product} account."
    )
    return Page(
        page_title(clause),
        intro + _for_whom(clause),
        (
            Section("List", f"`GET /v2/{name}` gives them newest first, in [[pagination]]."),
            Section("Create", f"`POST /v2/{name}`\n\n{table}"),
            Section("Answer", answer),
            Section("Delete", f"`DELETE /v2/{name}/{{id}}` answers `204`. It cannot be undone."),
            Section(
                "Errors", "`400` names the wrong field, `404` means that there is no such id. See [[errors]]."
            ),
        ),
    )


def _troubleshooting(clause: Clause, product: str) -> Page:
    topics = find_topics(clause.subject)
    rows = (
        "| What you see | Why | What to do |\n|---|---|---|\n"
        "| `401` at once | The key is not known or has expired | Compare its first signs with the account |\n"
        "| `429` now and then | Too many calls at the same time | Wait as long as `Retry-After` says |\n"
        "| No answer | A firewall or a proxy in between | Try the same request with `curl` |"
    )
    sections = [
        Section("Find the cause", rows),
        Section(
            "Collect what support needs",
            steps(["The `request_id`", "The time, in UTC", "The request, without its key"]),
        ),
    ]
    if topics:
        sections.insert(1, Section(f"About {topics[0].name}", bullets(topics[0].facts)))
    intro = f"What to look at first when {clip(clause.subject, 80)} does not do what it should in {product}."
    return Page(page_title(clause), intro + _for_whom(clause), (*sections, _next(topics, "")))


def _faq(clause: Clause, product: str) -> Page:
    topics = find_topics(clause.subject) or find_topics("testing errors")
    subject = clip(clause.subject, 60)
    sections = [
        Section(f"What do I need to know about {subject} first?", topics[0].summary),
        Section("Where do I begin?", steps(topics[0].steps)),
        *(Section(f"What is good to know about {one.name}?", bullets(one.facts)) for one in topics[:2]),
        Section("Whom can I ask?", f"{product} support, with the `request_id` of the answer you ask about."),
    ]
    return Page(page_title(clause), f"Short answers about {subject}.{_for_whom(clause)}", tuple(sections))


def _concept(clause: Clause, product: str) -> Page:
    topics = find_topics(clause.subject)
    language = find_language(clause.subject)
    about = explain(clause.subject, None)
    if not topics:
        sections = [
            Section(
                "When you need it",
                f"You meet {clip(clause.subject, 80)} when an integration with {product} grows.",
            ),
            Section("What to do", steps(_general_steps(clause.subject))),
            Section("Example", code(language or SHELL, "first")),
        ]
        return Page(
            page_title(clause), _about(clause.subject) + _for_whom(clause), (*sections, _next([], ""))
        )
    topic = topics[0]
    also = [other.name for other in topics[1:3]]
    intro = topic.summary + (f" This page also touches {listed(also)}." if also else "") + _for_whom(clause)
    sections = [
        Section("How it works", bullets(topic.facts)),
        Section("What to do", steps(topic.steps)),
        Section("Example", code(language or SHELL, topic.sample)),
        *(
            Section(capital(other.name), f"{other.summary}\n\n{bullets(other.facts)}")
            for other in topics[1:3]
        ),
    ]
    return Page(page_title(clause) or about.heading, intro, (*sections, _next(topics, "")))


_WRITERS: Mapping[PageKind, Callable[[Clause, str], Page]] = {
    PageKind.QUICKSTART: _quickstart,
    PageKind.GUIDE: _guide,
    PageKind.TUTORIAL: _tutorial,
    PageKind.REFERENCE: _reference,
    PageKind.TROUBLESHOOTING: _troubleshooting,
    PageKind.FAQ: _faq,
    PageKind.CONCEPT: _concept,
}

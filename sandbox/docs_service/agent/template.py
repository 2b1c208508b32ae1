"""Write a new page or sample code from templates, the prompt's subject and related text of the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from sandbox.docs_service.agent.site import Page, facts, link, related
from sandbox.docs_service.agent.writing import bullets, capital, clip, fill_names, keywords, slug

_FOLDER = Path(__file__).parent / "templates"
_RESOURCES = (
    "webhooks",
    "labels",
    "returns",
    "invoices",
    "customers",
    "payments",
    "orders",
    "keys",
    "users",
)
_ARTICLES = r"(?:(?:an?|the|our|new|short|complete)\s+)*"
_KIND = r"(?P<kind>quick-?start|tutorial|(?:API )?reference|FAQ|overview|guide|page|article)(?: guide| page)?"
_TOPICS = (
    rf"{_ARTICLES}{_KIND}\s+(?:that explains|for|about|on|of|to)\s+(?:the\s+)?(?P<subject>.+)",
    rf"{_ARTICLES}(?P<subject>.+?)\s+{_KIND}",
)
_DEFAULT_LINKS = ("docs/webhooks.md", "docs/errors.md", "docs/guides/testing.md")


class Language(NamedTuple):
    """A language; `fence` is also its template's name, and `words` a pattern that finds it in a prompt."""

    name: str
    fence: str
    words: str
    needs: str
    install: str = ""


SHELL = Language("curl", "bash", r"curl|shell|bash|cli", "`curl`, which most systems have")
LANGUAGES = (
    Language("Python", "python", r"python", "Python 3.9 or newer", "pip install << package >>"),
    Language(
        "JavaScript",
        "javascript",
        r"javascript|typescript|node",
        "Node.js 18 or newer",
        "npm install << package >>",
    ),
    Language("Go", "go", r"golang|(?-i:Go)", "Go 1.21 or newer", "go get << package >>"),
    SHELL,
)


def language_of(text: str) -> Language | None:
    """Return the language that an instruction names or that a page's code is in; None if there is none."""
    return next(
        (one for one in LANGUAGES if re.search(rf"\b(?i:{one.words})\b|```{one.fence}\n", text)),
        None,
    )


def example(subject: str, language: Language) -> str:
    """Return sample code that lists the resource of the subject, or shipments, and its explanation."""
    rows = next((one for one in _RESOURCES if one[:-1] in subject.lower()), "shipments")
    code = _render(f"{language.fence}.j2", {"rows": rows, "Rows": rows.capitalize()})
    values = {"language": language.name, "fence": language.fence, "code": code, "rows": rows}
    return _render("example.md.j2", values)


def _render(template: str, values: dict[str, str]) -> str:
    """Return a template with the values filled in; `fill` replaces the product's names later."""
    return fill_names((_FOLDER / template).read_text("utf-8").strip(), values)


@dataclass(frozen=True)
class Topic:
    """The topic of a page or section; `kind` is part of the title, as in "Python SDK quickstart"."""

    subject: str
    kind: str = ""

    @classmethod
    def read(cls, text: str) -> Topic:
        """Parse a phrase such as "a quickstart for the Python SDK" or "how webhooks are retried"."""
        for pattern in _TOPICS:
            if match := re.fullmatch(pattern, text, re.IGNORECASE):
                kind = match["kind"].lower().replace("-", "").replace("faq", "FAQ")
                return cls(match["subject"], "" if kind in ("guide", "page", "article") else kind)
        return cls(re.sub(rf"^{_ARTICLES}(?=\S)", "", text, flags=re.IGNORECASE))

    @property
    def title(self) -> str:
        """Return the title of the page."""
        plain = re.sub(r"^how to\s+", "", self.subject, flags=re.IGNORECASE)
        return capital(f"{clip(plain, 60)} {self.kind}".strip())

    @property
    def path(self) -> str:
        """Return the path of the page's file."""
        sdk = re.search(r"(?i)\bsdks?\b", self.subject) or language_of(self.subject)
        folder = "sdks" if sdk else "api" if "reference" in self.kind else "guides"
        name = re.sub(r"(?i)\b(?:sdks?|the|an?)\b", "", self.title)
        return f"docs/{folder}/{slug(name)}.md"

    @property
    def phrase(self) -> str:
        """Return the subject as it is written in a sentence."""
        return clip(re.sub(r"^(?=.*\b(?:SDK|API|CLI)$)", "the ", self.subject), 90)


def new_page(topic: Topic, site: Mapping[str, Page]) -> Page:
    """Return a page about the topic; `fill` replaces the product's names later."""
    language = language_of(topic.subject) or SHELL
    paths = [
        *related(site, keywords(topic.subject))[:2],
        *(path for path in _DEFAULT_LINKS if path in site),
    ]
    quick = f"Start with {topic.phrase} and make your first request to << product >> in about five minutes."
    plain = f"This page explains {topic.phrase} in << product >>, with a request that you can copy."
    values = {
        "title": topic.title,
        "intro": quick if topic.kind in ("quickstart", "tutorial") else plain,
        "needs": language.needs,
        "facts": bullets(facts(site, topic.subject)),
        "steps": steps(topic, language.install),
        "example": example(topic.subject, language),
        "links": bullets([link(site, topic.path, path) for path in dict.fromkeys(paths)][:3]),
    }
    page = Page.parse(_render("page.md.j2", values))
    return replace(
        page, sections={heading: body for heading, body in page.sections.items() if body}
    )


def steps(topic: Topic, install: str = "") -> str:
    """Return the numbered steps from the test key to production."""
    paths = [
        'Store your test key: `export << constant >>_API_KEY="test_..."`.',
        f"Install the SDK: `{install}`." if install else "",
        f"{topic.title} in test mode, and check the result in your account."
        if topic.subject.lower().startswith("how to ")
        else f"Send one request that uses {topic.phrase}, and log its `request_id`. Test mode costs nothing.",
        "Replace the test key with a live key when the answer is what you expect.",
    ]
    return "\n".join(f"{number}. {step}" for number, step in enumerate(filter(None, paths), 1))

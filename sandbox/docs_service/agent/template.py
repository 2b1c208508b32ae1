"""Write a new page from one template, the prompt's subject and related text of the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sandbox.docs_service.agent.navigation import facts, link, related
from sandbox.docs_service.agent.page import Page
from sandbox.docs_service.agent.samples import SHELL, Language, example, find_language, render
from sandbox.docs_service.agent.wording import bullets, capital, clip, keywords, numbered, slug

_ARTICLES = r"(?:(?:an?|the|our|new|short|complete)\s+)*"
_KIND = r"(?P<kind>quick-?start|tutorial|(?:API )?reference|FAQ|overview|guide|page|article)(?: guide| page)?"
_ABOUT = r"(?:(?:that |which )?(?:explains|covers|describes|shows)|for|about|on|of|to)"
_TOPIC_PATTERNS = (
    rf"{_ARTICLES}{_KIND}\s+{_ABOUT}\s+(?:the\s+|our\s+)?(?P<subject>.+)",
    rf"{_ARTICLES}(?P<subject>.+?)\s+{_KIND}",
)
_DEFAULT_LINKS = ("docs/webhooks.md", "docs/errors.md", "docs/guides/testing.md")


@dataclass(frozen=True)
class Topic:
    """The topic of a page or section; `kind` is part of the title, as in "Python SDK quickstart"."""

    subject: str
    kind: str = ""

    @classmethod
    def read(cls, text: str) -> Topic:
        """Parse a phrase such as "a quickstart for the Python SDK" or "how webhooks are retried"."""
        for pattern in _TOPIC_PATTERNS:
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
        sdk = re.search(r"(?i)\bsdks?\b", self.subject) or find_language(self.subject)
        folder = "sdks" if sdk else "api" if "reference" in self.kind else "guides"
        name = re.sub(r"(?i)\b(?:sdks?|the|an?)\b", "", self.title)
        return f"docs/{folder}/{slug(name)}.md"

    @property
    def phrase(self) -> str:
        """Return the subject as it is written in a sentence."""
        return clip(re.sub(r"^(?=.*\b(?:SDK|API|CLI)$)", "the ", self.subject), 90)


def new_page(topic: Topic, site: Mapping[str, Page]) -> Page:
    """Return a page about the topic; `fill` replaces the product's names later."""
    language = find_language(topic.subject) or SHELL
    values = {
        "title": topic.title,
        "intro": _intro(topic),
        "needs": language.needs,
        "facts": bullets(facts(site, topic.subject)),
        "steps": numbered(steps(topic, language)),
        "example": example(topic.subject, language),
        "links": bullets(_next_steps(topic, site)),
    }
    page = Page.parse(render("page.md.j2", values))
    return replace(page, sections={heading: body for heading, body in page.sections.items() if body})


def _intro(topic: Topic) -> str:
    if topic.kind in ("quickstart", "tutorial"):
        return (
            f"Start with {topic.phrase} and make your first request to << product >> in about five minutes. "
            "Everything on this page runs in test mode: it costs nothing and moves no parcel."
        )
    return (
        f"This page explains {topic.phrase} in << product >>: what you need, "
        "the steps in test mode, and a request that you can copy."
    )


def steps(topic: Topic, language: Language | None = None) -> list[str]:
    """Return the steps from the test key to production; with a language, they run the page's example."""
    is_task = topic.subject.lower().startswith("how to ")
    run = "Run the example. It only reads, so you can repeat it as often as you like."
    send = f"Send one request that uses {topic.phrase}, and log its `request_id`."
    wanted = [
        'Store your test key: `export << constant >>_API_KEY="test_..."`.',
        f"Install the SDK: `{language.install}`." if language and language.install else "",
        f"{topic.title} in test mode, and check the result in your account." if is_task else "",
        run if language else send,
        "Replace the test key with a live key when the answer is what you expect.",
    ]
    return [step for step in wanted if step]


def _next_steps(topic: Topic, site: Mapping[str, Page]) -> list[str]:
    wanted = [*related(site, keywords(topic.subject))[:2], *(path for path in _DEFAULT_LINKS if path in site)]
    return [link(site, topic.path, path) for path in dict.fromkeys(wanted)][:3]

"""Sample code: the languages that the agent writes, and the templates of pages and examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from sandbox.docs_service.seeding import fill_names

_FOLDER = Path(__file__).parent / "templates"
_RESOURCES = ("webhooks", "labels", "returns", "invoices", "customers", "payments", "orders", "keys", "users")


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
        r"javascript|typescript|node(?:\.?js)?",
        "Node.js 18 or newer",
        "npm install << package >>",
    ),
    Language("Go", "go", r"golang|(?-i:Go)", "Go 1.21 or newer", "go get << package >>"),
    SHELL,
)


def find_language(text: str) -> Language | None:
    """Return the language that a text names, or None."""
    return next((one for one in LANGUAGES if re.search(rf"\b(?i:{one.words})\b", text)), None)


def without_language(instruction: str) -> str:
    """Return the instruction without an ending such as "in Go"."""
    words = "|".join(one.words for one in LANGUAGES)
    return re.sub(rf"(?i)\s+(?:in|with|using)\s+(?:{words})$", "", instruction)


def language_of(page: str) -> Language:
    """Return the language of the code on a page, or shell if it has none."""
    return next((one for one in LANGUAGES if f"```{one.fence}\n" in page), SHELL)


def render(template: str, values: dict[str, str]) -> str:
    """Return a template with the values filled in; `fill` replaces the product's names later."""
    return fill_names((_FOLDER / template).read_text("utf-8").strip(), values)


def example(subject: str, language: Language) -> str:
    """Return sample code that lists the resource of the subject, or shipments, and its explanation."""
    rows = next((one for one in _RESOURCES if one[:-1] in subject.lower()), "shipments")
    code = render(f"{language.fence}.j2", {"rows": rows, "Rows": rows.capitalize()})
    values = {"language": language.name, "fence": language.fence, "code": code, "rows": rows}
    return render("example.md.j2", values)

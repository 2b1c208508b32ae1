"""Words of the agent: keywords, sentences, file names, and templates that are filled in."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from sandbox.docs_service.options import product_name

_STOP_WORDS = """
a about an and any are as at be by do for from have how i in into is it make new note of
on or our please should that the their this to use was we what when with you your
"""
_STOP = frozenset(_STOP_WORDS.split())
KINDS_OF_PAGES = frozenset(
    {"api", "doc", "example", "guide", "page", "quickstart", "sdk", "section"}
)
"""Stems of words that say which kind of page is meant, and not its subject."""


def stems(text: str) -> set[str]:
    """Return the words of a text in lower case, without plural endings."""
    return {re.sub(r"(?<=[^s]{3})s$", "", word) for word in re.findall(r"\w+", text.lower())}


def keywords(text: str) -> set[str]:
    """Return the stems of the words of a subject: neither stop words nor kinds of pages."""
    return stems(text) - _STOP - KINDS_OF_PAGES


def shared(topic: set[str], text: str) -> int:
    """Count the wanted stems in the text; "install" also matches "installation"."""
    present = stems(text)
    return sum(
        one in present or (len(one) > 4 and any(s.startswith(one) for s in present))
        for one in topic
    )


def without_background(text: str) -> str:
    """Return the text without the lines that give no instructions: quotes with heads and marks, who asked."""
    return re.sub(
        r"(?m)^(?:>.*|Earlier messages of .*|File .*:|Asked (?:by|in) .*\.|Lines that begin with .*)$",
        "",
        text,
    ).rstrip()


def one_line(text: str) -> str:
    """Return the text without control characters and with each run of white space as one space."""
    printable = "".join(sign if sign.isprintable() or sign.isspace() else "" for sign in text)
    return " ".join(printable.split())


def clip(text: str, length: int) -> str:
    """Return at most `length` characters, cut between words if possible."""
    if len(text) <= length:
        return text
    head, blank, _ = text[: length - 1].rpartition(" ")
    return (head if blank and len(head) > length // 2 else text[: length - 1]).rstrip(" ,;:-") + "…"


def capital(text: str) -> str:
    """Return the text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return the text with a capital first letter and a full stop."""
    return capital(text).rstrip(".") + "."


def slug(text: str) -> str:
    """Return a file name of up to 48 letters, digits and hyphens; a checksum if the text has none."""
    name = "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:48].strip("-")
    return name or f"page-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"


def bullets(items: list[str]) -> str:
    """Return a Markdown list."""
    return "\n".join(f"- {item}" for item in items)


_SEED = Path(__file__).parents[1] / "seed"


def names(project: str) -> dict[str, str]:
    """Return the names of a project's product in text, in code and in environment variables."""
    product = product_name(project)
    package = re.sub(r"[^a-z0-9]+", "_", product.lower()).strip("_") or "acme"
    return {
        "product": product,
        "package": package,
        "constant": package.upper(),
        "module": product.replace(" ", ""),
        "header": product.replace(" ", "-"),
    }


def fill(template: str, project: str) -> str:
    """Return the template with the project's names filled in."""
    return fill_names(template, names(project))


def fill_names(template: str, values: Mapping[str, str]) -> str:
    """Return the template with each `<< name >>` replaced by its value."""
    # The text may come from a prompt, so replace literally: a template language would execute it.
    for name, value in values.items():
        template = template.replace(f"<< {name} >>", value)
    return template


def seed_files(project: str) -> dict[str, str]:
    """Return the files of a new project: path to text."""
    return {
        path.relative_to(_SEED).as_posix().removesuffix(".j2"): fill(
            path.read_text("utf-8"), project
        )
        for path in sorted(_SEED.rglob("*.j2"))
    }

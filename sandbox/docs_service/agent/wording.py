"""Text helpers: keywords, sentences, file names, clipped text, lists."""

from __future__ import annotations

import re
import zlib

_STOP_WORDS = """
a about an and any api are as at be by do doc example for from guide have how i in into is it make new note of
on or our page please quickstart sdk section should that the their this to use was we what when with you your
"""
_STOP = frozenset(_STOP_WORDS.split())


def stems(text: str) -> set[str]:
    """Return the words of a text in lower case, without plural endings."""
    return {re.sub(r"(?<=[^s]{3})s$", "", word) for word in re.findall(r"\w+", text.lower())}


def keywords(text: str) -> set[str]:
    """Return the stems of the words that are not stop words."""
    return stems(text) - _STOP


def shared(wanted: set[str], text: str) -> int:
    """Count the wanted stems in the text; "install" also matches "installation"."""
    present = stems(text)
    return sum(one in present or (len(one) > 4 and any(s.startswith(one) for s in present)) for one in wanted)


def without_background(text: str) -> str:
    """Return the text without the lines that give no instructions: quoted ones, and who asked."""
    return re.sub(r"(?m)^(?:>.*|Asked (?:by|in) .*\.)$", "", text).rstrip()


def one_line(text: str) -> str:
    """Return the text without control characters and with each run of white space as one space."""
    kept = "".join(sign if sign.isprintable() or sign.isspace() else "" for sign in text)
    return " ".join(kept.split())


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

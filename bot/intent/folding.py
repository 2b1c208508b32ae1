"""Folded text and its words: lower case, straight quotes, no difference between look-alikes."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

Phrase = tuple[str, ...]
"""The words of a phrase: ``("never", "mind")``."""

_TOKEN = re.compile(
    r"\+?[^\W_]+(?:['.-][^\W_]+)?"  # well, don't, +1
    r"|:[a-z0-9_+-]+:|[:;]-?[()/|]|<3"  # :tada: :-) <3
    r"|[\u2190-\u2bff\U0001f300-\U0001faff]"  # an emoji
)
_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\u00ad]")
"""Joiners and selectors, which change the look of emoji and words alone."""
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|&gt;)[^\n]*", re.MULTILINE)
_QUOTATION = re.compile(r"\"[^\"]*\"")
_ADDRESS = re.compile(r"https?://\S+")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def fold(text: str) -> str:
    """Return a text in lower case with straight quotes: ``Don’t`` becomes ``don't``."""
    if text.isascii():
        return text.lower()  # the other steps change no ASCII
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return visible.casefold().translate(_STRAIGHT)


@lru_cache(maxsize=512)
def tokenize(folded: str) -> Phrase:
    """Return the words and emoji of a folded text: ``ok, thanks 🎉`` has three."""
    return tuple(_TOKEN.findall(folded))


def hide_quotes(text: str) -> str:
    """Return a text of the same length with blanks for code and quoted lines."""
    for pattern in (_CODE, _QUOTED_LINE):
        text = pattern.sub(lambda hidden: " " * len(hidden[0]), text)
    return text


def drop_quoted_lines(text: str) -> str:
    """Return a text without the lines that quote somebody: ``> it takes 60 s``."""
    return _QUOTED_LINE.sub("", text)


def replace_code(text: str, replacement: str) -> str:
    """Return a text with a replacement for each piece of code."""
    return _CODE.sub(lambda _code: replacement, text)


def hide_addresses(text: str, replacement: str) -> str:
    """Return a text with a replacement for each web address."""
    return _ADDRESS.sub(replacement, text)


def hide_quotations(folded: str, replacement: str) -> str:
    """Return a folded text with a replacement for each quotation: ``the title "Rotate keys"``."""
    return _QUOTATION.sub(replacement, folded)


def hide_paths(folded: str) -> str:
    """Return the words of a folded text without paths: ``/guides/sso``, ``s/old/new/``."""
    return " ".join(word for word in folded.split() if "/" not in word)

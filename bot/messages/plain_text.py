"""Untrusted text made safe to show: no hidden characters, and clipped between graphemes."""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, direction marks and overrides, and lone surrogates."""
_TAGS = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)|[\U000e0000-\U000e007f]"
)
"""Tag characters, which are invisible. Valid in flags of regions; elsewhere they can hide a text."""

_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Regional indicators. Two of them form the flag of a country."""


def visible(text: str) -> str:
    """Replace control, direction and tag characters with U+FFFD, and normalise line ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _TAGS.sub(lambda found: found[1] or "\ufffd", _HIDDEN.sub("\ufffd", lines))


def clip(text: str, length: int) -> str:
    """Clip text to ``length`` characters without splitting a grapheme. A clipped text ends with "…"."""
    return text if len(text) <= length else text[: grapheme_boundary(text, length - 1)].rstrip() + "…"


def grapheme_boundary(text: str, at: int) -> int:
    """Return the last index up to ``at`` that does not split an accent, emoji sequence or flag.

    Returns ``at`` if there is none within 40 characters.
    """
    for index in range(at, max(at - 40, 0), -1):
        if not _splits_grapheme(text, index):
            return index
    return at


def _splits_grapheme(text: str, at: int) -> bool:
    """Return whether the characters on both sides of ``at`` belong to one grapheme."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after in _FLAG_LETTERS:
        near = text[max(at - 64, 0) : at]
        return (len(near) - len(near.rstrip(_FLAG_LETTERS))) % 2 == 1
    return (
        "\u200d" in (before, after)
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
    )


def one_line(text: str, length: int) -> str:
    """Return untrusted text on one line, clipped and without hidden characters, but not escaped."""
    return clip(" ".join(visible(text).split()), length)

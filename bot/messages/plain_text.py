"""Words of other people made fit to be shown: nothing hidden in them, no sign cut in two."""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, direction marks and overrides, halves of surrogate pairs."""
_TAGS = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)|[\U000e0000-\U000e007f]"
)
"""Letters nobody sees. They belong in the flags of regions; elsewhere they can carry a hidden text."""

_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of them make the flag of a country."""


def visible(text: str) -> str:
    """The text with nothing hidden in it: control, direction and tag characters become a visible sign."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _TAGS.sub(lambda found: found[1] or "\ufffd", _HIDDEN.sub("\ufffd", lines))


def clip(text: str, length: int) -> str:
    """At most so many characters; a clipped text ends with "…", and no sign is cut in two."""
    return text if len(text) <= length else text[: between_signs(text, length - 1)].rstrip() + "…"


def between_signs(text: str, at: int) -> int:
    """The nearest place at or before this one where no accent, emoji sequence or flag is torn apart."""
    for place in range(at, max(at - 40, 0), -1):
        if not _joined(text, place):
            return place
    return at


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of this place make one sign for the reader."""
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
    """Words of somebody else on one line, clipped, not escaped."""
    return clip(" ".join(visible(text).split()), length)

"""Output in the terminal: texts of others cannot steer the terminal or pass for markup."""

from __future__ import annotations

import unicodedata

from rich.markup import escape

_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of signs that move the cursor, or colour, reorder or break the output."""


def plain(text: object) -> str:
    """Return a text as rich prints it sign by sign; control and format characters are shown as escapes."""
    return escape("".join(map(_visible, str(text))))


def _visible(sign: str) -> str:
    if sign == "\n" or unicodedata.category(sign) not in _STEERING:
        return sign
    return sign.encode("unicode_escape").decode()

"""What the sandbox prints: nothing that others wrote can steer the terminal or passes for markup."""

from __future__ import annotations

import unicodedata

from rich.markup import escape

_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of signs that move the cursor, colour, reorder or break what is printed."""


def plain(text: object) -> str:
    """Return a text as rich prints it sign by sign; control and format characters are shown as escapes."""
    return escape("".join(map(_visible, str(text))))


def _visible(sign: str) -> str:
    if sign == "\n" or unicodedata.category(sign) not in _STEERING:
        return sign
    return sign.encode("unicode_escape").decode()

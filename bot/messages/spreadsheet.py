"""Rows for a spreadsheet: CSV whose cells stay text, whatever somebody put into them.

https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence

BOM = "\ufeff"
"""Stands before a file's first line; without it Excel takes UTF-8 for the machine's old code page."""

HEADER = ("page", "human", "ai", "total")
"""The first line of a visitors export."""

_SIGNS = frozenset("=+-@\u2212")
"""What a formula begins with; U+2212 is the minus of typography, which some programs take for one too."""

_BREAKS = frozenset("\t\r\n")
_UNSEEN = ("C", "Z")
"""The general categories of blanks, controls and invisible signs: a program may drop them when it reads."""

_OTHER_SEPARATORS = frozenset(";\t|")
"""Where programs in other languages cut an unquoted cell in two, and the second half begins anew."""


def harmless(cell: str) -> str:
    """The cell, with an apostrophe before it when a spreadsheet would take it for a formula."""
    start = next((place for place, sign in enumerate(cell) if not _is_unseen(sign)), len(cell))
    head = unicodedata.normalize("NFKC", cell[start : start + 1])
    return f"'{cell}" if head in _SIGNS or _BREAKS & set(cell[:start]) else cell


def csv_line(cells: Sequence[str | int]) -> str:
    """One line with its end (RFC 4180): texts made harmless and quoted where needed, numbers as they are."""
    row = [harmless(cell) if isinstance(cell, str) else cell for cell in cells]
    elsewhere = any(_OTHER_SEPARATORS & set(cell) for cell in row if isinstance(cell, str))
    line = io.StringIO(newline="")
    csv.writer(
        line, quoting=csv.QUOTE_NONNUMERIC if elsewhere else csv.QUOTE_MINIMAL, lineterminator="\r\n"
    ).writerow(row)
    return line.getvalue()


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign)[0] in _UNSEEN

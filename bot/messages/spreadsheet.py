"""CSV for spreadsheets, protected against formulas in cells.

https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence

BOM = "\ufeff"
"""Byte order mark for the start of a file. Without it Excel does not read the file as UTF-8."""

HEADER = ("page", "human", "ai", "total")
"""Column names of a visitors export."""

_FORMULA_STARTS = frozenset("=+-@\u2212")
"""The characters that start a formula. Some programs also accept U+2212, the minus sign."""

_LEADING_CONTROLS = frozenset("\t\r\n")
_INVISIBLE_CATEGORIES = ("C", "Z")
"""Unicode categories of control, format and blank characters, which a program may drop."""

_OTHER_SEPARATORS = frozenset(";\t|")
"""Separators in other locales, at which a program splits an unquoted cell into two."""


def escape_formula(cell: str) -> str:
    """Return the cell, with an apostrophe before it if a spreadsheet could read it as a formula."""
    start = next((at for at, character in enumerate(cell) if not _is_invisible(character)), len(cell))
    head = unicodedata.normalize("NFKC", cell[start : start + 1])
    return f"'{cell}" if head in _FORMULA_STARTS or _LEADING_CONTROLS & set(cell[:start]) else cell


def csv_line(cells: Sequence[str | int]) -> str:
    """Return one line of CSV with its line end (RFC 4180), with formulas escaped."""
    row = [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
    quote_all = any(_OTHER_SEPARATORS & set(cell) for cell in row if isinstance(cell, str))
    line = io.StringIO(newline="")
    csv.writer(
        line, quoting=csv.QUOTE_NONNUMERIC if quote_all else csv.QUOTE_MINIMAL, lineterminator="\r\n"
    ).writerow(row)
    return line.getvalue()


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character)[0] in _INVISIBLE_CATEGORIES

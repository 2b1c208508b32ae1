"""Untrusted text made safe to show.

It has no hidden characters, is clipped between graphemes, and is no formula in CSV.

https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

_HIDING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Bidirectional classes of characters that change the order of a text.

https://www.unicode.org/reports/tr9/
"""
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0080-\U000e0fff]"
)
"""Invisible characters outside of category ``Cf``: selectors, fillers, Braille blanks.

https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point
"""
_SIGN = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_WITH_LOOK = f"{_SIGN}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_FLAG = (
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""The flags of England, Scotland and Wales, the only ones that are made of tags."""
_EMOJI = re.compile(f"({_FLAG}|[#*0-9]\ufe0f\u20e3|{_WITH_LOOK}(?:\u200d{_WITH_LOOK})*)")
"""Emoji with the joiners, variation selectors and tags that belong to them.

https://www.unicode.org/reports/tr51/#Emoji_Sequences
"""

_LINE_END = re.compile("\r\n|[\r\x85\u2028\u2029]")
"""Ends of lines and paragraphs besides the line feed."""
_MAX_MARKS = 4
"""Marks that a letter of any language has at most, such as Hebrew's with its points and accents."""
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Regional indicators. Two of them form the flag of a country."""


def visible(text: str) -> str:
    """Return untrusted text without invisible characters, and with normalised line ends.

    Control characters, lone surrogates, tags and marks of the text's direction become U+FFFD. Other
    format characters (category ``Cf``) and variation selectors are dropped, except within an emoji.
    More than `_MAX_MARKS` combining marks on a character, which would cover the lines around it,
    are dropped, too.
    """
    if text.isascii() and text.isprintable():
        return text
    lines = _LINE_END.sub("\n", text)
    signs = set(lines)
    changes = {ord(sign): _replacement_of(sign) for sign in signs if _replacement_of(sign) != sign}
    if changes:
        parts = _EMOJI.split(lines)
        parts[::2] = [part.translate(changes) for part in parts[::2]]
        lines = "".join(parts)
    marks = {sign for sign in signs if unicodedata.category(sign) in ("Mn", "Me")}
    return "".join(_limit_marks(lines, marks)) if marks else lines


def _limit_marks(text: str, marks: Collection[str]) -> Iterator[str]:
    """Yield the characters of a text with few ``marks`` in a row.

    Of each run the first `_MAX_MARKS` stay.
    """
    run = 0
    for sign in text:
        run = run + 1 if sign in marks else 0
        if run <= _MAX_MARKS:
            yield sign


@lru_cache(4_096)
def _replacement_of(sign: str) -> str:
    """Return the replacement of a character outside emoji."""
    category = unicodedata.category(sign)
    if category in ("Cc", "Cs"):
        return sign if sign in "\t\n" else "\ufffd"
    if "\U000e0000" <= sign <= "\U000e007f" or unicodedata.bidirectional(sign) in _HIDING:
        return "\ufffd"
    return "" if category == "Cf" or _UNSEEN.match(sign) else sign


def clip(text: str, length: int) -> str:
    """Clip text to ``length`` characters without splitting a grapheme.

    A clipped text ends with "…".
    """
    if len(text) <= length:
        return text
    return text[: grapheme_boundary(text, length - 1)].rstrip() + "…"


def grapheme_boundary(text: str, at: int) -> int:
    """Return the last index up to ``at`` that splits no grapheme.

    A grapheme is a letter with its accents, an emoji sequence or a flag, for example.

    Returns ``at`` if there is none within 40 characters.
    """
    for index in range(at, max(at - 40, 0), -1):
        if not _splits_grapheme(text, index):
            return index
    return at


def _splits_grapheme(text: str, at: int) -> bool:
    """Return whether both sides of ``at`` belong to one grapheme."""
    if not 0 < at < len(text):
        return False
    before = text[at - 1]
    after = text[at]
    if after in _FLAG_LETTERS:
        near = text[max(at - 64, 0) : at]
        return (len(near) - len(near.rstrip(_FLAG_LETTERS))) % 2 == 1
    return (
        "\u200d" in (before, after)
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
    )


QUOTE_LOOKALIKES = str.maketrans('“„‟❝〝”❞〞〟"＂″', "‘‘‘‘‘’’’’'''")
"""Quotation marks that could end “…”, each with the single mark that replaces it."""


def one_line(text: str, length: int) -> str:
    """Return untrusted text on one line, clipped.

    It has no hidden characters, but is not escaped.
    """
    return clip(" ".join(visible(text).split()), length)


BOM = "\ufeff"
"""Byte order mark for the start of a file. Without it Excel does not read the file as UTF-8."""

HEADER = ("page", "human", "ai", "total")
"""Column names of a visitors export."""

_FORMULA_STARTS = frozenset("=+-@\u2212")
"""The characters that start a formula. Some programs also accept U+2212, the minus sign."""

_LEADING_CONTROLS = frozenset("\t\r\n")
_INVISIBLE = ("C", "Z")
"""Unicode categories of control, format and blank characters, which a program may drop."""

_OTHER_SEPARATORS = frozenset(";\t|")
"""Separators in other locales, at which a program splits an unquoted cell into two."""


def escape_formula(cell: str) -> str:
    """Return the cell of a spreadsheet as text.

    It has an apostrophe before it if a spreadsheet could read it as a formula.
    """
    start = 0
    while start < len(cell) and unicodedata.category(cell[start])[0] in _INVISIBLE:
        start += 1
    head = unicodedata.normalize("NFKC", cell[start : start + 1])
    if head in _FORMULA_STARTS or _LEADING_CONTROLS & set(cell[:start]):
        return f"'{cell}"
    return cell


def csv_line(cells: Sequence[str | int]) -> str:
    """Return one line of CSV with its line end (RFC 4180).

    Formulas are escaped.
    """
    row = [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
    quotes_all = any(_OTHER_SEPARATORS & set(cell) for cell in row if isinstance(cell, str))
    line = io.StringIO(newline="")
    writer = csv.writer(
        line,
        quoting=csv.QUOTE_NONNUMERIC if quotes_all else csv.QUOTE_MINIMAL,
        lineterminator="\r\n",
    )
    writer.writerow(row)
    return line.getvalue()

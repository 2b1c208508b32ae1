"""Small rules of English: stems, titles, slugs, clipped text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Sequence

_STOP_WORDS = """
a an and any are as at be by can do for from how i in into is it its me my new of on or our page please
some that the their them there these they this to up us we what when which who with you your
"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:[.+#'’][^\W_]+)*[+#]*")


def stem(word: str) -> str:
    """A word in lower case without the ending of a plural."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def stems(text: str) -> list[str]:
    """The stems of all words, in order."""
    return [stem(word) for word in _WORD.findall(text)]


def key_stems(text: str) -> set[str]:
    """The stems of the words that carry meaning."""
    return {found for found in stems(text) if found not in _STOP}


def one_line(text: str) -> str:
    """The text with every run of white space, line ends too, as one blank; control characters are gone."""
    kept = "".join(sign if sign.isprintable() or sign.isspace() else "" for sign in text)
    return " ".join(kept.split())


def clip(text: str, length: int) -> str:
    """At most `length` characters, cut between words where that is possible."""
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank and len(head) > length // 2 else cut).rstrip(" ,;:-") + "…"


def capital(text: str) -> str:
    """The text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """The text as a sentence: a capital at the begin and a full stop at the end."""
    text = capital(text.strip().rstrip(" ,;:"))
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def slug(text: str) -> str:
    """A name for a file, from letters and digits; made from a digest when there are none to use."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "").replace("'", "").replace("…", ""))
    plain = plain.lower().replace("c#", "csharp").replace("c++", "cpp").replace(".net", "dotnet")
    words = re.findall(r"[a-z0-9]+", plain.encode("ascii", "ignore").decode())
    kept: list[str] = []
    for word in words:
        if sum(len(other) + 1 for other in kept) + len(word) > 48:
            break
        kept.append(word)
    return "-".join(kept) or "page-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]


def choose(options: Sequence[str], by: str) -> str:
    """One of the options, always the same for the same text."""
    return options[zlib.crc32(by.encode("utf-8", "replace")) % len(options)]


def listed(items: Sequence[str]) -> str:
    """The items as a person lists them: "a, b and c"."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]

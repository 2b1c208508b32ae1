"""Messages that only thank or agree: they get a reaction, and no job and no follow-up.

Those that say that a pull request is merged or approved do what its button does, besides.
"""

from __future__ import annotations

import re
import unicodedata

REACTION = "+1"
_EMOJI_NAME = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-[2-6]:)?", re.IGNORECASE)


def _phrases(joined: str) -> frozenset[str]:
    return frozenset(joined.split("|"))


_THANKS = _phrases(
    "+1|thanks|thanks a lot|thanks so much|thanks a bunch|many thanks|thank you|"
    "thank you so much|thank you very much|thx|thnx|tnx|ty|tysm|cheers|much appreciated|"
    "appreciated|ok|okay|lgtm|looks good|looks good to me|looks great|sounds good|great|awesome|"
    "nice|cool|perfect|excellent|amazing|brilliant|love it|well done|good job|great job|"
    "great work|nice work|good work|nice one|got it|ok thanks|great thanks|perfect thanks|"
    "cool thanks|nice thanks|done|all done|done thanks|thanks done"
)
"""Whole messages, without marks at the end and in lower case."""
_REVIEWED = _phrases(
    "merged|merged it|i merged it|i've merged it|we merged it|it's merged|its merged|pr merged|"
    "the pr is merged|just merged|merged now|merging|merging now|ok merged|ok merging|ok merging now|"
    "lgtm merged|lgtm merging|thanks merged|merged thanks|merged thank you|approved|approved thanks|"
    "approved and merged|reviewed|reviewed it|i reviewed it|reviewed and merged|reviewed or merged|"
    "lgtm approved"
)


def is_thanks(text: str) -> bool:
    """Return whether a whole message only thanks or agrees in English, or is only emoji.

    ``text`` is plain text. Marks at the end and emoji beside the words do not count.
    """
    said, emoji = _said(text)
    return said in _THANKS or said in _REVIEWED or (not said and emoji)


def says_reviewed(text: str) -> bool:
    """Return whether a whole message says that a pull request is reviewed or merged. All these are thanks."""
    return _said(text)[0] in _REVIEWED


def _said(text: str) -> tuple[str, bool]:
    """Return the words without marks and emoji, in lower case, and whether there was an emoji."""
    words, emoji = _without_emoji(text)
    return " ".join(re.sub(r"[,.!…~]+", " ", words).replace("’", "'").casefold().split()), emoji


def _without_emoji(text: str) -> tuple[str, bool]:
    """Return the text without emoji, and whether it had any."""
    words, names = _EMOJI_NAME.subn(" ", text)
    kept = "".join(" " if _is_emoji(character) else character for character in words)
    return kept, names > 0 or kept != words


def _is_emoji(character: str) -> bool:
    """Return whether a character is an emoji, or joins or colours one."""
    return (
        unicodedata.category(character) in ("So", "Sk") and ord(character) > 0x2000
    ) or character in "\ufe0f\u200d"

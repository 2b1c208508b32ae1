"""Messages that only thank or agree: they get a reaction, and no job and no follow-up.

Those that say that a pull request is merged or approved do what its button does, besides.
"""

from __future__ import annotations

import re
import unicodedata

REACTION = "+1"
_EMOJI_NAME = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-[2-6]:)?", re.IGNORECASE)


def _phrases(*by_language: str) -> frozenset[str]:
    return frozenset(phrase for phrases in by_language for phrase in phrases.split("|"))


_THANKS = _phrases(
    # English
    "+1|thanks|thanks a lot|thanks so much|thanks a bunch|many thanks|thank you|"
    "thank you so much|thank you very much|thx|thnx|tnx|ty|tysm|cheers|much appreciated|"
    "appreciated|ok|okay|lgtm|looks good|looks good to me|looks great|sounds good|great|awesome|"
    "nice|cool|perfect|excellent|amazing|brilliant|love it|well done|good job|great job|"
    "great work|nice work|good work|nice one|got it|ok thanks|great thanks|perfect thanks|"
    "cool thanks|nice thanks",
    # German
    "danke|danke dir|danke euch|danke schön|dankeschön|danke sehr|vielen dank|vielen lieben dank|"
    "besten dank|herzlichen dank|tausend dank|super|super danke|prima|klasse|passt|sieht gut aus|"
    "sehr gut|gut gemacht|alles klar|perfekt|perfekt danke|toll|ok danke",
    # French
    "merci|merci beaucoup|merci bien|mille mercis|un grand merci|super merci|parfait|"
    "parfait merci|génial|très bien|bien joué|ça marche|d'accord|c'est parfait|excellent merci|"
    "ok merci",
    # Spanish
    "gracias|muchas gracias|mil gracias|muchísimas gracias|perfecto|perfecto gracias|genial|"
    "estupendo|muy bien|buen trabajo|vale|vale gracias|de acuerdo|ok gracias",
    # Portuguese
    "obrigado|obrigada|muito obrigado|muito obrigada|valeu|perfeito|perfeito obrigado|"
    "perfeito obrigada|ótimo|muito bem|bom trabalho|tá bom|ok obrigado|ok obrigada",
    # Italian
    "grazie|grazie mille|molte grazie|tante grazie|perfetto|perfetto grazie|ottimo|ottimo lavoro|"
    "molto bene|bene|va bene|bel lavoro|ok grazie",
    # Dutch
    "bedankt|dank je|dank je wel|dankjewel|dank u|dank u wel|hartelijk dank|heel erg bedankt|top|"
    "top bedankt|prima bedankt|perfect bedankt|goed gedaan|goed zo|ziet er goed uit|oké|oke",
    # Japanese
    "ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|"
    "どうもありがとうございます|感謝します|助かります|助かりました|了解|了解です|了解しました|"
    "承知しました|いいね|いいですね|素晴らしい|完璧です|お疲れ様です",
    # Done, in each of them
    "done|all done|done thanks|thanks done|erledigt|fertig|c'est fait|fait|hecho|listo|feito|pronto|"
    "fatto|gedaan|klaar|完了|完了です|完了しました",
)
"""Whole messages, without marks at the end and in lower case."""
_REVIEWED = _phrases(
    "merged|merged it|i merged it|i've merged it|we merged it|it's merged|its merged|pr merged|"
    "the pr is merged|just merged|merged now|merging|merging now|ok merged|ok merging|ok merging now|"
    "lgtm merged|lgtm merging|thanks merged|merged thanks|merged thank you|approved|approved thanks|"
    "approved and merged|reviewed|reviewed it|i reviewed it|reviewed and merged|reviewed or merged|"
    "lgtm approved",
    "gemerged|gemergt|ist gemerged|ist gemergt|genehmigt|freigegeben|mergé|fusionné|c'est mergé|"
    "c'est fusionné|approuvé|mergeado|fusionado|aprobado|aprovado|mergiato|approvato|goedgekeurd|"
    "マージしました|承認しました",
)
_LONGEST = 2 * max(map(len, _THANKS | _REVIEWED))
"""Length in characters of the longest one, each with an accent that is a character of its own."""


def is_thanks(text: str) -> bool:
    """Return whether a whole message only thanks or agrees, in one of some languages, or is only emoji.

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
    said = " ".join(re.sub(r"[,.!¡…~、。！～]+", " ", words).replace("’", "'").casefold().split())
    # Normalising takes time as the square of the accents on one letter.
    return unicodedata.normalize("NFC", said) if len(said) <= _LONGEST else said, emoji


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

"""Messages that only thank or agree: they get a reaction, and no job and no follow-up."""

from __future__ import annotations

import re
import unicodedata

REACTION = "+1"
_EMOJI_NAME = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-[2-6]:)?", re.IGNORECASE)
_THANKS = frozenset(
    phrase
    for phrases in (
        # English
        (
            "+1|thanks|thanks a lot|thanks so much|thanks a bunch|many thanks|thank you|"
            "thank you so much|thank you very much|thx|thnx|tnx|ty|tysm|cheers|much appreciated|"
            "appreciated|ok|okay|lgtm|looks good|looks good to me|looks great|sounds good|great|awesome|"
            "nice|cool|perfect|excellent|amazing|brilliant|love it|well done|good job|great job|"
            "great work|nice work|good work|nice one|got it|ok thanks|great thanks|perfect thanks|"
            "cool thanks|nice thanks"
        ),
        # German
        (
            "danke|danke dir|danke euch|danke schön|dankeschön|danke sehr|vielen dank|vielen lieben dank|"
            "besten dank|herzlichen dank|tausend dank|super|super danke|prima|klasse|passt|sieht gut aus|"
            "sehr gut|gut gemacht|alles klar|perfekt|perfekt danke|toll|ok danke"
        ),
        # French
        (
            "merci|merci beaucoup|merci bien|mille mercis|un grand merci|super merci|parfait|"
            "parfait merci|génial|très bien|bien joué|ça marche|d'accord|c'est parfait|excellent merci|"
            "ok merci"
        ),
        # Spanish
        (
            "gracias|muchas gracias|mil gracias|muchísimas gracias|perfecto|perfecto gracias|genial|"
            "estupendo|muy bien|buen trabajo|vale|vale gracias|de acuerdo|ok gracias"
        ),
        # Portuguese
        (
            "obrigado|obrigada|muito obrigado|muito obrigada|valeu|perfeito|perfeito obrigado|"
            "perfeito obrigada|ótimo|muito bem|bom trabalho|tá bom|ok obrigado|ok obrigada"
        ),
        # Italian
        (
            "grazie|grazie mille|molte grazie|tante grazie|perfetto|perfetto grazie|ottimo|ottimo lavoro|"
            "molto bene|bene|va bene|bel lavoro|ok grazie"
        ),
        # Dutch
        (
            "bedankt|dank je|dank je wel|dankjewel|dank u|dank u wel|hartelijk dank|heel erg bedankt|top|"
            "top bedankt|prima bedankt|perfect bedankt|goed gedaan|goed zo|ziet er goed uit|oké|oke"
        ),
        # Japanese
        (
            "ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|"
            "どうもありがとうございます|感謝します|助かります|助かりました|了解|了解です|了解しました|"
            "承知しました|いいね|いいですね|素晴らしい|完璧です|お疲れ様です"
        ),
    )
    for phrase in phrases.split("|")
)
"""Whole messages, without marks at the end and in lower case."""


def is_thanks(text: str) -> bool:
    """Return whether a whole message only thanks or agrees, in one of some languages, or is only emoji.

    ``text`` is plain text. Marks at the end and emoji beside the words do not count.
    """
    words, emoji = _without_emoji(unicodedata.normalize("NFC", text))
    said = " ".join(re.sub(r"[,.!¡…~、。！～]+", " ", words).replace("’", "'").casefold().split())
    return said in _THANKS or (not said and emoji)


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

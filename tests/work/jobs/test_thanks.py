"""Only whole messages that thank or agree count as thanks."""

from __future__ import annotations

import pytest

from bot.work.jobs.thanks import is_thanks


@pytest.mark.parametrize(
    "text",
    [
        *("thanks", "Thank you so much!", "LGTM :tada:", "+1", "ok.", "Danke schön!", "Merci beaucoup !"),
        *("¡Gracias!", "Muito obrigada", "Grazie mille", "Dank je wel", "ありがとうございます！"),
        *("👍", "👍🏽", "❤️", ":+1::skin-tone-3:", ":tada: :tada:", "🇩🇪", "c’est parfait"),
    ],
)
def test_thanks_are_found_whatever_stands_around_them(text: str) -> None:
    assert is_thanks(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "thanks, but shorten the first part",
            "ok, now add Python 3.11",
            "fix it",
            "super long page: cut it",
        ),
        *("", "   ", "1", "#7", "→", "no", ":tada: add a changelog", "Merci de corriger le titre", "!"),
    ],
)
def test_everything_else_is_for_the_agent(text: str) -> None:
    assert not is_thanks(text)

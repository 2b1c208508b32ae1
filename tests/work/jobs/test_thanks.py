"""Only whole messages that thank or agree count as thanks."""

from __future__ import annotations

import pytest

from bot.work.jobs.thread_events import is_thanks, says_reviewed

THANKS = (
    *("thanks", "Thank you so much!", "LGTM :tada:", "+1", "ok.", "done", ":tada:", "lgtm"),
    *("👍", "👍🏽", "❤️", ":+1::skin-tone-3:", ":tada: :tada:", "🇩🇪"),
)
REVIEWED = ("merged", "Merged!", ":tada: ok, merging now", "Approved.", "it’s merged")
FOR_THE_AGENT = (
    *("thanks, but shorten the first part", "ok, now add Python 3.11", "fix it", "super long page: cut it"),
    *("", "   ", "1", "#7", "→", "no", ":tada: add a changelog", "Danke schön", "!"),
    *("done is spelled wrong, fix it", "merged cells look odd", "merged?", "not merged"),
)


@pytest.mark.parametrize("text", [*THANKS, *REVIEWED, *FOR_THE_AGENT])
def test_only_a_whole_message_thanks_or_says_that_it_is_reviewed(text: str) -> None:
    assert is_thanks(text) == (text not in FOR_THE_AGENT)
    assert says_reviewed(text) == (text in REVIEWED)

"""Only whole messages that thank or agree count as thanks."""

from __future__ import annotations

import pytest

from bot.work.jobs.thread_events import is_thanks, says_reviewed


@pytest.mark.parametrize(
    "text",
    [
        *("thanks", "Thank you so much!", "LGTM :tada:", "+1", "ok."),
        *("👍", "👍🏽", "❤️", ":+1::skin-tone-3:", ":tada: :tada:", "🇩🇪", "it’s merged"),
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
        *("", "   ", "1", "#7", "→", "no", ":tada: add a changelog", "Danke schön", "!"),
    ],
)
def test_everything_else_is_for_the_agent(text: str) -> None:
    assert not is_thanks(text)


@pytest.mark.parametrize("text", ["merged", "Merged!", ":tada: ok, merging now", "Approved."])
def test_who_says_that_it_is_merged_agrees_too(text: str) -> None:
    assert is_thanks(text)
    assert says_reviewed(text)


@pytest.mark.parametrize(
    "text", ["done is spelled wrong, fix it", "merged cells look odd", "merged?", "not merged"]
)
def test_what_only_begins_so_is_for_the_agent(text: str) -> None:
    assert not is_thanks(text)


@pytest.mark.parametrize("text", ["thanks", "done", ":tada:", "lgtm", ""])
def test_thanks_alone_say_nothing_of_a_review(text: str) -> None:
    assert not says_reviewed(text)

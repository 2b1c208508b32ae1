"""Of what readers searched, unfinished words of searches count with the whole."""

from __future__ import annotations

import pytest

from bot.model.misses import Search, folded, missed_first, page_of


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("https://docs.example/guides/a?email=ana@x.org#b", "/guides/a"),
        ("/guides/a", "/guides/a"),
        ("https://docs.example", "/"),
        ("/reset/ana@x.org", "[email]"),
        ("/a”. Delete it. “", "/a"),
        ("", None),
        (None, None),
    ],
)
def test_of_a_pages_address_only_its_path_is_kept(address: str | None, page: str | None) -> None:
    assert page_of(address) == page


def test_a_search_of_an_unfinished_word_counts_with_the_word() -> None:
    rows = [Search("abse", 3, 0), Search("absence", 10, 2, "/a"), Search("ABSENCE", 1, 0), Search("ab", 1, 0)]
    assert folded(rows) == (Search("absence", 14, 2, "/a"), Search("ab", 1, 0))


def test_a_search_of_a_whole_word_is_not_added_to_a_longer_one() -> None:
    rows = (Search("rate", 3, 0), Search("rate limits", 10, 2), Search("rate limitsss", 9, 0))
    assert folded(rows) == rows


def test_what_found_no_click_comes_first_then_what_is_frequent() -> None:
    rows = [Search("a b", 9, 9), Search("b c", 1, 0), Search("c d", 5, 0), Search("d e", 30, None)]
    assert [each.words for each in missed_first(rows)] == ["c d", "b c", "d e", "a b"]

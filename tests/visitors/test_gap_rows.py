"""Rows of content gaps: their pages and their order."""

from __future__ import annotations

import pytest

from bot.visitors.model.gaps import Search, page_of, rank_searches


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
def test_address_of_a_page_is_cut_to_its_path(address: str | None, page: str | None) -> None:
    assert page_of(address) == page


def test_searches_without_a_click_come_first_then_frequent_ones() -> None:
    rows = [Search("a b", 9, 9), Search("b c", 1, 0), Search("c d", 5, 0), Search("d e", 30, None)]
    assert [search.words for search in rank_searches(rows)] == ["c d", "b c", "d e", "a b"]

"""Rows of content gaps: their pages and their order."""

from __future__ import annotations

import pytest

from bot.visitors.model.gaps import GapRow, page_of, rank_searches


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
    rows = [
        GapRow("a b", events=9, unmet=0),
        GapRow("b c", events=1, unmet=1),
        GapRow("c d", events=5, unmet=5),
        GapRow("d e", events=30, unmet=None),
    ]
    assert [search.text for search in rank_searches(rows)] == ["c d", "b c", "d e", "a b"]

"""Rows of content gaps: their pages and their order."""

from __future__ import annotations

import pytest

from bot.visitors.content_gaps import Search, page_of, rank_searches


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


def test_what_found_no_click_comes_first_then_what_is_frequent() -> None:
    rows = [Search("a b", 9, 9), Search("b c", 1, 0), Search("c d", 5, 0), Search("d e", 30, None)]
    assert [each.words for each in rank_searches(rows)] == ["c d", "b c", "d e", "a b"]

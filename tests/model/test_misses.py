"""What readers wrote is masked before it is kept, and unfinished words of searches count with the whole."""

from __future__ import annotations

from time import process_time

import pytest

from bot.model.misses import Search, folded, masked, missed_first, page_of
from tests.growth import SIGNS, texts_of, too_slow


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("write to ana@example.com, or ben＠x.org", "write to [email], or [email]"),
        ("请联系ana@example.com谢谢", "[email]"),
        ("ana%40example.com", "[email]"),
        ("see https://x.example/a?token=1 now", "see [address] now"),
        ("www.example.com/me", "[address]"),
        ("from 10.0.0.17:8080?", "from [address]"),
        ("sk-proj-abc123DEF456ghi789", "[key]"),
        ("xoxb-123456789012-abcdefgh", "[key]"),
        ("AKIAIOSFODNN7EXAMPL2", "[key]"),
        ("550e8400-e29b-41d4-a716-446655440000", "[key]"),
        ("card 4111111111111111", "card [key]"),
        ("password: hunter2 fails", "password: [key] fails"),
        ("api_key=abc", "api_key:[key]"),
        ("a" * 64, "[key]"),
        ("Authorization: Bearer hunter two", "Authorization: Bearer [key] two"),
        ('{"password": "hunter2", "a": 1}', '{"password": "[key]", "a": 1}'),
        ("api_key = abc def", "api_key = [key] def"),
        ("password：hunter2", "password:[key]"),
        ("card 4111-1111-1111-1111", "card [key]"),
        ("from 2001:db8::8a2e:370:7334?", "from [address]"),
    ],
)
def test_addresses_emails_and_keys_are_masked(text: str, kept: str) -> None:
    assert masked(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        *("how to rotate an api key", "@acme/sdk", "OAuth2 client credentials", "error 429", "v2.10.3"),
        *("std::vector", "at 12:30:45", "bearer token", "a = b", "密码：a", "2026-10-01", "::"),
        *("/guides/install-the-2-sdk-for-python3", "getUnconfirmedDeliveryByIdentifier", "token", "?", ""),
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert masked(text) == text


def test_masking_is_never_slow() -> None:
    def seconds(text: str) -> float:
        began = process_time()
        masked(text)
        return process_time() - began

    for text_of in texts_of([*SIGNS, "key:", "a@", "://", "1.", "sk-a1", "%40", "= ", "key: ", "a:"]):
        assert (slow := too_slow(seconds, text_of, 0.05)) is None, slow


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

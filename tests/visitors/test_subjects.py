"""Two texts of readers are about one subject, or not."""

from __future__ import annotations

import pytest

from bot.visitors.model.subjects import find_subject, is_same_subject


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("rate limits", "How do I raise a rate limit?", True),
        ("webhooks", "Webhook", True),
        ("SSO", "Does single sign-on work with our identity provider?", True),
        ("saml", "sso", True),
        ("2FA", "two-factor authentication", True),
        ("keys", "How do I rotate an API key?", False),
        ("rotate keys", "export csv", False),
        ("the", "how do I", False),
        ("?!", "?!", False),
        ("料金プラン", "料金プラン", True),
    ],
)
def test_subjects_are_compared_by_the_stems_of_their_words(
    one: str, other: str, is_same: bool
) -> None:
    assert is_same_subject(find_subject(one), find_subject(other)) == is_same
    assert is_same_subject(find_subject(other), find_subject(one)) == is_same


def test_subject_stands_at_the_beginning_of_a_text() -> None:
    assert find_subject("word " * 1_000 + "quota") == find_subject("words")

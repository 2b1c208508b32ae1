"""Two texts of readers, or two requests, are about one subject, or not."""

from __future__ import annotations

import pytest

from bot.jobs.model.subjects import find_new_subject, find_subject, is_same_subject


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


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Add a page on SAML single sign-on", "Please write a guide about single sign-on", True),
        ("Could you document rate limits?", "Write a section about the rate limit", True),
        ("Add a quickstart", "Create a new quickstart guide", True),
        ("Add a page on keys", "Add a page on rotating keys", False),
        ("Add an example to the page on rate limits", "Explain retries", False),
        ("Fix the typo in single sign-on", "Write a guide about single sign-on", False),
        ("Shorten it", "Add it", False),
        ("Add page 2", "Write page 2", False),
    ],
)
def test_new_subjects_of_requests_are_compared_without_the_words_of_the_request(
    one: str, other: str, is_same: bool
) -> None:
    assert is_same_subject(find_new_subject(one), find_new_subject(other)) == is_same

"""Texts that leave lose keys, passwords and personal numbers, and nothing that a reader needs."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.masking import has_key, mask_text, redact_keys
from tests.growth import SIGNS, texts_of, too_slow
from tests.messages.anything import ANY_TEXT

KEYS = (
    "xoxb-582910437762-Kq7wLm2x",
    "xapp-1-A0B1C2-98765-fedcba",
    "xoxe.xoxp-1-Mi0yLTk4NzY",
    "mint_h8Kq2Lw9Zr5T",
    "github_pat_11AQZWSXE0hGfEdC",
    "ghp_9fK2mQ7xR4tW8zB1",
    "glpat-Zx8Kw2Rt5Yq9",
    "sk-proj-Zk8dQ2LmR7wT5xYv",
    "sk_live_51HqLyjWDarjtT1zdp7dc",
    "AKIAQ7ZK3MW9RT2LXB5C",
    "AIzaSyD9tZq3mX7wK1bV5nC8rL2pF6hJ4gT0yQe",
    "GOCSPX-k8Zq2Lw9Rt5YmX7w",
    "SG.k8Zq2Lw9Rt5Y.mX7wK1bV5nC8rL2p",
    "shpat_9fk2m7x4t8z1b6c3d5e0",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dBjftJeZ4CVPmB92K27u",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----",
)
IN_ADDRESSES = (
    "postgres://ana:k8Zq2Lw9@db.example/docs",
    "https://ci:Sommer2026@git.example/acme/docs.git",
    "https://hooks.slack.com/services/T01ZK3/B04MW9/q8Zr2Lw9Rt5YmX7wK1bV5nC8",
    "https://discord.com/api/webhooks/11872/q8Zr2Lw9Rt5YmX7w",
    "https://acme.webhook.office.com/webhookb2/q8Zr2Lw9",
    "https://a.example/export?token=k8Zq2Lw9",
    "http://127.0.0.1:8800/response/k8Zq2Lw9Rt5YmX7w",
)
NUMBERS = ("4539 1488 0343 6467", "5425233430109903", "DE89 3704 0044 0532 0130 00")
SECRETS = (*KEYS, *IN_ADDRESSES, *NUMBERS)
WORDS = (
    *(
        "/docs-agent",
        "mint.json",
        "task-runner",
        "sk-learn",
        "sk-learn2",
        "npm_config_cache",
        "A guide to API keys",
    ),
    *(
        "the password is required",
        "Unknown key: colours",
        "Unexpected token = in line 12",
        "bearer token",
        "the secret: step3",
    ),
    *(
        "see https://acme.slack.com/archives/C0123ABC/p1700000000123456",
        "ask ana@example.com",
        "10.0.0.17",
    ),
    *(
        "2026-11-24 2026-11-25",
        "pages 1000 2000 3000 4001",
        "v2.10.3",
        "12:30:45",
        "1, 2, 3",
        "007",
    ),
    *("build 20261124", "guides/rotating-keys.mdx:12:34: expected }", "Took 1234 ms, 56 pages"),
)
"""What a prompt, a thread or a build's log has, and has to keep."""


ORDINARY = (
    *("how to rotate an api key", "@acme/sdk", "OAuth2 client credentials", "error 429", "v2.10.3"),
    *("std::vector", "at 12:30:45", "bearer token", "a = b", "密码：a", "2026-10-01", "::"),
    *(
        "/guides/install-the-2-sdk-for-python3",
        "getUnconfirmedDeliveryByIdentifier",
        "token",
        "?",
        "",
    ),
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *((text, text) for text in ORDINARY),
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
        ("card 4111111111111111", "card [number]"),
        ("password: hunter2 fails", "password: [key] fails"),
        ("api_key=abc", "api_key=[key]"),
        ("a" * 64, "[key]"),
        ("Authorization: Bearer hunter two", "Authorization: Bearer [key] two"),
        ('{"password": "hunter2", "a": 1}', '{"password": "[key]", "a": 1}'),
        ("api_key = abc def", "api_key = [key] def"),
        ("password：hunter2", "password：[key]"),
        ("card 4111-1111-1111-1111", "card [number]"),
        ("card 9012 3456 7890 1238", "card [number]"),
        ("from 2001:db8::8a2e:370:7334?", "from [address]"),
    ],
)
def test_texts_of_readers_lose_addresses_emails_and_keys(text: str, kept: str) -> None:
    assert mask_text(text, is_readers=True) == kept


def test_masking_is_never_slow() -> None:
    def seconds(text: str) -> float:
        began = process_time()
        mask_text(text)
        mask_text(text, is_readers=True)
        has_key(text)
        return process_time() - began

    parts = (
        "key:",
        "a@",
        "://",
        "1.",
        "sk-a1",
        "%40",
        "= ",
        "key: ",
        "a:",
        "+1 ",
        "1 ",
        "GB82 ",
        "eyJ",
    )
    for text_of in texts_of(
        [*SIGNS, *parts, "password is ", "https://http://", "-----BEGIN PRIVATE KEY-----"]
    ):
        assert (slow := too_slow(seconds, text_of, 0.05)) is None, slow


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "around", ["{}", "use {} here", "TOKEN={}", "a/{}/b", '{{"a": "{}"}}', "x:{}."]
)
def test_known_keys_are_masked_anywhere_in_a_text(key: str, around: str) -> None:
    text = around.format(key)
    for safe in (redact_keys(text), mask_text(text), mask_text(text, is_readers=True)):
        assert not [part for part in key.splitlines() if part in safe], safe


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *((text, text) for text in WORDS),
        ("card 4111 1111 1111 1111.", "card [number]."),
        ("card 3782 822463 10005", "card [number]"),
        ("call +49 30 1234 5678", "call [number]"),
        ("call 0049 (30) 12345678 now", "call [number] now"),
        ("call 030 / 1234 5678", "call [number]"),
        ("call (555) 123-4567", "call [number]"),
        ("call 1-800-555-0199", "call [number]"),
        ("call 01 23 45 67 89", "call [number]"),
        ("IBAN DE89 3704 0044 0532 0130 00 and more", "IBAN [number] and more"),
        ("IBAN GB82WEST12345698765432", "IBAN [number]"),
        ("password is hunter2", "password is [key]"),
        ("Passwort: geheim", "Passwort: [key]"),
        ("token: k8Zq2Lw9", "token: [key]"),
        ("postgres://ana:pass@host/db", "postgres://[key]@host/db"),
        ("get https://a.example/b?sig=k8Zq&c=d", "get https://a.example/b?sig=[key]&c=d"),
        ("https://hooks.slack.com/services/T0/B0/k8Zq", "https://hooks.slack.com/[key]"),
    ],
)
def test_texts_lose_secrets_and_numbers(text: str, kept: str) -> None:
    assert mask_text(text) == kept


NO_KEYS = (
    *("ghp_xxxxxxxxxxxxxxxxxxxx", "xoxb-your-token", "AKIAIOSFODNN7EXAMPLE", "API_KEY=YOUR_KEY_1"),
    *(
        "sk_test_1234567890abcdef",
        "password: secret",
        "Say that `token: 3600` is seconds",
        "key: 12345678",
    ),
    "Document the header `Authorization: Bearer TOKEN`",
    "postgres://user:password@localhost/docs",
    "postgres://postgres:postgres@db/docs",
    "https://$USER:$TOKEN@git.example/acme/docs",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "https://docs.example/reference/commands/deploy?key=pricing",
    "https://github.com/acme/docs/actions/runs/1187221",
    "Show the card 4242 4242 4242 4242, or 378282246310005",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "as of commit 9f1c2b7de04a5836e2c19d7fa0b4c3e58d6f7a21",
    "in docs/guides/GettingStarted/ApiV2/Install1",
)


NAMED_KEYS = ("password is hunter2", "api_key=k8Zq2Lw9", "the secret: k8Zq2Lw9", "Bearer: k8Zq2Lw9")


@pytest.mark.parametrize("text", [*SECRETS, *NAMED_KEYS, *NO_KEYS, *WORDS])
def test_prompts_have_a_key_unless_it_is_made_up(text: str) -> None:
    assert has_key(text) is (text in (*SECRETS, *NAMED_KEYS))


@pytest.mark.parametrize("text", [*SECRETS, *NAMED_KEYS])
def test_what_is_asked_about_is_masked_and_hidden_from_logs_too(text: str) -> None:
    for safe in (redact_keys(text), mask_text(text), mask_text(text, is_readers=True)):
        assert safe != text
        assert not has_key(safe)


def test_random_secrets_are_found_nearly_always() -> None:
    """A secret access key of AWS has 40 characters, a key of Google 39."""
    chance = random.Random(4)
    letters = string.ascii_letters + string.digits

    def missed(make: Callable[[], str]) -> int:
        texts = [f"Use {make()} for the upload" for _ in range(1_000)]
        return sum(not has_key(text) for text in texts)

    assert missed(lambda: "".join(chance.choices(f"{letters}/+", k=40))) <= 40
    assert missed(lambda: f"AIza{''.join(chance.choices(f'{letters}-_', k=35))}") <= 10


@given(ANY_TEXT)
def test_masking_any_text_twice_changes_nothing(text: str) -> None:
    has_key(text)
    for once in (redact_keys(text), mask_text(text), mask_text(text, is_readers=True)):
        assert redact_keys(once) == once


@given(st.sampled_from(KEYS), st.text(st.sampled_from(" \n,.:;()[]{}<>\"'=/@|"), max_size=5))
def test_key_between_any_signs_is_masked(key: str, sign: str) -> None:
    assert not [
        part for part in key.splitlines() if part in redact_keys(f"a{sign or ' '}{key}{sign}b")
    ]

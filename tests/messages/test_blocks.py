"""Blocks and their texts: lengths, escapes and hidden characters."""

from __future__ import annotations

import sys
import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.messages import blocks as b
from bot.messages.plain_text import clip, visible
from bot.messages.slack_text import is_blank
from bot.visitors.messages.answers import build_chart, build_page_table
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts
from tests.messages.slack_limits import is_hiding
from tests.visitors.visitor_samples import page

FAMILY = "👩‍👩‍👧‍👧"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
TEXAS = "\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f"
EMOJI_PARTS = "👩🏽🚀❤🏴1#\u200d\ufe0e\ufe0f\u20e3\U000e0067\U000e0062\U000e007f\U000e0101"


@pytest.mark.parametrize(
    ("text", "length", "clipped"),
    [
        ("short", 5, "short"),
        ("a long one", 7, "a long…"),
        (f"ab{FAMILY}cd", 6, "ab…"),
        ("ne\u0301e\u0301", 4, "ne\u0301…"),
        ("ab👍🏽c", 4, "ab…"),
        ("a🇩🇪🇫🇷b", 5, "a🇩🇪…"),
        ("a🇩🇪🇫🇷", 3, "a…"),
    ],
)
def test_clipped_text_ends_between_signs(text: str, length: int, clipped: str) -> None:
    assert clip(text, length) == clipped


@given(st.text(), st.integers(1, 50))
def test_clipped_text_is_never_too_long(text: str, length: int) -> None:
    assert len(clip(text, length)) <= length


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x1b[31m", "a\ufffdb\ufffd[31m"),
        ("gpj.\u202eexe", "gpj.\ufffdexe"),
        ("one\r\ntwo\rthree\tfour", "one\ntwo\nthree\tfour"),
        ("half \ud83d", "half \ufffd"),
        ("hid\U000e0061\U000e0062den", "hid\ufffd\ufffdden"),
        (f"flag {ENGLAND}", f"flag {ENGLAND}"),
        (f"flag \U0001f3f4{TEXAS}", "flag \U0001f3f4" + "\ufffd" * len(TEXAS)),
        (FAMILY, FAMILY),
        (
            "👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3",
            "👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3",
        ),
        ("soft\u00adly ze\u200bro j\u200doin \ufeffmark \u200eleft", "softly zero join mark left"),
        ("a\ufe0fb\U000e0101👍\u200d", "ab👍"),
        ("\u2066isolated\u2069", "\ufffdisolated\ufffd"),
        ("Z" + "\u0300" * 50 + "a\u0301\u0323", "Z" + "\u0300" * 4 + "a\u0301\u0323"),
        ("ש\u05c1\u05bc\u05b8", "ש\u05c1\u05bc\u05b8"),
    ],
)
def test_hidden_characters_become_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


@given(
    st.text(
        st.one_of(st.characters(), st.characters(categories=["Cf"]), st.sampled_from(EMOJI_PARTS))
    )
)
def test_visible_text_hides_nothing(text: str) -> None:
    shown_text = visible(text)
    assert not is_hiding(shown_text)
    assert visible(shown_text) == shown_text
    assert is_blank(text) or shown_text.strip()


def test_visible_text_has_no_format_character() -> None:
    formats = [
        sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(sign) == "Cf"
    ]
    assert len(formats) > 150
    assert [sign for sign in formats if sign in visible(f"a{sign}b")] == []


def test_markup_of_others_pings_and_links_nowhere() -> None:
    escaped = "&lt;!channel&gt; &lt;@U1&gt; &amp; &lt;https://a|b&gt;"
    assert b.escape("<!channel> <@U1> & <https://a|b>") == escaped
    link = b.link("https://a.example/?b=1&c=|x>y", "a > b")
    assert link == "<https://a.example/?b=1&amp;c=%7Cx%3Ey|a &gt; b>"
    assert b.link("https://a.example/`", "View") == "<https://a.example/%60|View>", (
        "else code would begin"
    )


def test_mrkdwn_is_not_clipped_inside_an_entity_or_a_mention() -> None:
    assert b.clip_mrkdwn("a &lt;b", 5) == "a…"
    assert b.clip_mrkdwn("see <@U0ANA> there", 9) == "see…"


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        "slack://open",
        "https://",
        "//a.example",
        "https://a b.example",
        "https://good.example@evil.example",
        "https://evil.example\\.good.example",
        "https://[broken",
        "http://a.example/pull/7",
        "https://a%2eexample/",
        "https://a.example:99999/",
        "https://fa\u00df.example/",
        "https://a\u3002example/",
        "https://a.example/" + "x" * 3_000,
    ],
)
def test_other_addresses_are_no_links(url: str | None) -> None:
    assert b.web_address(url) is None
    assert b.link(url, "there") == "there"
    for host in ("localhost:8800", "127.0.0.1", "127.4.5.6:1", "[::1]:80"):
        assert b.web_address(f"http://{host}/pull/1") == f"http://{host}/pull/1", (
            "this machine is linked to"
        )


def test_host_is_shown_in_ascii() -> None:
    assert b.web_address("https://g\u0456thub.com/a") == "https://xn--gthub-n2e.com/a"
    assert (
        b.host_of(b.web_address("https://g\u0456thub.com:8443/a") or "") == "xn--gthub-n2e.com:8443"
    )
    assert b.host_of("https://USER.github.com/pull/1") == "user.github.com"
    long = b.host_of(f"https://github.com.{'a' * 60}.evil.example/")
    assert long.startswith("…")
    assert long.endswith(".evil.example")
    assert len(f"Pull request #12345678 · {long}") <= b.MAX_BUTTON_CHARACTERS


def test_address_on_a_host_not_allowed_is_plain_text() -> None:
    allowed = {"github.com", "xn--gthub-n2e.com"}
    good = "https://github.com/a/b/pull/1", "https://GitHub.com:443/", "https://g\u0456thub.com/"
    for address in (*good, "odd", None):
        assert b.clean_url(address, allowed) == address
        assert b.clean_url(address, ()) == address
    assert b.clean_url("https://evil.example/pull/1", allowed) == "evil.example/pull/1"
    assert b.web_address(b.clean_url("https://https://evil.example/github.com", allowed)) is None
    assert b.web_address(b.clean_url("https://github.com.evil.example/", allowed)) is None


def test_text_and_plain_form_have_the_words_of_the_blocks() -> None:
    """Notifications have the text alone, and the plain form replaces refused blocks."""
    url = "https://code.example/pull/7"
    buttons = [
        b.button("Pull request #7", b.Action.VIEW_PULL_REQUEST, "1", url=url),
        b.button("Run again", b.Action.RUN_AGAIN, "1"),
    ]
    points = [(Period(date(2026, 10, 26), date(2026, 10, 27)), Counts(10, 20, 25))]
    message = b.message(
        b.section("*Done*"),
        b.quote("Add <b>"),
        build_chart(points),
        build_page_table("Top 1 of 2 pages", [page("/a`b", (1, 2, 30), (0, 0, 1))]),
        b.section("Look at it:"),
        *b.actions(buttons),
        b.context("Approximate", "Taken now"),
    )
    assert message.text.splitlines() == [
        "*Done*",
        "Add &lt;b&gt;",
        "Unique visitors by day: Mon 26 Oct People 10, AI agents 20, Total 25.",
        "*Top 1 of 2 pages*",
        "1. `/a'b` Total 30 · People 1 · AI agents 2",
        f"Look at it: <{url}|Pull request #7>",
        "Approximate",
        "Taken now",
    ]
    *sections, row = message.plain_blocks
    assert "".join(section["text"]["text"] for section in sections) == message.text
    assert row["elements"] == buttons[1:]


@given(
    st.lists(st.sampled_from(["&amp;", "&lt;", "<@U1>", "word ", "日本"]), max_size=3_000).map(
        "".join
    )
)
def test_plain_sections_keep_entities_and_words_whole(mrkdwn: str) -> None:
    parts = [block["text"]["text"] for block in b.text_blocks(mrkdwn)]
    if len(mrkdwn) <= 11_500:
        assert "".join(parts) == mrkdwn
    for part in parts:
        assert part.count("<") == part.count(">")
        assert part.count("&") == part.count(";")

"""Slack's wire text, read as a person reads it."""

from __future__ import annotations

import pytest

from bot.ids import ChannelId
from bot.messages import slack_text
from tests.builders import ANA, BEN

USERS = {ANA: "ana", BEN: "Ben"}
CHANNELS = {ChannelId("C0DOCS"): "docs"}


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("see <https://acme.example/a?b=1&amp;c=2>", "see https://acme.example/a?b=1&c=2"),
        (
            "see <https://acme.example/guide|the guide>",
            "see the guide (https://acme.example/guide)",
        ),
        ("fix <http://README.md|README.md>", "fix README.md"),
        ("see <https://acme.example/a|acme.example/a>", "see https://acme.example/a"),
        ("see <http://acme.example/|acme.example>", "see acme.example"),
        ("write to <mailto:ana@acme.example|ana@acme.example>", "write to ana@acme.example"),
        ("ask <@U0ANA> in <#C0DOCS>", "ask @ana in #docs"),
        ("ask <@U0ANA|anna> in <#C0DOCS|handbook>", "ask @anna in #docs"),
        ("ask <@U9NEW> in <#C9NEW|>", "ask @U9NEW in #C9NEW"),
        (
            "for <!subteam^S1|@writers>, <!subteam^S2> and <!here>",
            "for @writers, a group and @here",
        ),
        ("for <!channel|channel>", "for @channel"),
        ("by <!date^1793610000^{date}|2 November>", "by 2 November"),
        ("`if (a < b && c > d)`", "`if (a < b && c > d)`"),
        ("`List<Job>` and <br> and <!doctype html>", "`List<Job>` and <br> and <!doctype html>"),
        ("&lt;@U0ANA&gt;", "<@U0ANA>"),
        ("*bold* _and_ ~so~ on\n• one", "*bold* _and_ ~so~ on\n• one"),
    ],
)
def test_entities_become_words(raw: str, plain: str) -> None:
    assert slack_text.to_plain(raw, USERS, CHANNELS) == plain


MENTION = "<@U0ANA>"


@pytest.mark.parametrize(
    ("raw", "is_mentioned"),
    [
        (f"{MENTION} add a page", True),
        (f"&gt; the page is wrong\n{MENTION} fix it", True),
        (f"it`s wrong {MENTION} it`s 60", True),
        (f"`code` {MENTION} `code`", True),
        (f"```code``` {MENTION}", True),
        (f"&gt; {MENTION} add a page\nis it merged?", False),
        (f"&gt;&gt;&gt; he said\n{MENTION} add a page", False),
        (f"type `{MENTION} add a page`", False),
        (f"```\n{MENTION} add\n``` and ```{MENTION}", False),
        ("<@U0ANAB> add a page", False),
    ],
)
def test_mention_counts_outside_of_quotes_and_code(raw: str, is_mentioned: bool) -> None:
    assert slack_text.mentions(raw, ANA) is is_mentioned


def test_missing_names_are_looked_up_in_the_order_of_the_text() -> None:
    needed = slack_text.unresolved_names(
        "<@U0ANA> <@U0BEN|Ben> <#C0DOCS> <#C1|there> &lt;@U0EVE&gt;", 20
    )
    assert needed == slack_text.UnresolvedNames(
        frozenset({ANA}), {ChannelId("C0DOCS"): "", ChannelId("C1"): "there"}
    )
    assert slack_text.unresolved_names("<!subteam^S1> <!subteam^S2|@writers>", 20).has_groups
    assert not slack_text.unresolved_names("<!subteam^S2|@writers>", 20).has_groups
    first_two = slack_text.unresolved_names("<@U0BEN> <#C0DOCS> <@U0BEN> <@U0ANA>", 2)
    assert first_two == slack_text.UnresolvedNames(frozenset({BEN}), {ChannelId("C0DOCS"): ""})


def test_only_texts_that_show_nothing_are_blank() -> None:
    blank = ["", " \n\t", "\u200b\u2060\ufeff", "\u3000\u00a0", "\u2800", "\u3164\ufe0f", "\x00"]
    shown = ["a", "\u200b.\u200b", "👍"]
    assert [text for text in blank + shown if slack_text.is_blank(text)] == blank

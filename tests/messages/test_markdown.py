"""Markdown from outside: what is written again is safe, keeps its words, and can be read aloud."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.messages.links import ANY_SITE, Site
from bot.messages.markdown import format_for_speech, is_blank, parse, to_mrkdwn, write
from bot.messages.quotations import Quotation, QuoteSource
from tests.messages.slack_limits import NOBODY, problems_in

DOCS = Site.of(["https://docs.example/keys", "limits"], "https://github.com/acme/docs")
END = "*See the pages for the rest.*"
PIECES = st.sampled_from(
    (
        *(
            "*",
            "**",
            "_",
            "`",
            "```",
            "~~",
            "#",
            "> ",
            "- ",
            "1. ",
            "\n",
            "\n\n",
            "    ",
            "|",
            "---",
        ),
        *("[", "]", "(", ")", "![", "](", "<", ">", "\\", "&", "&colon;", "&#58;", "!", ":", "="),
        *("https://evil.example/x", "HTTPS://evil.example", "//evil.example", "www.evil.example"),
        *("https://docs.example/keys", "https://docs.example@evil.example", "javascript:alert(1)"),
        *("<!channel>", "<@U1>", "<b>", "[1]: https://evil.example\n", "| a | b |\n|---|---|\n"),
        *("word", " ", "é", "e\u0301", "\u200b", "\u202e", "\U0001f600", "\x85", "\u2028"),
    )
)
ANY_MARKDOWN = st.lists(PIECES, max_size=40).map("".join)


def full_parser() -> MarkdownIt:
    """Return a parser of what Slack's Markdown may be, with HTML."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def parts_of(markdown: str) -> list[SyntaxTreeNode]:
    """Return the parts of a Markdown text."""
    return list(SyntaxTreeNode(full_parser().parse(markdown)).walk())


def is_in_link(part: SyntaxTreeNode) -> bool:
    """Return whether a part belongs to the label of a link."""
    return part.parent is not None and (part.parent.type == "link" or is_in_link(part.parent))


def rewritten(source: str, site: Site = DOCS) -> str:
    """Return a text as it is posted."""
    return write(parse(source, site), 3_000, end=END)


@given(ANY_MARKDOWN)
def test_any_markdown_links_to_the_docs_only(source: str) -> None:
    markdown = rewritten(source)
    for part in parts_of(markdown):
        assert part.type not in ("image", "html_inline", "html_block")
        if part.type == "link":
            assert str(part.attrs["href"]).startswith("https://docs.example/")
    texts = [part for part in parts_of(markdown) if part.type == "text" and not is_in_link(part)]
    addresses = re.findall(r"(?i)(?:://|www\.)\S*", "".join(part.content for part in texts))
    assert not [address for address in addresses if "evil.example" in address]
    assert not re.search("<[@!#]", markdown)


@given(ANY_MARKDOWN)
def test_any_markdown_keeps_its_meaning_when_it_is_written_again(source: str) -> None:
    tree = parse(source, DOCS)
    again = parse(write(tree, 3_000, end=END), ANY_SITE)
    assert words_of(format_for_speech(again)) == words_of(format_for_speech(tree))


def words_of(text: str) -> list[str]:
    """Return the words of a text; a mention that cannot be one is written with another sign."""
    return text.replace("&lt;@", "‹@").replace("&lt;!", "‹!").split()


@given(ANY_MARKDOWN)
def test_any_markdown_is_harmless_in_text_and_plain_blocks(source: str) -> None:
    tree = parse(source, Site())
    for text in (format_for_speech(tree), to_mrkdwn(tree)):
        assert problems_in(text or "…", NOBODY) == []


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("# Keys\n\nOpen **Settings**.", "# Keys\n\nOpen **Settings**."),
        ("- a\n- b\n  - c", "- a\n- b\n  - c"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("> a\n> b", "> a\n> b"),
        ("```py\nx = 1\n```", "```py\nx = 1\n```"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("Set `a|b` and snake_case", "Set `a|b` and snake\\_case"),
        ("[keys](/keys#new)", "[keys](https://docs.example/keys#new)"),
        ("See https://docs.example/keys.", "See [https://docs.example/keys](https://docs.example/keys)."),
        ("[code](https://github.com/acme/docs/pull/1)", "[code](https://github.com/acme/docs/pull/1)"),
        ("[code](https://github.com/acme/docs/../x)", "code (`github.com/acme/docs/../x`)"),
        ("[code](https://github.com/acme/docs-evil)", "code (`github.com/acme/docs-evil`)"),
        ("[a](https://evil.example)", "a (`evil.example`)"),
        ("[www.good.example](https://docs.example/)", "[`www.good.example` (docs.example)](https://docs.example/)"),
        ("![chart](https://docs.example/a.png)", "[chart](https://docs.example/a.png)"),
        ("!![x](https://docs.example/a)", "\\![x](https://docs.example/a)"),
        ("a\x85b\u2028c", "a\nb\nc"),
        ("<b>bold</b> & <!channel>", "\\<b\\>bold\\</b\\> \\& ‹!channel\\>"),
    ],
)  # fmt: skip
def test_markdown_is_written_again_from_safe_parts(source: str, written: str) -> None:
    assert rewritten(source) == written


def test_text_of_a_notification_has_no_marks() -> None:
    source = (
        "# Keys\n\nOpen **Settings** at 10:30 and `rotate`:\n\n| Plan | Keys |\n|---|---|\n"
        "| Pro | 5 |\n\n1. [Open](/keys)\n2. ~~Wait~~ *go*\n\n```sh\nrotate --key\n```\n\n> Note"
    )
    assert format_for_speech(parse(source, DOCS)).split("\n") == [
        "Keys",
        "Open Settings at 10:30 and rotate:",
        "Plan: Pro, Keys: 5.",
        "1. <https://docs.example/keys|Open>",
        "2. Wait go",
        "rotate --key",
        "Note",
    ]


def test_long_markdown_is_clipped_to_whole_parts() -> None:
    for source in (
        "```\n" + "rotate --key\n" * 400,
        "**bold** `code` [x](/keys)\n" * 300,
        "a" * 9_000,
    ):
        markdown = rewritten(source)
        assert 2_000 < len(markdown) <= 3_000
        assert markdown.endswith(f"\n\n{END}")
        kinds = {part.type for part in parts_of(markdown)}
        assert ("fence" in kinds) == source.startswith("```")


@pytest.mark.parametrize("source", ["", "\u200b\u2060", "***", "&nbsp;"])
def test_markdown_without_a_word_is_blank(source: str) -> None:
    assert is_blank(parse(source, DOCS))


@given(st.text() | ANY_MARKDOWN)
def test_nothing_ends_a_quotation(text: str) -> None:
    tree = SyntaxTreeNode(
        full_parser().parse(f"{Quotation(QuoteSource.EVIDENCE, text)}\n\nThe request")
    )
    assert tree.children[-1].type == "paragraph"
    assert tree.children[-1].children[0].content == "The request"
    assert {part.type for part in tree.children[:-1]} == {"blockquote"}

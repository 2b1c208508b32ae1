"""The one reading of a message: text, blocks, tables, forwarded messages, and files."""

from __future__ import annotations

from time import thread_time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.messages.slack_text import to_plain
from bot.ports import SharedFile
from bot.slack.block_text import MAX_CHARACTERS
from bot.slack.content import read_content
from tests.growth import too_slow

Json = dict[str, Any]
SHARED = {"is_share": True, "author_name": "Ben <b>", "text": "The page\nis wrong"}
HOSTED = {"name": "a.txt", "mimetype": "text/plain", "size": 10, "mode": "hosted"}
URL = "https://files.slack.com/files-pri/T1-F1/download/a.txt"


def rich(*parts: Json) -> Json:
    return {"type": "rich_text", "elements": list(parts)}


def line(*elements: Json | str, kind: str = "rich_text_section") -> Json:
    """Return a part of rich text; a string is an element of plain text."""
    whole = [{"type": "text", "text": each} if isinstance(each, str) else each for each in elements]
    return {"type": kind, "elements": whole}


def section(text: str, **more: Any) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def table(*rows: tuple[str, ...]) -> Json:
    return {
        "type": "table",
        "rows": [[{"type": "raw_text", "text": each} for each in row] for row in rows],
    }


def by_app(*blocks: Json, **more: Any) -> Json:
    return {"bot_id": "B0DESK", "text": "You have a notification", "blocks": list(blocks), **more}


def forward(*blocks: Json, **more: Any) -> Json:
    """Return a message with nothing but a forwarded one of an app."""
    attachment = {
        "is_share": True,
        "text": "",
        "message_blocks": [{"message": {"blocks": list(blocks)}}],
    }
    return {"text": "", "attachments": [attachment | more]}


LISTS = rich(
    line("Do ", {"type": "text", "text": "this", "style": {"code": True}}, ":\n"),
    {"type": "rich_text_list", "style": "bullet", "elements": [line("one"), line("a < b")]},
    {"type": "rich_text_list", "style": "bullet", "indent": 1, "elements": [line("two")]},
    {"type": "rich_text_list", "style": "ordered", "offset": 2, "elements": [line("three")]},
    line("said", "\nso", kind="rich_text_quote"),
    line("x = 1", kind="rich_text_preformatted"),
)
ENTITIES = rich(
    line(
        {"type": "user", "user_id": "U02BEN"},
        " in ",
        {"type": "channel", "channel_id": "C01DOCS"},
        ", ",
        {"type": "broadcast", "range": "here"},
        " see ",
        {"type": "link", "url": "https://a.example/x", "text": "the guide"},
        " ",
        {"type": "link", "url": "https://a.example"},
        " ",
        {"type": "emoji", "name": "tada"},
        {"type": "user", "user_id": "U1> <!channel"},
    )
)
CARDS = [
    {"type": "header", "text": {"type": "plain_text", "text": "Ticket <7>"}},
    section("*Limits*", fields=[{"type": "mrkdwn", "text": "Plan: free"}]),
    {"type": "divider"},
    {
        "type": "context",
        "elements": [{"type": "image", "alt_text": "logo"}, {"type": "mrkdwn", "text": "by Ana"}],
    },
    {
        "type": "actions",
        "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Close"}}],
    },
    {"type": "markdown", "text": "## Notes"},
    {
        "type": "carousel",
        "elements": [{"type": "card", "title": {"type": "plain_text", "text": "A card"}}],
    },
    {"type": "plan", "title": "The plan", "tasks": [{"task_id": "1", "title": "Read"}]},
    {"type": "of the future", "text": {"type": "mrkdwn", "text": "new"}},
]
CARDS_READ = "Ticket <7>\n*Limits*\nPlan: free\nby Ana\n## Notes\nA card\nThe plan\nRead\nnew"
FIELDS = {"title": "Alert", "text": "Limit hit", "fields": [{"title": "Plan", "value": "free"}]}
PREVIEW = {"title": "A web page", "text": "About", "from_url": "https://a.example"}


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        pytest.param({"text": "Fix *it*", "blocks": [rich(line("Fix it"))]}, "Fix *it*", id="composed"),
        pytest.param({"text": "", "blocks": [rich(line("Fix it"))]}, "Fix it", id="no text"),
        pytest.param(
            by_app(LISTS),
            "Do `this`:\n• one\n• a < b\n    • two\n3. three\n> said\n> so\n```\nx = 1\n```",
            id="lists, quotes and code",
        ),
        pytest.param(
            by_app(ENTITIES),
            "@U02BEN in #C01DOCS, @here see the guide (https://a.example/x) https://a.example :tada:",
            id="entities",
        ),
        pytest.param(by_app(*CARDS), CARDS_READ, id="sections, headers, fields and context"),
        pytest.param(by_app(), "You have a notification", id="an app's message without blocks"),
        pytest.param(by_app({"type": "divider"}), "You have a notification", id="blocks without words"),
        pytest.param(
            {"text": "", "bot_id": "B1", "attachments": [FIELDS, PREVIEW]},
            "Alert\nLimit hit\nPlan: free",
            id="an app's attachment",
        ),
        pytest.param(
            {"text": "", "bot_id": "B1", "attachments": [{"fallback": "In short"}]},
            "In short",
            id="an attachment's fallback",
        ),
        pytest.param({"text": "See it", "attachments": [PREVIEW]}, "See it", id="preview of a link"),
        pytest.param(
            {"text": "Add it", "attachments": [{"blocks": [table(("Plan", "Per min|ute"), ("Free", "60"))]}]},
            "Add it\n\n| Plan | Per min\\|ute |\n| Free | 60 |",
            id="a pasted table",
        ),
        pytest.param(
            {"text": "Add it", "blocks": [rich(line("Add it")), table(("Plan",), ("Free",))]},
            "Add it\n| Plan |\n| Free |",
            id="a table among the blocks",
        ),
        pytest.param(
            by_app({"type": "data_table", "caption": "Top", "rows": [[{"type": "raw_number", "value": 9}]]}),
            "Top\n| 9 |",
            id="numbers",
        ),
        pytest.param(
            by_app({"type": "table", "rows": [[rich(line("a\nb")), {"type": "raw_text", "text": "c"}]]}),
            "| a b | c |",
            id="cells of rich text",
        ),
        pytest.param(
            {"text": "Fix this", "attachments": [SHARED]},
            "Fix this\n\nForwarded from “Ben <b>”:\n> The page\n> is wrong",
            id="forwarded",
        ),
        pytest.param(
            forward(section("It is 100"), table(("a", "b"))),
            "Forwarded from “somebody”:\n> It is 100\n> | a | b |",
            id="an app's message, forwarded",
        ),
    ],
)  # fmt: skip
def test_text_has_what_a_person_sees(message: Json, seen: str) -> None:
    assert to_plain(read_content(message).text, {}, {}) == seen


PICTURE = {"type": "image", "title": {"type": "plain_text", "text": "The `old` page"}}
CHART = {"type": "data_visualization", "title": "Visits"}


@pytest.mark.parametrize(
    ("message", "omitted_parts"),
    [
        (by_app(section("Look"), PICTURE, CHART), ("image: The `old` page", "chart: Visits")),
        (by_app({"type": "video", "alt_text": "Demo"}, CHART, CHART), ("video: Demo", "chart: Visits")),
        (forward(section("Look"), CHART), ("chart: Visits",)),
        ({"text": "", "bot_id": "B1", "attachments": [FIELDS | {"image_url": URL}]}, ("image",)),
        ({"text": "a" * (MAX_CHARACTERS + 1)}, ("the end of the text",)),
        (by_app(*[section("a" * 3_000)] * 14), ("the end of the text",)),
        ({"text": "", "files": [HOSTED] * 23}, ("3 of the files",)),
        (by_app(section("Look"), {"type": "divider"}), ()),
    ],
)  # fmt: skip
def test_parts_that_cannot_be_read_are_named(message: Json, omitted_parts: tuple[str, ...]) -> None:
    content = read_content(message)
    assert content.omitted_parts == omitted_parts
    assert len(content.text) <= MAX_CHARACTERS


@pytest.mark.parametrize(
    ("values", "is_text", "url"),
    [
        ({"url_private_download": URL}, True, URL),
        ({"url_private": URL, "mode": "snippet", "mimetype": "application/x-sql"}, True, URL),
        ({"url_private": URL, "mimetype": "image/png"}, False, URL),
        ({"url_private": URL, "mode": "external", "is_external": True}, True, None),
        ({"url_private": URL, "file_access": "check_file_info"}, True, None),
        ({"url_private": URL, "mode": "tombstone"}, True, None),
        ({}, True, None),
    ],
)
def test_file_has_its_type_and_its_address(values: Json, is_text: bool, url: str | None) -> None:
    file = SharedFile("a.txt", 10, is_text, url)
    assert read_content({"text": "", "files": [HOSTED | values]}).files == (file,)
    assert read_content({"attachments": [SHARED | {"files": [HOSTED | values]}]}).files == (file,)


KEYS = [
    *("text", "files", "attachments", "is_share", "message_blocks", "message", "blocks", "elements"),
    *("type", "rows", "fields", "title", "style", "indent", "offset", "value", "bot_id", "url", "size"),
]  # fmt: skip
KINDS = [
    *("rich_text", "rich_text_list", "rich_text_section", "text", "link", "user", "section", "mrkdwn"),
    *("table", "raw_number", "image", "ordered", "plan", "markdown", "actions"),
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.sampled_from(KINDS),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inside, max_size=5)
    ),
)  # fmt: skip


@example(message={"text": "Fix this", "attachments": [{**SHARED, "text": "word " * 10_000}] * 2})
@given(message=st.dictionaries(st.sampled_from(KEYS), JSON))
def test_message_of_any_shape_is_no_error(message: Json) -> None:
    content = read_content(message)
    assert len(content.text) <= MAX_CHARACTERS
    assert to_plain(content.text, {}, {}) is not None


def test_blocks_within_blocks_are_read_to_a_depth() -> None:
    block = section("deep")
    for _ in range(2_000):
        block = {"type": "container", "child_blocks": [block]}
    assert read_content(by_app(section("shown"), block)).text == "shown"


def seconds_for(text: str) -> float:
    """Return the processor time of reading as many parts as a text has characters."""
    elements = [{"type": "text", "text": ""}] * len(text)
    parts = [line(*elements[:10])] * (len(text) // 10)
    message = by_app(rich(*parts), rich(line(*elements)), attachments=[PREVIEW] * len(text))
    began = thread_time()
    read_content(message)
    return thread_time() - began


def test_reading_takes_time_in_proportion_to_the_message() -> None:
    assert too_slow(seconds_for, lambda length: "a" * length, 0.02) is None

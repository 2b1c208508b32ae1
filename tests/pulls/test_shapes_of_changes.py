"""Patches of every shape in the view of *Changes*."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.workspace.blocks import view_complaints
from tests.services import LINK, changed_file
from tests.talk import Talk
from tests.talk_people import Shown

NO_NEWLINE = "\\ No newline at end of file"
PATCHES = {
    "a word": "@@ -3,3 +3,3 @@ intro\n Before\n-Use the old key.\n+Use the new key.\n After",
    "no newline at the end": f"@@ -1 +1 @@\n-Old\n{NO_NEWLINE}\n+New\n{NO_NEWLINE}",
    "CRLF": "@@ -1,2 +1,2 @@\n-One line\r\n+One long line\r\n Kept\r",
    "line ends alone": "@@ -1,2 +1,2 @@\n-One line\r\n-Two\r\n+One line\n+Two",
    "right to left": "@@ -1 +1 @@\n-שלום \u202eעולם\n+שלום לכולם \u2067x\u2069",
    "marks upon marks": "@@ -1 +1 @@\n-Z" + "\u0301" * 60 + "\n+Z",
    "a ping": "@@ -1 +1 @@\n-<@U0ANA>\n+<!channel> <!here|here> @everyone",
    "a forged link": "@@ -1 +1 @@\n-x\n+<https://evil.example|github.com> [a](javascript:x)",
    "a table": "@@ -1,3 +1,4 @@\n | Plan | A |\n |---|---|\n-| Free | 60 |\n+| Free | 100 |\n+| Pro | 1k |",
    "front matter": "@@ -1,5 +1,5 @@\n ---\n-title: Old\n+title: New\n ---\n ",
    "code": "@@ -4,5 +4,6 @@\n ```sh\n-run a\n+run b\n+\n+run c\n ```\n ",
    "code that begins before": "@@ -9,3 +9,3 @@ def f():\n-a = 1\n+a = 2\n ```\n Words after.",
    "another language of code": "@@ -1,3 +1,3 @@\n-```js\n+```ts\n a()\n ```",
    "hidden signs": "@@ -1 +1 @@\n-a\u200bb\n+a\x00\x1b[31mb",
    "an emoji": "@@ -1 +1 @@\n-:tada: 🏳️‍🌈\n+:rocket: 👩‍👩‍👧",
    "a long line": "@@ -1 +1 @@\n-" + "word " * 4_000 + "\n+" + "word " * 3_999 + "end",
    "one word without end": "@@ -1 +1 @@\n-" + "x" * 50_000 + "\n+" + "y" * 50_000,
    "many hunks": "\n".join(f"@@ -{at} +{at} @@\n-Old {at}\n+New {at}" for at in range(400)),
    "a removed section": "@@ -1,4 +1 @@\n Kept\n-\n-## Gone\n-\n-Words.",
    "an added section": "@@ -1 +1,4 @@\n Kept\n+\n+## Here\n+\n+Words.",
    "moved text": "@@ -1,2 +1,2 @@\n-First\n Second\n+First",
    "blanks alone": "@@ -1,2 +1,3 @@\n-Words   here \n+Words here\n+",
    "fences without end": "@@ -1,3 +1,3 @@\n ```\n-```\n+~~~",
    "JSX": "@@ -1,3 +1,3 @@\n <Card title=\"A\">\n-  Text\n+  Other {`x`}\n </Card>",
    "texts with little in common": "@@ -1 +1 @@\n-One thing to say here\n+Something else entirely, here",
    "nothing": "",
    "a header alone": "@@ -1 +1 @@",
    "signs of a patch": "@@ -1 +1 @@\n-@@ -1 +1 @@\n+diff --git a/x b/x\n+--- a\n++++ b",
    "quotes of mrkdwn": "@@ -1 +1 @@\n-> *a* _b_ ~c~ `d`\n+> *a* _b_ ~e~ ```f```",
    "form feeds": "@@ -1 +1 @@\n-a\x0cb\u2028c\n+a\x0bb\u2029d",
}  # fmt: skip


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with a finished job and a readable pull request."""
    await talk.process.starts(github_token="github-token-of-talk")
    await talk.started()
    await talk.ends(pr_link=LINK)
    return talk


async def view_of(talk: Talk, *files: dict[str, Any]) -> Shown:
    """Let Ana open the changes of a pull request with these files, and read them."""
    talk.slack.state.views.clear()
    talk.github.files = list(files)
    await talk.ana.presses("Changes")
    return talk.ana.form()


def parts_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from parts_of(item)


def assert_harmless(view: Shown) -> None:
    sent = ("type", "title", "close", "blocks")
    assert view_complaints({name: view.message[name] for name in sent}) == []
    for part in parts_of(view.message["blocks"]):
        text = part.get("text")
        if part.get("type") == "mrkdwn":
            targets = re.findall("<([^|>]*)", part["text"])
            assert all(
                target.startswith(f"{LINK}/files#diff-") or target == LINK for target in targets
            ), text
        if isinstance(text, str):
            hidden = {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs")} - set(
                "\n\t"
            )
            assert not hidden
            assert not {"\u202e", "\u2067"} & set(text)


async def test_no_shape_of_a_patch_breaks_the_view_or_harms_its_reader(talk: Talk) -> None:
    paths = ("docs/page.md", "src/app.py", "docs/`<!channel>`|x.md", "a" * 3_000 + ".md")
    for patch in PATCHES.values():
        talk.time.is_set(minutes=2)  # beyond Slack's limit on opening views
        for path, status in zip(paths, ("modified", "added", "removed", "renamed"), strict=True):
            more = {"previous_filename": "<!here>"} if status == "renamed" else {}
            assert_harmless(await view_of(talk, changed_file(path, patch, status=status, **more)))
    talk.everything()


async def test_a_hundred_files_keep_within_slacks_limits(talk: Talk) -> None:
    talk.github.pull["changed_files"] = 300
    shapes = itertools.islice(itertools.cycle(PATCHES.values()), 100)
    view = await view_of(
        talk, *(changed_file(f"{at}.md", patch) for at, patch in enumerate(shapes))
    )
    assert_harmless(view)
    assert "Also:" in view
    view = await view_of(talk, *(changed_file(f"{at}.png", None) for at in range(100)))
    assert_harmless(view)
    assert "99.png" in view
    talk.everything()


@pytest.mark.parametrize(
    ("shape", "struck", "new"),
    [
        ("a word", ["old"], ["new"]),
        ("CRLF", [], ["long"]),
        ("line ends alone", [], []),
        ("blanks alone", [], []),
        ("front matter", ["Old"], ["New"]),
        ("a removed section", ["## Gone\n\nWords."], []),
        ("an added section", [], ["## Here", "Words."]),
        ("moved text", ["First"], ["First"]),
        (
            "texts with little in common",
            ["One thing to say here"],
            ["Something else entirely, here"],
        ),
        ("nothing", [], []),
    ],
)
async def test_changed_words_are_marked(
    talk: Talk, shape: str, struck: list[str], new: list[str]
) -> None:
    view = await view_of(talk, changed_file("docs/page.md", PATCHES[shape]))
    styled = [part for part in parts_of(view.message["blocks"]) if "style" in part]
    for text, style in ((struck, "strike"), (new, "bold")):
        assert [part["text"].strip() for part in styled if style in part["style"]] == text
    talk.everything()


async def test_code_has_whole_lines_with_signs(talk: Talk) -> None:
    view = await view_of(talk, changed_file("docs/page.md", PATCHES["code"]))
    assert "− run a\n+ run b\n+ \n+ run c" in view
    talk.everything()


@pytest.mark.parametrize(
    ("path", "patch", "title"),
    [
        ("docs/rate-limits.md", PATCHES["a word"], "Rate limits"),
        ("docs/x.mdx", '@@ -1,3 +1,3 @@\n ---\n-title: Old\n+title: "New one"\n ---', "New one"),
        ("docs/x.md", "@@ -0,0 +1,2 @@\n+# Heading\n+Words", "Heading"),
        ("docs/api_keys/index.md", "", "Api keys"),
        ("openapi.json", "@@ -1 +1 @@\n+# no title", "openapi.json"),
        ("README.md", "", "README"),
    ],
)
async def test_page_has_its_title_or_its_path(
    talk: Talk, path: str, patch: str, title: str
) -> None:
    view = await view_of(talk, changed_file(path, patch))
    assert f"|{title}>*" in view
    talk.everything()


@pytest.mark.parametrize(
    ("patch", "lines"),
    [
        ("@@ -1 +1 @@\n-a b\n+a c", 1),
        ("@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d", 2),
        ("@@ -1,4 +1,4 @@\n-a\n-b\n-c\n+d\n+e\n+f", 0),
        ("@@ -1 +1 @@\n-a\n+" + "b" * 200, 0),
        ("@@ -1,2 +1 @@\n-a\n-b\n+c", 0),
    ],
)
async def test_result_shows_a_few_short_lines(talk: Talk, patch: str, lines: int) -> None:
    talk.github.pushes("a")
    await talk.time.passes(minutes=11)
    talk.github.changes("ab", changed_file("a.md", patch))
    talk.github.pushes("b")
    await talk.ana.replies("Change it")
    await talk.time.passes(20)
    await talk.ends(pr_link=LINK)
    await talk.time.passes(90)
    assert talk.replies()[-1].count("A: ") == lines
    talk.everything()

"""The page that a pull request changes, and the words by which its live text is recognised."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answers.page_changes import (
    find_change,
    matches,
    may_be_at,
    paths_on_site,
    words_of,
)
from bot.pulls.model.changes import MAX_PATCH_LENGTH, ChangedFile

NEW = """@@ -0,0 +1,9 @@
+---
+title: "Single sign-on"
+description: A long description that stands in no published page at all, as far as anyone knows
+---
+
+## Before you start
+
+You need the **role** of an [administrator](/roles) of your `workspace`.
+```
+curl https://api.example/v1/sso --header "Authorization: Bearer a-very-long-key-that-is-code"
+```"""
LIVE = "## Before you start\n\nYou need the role of an administrator\nof your workspace."


def page(patch: str, path: str = "docs/sso.mdx", status: str = "modified") -> ChangedFile:
    added, removed = (
        sum(line.startswith(sign) for line in patch.splitlines()) for sign in ("+", "-")
    )
    return ChangedFile(path, status, added, removed, None, patch)


def is_live(text: str, *files: ChangedFile) -> bool:
    change = find_change(files)
    assert change is not None
    return matches(change, text)


def test_new_page_is_live_with_its_longest_line_of_prose() -> None:
    change = find_change([page(NEW, status="added")])
    assert change is not None
    assert (change.path, change.title) == ("docs/sso.mdx", "Single sign-on")
    assert change.required.strip() == "you need the role of an administrator of your workspace"
    assert matches(change, LIVE)
    assert not matches(change, LIVE.replace("role", "rights"))


@pytest.mark.parametrize(
    "text",
    [
        "You need the <b>role</b> of an <a href='/roles'>administrator</a> of your workspace.",
        "YOU NEED THE ROLE OF AN ADMINISTRATOR OF YOUR WORKSPACE",
        "> You need the *role* of an [administrator](https://docs.example/a b) of\n> your workspace",
    ],
)
def test_markup_and_case_make_no_difference(text: str) -> None:
    live = text if "](https" not in text else text.replace("(https://docs.example/a b)", "(/r)")
    assert is_live(live, page(NEW, status="added"))


def test_word_is_not_found_within_a_longer_one() -> None:
    patch = "@@ -3,0 +4 @@\n+Rotate the key"
    assert is_live("First rotate the key.", page(patch))
    assert not is_live("Rotate the keyboard.", page(patch))
    assert not is_live("Crotate the key.", page(patch))


def test_line_that_stood_on_the_page_before_tells_nothing() -> None:
    patch = """@@ -3,4 +3,4 @@
 Keys are valid for ninety days after they were made.
-Rotate them often.
+Keys are valid for ninety days after they were made.
+Rotate them weekly."""
    assert not is_live("Keys are valid for ninety days after they were made.", page(patch))
    assert is_live("… Rotate them weekly. …", page(patch))


def test_paragraph_that_is_only_wrapped_anew_tells_nothing() -> None:
    patch = """@@ -3,2 +3,2 @@
-Keys are valid
-for ninety days after they were made.
+Keys are valid for ninety days after they were made."""
    assert find_change([page(patch)]) is None


def test_page_that_loses_lines_is_live_when_all_of_them_are_missing() -> None:
    patch = """@@ -3,3 +3,1 @@
 Keys are valid for ninety days.
-They never expire in test mode.
-Ask the support for longer ones."""
    kept = "Keys are valid for ninety days."
    assert is_live(kept, page(patch))
    assert not is_live(f"{kept} They never expire in test mode.", page(patch))
    assert not is_live(f"{kept} Ask the support for longer ones.", page(patch))
    # Another page lacks the removed lines, too.
    assert not is_live("Something else.", page(patch))


def test_deleted_page_is_recognised_by_its_old_text() -> None:
    patch = "@@ -1,2 +0,0 @@\n-# Old keys\n-Keys of version one end in March."
    change = find_change([page(patch, status="removed")])
    assert change is not None
    assert change.is_removed
    assert matches(change, "# Old keys\n\nKeys of version one end in March.")


def test_new_page_goes_before_changed_ones_and_these_before_deleted_ones() -> None:
    deleted = page("@@ -1,2 +0,0 @@\n-# Old keys\n-Keys of version one end.", "a.md", "removed")
    changed = page("@@ -3,0 +3,3 @@\n+One more line here\n+And another one\n+And a third", "b.md")
    new = page("@@ -0,0 +1 @@\n+One line of a new page", "c.md", "added")
    assert [
        change.path for change in map(find_change, ([deleted], [changed], [new])) if change
    ] == [
        "a.md",
        "b.md",
        "c.md",
    ]
    for files, path in (([deleted, changed], "b.md"), ([new, changed, deleted], "c.md")):
        change = find_change(files)
        assert change is not None
        assert change.path == path


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "@@ -1 +1 @@\n-Yes\n+No",
        "@@ -1,3 +1,3 @@\n ---\n-title: An old title that is long\n+title: A new title that is long\n ---",
        "@@ -3,0 +3,3 @@\n+```\n+print('a long line of code')\n+```",
        "@@ -3,0 +3 @@\n+import { Card } from '/snippets/cards.mdx'",
        "@@ -3 +2,0 @@\n-A line that goes without any other beside it",
        "+\n+\n+",
        "\\ No newline at end of file",
    ],
)
def test_change_that_cannot_be_recognised_is_none(patch: str) -> None:
    assert find_change([page(patch)]) is None


def test_files_that_are_no_pages_are_passed_over() -> None:
    patch = "@@ -0,0 +1 @@\n+A long line that is added"
    others = [page(patch, path) for path in ("docs.json", "a.py", "img.svg", "md")]
    binary = ChangedFile("b.md", "added", 0, 0, None, None)
    assert find_change([*others, binary]) is None


def test_title_that_the_patch_does_not_show_may_be_given() -> None:
    changed = page("@@ -30,0 +31 @@\n+A line in the middle of the page", "docs/sso.mdx")
    named = find_change([changed], {"docs/sso.mdx": "Single sign-on"})
    assert named is not None
    assert named.title == "Single sign-on"


@pytest.mark.parametrize(
    ("path", "paths"),
    [
        ("keys.mdx", ("keys",)),
        ("docs/guides/keys.md", ("docs/guides/keys", "guides/keys", "keys")),
        ("docs/sdks/index.md", ("docs/sdks/index", "docs/sdks", "sdks/index", "sdks", "index")),
        ("a/b/c/d/e/f/g.md", ("a/b/c/d/e/f/g", "b/c/d/e/f/g", "c/d/e/f/g", "d/e/f/g", "e/f/g")),
    ],
)
def test_page_may_be_at_its_path_without_leading_folders(path: str, paths: tuple[str, ...]) -> None:
    assert paths_on_site(path) == paths


@pytest.mark.parametrize(
    ("address", "title", "may_be"),
    [
        ("https://docs.example/guides/sso?x=1#top", "", True),
        ("/guides/SSO/", "", True),
        ("auth/identity", "Single Sign-On", True),
        ("https://docs.example/auth", "", False),
        ("https://docs.example/sso/setup", "Setting it up", False),
        ("", "", False),
    ],
)
def test_page_is_known_by_its_name_or_its_title(address: str, title: str, may_be: bool) -> None:
    change = find_change([page(NEW, status="added")])
    assert change is not None
    assert may_be_at(change, address, title) is may_be


HOSTILE = st.text(alphabet="+- @<>[](){}`~|#\\_*ab\n\r\u2028\u0130\ud800\x00&;", max_size=300)


@settings(max_examples=300, deadline=None)
@given(HOSTILE, HOSTILE, st.sampled_from(["added", "modified", "removed", "renamed"]))
def test_any_patch_and_any_text_give_an_answer(patch: str, text: str, status: str) -> None:
    change = find_change([page(patch, status=status)])
    if change is None:
        return
    assert change.required == words_of(change.required)
    assert matches(change, text) in (True, False)
    if not change.is_removed and not change.forbidden:
        added = "\n".join(line[1:] for line in patch.split("\n") if line.startswith("+"))
        assert matches(change, added)


@pytest.mark.parametrize(
    "unit", ["<a", "](", "{", "@@ ", "+a ", "&amp", "`", "a\u0301", "-x\n+x\n"]
)
def test_work_on_long_patches_and_pages_is_bounded(unit: str) -> None:
    patch = "@@ -3 +3 @@\n+" + unit * (2 * MAX_PATCH_LENGTH)
    # Work that grows faster than the texts runs into the time limit of every test.
    change = find_change([page(patch)] * 100)
    if change is not None:
        assert matches(change, unit * 1_000_000) in (True, False)

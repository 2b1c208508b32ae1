"""The changes of an iteration in its result and in the view of *Changes*."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from tests.services import LINK, changed_file
from tests.talk import Talk
from tests.talk_people import Shown

LIMIT = changed_file("docs/rate-limits.md", "@@ -3 +3 @@\n-| Free | 60 | 5 |\n+| Free | 100 | 5 |")
UV = changed_file(
    "docs/quickstart.md", "@@ -9 +9,5 @@\n Install it.\n+Or:\n+\n+uv add acme\n+Done."
)


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation with a bot that can look at pull requests."""
    await talk.process.starts(github_token="github-token-of-talk")
    talk.github.pushes("a")
    return talk


async def ended(talk: Talk, prompt: str = "Add a quickstart") -> Shown:
    await talk.started(prompt)
    await talk.ends(pr_link=LINK)
    return talk.replies()[-1]


async def follow_up(talk: Talk, text: str, letter: str, **totals: int) -> Shown:
    """Follow up, let the agent push a commit, and read the end."""
    talk.github.pushes(letter, **totals)
    await talk.ana.replies(text)
    await talk.time.passes(20)
    await talk.ends(pr_link=LINK)
    await talk.time.passes(90)
    return talk.replies()[-1]


async def test_results_of_follow_ups_have_their_prompts_and_changes(talk: Talk) -> None:
    await ended(talk)
    talk.github.changes("ab", UV)
    talk.github.changes("bc", LIMIT)
    talk.github.changes("cd")
    first = await follow_up(
        talk, "Show how to install it with uv.\nAnd nothing else", "b", additions=50
    )
    second = await follow_up(talk, "Free has 100 requests a minute", "c", additions=51, deletions=2)
    third = await follow_up(talk, "Shorten the introduction", "d")
    assert "*Show how to install it with uv.* is done: <" in first
    assert "|PR #7>, +4 −0." in first
    assert "*Free has 100 requests a minute* is done" in second
    assert second.splitlines()[1].startswith("Rate limits: Free | ~60~ *100* | 5")
    assert "*Shorten the introduction* is done" in third
    assert ". Nothing changed in it." in third
    assert third.buttons == ["Review #7", "Changes", "Preview"]
    assert "+51 −2 in 2 files" in talk.status()
    talk.everything()


async def test_result_shows_the_lines_of_a_small_change(talk: Talk) -> None:
    talk.github.files = [LIMIT]
    talk.github.pushes("a", additions=1, deletions=1, changed_files=1)
    end = await ended(talk, "Fix the limit")
    assert ", +1 −1. Just reply to change it.\nRate limits: Free | ~60~ *100* | 5" in end
    files, title = talk.github.reads
    assert files == "/repos/acme/docs/pulls/7/files"
    assert title == "/repos/acme/docs/contents/docs/rate-limits.md"
    talk.status()


NEW = changed_file(
    "docs/sso.mdx",
    "@@ -0,0 +1,9 @@\n+---\n+title: Single <sign-on>\n+---\n+## Before you start\n+```\n+## no heading"
    "\n+```\n+## Steps ##\n+### Deeper",
    status="added",
)


async def test_end_of_a_new_page_has_its_title_and_headings(talk: Talk) -> None:
    menu = changed_file("docs/docs.json", "@@ -3 +3 @@\n+sso")
    talk.github.files = [menu, UV, NEW]
    end = await ended(talk)
    assert ":memo: New page <https://github.com/acme/docs/pull/7/files#diff-" in end
    assert "|Single &lt;sign-on&gt;>: Before you start · Steps. Just reply to change it." in end
    talk.everything()


async def test_short_follow_up_is_named_with_the_title_of_its_page(talk: Talk) -> None:
    talk.github.texts["docs/quickstart.md"] = "---\ntitle: 'Get started'\n---\n"
    await ended(talk)
    talk.github.changes("ab", UV)
    end = await follow_up(talk, "shorter", "b", additions=50)
    assert "|Get started>: changed after “shorter”, +4 −0." in end
    talk.everything()


async def test_page_whose_text_may_not_be_read_is_named_by_its_path(talk: Talk) -> None:
    await ended(talk)
    talk.github.changes("ab", UV)
    end = await follow_up(talk, "shorter", "b", additions=50)
    assert "|Quickstart>: changed after “shorter”, +4 −0." in end
    talk.everything()


async def test_changed_line_has_the_title_of_the_front_matter(talk: Talk) -> None:
    talk.github.texts["docs/rate-limits.md"] = "# Limits of use\n\nText"
    talk.github.files = [LIMIT]
    talk.github.pushes("a", additions=1, deletions=1, changed_files=1)
    assert "\nLimits of use: Free | ~60~ *100* | 5" in await ended(talk, "Fix the limit")
    talk.everything()


async def test_nothing_is_claimed_of_commits_that_were_not_compared(talk: Talk) -> None:
    await ended(talk)
    same_totals = await follow_up(talk, "30 seconds, not 60", "b")
    assert ", +46 −1 in all." in same_totals
    assert "Nothing changed" not in same_totals
    assert ", +49 −1 in all." in await follow_up(talk, "Rewrite it", "c", additions=49)
    talk.github.changes("cd", UV, status="diverged")
    assert ", +42 −1 in all." in await follow_up(talk, "Remove Node", "d", additions=42)
    talk.github.changes("de", *(changed_file(f"{at}.md", "@@ -1 +1 @@\n+a") for at in range(300)))
    assert ", +42 −1 in all." in await follow_up(talk, "Add words to all pages", "e")
    talk.everything()


async def test_late_commits_are_added_to_the_result(talk: Talk) -> None:
    await ended(talk)
    assert "Nothing changed in it." in await follow_up(talk, "Add uv", "a")
    talk.github.changes("ab", UV)
    talk.github.pushes("b", additions=50)
    await talk.time.passes(minutes=21)
    assert ", +4 −0." in talk.replies()[-1]
    talk.everything()


async def test_commits_polled_before_the_end_count_in_it(talk: Talk) -> None:
    await ended(talk)
    talk.github.changes("ab", UV)
    await talk.ana.replies("Show how to install it with uv")
    await talk.time.passes(20)
    talk.github.pushes("b", additions=50)
    await talk.time.passes(minutes=21)
    await talk.ends(pr_link=LINK)
    await talk.time.passes(90)
    assert ", +4 −0." in talk.replies()[-1]
    talk.everything()


async def test_only_the_first_job_of_a_person_explains_replies(talk: Talk) -> None:
    assert "Just reply to change it." in await ended(talk)
    assert "reply" not in await follow_up(talk, "Add Node", "b")
    await talk.ana.asks("Add a glossary")
    await talk.time.passes()
    await talk.ends(pr_link=LINK, job="job-2")
    [second] = talk.replies(2)
    assert "reply" not in second
    talk.everything()


async def test_merge_is_said_once_and_its_result_has_no_review_button(talk: Talk) -> None:
    await ended(talk)
    talk.github.merge(talk.time.at + timedelta(hours=1))
    await talk.time.passes(hours=2)
    end = talk.replies()[0]
    assert f":white_check_mark: *Add a quickstart* is done: <{LINK}|PR #7>, +46 −1." in end
    assert [reply for reply in talk.replies() if "merged" in reply] == [talk.replies()[1]]
    assert ":white_check_mark: *Merged*" in talk.status()
    assert end.buttons == ["Changes"]
    talk.everything()


async def test_changes_are_read_at_a_press_and_not_stored(talk: Talk) -> None:
    talk.github.files = [
        LIMIT,
        changed_file("docs/logo.png", None),
        changed_file("docs/new.md", "@@ -0,0 +1,2 @@\n+# <!channel>\n+Words.", status="added"),
    ]
    await ended(talk)
    talk.github.reads.clear()
    for _ in range(2):
        await talk.ben.presses("Changes")
        form = talk.ben.form()
    assert form.startswith("What changed\n")
    assert "Rate limits" in form
    assert "| Free |  60  100  | 5 |" in form.replace("\n", " ")
    assert "no text" in form
    assert "docs/logo.png" in form
    assert "&lt;!channel&gt;" in form
    assert talk.github.reads == ["/repos/acme/docs/pulls/7/files"] * 2
    assert talk.kept("Words.") == []
    talk.everything()


async def test_answer_about_unreadable_changes_has_the_link(talk: Talk) -> None:
    await ended(talk)
    talk.github.files = [{"filename": 1}]
    await talk.ana.presses("Changes")
    assert LINK in talk.ana.reads()[0]
    assert "can't read the changes right now" in talk.everything()


async def test_changes_are_not_read_while_the_limit_of_github_lasts(talk: Talk) -> None:
    await ended(talk)
    talk.github.reads.clear()
    talk.github.instead.append(httpx.Response(429, headers={"retry-after": "900"}))
    await talk.time.passes(600)
    assert not talk.github.instead
    for expected in ([], ["/repos/acme/docs/pulls/7/files"]):
        await talk.ana.presses("Changes")
        assert talk.github.reads == expected
        await talk.time.passes(900)
    talk.everything()
    talk.log()


@pytest.mark.parametrize("answer", [httpx.Response(404), httpx.Response(401)])
async def test_where_the_pull_request_cannot_be_read_there_is_no_button(
    talk: Talk, answer: httpx.Response
) -> None:
    talk.github.instead.extend([answer] * 9)
    end = await ended(talk)
    assert end.buttons == ["Review #7"]
    assert f"*Add a quickstart* is done: <{LINK}|PR #7>." in end
    talk.log()
    talk.status()

"""The end of a follow-up claims nothing about changes that the bot could not compare.

GitHub refuses to compare commits of a private repository without *Contents: read*.
"""

from __future__ import annotations

import pytest

from tests.services import LINK
from tests.talk import Talk
from tests.talk_people import Shown


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation with a pull request of 46 added lines and one removed line."""
    await talk.process.starts(github_token="github-token-of-talk")
    talk.github.pushes("a")
    await talk.started("Say how long a request may take")
    await talk.ends(pr_link=LINK)
    talk.everything()
    return talk


async def end_after_push(talk: Talk, text: str, **totals: int) -> Shown:
    """Let Ana reply, the agent push a commit, and return the end."""
    await talk.ana.replies(text)
    await talk.time.passes()
    talk.github.pushes("b", **totals)
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=2)
    end = talk.all_replies()[-1]
    talk.everything()
    return end


async def test_commit_with_the_same_totals_is_a_change(talk: Talk) -> None:
    assert "Nothing changed" not in await end_after_push(talk, "30 seconds, not 60")


async def test_difference_of_totals_is_no_count_of_lines(talk: Talk) -> None:
    """The commit adds five lines and takes back two that the first request had added."""
    assert "+3 −0" not in await end_after_push(talk, "Rewrite the second half", additions=49)

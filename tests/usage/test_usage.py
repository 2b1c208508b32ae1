"""What a month has brought: a channel's numbers, all channels' for admins, and never a title."""

from __future__ import annotations

import pytest

from tests.answers.conftest import QUESTION, asks, merges
from tests.services import LINK
from tests.talk import Talk
from tests.talk_people import Person

TYPED = "/docs-agent usage"


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with a job here and one in a private channel, and an admin."""
    talk.process.answers_questions()
    await talk.process.starts(admins=talk.chika.id)
    talk.opens_channel("team", talk.ana, is_private=True)
    await talk.ana.asks("Add a page on keys")
    await talk.ana.asks("Add a secret page", "team")
    await talk.time.passes(30)
    await talk.ends(pr_link=LINK)
    talk.everything()
    return talk


async def month_of(person: Person, channel: str = "docs") -> list[str]:
    """Return the lines of this month."""
    answer = await person.answer_to(TYPED, channel)
    return answer.split("\n*October*")[0].splitlines()


async def test_channel_counts_its_own_requests_and_admins_all(talk: Talk) -> None:
    docs = f"<#{talk.room('docs').id}>"
    team = f"<#{talk.room('team').id}>"
    own = ["1 job · 0 follow-ups", "Pull requests: 0 merged, 1 open, 0 closed"]
    assert await month_of(talk.ben) == [f"*November*, {docs}", *own]
    assert await month_of(talk.ana, "team") == [f"*November*, {team}", *own]
    all_channels = await talk.chika.answer_to(TYPED)
    assert "2 jobs · 0 follow-ups\nPull requests: 0 merged, 2 open, 0 closed" in all_channels
    assert "page" not in all_channels
    assert talk.agent_got() == ["Add a page on keys", "Add a secret page"]


async def test_month_counts_follow_ups_merges_and_questions(talk: Talk) -> None:
    await talk.ana.replies("Mention Python 3.11 too")
    await talk.time.passes(30)
    await talk.ends(pr_link=LINK)
    answer = await asks(talk)
    await talk.ana.presses("Didn't help", answer)
    await asks(talk, "Which plan has single sign-on?")
    await merges(talk)
    talk.everything()
    [heading, asked, pulls, questions] = await month_of(talk.ben)
    assert heading.startswith("*November*")
    assert asked == "1 job · 1 follow-up"
    assert pulls.startswith("Pull requests: 1 merged, 0 open, 0 closed · median time to merge ")
    assert questions == "2 questions: 1 answered, 1 not · 2 messages of the assistant"
    assert QUESTION not in await talk.chika.answer_to(TYPED)


async def test_months_before_the_database_are_not_counted(talk: Talk) -> None:
    talk.newer_version_writes(
        "installation.installed_at", "2026-11-02 08:00:00.000000", all_rows=True
    )
    answer = await talk.ben.answer_to(TYPED)
    assert answer.startswith("*November* since 2 November, ")
    assert "*October*: not counted. I began on 2 November." in answer


@pytest.mark.parametrize("text", ["usage", "show usage", "usage report"])
async def test_word_works_after_a_mention(talk: Talk, text: str) -> None:
    await talk.ben.says(f"@docs-agent {text}")
    await talk.time.passes()
    [answer] = talk.ben.reads()
    assert "*November*" in answer

"""Gaps in digests: recommended once, drafted, and shown in no channel that may not see them."""

from __future__ import annotations

import pytest

from tests.answers.conftest import QUESTION, asks, drafts, merges
from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import asked, digests, files, pressed, searches, subscribe, turns, until

CHANNELS = 60
"""Slack describes 50 a minute: https://docs.slack.dev/apis/web-api/rate-limits (tier 3)."""


async def gap(talk: Talk, channel: str = "docs") -> None:
    """Let Ana ask in a channel, and mark the answer as one that did not help."""
    await talk.ana.presses("Didn't help", await asks(talk, channel=channel))
    talk.everything()


async def next_digest(talk: Talk, channel: str = "docs") -> Shown:
    """Read the channel's digest about the week in which people asked."""
    await subscribe(talk, channel=channel)
    await until(talk, 9)
    digest = digests(talk, channel)[-1]
    talk.everything()
    return digest


async def test_digest_recommends_what_three_people_asked(talk: Talk) -> None:
    for person in (talk.ana, talk.ben, talk.chika):
        asked = await person.says(f"@docs-agent {QUESTION}")
        await talk.time.passes()
        await person.presses("Didn't help", talk.thread(asked)[-1])
        talk.everything()
    digest = await next_digest(talk)
    assert f"*Asked in Slack* “{QUESTION}” · 3 people" in digest
    await drafts(talk, on=digest)
    talk.everything()
    await merges(talk)
    mentions = [reply.split()[0] for reply in talk.all_replies() if "It is written now" in reply]
    assert sorted(mentions) == sorted(
        f"<@{person.id}>" for person in (talk.ana, talk.ben, talk.chika)
    )
    talk.everything()


async def test_question_in_the_service_list_counts_once(talk: Talk) -> None:
    talk.service.readers["assistant"] = turns(*[(QUESTION, None, "unanswered")] * 4)
    await gap(talk)
    digest = await next_digest(talk)
    assert f"*Readers asked* “{QUESTION}” · 4 questions, no answer" in digest
    assert digest.count(QUESTION) == 1


async def test_words_of_a_private_channel_stay_out_of_another_digest(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, is_private=True)
    talk.service.readers["assistant"] = turns(*[(QUESTION, None, "unanswered")] * 4)
    await gap(talk, "secret")
    await subscribe(talk, channel="secret")
    assert QUESTION not in await next_digest(talk)
    assert QUESTION in digests(talk, "secret")[-1]


@pytest.mark.parametrize(
    ("topic", "channel", "text"),
    [
        ("questions", "secret", QUESTION),
        ("questions", "dm", "How do I rotate the key of ana@example.com?"),
        ("searches", "secret", QUESTION),
    ],
)
async def test_words_asked_in_private_are_in_no_other_list(
    talk: Talk, topic: str, channel: str, text: str
) -> None:
    talk.opens_channel("secret", talk.ana, is_private=True)
    talk.service.readers["assistant"] = turns(
        (text, None, "unanswered"), ("Why?", None, "unanswered")
    )
    talk.service.readers["searches"] = searches((text, 1, 0.0), ("limits", 20, 0.0))
    await asks(talk, text, channel)
    answer = await asked(talk, f"{topic} last week")
    [more] = await pressed(talk, "More")
    await pressed(talk, "All rows as CSV")
    [(_, _, file)] = await files(talk)
    assert "rotate" not in f"{answer.blocks} {more.blocks} {file}"


async def test_words_asked_in_private_are_shown_there_and_once_asked_in_public(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, is_private=True)
    talk.service.readers["assistant"] = turns((QUESTION, None, "unanswered"))
    await asks(talk, channel="secret")
    await talk.ana.types("/docs-visitors questions last week", "secret")
    await talk.time.passes(20)
    assert QUESTION in talk.ana.reads()[-1].blocks
    assert QUESTION not in (await asked(talk, "questions last week")).blocks
    talk.opens_channel("help")
    await asks(talk, channel="help")
    answer = await asked(talk, "questions last week")
    assert QUESTION in answer.blocks
    talk.room("help").is_private = True
    await talk.time.passes(minutes=3)
    assert QUESTION not in "".join(reply.blocks for reply in await pressed(talk, "More", on=answer))


async def test_words_of_a_public_channel_stay_there_once_it_is_private(talk: Talk) -> None:
    for name in ("help", "ideas"):
        talk.opens_channel(name)
    await gap(talk, "help")
    assert QUESTION in await next_digest(talk, "ideas")
    talk.room("help").is_private = True
    await talk.time.passes(minutes=3)
    await talk.ben.types("/docs-visitors digest now")
    await talk.time.passes(minutes=1)
    [digest] = digests(talk)
    assert QUESTION not in digest
    talk.everything()


async def test_digest_asks_slack_about_few_channels(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"  # finds nothing: each question is a gap at once
    questions = [(talk.ana, f"What is limit {number}?") for number in range(CHANNELS)]
    questions += [(person, QUESTION) for person in (talk.ana, talk.ben, talk.chika)]
    for number, (person, text) in enumerate(questions):
        talk.opens_channel(f"room{number}")
        await person.says(f"@docs-agent {text}", f"room{number}")
        await talk.time.passes(2)
    talk.everything()
    await subscribe(talk)
    described = talk.slack.calls.count("conversations.info")
    await until(talk, 9)
    digest = digests(talk)[-1]
    talk.everything()
    assert talk.slack.calls.count("conversations.info") - described < 10
    assert "rotate an API key?" in digest

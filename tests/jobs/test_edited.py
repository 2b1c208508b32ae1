"""People edit and delete the messages with which they asked."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.talk import Talk

BOT = "@docs-agent"
HOUR = 3_700


async def waiting(talk: Talk, text: str = f"{BOT} Add a page", **where: str) -> Json:
    """Let Ana ask by a message, and the prompt wait for the hourly limit."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    said = await talk.ana.says(text, **where)
    await talk.time.passes(5)
    assert "Waiting" in talk.job(2)
    return said


async def changes(talk: Talk, said: Json, text: str | None) -> None:
    """Let Ana edit her message, or delete it without a text."""
    if text is None:
        await talk.ana.deletes(said)
    else:
        await talk.ana.edits(said, text)
    await talk.time.passes(20)


async def test_an_edit_of_a_prompt_that_waits_replaces_its_text_and_its_status(talk: Talk) -> None:
    said = await waiting(talk)
    await changes(talk, said, f"{BOT} Add two pages")
    assert "Add two pages" in talk.job(2)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add something first", "Add two pages"]
    talk.everything()


async def test_an_edit_before_the_status_is_there_gives_one_status_with_the_new_text(talk: Talk) -> None:
    said = await talk.ana.says(f"{BOT} Add a page")
    await changes(talk, said, f"{BOT} Add two pages")
    assert talk.agent_got() == ["Add two pages"]
    assert len(talk.thread(said)) == 1
    assert "Add two pages" in talk.job(1)


@pytest.mark.parametrize("text", [None, BOT, f"{BOT} aside never mind", "never mind, it is there"], ids=str)
async def test_a_mention_that_is_deleted_or_edited_away_while_it_waits_is_withdrawn(
    talk: Talk, text: str | None
) -> None:
    said = await waiting(talk)
    await changes(talk, said, text)
    assert "Withdrawn" in talk.job(2)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add something first"]
    talk.everything()


@pytest.mark.parametrize("text", ["@ben what do you think?", f"{BOT} thanks!"])
async def test_a_reply_that_is_edited_so_that_it_asks_for_nothing_is_withdrawn(talk: Talk, text: str) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.finished()
    said = await talk.ana.replies("Make it shorter")
    await talk.time.passes(20)
    await changes(talk, said, text)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_an_edit_of_a_direct_message_needs_no_mention(talk: Talk) -> None:
    said = await waiting(talk, "Add a page", channel="dm")
    await changes(talk, said, "Add two pages")
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add something first", "Add two pages"]
    talk.everything()


async def test_a_message_deleted_at_once_leaves_no_status(talk: Talk) -> None:
    said = await talk.ana.says(f"{BOT} Add a page")
    await changes(talk, said, None)
    assert talk.channel() == talk.all_replies() == talk.agent_got() == []


async def test_the_author_of_an_edit_that_comes_too_late_is_told_once_in_private(talk: Talk) -> None:
    said = await talk.ana.says(f"{BOT} Add a page")
    await talk.time.passes(10)
    for text in ("two pages", "three pages"):
        await changes(talk, said, f"{BOT} Add {text}")
    [note] = talk.ana.reads()
    assert note.message["thread_ts"] == said["ts"]
    assert "It works with the text as it was" in note
    assert talk.agent_got() == ["Add a page"]
    talk.everything()


@pytest.mark.parametrize("text", [None, "never mind, the page is there"])
async def test_of_a_mention_that_goes_away_after_it_went_out_nothing_is_said(
    talk: Talk, text: str | None
) -> None:
    said = await talk.ana.says(f"{BOT} Add a page")
    await talk.time.passes(10)
    await changes(talk, said, text)
    assert "Working on it" in talk.job(1)
    assert talk.ana.reads() == []


async def test_an_edit_that_leaves_the_text_as_it_was_changes_nothing(talk: Talk) -> None:
    said = await waiting(talk)
    before = talk.job(2)
    await changes(talk, said, f"{BOT}: Add a page")
    assert talk.job(2) == before
    talk.everything()


async def test_who_has_lost_access_may_still_take_back_what_they_asked_for_and_nothing_else(
    talk: Talk,
) -> None:
    said = await waiting(talk)
    await talk.process.stops()
    await talk.process.starts(allowed_users=talk.ben.id)
    await changes(talk, said, f"{BOT} Add two pages")
    assert "Add a page" in talk.job(2)
    assert "set up for some people only" in talk.ana.reads()[-1]
    await changes(talk, said, f"{BOT} aside: later")
    assert "Withdrawn" in talk.job(2)
    talk.everything()


async def test_an_edit_of_a_reply_that_was_taken_before_only_mentions_counted_withdraws_nothing(
    talk: Talk,
) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.finished()
    said = await talk.ana.replies("Make it shortr")
    await talk.time.passes(20)
    await talk.ana.types("/docs-agent replies off")
    await changes(talk, said, "Make it shorter")
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add a quickstart", "Make it shorter"]
    talk.everything()


async def test_a_follow_up_that_waits_is_replaced_and_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.finished()
    said = await talk.ana.replies("Make it shorter")
    await talk.time.passes(20)
    await changes(talk, said, "Make it longer")
    await changes(talk, said, None)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add a quickstart"]
    assert any("“Make it longer”) wasn't sent" in reply for reply in talk.replies())
    talk.everything()


async def test_the_thread_goes_along_with_an_edited_mention(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    root = await talk.ben.says("The page is wrong")
    said = await talk.ana.replies(f"{BOT} Add a page", to=root)
    await talk.time.passes(20)
    await changes(talk, said, f"{BOT} Add two pages")
    await talk.time.passes(HOUR)
    [_, prompt] = talk.agent_got()
    assert prompt.startswith("Add two pages\n\n")
    assert prompt.endswith("> Ben Okafor: The page is wrong")
    talk.everything()


async def changes_unheard(talk: Talk, said: Json, text: str | None) -> Json:
    """Let Ana edit or delete her message while Slack delivers nothing; return the event."""
    talk.slack.line.drops_events = True
    if text is None:
        await talk.ana.deletes(said)
    else:
        await talk.ana.edits(said, text)
    talk.slack.line.drops_events = False
    return talk.slack.line.sent[-1]


@pytest.mark.parametrize(
    ("place", "text", "hours"),
    [
        *((place, text, 0) for place in ("docs", "dm", "thread") for text in ("Add two pages", None)),
        *(("docs", "Add two pages", hours) for hours in (-9, 9)),
    ],
)
async def test_change_that_arrives_before_its_message_counts(
    talk: Talk, place: str, text: str | None, hours: int
) -> None:
    if place == "thread":
        await talk.finished()
    talk.slack.line.drops_events = True
    asks = "Add a page" if place != "docs" else f"{BOT} Add a page"
    said = await (talk.ana.replies(asks) if place == "thread" else talk.ana.says(asks, place))
    event = talk.slack.line.sent[-1]
    change = await changes_unheard(talk, said, text and asks.replace("a page", "two pages"))
    talk.time.is_set(hours=hours)
    before = len(talk.agent_got())
    for delivered in (change, event):
        talk.slack.line.send_event(delivered)
        await talk.hears()
    talk.time.is_set(seconds=1)
    await talk.hears()
    await talk.time.passes(20)
    assert talk.agent_got()[before:] == ([text] if text else [])
    talk.everything()


async def test_change_of_a_reply_to_an_unconfirmed_status_counts(talk: Talk) -> None:
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.5)
    said = await talk.ana.replies("Make it shorter")
    await talk.ana.edits(said, "Make it longer")
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == ["Add a quickstart", "Make it longer"]
    talk.everything()


async def test_changes_that_concern_no_prompt_are_acknowledged_at_once(talk: Talk) -> None:
    old = [await talk.ana.says(f"{BOT} aside Add a page"), await talk.ana.says("jobs", "dm")]
    await talk.time.passes(minutes=11)
    new = [await talk.ana.says(text) for text in ("Among people", f"{BOT} aside not for you", f"{BOT} jobs")]
    for said in (*old, *new):
        await talk.ana.edits(said, f"{said['text']} and more")
    assert talk.slack.line.next_event_at() is None
    await talk.time.passes()
    assert talk.agent_got() == []
    talk.everything()

"""A request is made of its messages: what its author does to them counts, whatever was under way."""

from __future__ import annotations

import pytest

from tests.talk import Talk
from tests.talk_messages import edit_mention

BOT = "@docs-agent"


def got(talk: Talk) -> list[str]:
    """Read everything, and return the follow-ups that the agent got."""
    talk.everything()
    return talk.agent_got()[1:]


async def restart_during_the_call(talk: Talk) -> None:
    """Kill the process while the service carries out its call, and start it again."""
    await talk.time.passes(10)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    talk.everything()


async def test_stop_takes_back_the_whole_follow_up(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(1)
    await talk.ana.replies("stop")
    await talk.time.passes(1)
    assert talk.ana.reads() == ["Taken back: nothing was sent."]
    await talk.time.passes(60)
    assert got(talk) == []


async def test_withdraw_takes_back_the_whole_follow_up(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started()
    await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.time.passes(20)
    await talk.ana.presses("Withdraw follow-up")
    await talk.time.passes(3_700)
    assert got(talk) == []


async def test_ten_replies_within_seconds_are_one_use_and_the_eleventh_goes_too(talk: Talk) -> None:
    await talk.started()
    for number in range(12):
        await talk.ana.replies(f"Add page {number}")
        await talk.time.passes(1.5)
    await talk.time.passes(60)
    assert got(talk) == ["\n\n".join(f"Add page {number}" for number in range(12))]


async def test_deleted_part_of_an_unconfirmed_follow_up_is_not_sent_again(talk: Talk) -> None:
    await talk.started()
    talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Delete the whole page")
    await restart_during_the_call(talk)
    await talk.ana.deletes(added)
    await talk.time.passes(10)
    await talk.ana.presses("Send again")
    await talk.time.passes(60)
    assert got(talk) == ["Make it shorter"]


async def test_edit_during_a_call_that_is_put_off_counts(talk: Talk) -> None:
    await talk.started()
    hanging = talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    await talk.ana.edits(added, "Add two tables")
    await talk.time.passes(1)
    assert talk.ana.reads() == []
    hanging.comes(429, error="slow")
    await talk.time.passes(minutes=30)
    assert got(talk) == ["Make it shorter\n\nAdd two tables"]


async def test_late_edit_of_a_mention_gets_one_note(talk: Talk) -> None:
    asked = await talk.ana.says(f"{BOT} Fix the limits page: it is 100")
    await talk.time.passes(30)
    await talk.ends()
    await edit_mention(talk, asked, f"{BOT} Fix the limits page, it is 100")
    await talk.time.passes(30)
    [note] = talk.ana.reads()
    assert note.startswith("You edited a message")
    talk.everything()


@pytest.mark.parametrize("replies", [["Make it shorter"], ["Make it shorter", "Add a table"]])
async def test_stop_in_the_same_moment_as_the_reply_takes_it_back(
    talk: Talk, replies: list[str]
) -> None:
    await talk.started()
    for reply in replies:
        await talk.ana.replies(reply)
    await talk.ana.replies("stop")
    await talk.time.passes(60)
    assert got(talk) == []


async def test_direct_messages_within_seconds_are_one_request(talk: Talk) -> None:
    for text in ("Add a page on quotas", "and mention the 429 status", "in a table"):
        await talk.ana.says(text, "dm")
        await talk.time.passes(3)
    await talk.time.passes(60)
    [prompt] = talk.agent_got()
    assert prompt == "Add a page on quotas\n\nand mention the 429 status\n\nin a table"
    talk.everything()


async def test_file_within_the_pause_after_a_reply_goes_along(talk: Talk) -> None:
    await talk.started()
    await talk.ends()
    await talk.ana.replies("Use the numbers in this file")
    await talk.time.passes(3)
    await talk.ana.replies("", files=[("limits.md", "Free 60")])
    await talk.time.passes(60)
    [follow_up] = got(talk)
    assert follow_up.startswith("Use the numbers in this file")
    assert "Free 60" in follow_up


async def test_first_request_has_its_status_message_at_once_and_is_sent_after_the_hold(
    talk: Talk,
) -> None:
    said = await talk.ana.says(f"{BOT} Add a page on quotas")
    await talk.time.passes(1)
    [status] = talk.thread(said)
    assert "Starting in a moment: edit or delete your message to change it" in status
    assert status.buttons == ["Withdraw"]
    await talk.time.passes(5)
    assert talk.agent_got() == []
    await talk.time.passes(4)
    assert talk.agent_got() == ["Add a page on quotas"]
    talk.everything()


@pytest.mark.parametrize("outage_minutes", [2, 60])
async def test_edit_and_deletion_during_an_outage_count(talk: Talk, outage_minutes: int) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a quickstart", by=talk.ben)
    edited = await talk.ana.says(f"{BOT} Add a page on quotas")
    deleted = await talk.ana.says(f"{BOT} Add a page on webhooks")
    await talk.time.passes(12)
    talk.process.dies()
    talk.slack.line.drops_events = True
    await talk.ana.edits(edited, f"{BOT} Add a page on limits")
    await talk.ana.deletes(deleted)
    talk.slack.line.drops_events = False
    talk.time.is_set(minutes=outage_minutes)
    await talk.process.starts()
    await talk.time.passes(hours=3)
    assert got(talk) == ["Add a page on limits"]


async def test_missed_reply_in_the_thread_of_a_request_is_read_after_an_outage(talk: Talk) -> None:
    asked = await talk.ana.says(f"{BOT} Add a page on quotas")
    await talk.time.passes(20)
    talk.slack.line.drops_events = True
    await talk.ana.replies("Make it shorter", to=asked)
    talk.slack.line.drops_events = False
    talk.process.dies()
    talk.time.is_set(minutes=10)
    await talk.process.starts()
    await talk.time.passes(minutes=2)
    assert got(talk) == ["Make it shorter"]


async def test_file_to_which_no_words_come_is_not_sent(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("", files=[("limits.md", "Free 60")])
    await talk.time.passes(20)
    [note] = talk.ana.reads()
    assert "nothing was sent, not even `limits.md`" in note
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()

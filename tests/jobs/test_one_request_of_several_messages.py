"""Messages that one person writes within seconds are one request: all of it goes, or none."""

from __future__ import annotations

from tests.talk import Talk
from tests.talk_messages import edit_mention


async def follow_ups_after(talk: Talk, seconds: float = 60) -> list[str]:
    """Let time pass, read all messages, and return the follow-ups that reached the agent."""
    await talk.time.passes(seconds)
    talk.everything()
    return talk.agent_got()[1:]


async def restart_during_the_call(talk: Talk) -> None:
    """Kill the process while the service carries out its call, and start it again."""
    await talk.time.passes(10)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    talk.everything()


async def test_direct_messages_within_seconds_are_one_request(talk: Talk) -> None:
    for text in ("Add a page on quotas", "and mention the 429 status", "like the limits page"):
        await talk.ana.says(text, "dm")
        await talk.time.passes(3)
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got() == [
        "Add a page on quotas\n\nand mention the 429 status\n\nlike the limits page"
    ]


async def test_file_that_follows_a_reply_goes_along(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.replies("Use the numbers in this file")
    await talk.time.passes(3)
    await talk.ana.replies("", files=[("limits.md", "Free 60")])
    [follow_up] = await follow_ups_after(talk)
    assert follow_up.startswith("Use the numbers in this file")
    assert "Free 60" in follow_up


async def test_twelve_replies_all_go(talk: Talk) -> None:
    await talk.started()
    texts = [f"Add page {number}" for number in range(12)]
    for text in texts:
        await talk.ana.replies(text)
        await talk.time.passes(1.5)
    assert "\n\n".join(await follow_ups_after(talk)) == "\n\n".join(texts)


async def test_stop_takes_back_a_reply_that_still_waits(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("Make it shorter")
    await talk.ana.replies("Add a table")
    await talk.ana.replies("stop")
    assert await follow_ups_after(talk) == []


async def test_deleted_part_of_an_unconfirmed_follow_up_is_not_sent_again(talk: Talk) -> None:
    await talk.started()
    talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Delete the whole page")
    await restart_during_the_call(talk)
    await talk.ana.deletes(added)
    await talk.time.passes(10)
    await talk.ana.presses("Send again")
    assert await follow_ups_after(talk) == ["Make it shorter"]


async def test_unconfirmed_request_is_sent_again_as_edited(talk: Talk) -> None:
    talk.service.hangs("create")
    asked = await talk.ana.says("@docs-agent Delete the page on keys")
    await restart_during_the_call(talk)
    await talk.ana.edits(asked, "@docs-agent Shorten the page on keys")
    await talk.time.passes(10)
    await talk.ana.presses("Send again")
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got() == ["Shorten the page on keys"]


async def test_edit_during_a_call_that_is_refused_for_now_counts(talk: Talk) -> None:
    await talk.started()
    call = talk.service.hangs("follow_up")
    await talk.ana.replies("Make it shorter")
    added = await talk.ana.replies("Add a table")
    await talk.time.passes(10)
    await talk.ana.edits(added, "Add two tables")
    await talk.time.passes(1)
    call.comes(429, error="slow")
    await talk.time.passes(minutes=30)
    assert await follow_ups_after(talk) == ["Make it shorter\n\nAdd two tables"]


async def test_late_edit_of_a_mention_gets_one_note(talk: Talk) -> None:
    asked = await talk.ana.says("@docs-agent Fix the limits page: it is 100")
    await talk.time.passes(30)
    await talk.ends()
    await edit_mention(talk, asked, "@docs-agent Fix the limits page, it is 100")
    await talk.time.passes(30)
    [note] = talk.ana.reads()
    assert note.startswith("You edited a message")
    talk.everything()

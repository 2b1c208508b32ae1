"""Reviews of a pull request: people set them by a button or a reply; otherwise one reminder follows."""

from __future__ import annotations

import pytest

from tests.talk import Talk

UNSAID = ["Reviewed"]


async def goes_on(talk: Talk) -> None:
    """Let the agent work on a follow-up."""
    await talk.ana.replies("Mention Python 3.11 too")
    await talk.time.passes(30)


async def test_review_begins_the_status_until_it_is_undone(talk: Talk) -> None:
    await talk.finished()
    ready = talk.status()
    assert ready.buttons == UNSAID
    for _ in range(2):  # the second press changes nothing
        await talk.ben.presses("Reviewed", on=ready)
        assert talk.ben.reads() == []
    await talk.time.passes()
    assert talk.status().startswith(":white_check_mark: *Reviewed* · Job 1 · <")
    assert f"marked by <@{talk.ben.id}> <!date^" in talk.status()
    await talk.ana.presses("Reviewed")
    await talk.time.passes()
    assert talk.status().startswith(":memo: *Pull request ready* · Job 1")
    assert "marked" not in talk.status()
    assert talk.status().buttons == UNSAID
    assert len(talk.replies()) == 1


async def test_running_job_takes_no_review(talk: Talk) -> None:
    await talk.finished()
    ready = talk.status()
    await talk.ana.presses("Reviewed", on=ready)
    await goes_on(talk)
    assert not set(talk.status().buttons) & set(UNSAID)
    await talk.ana.presses("Reviewed", on=ready)
    [refused] = talk.ana.reads()
    assert "Job 1 has gone on since" in refused
    assert "eviewed" not in talk.status()
    talk.everything()


async def test_undone_review_brings_the_reminder_back(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.presses("Reviewed")
    await talk.time.passes(days=4)
    await talk.ana.presses("Reviewed")
    await talk.time.passes(60)
    assert len(talk.replies()) == 1
    await talk.time.passes(days=5)
    assert len(talk.replies()) == 2
    talk.status()


@pytest.mark.parametrize(("ended", "after"), [("Monday", 3), ("Wednesday", 5), ("Thursday", 4)])
async def test_reminder_comes_once_on_a_weekday(talk: Talk, ended: str, after: int) -> None:
    while f"{talk.time.at:%A}" != ended:
        await talk.time.passes(days=1)
    await talk.finished()
    await talk.time.passes(days=after, hours=-1)
    assert len(talk.replies()) == 1
    await talk.time.passes(hours=2)
    [_, reminder] = talk.replies()
    assert reminder.startswith(
        f"<@{talk.ana.id}> :memo: The pull request of Job 1 has been ready for "
    )
    root = talk.status().message
    address = f"/archives/{root['channel']}/p{root['ts'].replace('.', '')}"
    assert f"{address}|its first message>." in reminder
    await talk.time.passes(days=10)
    assert len(talk.replies()) == 2
    talk.status()


@pytest.mark.parametrize("reason", ["reviewed", "follow-up", "never"])
async def test_settled_or_running_job_has_no_reminder(talk: Talk, reason: str) -> None:
    await talk.process.starts(remind_after_days=0 if reason == "never" else 3)
    await talk.finished()
    if reason == "reviewed":
        await talk.ana.presses("Reviewed")
    elif reason == "follow-up":
        await goes_on(talk)
    await talk.time.passes(days=4)
    assert "has been ready for" not in talk.everything()


@pytest.mark.parametrize("text", ["merged", "#1 approved"])
async def test_reply_that_it_is_merged_is_a_review(talk: Talk, text: str) -> None:
    await talk.finished()
    reply = await talk.ben.replies(text)
    await talk.time.passes(30)
    assert talk.status().startswith(":white_check_mark: *Reviewed*")
    assert f"marked by <@{talk.ben.id}>" in talk.status()
    assert talk.agent_got() == ["Add a quickstart"]
    assert talk.reactions(reply) == ["+1"]


async def test_agreeing_reply_keeps_the_first_review(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.presses("Reviewed")
    await talk.ben.replies("merged")
    await talk.time.passes(30)
    assert "*Reviewed*" in talk.status()
    assert f"marked by <@{talk.ana.id}>" in talk.status()
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_merged_without_pull_request_or_by_a_guest_is_none(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("merged")
    await talk.time.passes(30)
    assert "Working on it" in talk.status()
    await talk.ends()
    await talk.gus.replies("merged")
    await talk.time.passes(30)
    assert talk.status().buttons == UNSAID
    talk.everything()


async def test_late_event_of_a_review_changes_no_later_version(talk: Talk) -> None:
    await talk.finished()
    before = list(talk.slack.line.sent)
    await talk.ana.replies("merged")
    [event] = [event for event in talk.slack.line.sent if event not in before]
    await goes_on(talk)
    await talk.ends()
    await talk.time.passes(120)
    talk.slack.line.send_event(event)
    await talk.time.passes(30)
    assert talk.status().buttons == UNSAID
    talk.everything()

"""People edit and delete the messages with which they asked."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.talk import Talk

BOT = "@docs-agent"
HOUR = 3_700
WITH_KEY = "a page on sk_live_a1b2c3d4e5f6a7b8c9d0"


async def waiting(
    talk: Talk, text: str = f"{BOT} Add a page on keys", channel: str = "docs"
) -> Json:
    """Let a prompt of Ana's message wait for the hourly limit."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    message = await talk.ana.says(text, channel)
    await talk.time.passes(12)
    assert "Waiting" in talk.job(2)
    return message


async def changes(talk: Talk, message: Json, text: str | None) -> None:
    """Let Ana edit her message, or delete it if there is no text."""
    if text is None:
        await talk.ana.deletes(message)
    else:
        await talk.ana.edits(message, text)
    await talk.time.passes(20)


@pytest.mark.parametrize(("mention", "channel"), [(f"{BOT} ", "docs"), ("", "dm")])
async def test_edit_replaces_a_pending_prompt(talk: Talk, mention: str, channel: str) -> None:
    message = await waiting(talk, f"{mention}Add a page on keys", channel)
    await changes(talk, message, f"{mention}Add two pages on keys")
    assert "Add two pages on keys" in talk.job(2)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add something first", "Add two pages on keys"]
    talk.everything()


async def test_edit_before_the_status_gives_one_status(talk: Talk) -> None:
    message = await talk.ana.says(f"{BOT} Add a page on keys")
    await changes(talk, message, f"{BOT} Add two pages on keys")
    assert talk.agent_got() == ["Add two pages on keys"]
    assert len(talk.thread(message)) == 1
    assert "Add two pages on keys" in talk.job(1)


@pytest.mark.parametrize(
    "text", [None, BOT, f"{BOT} aside never mind", "never mind, it is there"], ids=str
)
async def test_pending_mention_without_a_prompt_is_withdrawn(talk: Talk, text: str | None) -> None:
    message = await waiting(talk)
    await changes(talk, message, text)
    assert "Withdrawn" in talk.job(2)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add something first"]
    talk.everything()


@pytest.mark.parametrize("text", ["@ben what do you think?", f"{BOT} thanks!"])
async def test_reply_edited_to_no_prompt_is_withdrawn(talk: Talk, text: str) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.finished()
    message = await talk.ana.replies("Make it shorter")
    await talk.time.passes(20)
    await changes(talk, message, text)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_message_deleted_at_once_leaves_no_status(talk: Talk) -> None:
    message = await talk.ana.says(f"{BOT} Add a page on keys")
    await changes(talk, message, None)
    assert talk.channel() == talk.all_replies() == talk.agent_got() == []


async def test_author_of_late_edits_gets_one_private_note(talk: Talk) -> None:
    message = await talk.ana.says(f"{BOT} Add a page on keys")
    await talk.time.passes(10)
    for text in ("two pages", "three pages"):
        await changes(talk, message, f"{BOT} Add {text}")
    [note] = talk.ana.reads()
    assert note.message["thread_ts"] == message["ts"]
    assert "It works with the text as it was" in note
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


@pytest.mark.parametrize("text", [None, "never mind, the page is there"])
async def test_author_who_takes_words_from_the_agent_reads_once_that_it_has_them(
    talk: Talk, text: str | None
) -> None:
    message = await talk.ana.says(f"{BOT} Add a page on keys")
    await talk.time.passes(10)
    await changes(talk, message, text)
    assert "Working on it" in talk.job(1)
    [note] = talk.ana.reads()
    assert "the agent already has" in note.replace("The agent", "the agent")
    assert note.buttons == (["Keep quiet about it"] if text is None else [])
    if text is None:
        await talk.ana.presses("Keep quiet about it", note)
        await talk.time.passes()
        assert "Stopped checking" in talk.job(1)
    talk.everything()


async def test_edit_with_the_same_text_changes_nothing(talk: Talk) -> None:
    message = await waiting(talk)
    before = talk.job(2)
    await changes(talk, message, f"{BOT}: Add a page on keys")
    assert talk.job(2) == before
    talk.everything()


async def test_edit_of_a_person_without_access_refuses_their_request(talk: Talk) -> None:
    message = await waiting(talk)
    await talk.process.stops()
    await talk.process.starts(allowed_users=talk.ben.id)
    await changes(talk, message, f"{BOT} Add two pages on keys")
    assert "Not started" in talk.job(2)
    assert "set up for some people only" in talk.ana.reads()[-1]
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add something first"]
    talk.everything()


async def test_edit_of_an_older_reply_is_kept_with_replies_off(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.finished()
    message = await talk.ana.replies("Make it shortr")
    await talk.time.passes(20)
    await talk.ana.types("/docs-agent replies off")
    await changes(talk, message, "Make it shorter")
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add a quickstart", "Make it shorter"]
    talk.everything()


async def test_pending_follow_up_is_replaced_and_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.finished()
    message = await talk.ana.replies("Make it shorter")
    await talk.time.passes(20)
    await changes(talk, message, "Make it longer")
    await changes(talk, message, None)
    await talk.time.passes(HOUR)
    assert talk.agent_got() == ["Add a quickstart"]
    assert any("“Make it longer”) wasn't sent" in reply for reply in talk.replies())
    talk.everything()


async def test_edited_mention_keeps_its_thread(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    root = await talk.ben.says("The page is wrong")
    message = await talk.ana.replies(f"{BOT} Add a page on keys", to=root)
    await talk.time.passes(20)
    await changes(talk, message, f"{BOT} Add two pages on keys")
    await talk.time.passes(HOUR)
    [_, prompt] = talk.agent_got()
    assert prompt.startswith("Add two pages on keys\n\n")
    assert prompt.endswith("> Ben Okafor: The page is wrong")
    talk.everything()


async def changes_unnoticed(talk: Talk, message: Json, text: str | None) -> Json:
    """Let Ana edit or delete her message while Slack delivers nothing; return the event."""
    talk.slack.line.drops_events = True
    if text is None:
        await talk.ana.deletes(message)
    else:
        await talk.ana.edits(message, text)
    talk.slack.line.drops_events = False
    return talk.slack.line.sent[-1]


@pytest.mark.parametrize(
    ("place", "text", "hours"),
    [
        *(
            (place, text, 0)
            for place in ("docs", "dm", "thread")
            for text in ("Add two pages on keys", None)
        ),
        *(("docs", "Add two pages on keys", hours) for hours in (-9, 9)),
    ],
)
async def test_change_that_arrives_before_its_message_counts(
    talk: Talk, place: str, text: str | None, hours: int
) -> None:
    if place == "thread":
        await talk.finished()
    talk.slack.line.drops_events = True
    asks = "Add a page on keys" if place != "docs" else f"{BOT} Add a page on keys"
    message = await (talk.ana.replies(asks) if place == "thread" else talk.ana.says(asks, place))
    event = talk.slack.line.sent[-1]
    change = await changes_unnoticed(talk, message, text and asks.replace("a page", "two pages"))
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
    message = await talk.ana.replies("Make it shorter")
    await talk.ana.edits(message, "Make it longer")
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == ["Add a quickstart", "Make it longer"]
    talk.everything()


async def test_changes_of_no_prompt_are_acknowledged_at_once(talk: Talk) -> None:
    old = await talk.ana.says(f"{BOT} aside Add a page on keys")
    await talk.time.passes(minutes=11)
    new = [await talk.ana.says(text) for text in ("Among people", f"{BOT} aside not for you")]
    for message in (old, *new):
        await talk.ana.edits(message, f"{message['text']} and more")
    assert talk.slack.line.next_event_at() is None
    await talk.time.passes()
    assert talk.agent_got() == []
    assert talk.kept("and more") == []
    talk.everything()


@pytest.mark.parametrize(
    "text", [f"{BOT} jobs", f"{BOT} thanks!", f"{BOT} aside later", "Among us"]
)
async def test_message_without_a_request_that_is_edited_within_a_day_is_decided_again(
    talk: Talk, text: str
) -> None:
    message = await talk.ana.says(text)
    await talk.time.passes(hours=23)
    await talk.ana.edits(message, f"{BOT} Add a page on keys")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_message_without_a_request_that_is_edited_after_a_day_is_left_alone(
    talk: Talk,
) -> None:
    message = await talk.ana.says(f"{BOT} jobs")
    await talk.time.passes(hours=25)
    await talk.ana.edits(message, f"{BOT} Add a page on keys")
    await talk.time.passes(20)
    assert talk.agent_got() == []
    talk.everything()


async def in_doubt(talk: Talk) -> Json:
    """Let a reply of Ana's be sent without an answer, and a person be asked about it."""
    await talk.finished("Add something first")
    talk.service.says("follow_up", 502)
    reply = await talk.ana.replies("Add a table")
    await talk.time.passes(20)
    return reply


async def test_edit_days_later_waits_until_slack_describes_its_author(talk: Talk) -> None:
    reply = await in_doubt(talk)
    await talk.time.passes(days=2)
    talk.faults.goes_down("users.info")
    await changes(talk, reply, "Add two tables")
    talk.faults.comes_back()
    await talk.time.passes(minutes=6)
    await talk.ana.presses("Send again")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add something first", "Add two tables"]
    talk.everything()


async def test_deleted_prompt_in_doubt_is_not_sent_again(talk: Talk) -> None:
    said = await in_doubt(talk)
    asked = talk.replies()[-1]
    await changes(talk, said, None)
    [question] = [reply for reply in talk.replies() if "may have started" in reply]
    assert "Send again" not in question.buttons
    # Slack may show the message as it was for a moment.
    await talk.ana.presses("Send again", on=asked)
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add something first"]
    await talk.ana.presses("Dismiss")
    await talk.time.passes(20)
    assert any("chose *Dismiss*" in reply for reply in talk.replies())
    talk.everything()


async def test_author_of_an_edit_in_doubt_reads_that_the_agent_has_the_old_text(talk: Talk) -> None:
    await talk.finished("Add something first")
    answer = talk.service.hangs("follow_up")
    reply = await talk.ana.replies("Add a table")
    await talk.time.passes(120)
    await talk.process.starts()
    await talk.time.passes(minutes=2)
    assert any(":grey_question:" in reply for reply in talk.replies())
    await changes(talk, reply, "Add two tables")
    answer.comes(id="job-1", status="active", prLink=None)
    await talk.time.passes(20)
    assert any("has started after all" in reply for reply in talk.replies())
    [note] = talk.ana.reads()
    assert "It works with the text as it was." in note
    talk.everything()


async def pressed(talk: Talk, text: str, button: str) -> Json:
    """Let a button send a mention of Ana's, and its prompt wait for the hourly limit."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    message = await talk.ana.says(f"{BOT} {text}")
    await talk.time.passes(1)
    await talk.ana.presses(button)
    await talk.time.passes(20)
    assert "Waiting" in talk.job(2)
    return message


@pytest.mark.parametrize(
    ("text", "button"),
    [(f"Add {WITH_KEY}", "Send it anyway")],
)
@pytest.mark.parametrize("edited", [None, f"{BOT} Add a page on keys"], ids=str)
async def test_change_of_words_that_a_button_sent_counts(
    talk: Talk, text: str, button: str, edited: str | None
) -> None:
    message = await pressed(talk, text, button)
    await changes(talk, message, edited)
    await talk.time.passes(HOUR)
    assert talk.agent_got()[1:] == ([] if edited is None else ["Add a page on keys"])
    talk.everything()


@pytest.mark.parametrize(
    ("edited", "expected"),
    [(f"{BOT} #1 Make it longer", ["Make it longer"]), (BOT, []), (None, [])],
    ids=str,
)
async def test_change_of_a_mention_that_names_its_job_counts(
    talk: Talk, edited: str | None, expected: list[str]
) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add something first", by=talk.ben)
    message = await talk.ana.says(f"{BOT} #1 Make it shorter")
    await talk.time.passes(20)
    await changes(talk, message, edited)
    await talk.time.passes(HOUR)
    assert talk.agent_got()[1:] == expected
    talk.everything()


async def test_mention_that_names_another_job_now_goes_there(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=2)
    await talk.started("Add keys", by=talk.ben)
    await talk.started("Add two", by=talk.ben)
    message = await talk.ana.says(f"{BOT} #1 Make it shorter")
    await talk.time.passes(20)
    await changes(talk, message, f"{BOT} #2 Make it longer")
    await talk.time.passes(HOUR)
    assert talk.service.prompts[2:] == [("job-2", "Make it longer")]
    talk.everything()

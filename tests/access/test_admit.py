"""Who may use the bot: decided before anything is stored, from memory or by asking Slack for a moment."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

import bot
import bot.access.admit
import bot.jobs.access
from bot.access.model import Members
from tests.builders import ANA, NOW, let_in, new_store, origin
from tests.talk import Talk

UNTOLD = "Slack didn't tell me who you are"


def test_only_two_modules_make_proofs_of_access() -> None:
    makers = {Path(bot.access.admit.__file__), Path(bot.jobs.access.__file__)}
    for path in Path(bot.__path__[0]).rglob("*.py"):
        names = {
            node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)
        }
        assert (path in makers) == bool(names & {"_MAKER", "_Maker"}), path
    with pytest.raises(TypeError):
        type(let_in(origin()))(origin())  # type: ignore[call-arg]


async def test_failed_request_of_a_new_person_has_stored_nothing(talk: Talk) -> None:
    """The profile of the person has been stored by then, but that is not the request."""
    await talk.process.starts()
    with talk.database_fails("jobs"):
        assert "nothing was started" in await talk.ana.answer_to("/docs-agent Add a page on keys")
    assert talk.kept(talk.ana.id) == ["members.user"]
    assert talk.errors() == {"request_failed"}


async def test_buttons_of_job_in_unlisted_channel_do_nothing(talk: Talk) -> None:
    talk.service.branch = "agent/page"
    await talk.started("Add a page on keys")
    await talk.ends()
    talk.service.loses_the_answer()
    await talk.started("Add another page")
    talk.everything()
    await talk.process.stops()
    await talk.process.starts(allowed_channels=talk.room("partners").id)
    await talk.time.passes()
    talk.everything()
    for label in ("Preview", "Reviewed", "Send again"):
        await talk.ana.presses(label)
        assert "not set up for use in" in talk.ana.reads()[-1]
    await talk.time.passes()
    assert (talk.unread(), talk.service.calls.count("preview")) == ([], 0)
    assert talk.agent_got() == ["Add a page on keys", "Add another page"]


async def test_only_one_of_simultaneous_messages_is_answered_in_an_hour() -> None:
    store = await new_store()
    answered = [
        store.write(lambda tx: Members(tx).may_tell_denied(ANA, "anybody", NOW)) for _ in "abc"
    ]
    assert sorted(await asyncio.gather(*answered)) == [False, False, True]
    await store.close()


async def test_request_is_known_before_its_status_is_posted(talk: Talk) -> None:
    """People may see the status in Slack earlier than the bot knows that it stands there."""
    talk.faults.loses_the_answer("chat.postMessage")
    talk.faults.goes_down("conversations.history")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(1)
    assert "Add a quickstart" in await talk.ben.answer_to("/docs-agent jobs")
    assert "that you can see" not in await talk.ben.answer_to("/docs-followup 1 Mention Python")
    talk.everything()


async def test_guest_gets_one_answer_even_about_an_own_prompt(talk: Talk) -> None:
    dora = talk.newcomer("Dora")
    talk.service.says("create", 429, seconds=36_000)
    await talk.started(by=dora)
    dora.user.is_guest = True
    talk.time.is_set(hours=7)
    await dora.presses("Withdraw")
    assert "Guests can't use this bot" in dora.reads()[-1]
    await talk.time.passes(2)
    assert "Not started" in talk.status()
    assert "Guests can't use this bot" in dora.reads()[-1]


async def test_buttons_that_name_nothing_are_answered(talk: Talk) -> None:
    await talk.started()
    status = talk.root()
    container = {"type": "message", "channel": status["channel"], "ts": status["ts"]}

    async def answer(action: str, value: str) -> str:
        pressed = {"type": "button", "action_id": action, "value": value}
        await talk.slack.people.press(talk.ana.id, container, pressed)
        [said] = talk.ana.reads()
        return said

    for action in (
        "withdraw",
        "send_again",
        "dismiss",
        "ask_anyway",
        "follow_up_anyway",
        "run_again",
    ):
        for value in ("", "0", "-1", "99", "x", "9" * 40, "1; DROP TABLE jobs", "٣"):
            assert await answer(action, value) != "", (action, value)
    for action in ("withdraw", "send_again", "dismiss"):
        assert "decided already" in await answer(action, "1")
    talk.status()


@pytest.mark.parametrize("code", ["", "user_not_found"])
async def test_a_command_is_given_back_when_slack_does_not_say_who_sent_it(
    talk: Talk, code: str
) -> None:
    if code:
        talk.faults.refuses("users.info", code)
    else:
        talk.faults.goes_down("users.info")
    told = await talk.ana.answer_to("/docs-agent Add a #docs page")
    assert UNTOLD in told
    assert told.endswith("to copy:\n/docs-agent Add a #docs page")
    talk.faults.comes_back()
    await talk.started("Add a page on keys")
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_a_button_and_a_form_say_that_slack_does_not_say_who_it_was(talk: Talk) -> None:
    await talk.finished()
    await talk.ben.types("/docs-agent")
    await talk.time.passes(hours=7)
    talk.everything()
    talk.faults.goes_down("users.info")
    errors = await talk.ben.fills_in(prompt="Add a page on keys")
    assert errors["prompt"].startswith(UNTOLD)
    talk.slack.state.views.clear()
    await talk.ben.presses("Reviewed")
    assert UNTOLD in talk.ben.reads()[-1]
    assert "Reviewed" in talk.status().buttons
    assert talk.agent_got() == ["Add a quickstart"]


@pytest.mark.parametrize("code", ["", "token_revoked", "invalid_blocks"])
@pytest.mark.parametrize("way", ["mention", "direct", "reply"])
async def test_a_message_is_left_to_slack_until_it_says_who_wrote_it_and_then_read_once_more(
    talk: Talk, way: str, code: str
) -> None:
    await talk.finished("Add First")
    if code:
        talk.faults.refuses("users.info", code, times=30)
    else:
        talk.faults.goes_down("users.info")
    match way:
        case "mention":
            await talk.ben.says("@docs-agent Add a page on keys")
        case "direct":
            await talk.ben.says("Add a page on keys", "dm")
        case _:
            await talk.ben.replies("Mention Python")
    await talk.time.passes(minutes=10)
    assert (talk.unread(), talk.agent_got()) == ([], ["Add First"])
    talk.faults.comes_back()
    await talk.time.passes(minutes=20)
    assert len(talk.agent_got()) == 2
    talk.everything()


async def test_slack_is_asked_once_in_six_hours(talk: Talk) -> None:
    for number, hours in enumerate((1, 4, 6)):
        await talk.started(f"Add page {number}")
        await talk.time.passes(hours=hours)
        assert talk.slack.calls.count("users.info") == 1
    await talk.started("Add a page on plans")
    assert talk.slack.calls.count("users.info") == 2
    talk.everything()


async def test_lists_let_in_whom_they_name_by_person_or_by_group_and_admins_at_once(
    talk: Talk,
) -> None:
    await talk.started("Add keys", by=talk.chika)
    await talk.process.stops()
    await talk.process.starts(
        allowed_users=f"{talk.ana.id},{talk.gus.id}",
        allowed_user_groups="S01WRITERS",
        admins=talk.pia.id,
    )
    for person in (talk.ana, talk.ben):
        await talk.started(f"Write for {person}", by=person)
    assert len(talk.agent_got()) == 3
    assert "set up for some people only" in await talk.chika.answer_to("/docs-agent Two")
    assert "Guests can't use this bot" in await talk.gus.answer_to("/docs-agent Two")
    talk.everything()


async def test_in_a_channel_that_is_not_listed_nothing_is_done(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    partners = talk.room("partners").id
    await talk.ana.types("/docs-agent")
    await talk.process.stops()
    await talk.process.starts(allowed_channels=partners)
    for channel, typed in (
        ("docs", "/docs-agent Add a page on keys"),
        ("partners", "/docs-followup 1 Write more"),
    ):
        answer = await talk.ana.answer_to(typed, channel)
        assert "not set up for use in" in answer
        assert answer.endswith(f"to copy:\n{typed}")
    for typed in ("/docs-agent jobs", "/docs-visitors last week", "/docs-visitors weekly"):
        assert "not set up for use in" in await talk.ana.answer_to(typed)
    errors = await talk.ana.fills_in(prompt="Add a page on plans page")
    assert "not set up for use in" in errors["prompt"]
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_a_refused_person_is_answered_once_an_hour_and_each_time_they_type(
    talk: Talk,
) -> None:
    for text in ("Page 1", "jobs", "visitors last week", "", "Page 2"):
        await talk.gus.says(f"@docs-agent {text}")
        await talk.time.passes()
        await talk.process.stops()
        await talk.process.starts()
    [told] = talk.gus.reads()
    assert "Guests can't use this bot" in told
    assert "to copy" not in told
    for _ in range(2):
        assert "Guests can't use this bot" in await talk.gus.answer_to(
            "/docs-agent Add a page on keys"
        )
    await talk.time.passes(3_600)
    await talk.gus.says("@docs-agent One more page")
    await talk.time.passes()
    assert len(talk.gus.reads()) == 1


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(("text", "files"), [("", 1), ("Delete everything", 0)])
async def test_a_reply_of_a_guest_is_answered_in_private_and_gets_no_reaction(
    talk: Talk, text: str, files: int, ended: bool
) -> None:
    await talk.started("Add a page on keys")
    if ended:
        await talk.ends("archived", pr_link=None)
    talk.everything()
    for _ in range(2):
        await talk.gus.replies(text, files=[("a.png", "x")] * files)
        await talk.time.passes()
    [told] = talk.gus.reads()
    assert "Guests can't use this bot" in told
    assert (talk.unread(), talk.agent_got()) == ([], ["Add a page on keys"])


async def test_only_who_asked_and_admins_decide_about_a_waiting_prompt(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1, admins=talk.ben.id)
    await talk.started("Add keys")
    await talk.started("Add Two")
    waiting = talk.status(2)
    await talk.chika.presses("Withdraw", on=waiting)
    assert (
        f"Only <@{talk.ana.id}> or an admin of this bot can decide that" in talk.chika.reads()[-1]
    )
    assert "Withdraw" in talk.status(2).buttons
    await talk.ben.presses("Withdraw", on=waiting)
    await talk.time.passes()
    assert "ithdrawn" in talk.status(2)
    talk.everything()

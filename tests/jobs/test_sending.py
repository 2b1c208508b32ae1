"""Sending that is switched off: requests wait, nothing is lost, and all else goes on."""

from __future__ import annotations

import pytest

from tests.databases import PostgresServer
from tests.jobs.test_suspended import SuspendingStore
from tests.store.conftest import postgres
from tests.talk import Talk

__all__ = ["postgres"]
OFF = "/docs-agent sending off"
ON = "/docs-agent sending on"
WAITS = "It waits: an admin has switched sending off for now"


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot that Chika administers, and that answers questions."""
    talk.process.answers_questions()
    talk.process.settings["ADMINS"] = talk.chika.id
    return talk


async def switched_off(talk: Talk) -> None:
    """Let Chika switch sending off."""
    assert "Sending to the agent is off since" in await talk.chika.answer_to(OFF)


async def test_nothing_goes_while_off_and_all_goes_in_order_once(talk: Talk) -> None:
    await talk.started("Add a quickstart")
    await talk.ends()
    await switched_off(talk)
    await talk.ana.replies("Add a second page")
    await talk.time.passes()
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(hours=2)
    await talk.ana.says("@docs-agent Add a page on limits")
    await talk.time.passes(minutes=1)
    assert talk.agent_got() == ["Add a quickstart"]
    assert WAITS in talk.job(2).blocks
    assert WAITS in talk.job(3).blocks
    assert "A follow-up waits: an admin has switched sending off" in talk.job(1).blocks

    answer = await talk.chika.answer_to(ON)
    assert answer.endswith("The waiting requests go to the agent now, in order.")
    await talk.time.passes(minutes=1)
    went = [text.splitlines()[0] for text in talk.agent_got()[1:]]
    assert went == ["Add a second page", "Add a page on keys", "Add a page on limits"]
    assert "Working on it" in talk.job(2)
    assert "switched sending off" not in talk.job(1).blocks + talk.job(2).blocks
    await talk.time.passes(hours=1)
    assert len(talk.agent_got()) == 4
    talk.everything()


async def test_threads_that_are_there_hear_nothing(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add keys", by=talk.ben)
    await talk.started("Add limits")
    talk.everything()
    await switched_off(talk)
    await talk.time.passes(minutes=5)
    assert not talk.unread()
    status = await talk.ana.answer_to("/docs-agent status 2")
    assert WAITS in status
    assert "hourly limit" not in status
    assert "Working on it" in await talk.ana.answer_to("/docs-agent status 1")


async def test_other_work_goes_on_while_off(talk: Talk) -> None:
    await talk.started("Add a quickstart")
    await switched_off(talk)
    asked = await talk.ana.says("@docs-agent Add a page on keys")
    await talk.time.passes()
    await talk.ana.edits(asked, "@docs-agent Add a page on limits")
    await talk.time.passes()
    assert "Add a page on limits" in talk.job(2).blocks

    await talk.ana.says("@docs-agent How do I rotate an API key?")
    await talk.ends(pr_link="https://code.example/pull/7")
    assert "Pull request ready" in talk.job(1)
    assert any("press Rotate" in reply for reply in talk.all_replies())

    await talk.ana.presses("Withdraw", talk.job(2))
    await talk.time.passes()
    assert "Withdrawn" in talk.job(2)
    await talk.chika.answer_to(ON)
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_prompt_sent_again_waits_while_off(talk: Talk) -> None:
    talk.service.says("create", 500)
    await talk.started("Add a page on keys")
    await switched_off(talk)
    await talk.ana.presses("Send again")
    await talk.time.passes(minutes=5)
    talk.everything()
    sent = len(talk.service.prompts)
    assert WAITS in await talk.ana.answer_to("/docs-agent status 1")
    await talk.chika.answer_to(ON)
    await talk.time.passes()
    assert len(talk.service.prompts) == sent + 1
    talk.everything()


async def test_restarted_process_still_sends_nothing(talk: Talk) -> None:
    await switched_off(talk)
    await talk.ana.asks("Add a page on keys")
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=10)
    assert talk.agent_got() == []
    assert WAITS in talk.job(1).blocks
    talk.process.dies()
    await talk.process.starts()
    await talk.chika.answer_to(ON)
    await talk.time.passes(minutes=1)
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
async def test_every_process_obeys_at_its_next_look(
    talk: Talk, postgres: PostgresServer, database: str
) -> None:
    if database == "postgresql":
        url = postgres.new_database().replace("+psycopg", "", 1)
        talk.process.settings["DATABASE_URL"] = url
    await talk.process.starts()
    first = talk.process.bot
    assert first is not None
    await talk.process.starts()
    await switched_off(talk)
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes()
    talk.time.is_set(seconds=5)
    await first.run_due()
    assert talk.agent_got() == []
    await talk.chika.answer_to(ON)
    talk.time.is_set(seconds=5)
    await first.run_due()
    assert talk.agent_got() == ["Add a page on keys"]
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_prompt_that_was_claimed_before_is_not_sent(talk: Talk) -> None:
    talk.process.store = store = SuspendingStore(talk)
    await talk.started("Add a page on keys")
    talk.process.store = None
    await talk.process.starts()
    await switched_off(talk)
    store.resumes.set()
    await talk.stuck_work_ends()
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == []
    assert WAITS in talk.job(1).blocks
    await talk.chika.answer_to(ON)
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_switch_is_for_admins_and_in_the_audit(talk: Talk) -> None:
    refusal = await talk.ana.answer_to(OFF)
    assert refusal.startswith(":no_entry: Only an admin of this bot can switch sending off or on.")
    assert (await talk.ana.answer_to("/docs-agent sending")).startswith("Sending is on")
    await switched_off(talk)
    assert ":no_entry:" in await talk.ana.answer_to(ON)
    told = await talk.ana.answer_to("/docs-agent sending")
    assert "off since" in told
    assert talk.chika.id not in told
    assert f"by <@{talk.chika.id}>" in await talk.chika.answer_to("/docs-agent sending")
    assert "off since" in await talk.chika.answer_to(OFF)
    await talk.chika.answer_to(ON)
    assert (await talk.chika.answer_to(ON)).startswith("Sending is on")
    rows = (await talk.operator("audit")).splitlines()[1:]
    acts = [row.split(",")[1:4] for row in rows]
    assert acts == [[talk.chika.id, "sending_off", ""], [talk.chika.id, "sending_on", ""]]


async def test_limits_and_admins_home_show_the_switch(talk: Talk) -> None:
    await switched_off(talk)
    assert "until an admin switches it on" in await talk.ana.answer_to("/docs-agent limits")
    assert "off since" in await talk.chika.opens_home()
    assert "off since" not in await talk.ana.opens_home()
    await talk.chika.answer_to(ON)
    assert "off since" not in await talk.chika.opens_home()
    assert "off since" not in await talk.ana.answer_to("/docs-agent limits")


async def test_words_of_the_switch_are_no_request_after_a_mention(talk: Talk) -> None:
    await talk.chika.says("@docs-agent sending off")
    await talk.time.passes()
    [answer] = talk.chika.reads()
    assert "off since" in answer
    await talk.ana.asks("Sending the form twice fails, fix the page")
    await talk.chika.says("sending on", "dm")
    await talk.time.passes(minutes=1)
    assert talk.agent_got() == ["Sending the form twice fails, fix the page"]
    talk.everything()


async def test_forgotten_admin_leaves_sending_off(talk: Talk) -> None:
    await switched_off(talk)
    await talk.ana.asks("Add a page on keys")
    await talk.operator("forget", talk.chika.id)
    assert talk.kept(talk.chika.id) == []
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == []
    assert "off since" in await talk.ana.answer_to("/docs-agent sending")
    talk.everything()

"""When either far side refuses, is slow, or leaves the outcome open."""

from __future__ import annotations

import pytest

from tests.talk import Talk


async def test_a_lost_answer_is_never_sent_again_by_itself(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.started()
    await talk.time.passes(hours=1)
    assert len(talk.agent_got()) == 1
    assert "Unconfirmed" in talk.status()
    [question] = talk.replies()
    assert question.buttons == ["Send again", "Dismiss"]


async def test_a_prompt_in_doubt_goes_out_once_more_when_a_person_says_so(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.started()
    [question] = talk.replies()
    await talk.ana.presses("Send again", on=question)
    await talk.ana.presses("Send again", on=question)
    await talk.time.passes()
    assert len(talk.agent_got()) == 2
    assert "Working on it" in talk.status()
    talk.everything()


async def test_a_prompt_in_doubt_can_be_dismissed(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.started()
    [question] = talk.replies()
    await talk.ana.presses("Dismiss", on=question)
    await talk.ana.presses("Send again", on=question)
    await talk.time.passes()
    assert f"*Outcome unknown*, dismissed by <@{talk.ana.id}>" in talk.status()
    assert len(talk.agent_got()) == 1
    assert "decided already" in talk.ana.reads()[0]
    talk.replies()


async def test_a_sender_that_died_leaves_a_doubt_that_is_told(talk: Talk) -> None:
    talk.service.hangs("create")
    await talk.started()
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(60)
    assert "Waiting" in talk.status()
    await talk.time.passes(40)
    assert "Unconfirmed" in talk.status()
    assert len(talk.replies()) == 1


async def test_a_second_doubt_is_told_as_the_first_was(talk: Talk) -> None:
    """Left behind by a sender that died, sent again by a person, and its answer lost."""
    talk.service.hangs("create")
    await talk.started()
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(100)
    talk.service.loses_the_answer()
    await talk.ana.presses("Send again")
    await talk.time.passes()
    assert "Unconfirmed" in talk.status()
    assert len(talk.replies()) == 2


async def test_a_service_that_cannot_be_reached_is_tried_again_until_it_can(talk: Talk) -> None:
    talk.service.cannot_be_reached("create", times=4)
    await talk.started()
    await talk.time.passes(10)
    assert len(talk.agent_got()) == 1
    assert "Working on it" in talk.status()


@pytest.mark.parametrize("status", [400, 404])
async def test_a_refused_prompt_is_explained_in_the_thread(talk: Talk, status: int) -> None:
    talk.service.says("create", status)
    await talk.started()
    [reply] = talk.replies()
    assert f"<@{talk.ana.id}>" in reply
    assert "Not started" in talk.status()
    assert talk.agent_got() == []


async def test_the_end_of_a_follow_up_in_doubt_is_told_to_who_asked_for_it(talk: Talk) -> None:
    await talk.finished()
    talk.service.loses_the_answer()
    await talk.ben.replies("Write more")
    await talk.time.passes(20)
    assert "Working on it" in talk.status()
    await talk.ends()
    assert "Pull request ready" in talk.status()
    assert len(talk.replies()) == 3
    assert talk.replies()[-1].startswith(f"<@{talk.ben.id}> :memo:")
    talk.everything()


async def test_a_follow_up_in_doubt_that_never_began_ends_in_silence(talk: Talk) -> None:
    await talk.finished()
    talk.service.says("follow_up", 502)
    await talk.ana.replies("Write more")
    await talk.time.passes(minutes=15)
    polls = talk.service.polls
    await talk.time.passes(hours=1)
    assert talk.service.polls == polls
    assert len(talk.replies()) == 2
    talk.everything()


async def test_over_the_limit_prompts_wait_and_go_out_when_a_use_is_free(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add keys")
    await talk.started("Add two")
    assert talk.agent_got() == ["Add keys"]
    await talk.time.passes(3_602)
    assert talk.agent_got() == ["Add keys", "Add two"]
    talk.everything()


async def test_a_429_is_believed_and_waited_for(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=120)
    await talk.started()
    await talk.time.passes(50)
    assert talk.agent_got() == []
    await talk.time.passes(70)
    assert len(talk.agent_got()) == 1
    talk.status()


async def test_a_job_that_has_been_sent_cannot_be_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add keys")
    await talk.started("Add two")
    waiting = talk.job(2)
    await talk.time.passes(3_602)
    assert talk.agent_got() == ["Add keys", "Add two"]
    await talk.ana.presses("Withdraw", on=waiting)
    await talk.time.passes()
    assert "Working on it" in talk.job(2)
    assert len(talk.ana.reads()) == 1
    talk.everything()


async def test_where_the_bot_may_not_post_nothing_is_started_and_the_person_is_told(
    talk: Talk,
) -> None:
    await talk.ana.asks("Add a quickstart", channel="docs-secret")
    await talk.time.passes()
    assert talk.agent_got() == []
    [answer] = talk.ana.reads()
    assert "/invite @docs-agent" in answer
    assert answer.message["channel"] == talk.room("docs-secret").id


async def test_an_expired_response_url_is_replaced_by_a_direct_message(talk: Talk) -> None:
    talk.faults.refuses("response_url", "expired_url")
    await talk.ana.asks("Add a quickstart", channel="docs-secret")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert answer.message["channel"] == talk.room("dm", talk.ana).id


@pytest.mark.parametrize("code", ["invalid_blocks", "team_added_to_org"])
async def test_a_look_that_is_refused_ends_no_doubt_about_a_post(talk: Talk, code: str) -> None:
    talk.faults.loses_the_answer("chat.postMessage")
    talk.faults.refuses("conversations.history", code, times=2)
    await talk.started()
    await talk.time.passes(60)
    assert len(talk.channel()) == 1
    assert len(talk.agent_got()) == 1


async def test_a_post_that_did_not_happen_is_made_up_for(talk: Talk) -> None:
    talk.faults.fails("chat.postMessage")
    talk.faults.cannot_be_reached("chat.postMessage")
    talk.faults.limits("chat.postMessage", 3)
    await talk.started()
    await talk.time.passes(30)
    assert len(talk.channel()) == 1
    assert len(talk.agent_got()) == 1


async def test_niceties_that_slack_refuses_stop_nothing(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("reactions.add", "missing_scope")
    talk.faults.refuses("chat.update", "cant_update_message")
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    assert len(talk.agent_got()) == 2
    talk.everything()


async def test_a_reply_to_a_job_that_never_started_is_explained(talk: Talk) -> None:
    talk.service.says("create", 400)
    await talk.started()
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    assert len(talk.replies()) == 2
    assert talk.agent_got() == []
    talk.everything()


async def test_an_empty_reply_with_a_file_is_explained_to_its_author_alone(talk: Talk) -> None:
    await talk.started()
    await talk.ana.replies("  ", files=[("a.png", "PNG")])
    await talk.time.passes(20)
    [note] = talk.ana.reads()
    assert "not even `a.png`" in note
    assert talk.replies() == []
    assert len(talk.agent_got()) == 1
    talk.status()


async def test_a_reply_to_a_first_message_in_doubt_is_taken_when_slack_delivers_it_again(
    talk: Talk,
) -> None:
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.5)
    await talk.ana.replies("Write more")
    await talk.time.passes(minutes=3)
    assert talk.agent_got() == ["Add a quickstart", "Write more"]
    talk.everything()


async def test_a_post_that_stays_unclear_is_given_up_after_a_day_and_told_directly(
    talk: Talk,
) -> None:
    await talk.started()
    talk.service.finish()
    talk.faults.goes_down("chat.postMessage", "conversations.replies")
    await talk.time.passes(hours=23)
    talk.faults.goes_down("conversations.replies")
    await talk.time.passes(minutes=30)
    assert talk.ana.reads() == []
    await talk.time.passes(hours=2)
    assert len(talk.ana.reads()) == 1
    talk.everything()


@pytest.mark.parametrize("code", ["token_revoked", "invalid_auth"])
async def test_an_end_is_told_when_the_token_is_good_again(talk: Talk, code: str) -> None:
    """A token is changed by hand, hours later; the job went on meanwhile."""
    await talk.started()
    talk.service.finish()
    talk.faults.refuses("chat.update", code, times=500)
    talk.faults.refuses("chat.postMessage", code, times=500)
    await talk.time.passes(hours=3)
    assert talk.replies() == []
    talk.faults.comes_back()
    await talk.time.passes(minutes=15)
    assert len(talk.replies()) == 1
    assert ":memo:" in talk.status()
    assert all(code in line for line in talk.log())


async def test_an_end_whose_thread_is_gone_is_told_directly(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("chat.postMessage", "thread_not_found")
    await talk.ends()
    [note] = talk.ana.reads()
    assert note.startswith(":warning: The thread of Job 1 is gone, so here: *Pull request ready* ·")
    talk.everything()


async def test_a_right_that_the_token_lacks_is_not_waited_for(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("chat.postMessage", "missing_scope")
    await talk.ends()
    [note] = talk.ana.reads()
    assert "I lack a right in Slack. Ask your bot admin" in note
    talk.everything()


async def test_a_reply_in_doubt_is_looked_for_when_the_token_is_good_again(talk: Talk) -> None:
    await talk.started()
    talk.faults.loses_the_answer("chat.postMessage")
    talk.faults.refuses("conversations.replies", "token_revoked")
    await talk.ends()
    await talk.time.passes(minutes=15)
    assert len(talk.replies()) == 1
    assert "token_revoked" in str(talk.log())
    talk.status()


async def test_an_end_whose_channel_is_gone_is_told_alone(talk: Talk) -> None:
    await talk.started()
    talk.status()
    talk.faults.refuses("chat.postMessage", "channel_not_found")
    await talk.ends()
    await talk.time.passes(60)
    [note] = talk.ana.reads()
    assert "Job 1" in note
    talk.everything()

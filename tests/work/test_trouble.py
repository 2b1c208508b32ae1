"""When either far side refuses, is slow, or leaves the outcome open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from bot.model.jobs import JobState, SharedFile
from bot.slack.client import refused
from bot.work.jobs.decisions import dismiss, run_again, send_again, withdraw
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.submit import submit_prompts
from bot.work.jobs.thread_events import TooEarly
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import SlackThrottled, SlackUnclear, SlackUnreachable
from tests.builders import ANA, BEN
from tests.work.office import RESPONSE_URL, Office


class Died(Exception):
    """The process dies in a call."""


def buttons(blocks: Any) -> list[str]:
    """The action ids of every button."""
    elements = (element for block in blocks for element in block.get("elements", []))
    return [element["action_id"] for element in elements if "action_id" in element]


async def test_a_lost_answer_is_never_sent_again_by_itself(office: Office) -> None:
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.started()
    await office.pass_time(3600)
    assert len(office.docs.prompts) == 1
    assert (await office.job()).state is JobState.UNCONFIRMED
    [reply] = office.slack.replies()
    assert buttons(reply.message.blocks) == ["send_again", "dismiss"]


async def test_a_prompt_in_doubt_goes_out_once_more_when_a_person_says_so(office: Office) -> None:
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.started()
    assert await send_again(office.context, await office.steers(1, ANA))
    assert not await send_again(office.context, await office.steers(1, ANA))
    await office.settle()
    assert len(office.docs.prompts) == 2
    assert (await office.job()).state is JobState.WORKING


async def test_a_prompt_in_doubt_can_be_forgotten(office: Office) -> None:
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.started()
    assert await dismiss(office.context, await office.steers(1, ANA))
    assert not await send_again(office.context, await office.steers(1, ANA))
    await office.settle()
    assert (await office.job()).state is JobState.WITHDRAWN
    assert len(office.docs.prompts) == 1


async def test_a_sender_that_died_leaves_a_doubt_that_is_told(office: Office) -> None:
    await office.ask("Add a quickstart")
    office.docs.answer_instead("create", RuntimeError("killed"))
    with pytest.raises(RuntimeError):
        await office.settle()
    office.restart()
    await submit_prompts(office.context)
    assert (await office.job()).state is JobState.WAITING
    await office.pass_time(100)
    assert (await office.job()).state is JobState.UNCONFIRMED
    assert len(office.slack.replies()) == 1


async def test_a_second_doubt_is_told_as_the_first_was(office: Office) -> None:
    """Left behind by a sender that died, sent again by a person, and its answer lost."""
    await office.ask("Add a quickstart")
    office.docs.answer_instead("create", RuntimeError("killed"))
    with pytest.raises(RuntimeError):
        await office.settle()
    office.restart()
    await office.pass_time(100)
    assert await send_again(office.context, await office.steers(1, ANA))
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.settle()
    assert (await office.job()).state is JobState.UNCONFIRMED
    assert len(office.slack.replies()) == 2


async def test_a_service_that_cannot_be_reached_is_tried_again_until_it_can(office: Office) -> None:
    office.docs.answer_instead("create", *[httpx.ConnectError("refused")] * 4)
    await office.ask("Add a quickstart")
    await office.settle(20)
    assert len(office.docs.prompts) == 1
    assert (await office.job()).state is JobState.WORKING


@pytest.mark.parametrize("status", [400, 404])
async def test_a_refused_prompt_is_explained_in_the_thread(office: Office, status: int) -> None:
    office.docs.answer_instead("create", httpx.Response(status, json={"error": "because"}))
    await office.started()
    assert (await office.job()).state is JobState.REFUSED
    [reply] = office.slack.replies()
    assert f"<@{ANA}>" in reply.message.text
    assert office.docs.prompts == []


async def test_the_end_of_a_follow_up_in_doubt_is_told_to_who_asked_for_it(office: Office) -> None:
    await office.finished()
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.reply("Write more", user=BEN)
    await office.settle()
    assert (await office.job()).state is JobState.WORKING
    office.docs.finish()
    await office.settle()
    assert (await office.job()).state is JobState.PULL_REQUEST
    assert len(office.slack.replies()) == 3
    assert office.said()[-1].startswith(f"<@{BEN}> :memo:")


async def test_a_follow_up_in_doubt_that_never_began_ends_in_silence(office: Office) -> None:
    await office.finished()
    office.docs.answer_instead("follow_up", httpx.Response(502, text="<html>"))
    await office.reply("Write more")
    await office.settle()
    for _ in range(15):
        await office.pass_time(60)
    polls = office.docs.polls
    await office.pass_time(3600)
    assert office.docs.polls == polls
    assert len(office.slack.replies()) == 2


async def test_over_the_limit_prompts_wait_and_go_out_when_a_use_is_free(office: Office) -> None:
    office.limit(1)
    await office.started("First")
    await office.started("Second")
    assert len(office.docs.prompts) == 1
    assert (await office.job(2)).queue_until is not None
    await office.pass_time(3600)
    assert [text for _, text in office.docs.prompts] == ["First", "Second"]


async def test_a_429_is_believed_and_waited_for(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(429, headers={"Retry-After": "120"}))
    await office.ask("First")
    await office.settle(60)
    assert office.docs.prompts == []
    await office.pass_time(70)
    assert len(office.docs.prompts) == 1


async def test_a_waiting_job_can_be_withdrawn(office: Office) -> None:
    office.limit(1)
    await office.started("First")
    asked = await office.ask("Second")
    await office.settle()
    assert await withdraw(office.context, await office.steers(asked.job))
    await office.pass_time(4000)
    assert len(office.docs.prompts) == 1
    assert (await office.job(2)).state is JobState.WITHDRAWN


async def test_a_job_that_has_been_sent_cannot_be_withdrawn(office: Office) -> None:
    await office.started("First")
    assert not await withdraw(office.context, await office.steers())


async def test_run_again_starts_one_new_job_for_each_end(office: Office) -> None:
    await office.ask("First")
    await office.settle()
    first = await run_again(office.context, await office.reads(), "1")
    second = await run_again(office.context, await office.reads(), "1")
    await office.settle()
    assert first is not None
    assert second is not None
    assert (second.job, second.repeated) == (first.job, True)
    assert [text for _, text in office.docs.prompts] == ["First", "First"]


async def test_where_the_bot_may_not_post_nothing_is_started_and_the_person_is_told(
    office: Office,
) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    await office.started()
    assert office.docs.prompts == []
    [(url, message)] = office.slack.private
    assert url == RESPONSE_URL.get_secret_value()
    assert "/invite @docs-agent" in message.text


async def test_an_expired_response_url_is_replaced_by_a_direct_message(office: Office) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    office.slack.trouble("answer", refused("response_url_expired"))
    await office.started()
    assert [user for user, _, _ in office.slack.direct] == [ANA]


@pytest.mark.parametrize("code", ["invalid_blocks", "team_added_to_org"])
async def test_a_look_that_is_refused_ends_no_doubt_about_a_post(office: Office, code: str) -> None:
    office.slack.lose_answer.append(SlackUnclear("cut"))
    office.slack.trouble("find_posted", refused(code), refused(code))
    await office.ask("Add a quickstart")
    await office.settle(30)
    assert len(office.slack.posts) == 1
    assert len(office.docs.prompts) == 1


async def test_a_post_that_did_not_happen_is_made_up_for(office: Office) -> None:
    office.slack.trouble("post", SlackUnclear("cut"), SlackUnreachable("refused"), SlackThrottled(3))
    await office.ask("Add a quickstart")
    await office.settle(30)
    assert len(office.slack.posts) == 1
    assert len(office.docs.prompts) == 1


async def test_niceties_that_slack_refuses_stop_nothing(office: Office) -> None:
    await office.started()
    office.slack.trouble("react", refused("missing_scope"))
    office.slack.trouble("edit", refused("cant_update_message"))
    await office.reply("Write more")
    await office.settle()
    assert len(office.docs.prompts) == 2


async def test_a_reply_to_a_job_that_never_started_is_explained(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(400, json={"error": "because"}))
    await office.started()
    await office.reply("Write more")
    await office.settle()
    assert len(office.slack.replies()) == 2
    assert office.docs.prompts == []


async def test_an_empty_reply_with_a_file_is_explained_to_its_author_alone(office: Office) -> None:
    await office.started()
    await office.reply("  ", files=(SharedFile("a.png", 10, is_text=False),))
    await office.settle()
    [(_, _, user, said)] = office.slack.whispers
    assert user == ANA
    assert "not even `a.png`" in said.text
    assert (office.slack.replies(), len(office.docs.prompts)) == ([], 1)


async def test_a_reply_to_a_root_that_is_not_noted_yet_is_left_for_slack_to_deliver_again(
    office: Office,
) -> None:
    office.slack.lose_answer.append(SlackUnclear("cut"))
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    with pytest.raises(TooEarly):
        await office.reply("Write more", ts="1700000900.000001")
    await office.settle(10)
    await office.reply("Write more", ts="1700000900.000001")
    await office.settle()
    assert [text for _, text in office.docs.prompts] == ["Add a quickstart", "Write more"]


async def test_a_post_that_stays_unclear_is_given_up_and_told_directly(office: Office) -> None:
    await office.started()
    office.docs.finish()
    office.slack.trouble("post", *[SlackUnclear("cut")] * 1_000)
    office.slack.trouble("find_posted", *[SlackUnclear("cut")] * 1_000)
    for _ in range(24 * 6 - 1):
        await office.pass_time(600)
    assert office.slack.direct == []
    for _ in range(6):
        await office.pass_time(600)
    assert [user for user, _, _ in office.slack.direct] == [ANA]


@pytest.mark.parametrize("code", ["token_revoked", "invalid_auth"])
async def test_an_end_is_told_when_the_token_is_good_again(office: Office, code: str) -> None:
    """A token is changed by hand, hours later; the job went on meanwhile."""
    await office.started()
    office.docs.finish()
    office.slack.trouble("edit", *[refused(code)] * 200)
    office.slack.trouble("post", *[refused(code)] * 200)
    for _ in range(6):
        await office.pass_time(1_800)
    assert office.said() == []
    office.slack.troubles.clear()
    await office.pass_time(600)
    assert len(office.said()) == 1
    assert ":memo:" in office.root_text()


async def test_an_end_whose_thread_is_gone_is_told_directly(office: Office) -> None:
    await office.started()
    office.docs.finish()
    office.slack.trouble("post", refused("thread_not_found"))
    await office.settle(10)
    [(user, message, _)] = office.slack.direct
    assert user == ANA
    assert message.text.startswith(":warning: The thread of Job 1 is gone, so here: *Pull request ready* ·")


async def test_a_right_that_the_token_lacks_is_not_waited_for(office: Office) -> None:
    await office.started()
    office.docs.finish()
    office.slack.trouble("post", refused("missing_scope"))
    await office.settle(10)
    [(user, message, _)] = office.slack.direct
    assert user == ANA
    assert "I lack a right in Slack. Ask whoever runs this bot" in message.text


async def test_a_reply_in_doubt_is_looked_for_when_the_token_is_good_again(office: Office) -> None:
    await office.started()
    office.docs.finish()
    office.slack.lose_answer.append(SlackUnclear("lost"))
    office.slack.trouble("find_posted", refused("token_revoked"))
    await office.settle()
    await office.pass_time(600)
    assert len(office.said()) == 1


async def test_every_prompt_that_becomes_unconfirmed_is_counted_as_such(office: Office) -> None:
    counted: list[tuple[str, str]] = []
    office.context = replace(office.context, count=lambda what, how: counted.append((what, how)))
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.started("One")
    office.docs.answer_instead("create", httpx.Response(500))
    await office.started("Two")
    # A process dies while it sends two prompts.
    office.docs.answer_instead("create", Died(), Died())
    for text in ("Three", "Four"):
        await office.ask(text)
        with pytest.raises(Died):
            await office.settle(3)
    office.restart()
    await office.settle(120)
    assert counted.count(("prompts", "unconfirmed")) == 4
    assert ("prompts", "unavailable") not in counted


async def test_an_end_whose_channel_is_gone_is_told_alone(office: Office) -> None:
    await office.started()
    office.slack.trouble("post", *[refused("channel_not_found")] * 9)
    office.docs.finish()
    await office.settle(60)
    [told] = [message.text for _, message, _ in office.slack.direct]
    assert "Job 1" in told

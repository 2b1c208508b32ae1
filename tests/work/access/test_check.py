"""One function decides who may; before the acknowledgement it asks nothing of Slack."""

from __future__ import annotations

import pytest

from bot.model.access import Access, Profile
from bot.model.ids import ChannelId, PromptId, UserId
from bot.slack.errors import refused
from bot.work.access.check import AskSlack, Decision, decide
from bot.work.ports import SlackUnreachable
from tests.builders import ANA, BEN, CHANNEL, add_job, add_prompt
from tests.work.office import Office

CHIKA, GUS, PRIVATE = UserId("U0CHIKA"), UserId("U0GUS"), ChannelId("G0PRIVATE")
EVERY_WAY = pytest.mark.parametrize("ask", AskSlack)


async def test_somebody_unknown_is_not_decided_about_and_slack_is_not_asked(office: Office) -> None:
    office.slack.trouble("profile", refused("nobody asks"))
    decision = await decide(office.context, ANA)
    assert (decision.may, decision.denied, decision.access) == (None, None, None)
    assert office.slack.troubles["profile"]


@pytest.mark.parametrize(("ask", "may"), [(AskSlack.TRY, None), (AskSlack.FINAL, False)])
async def test_what_slack_cannot_tell_now_is_undecided_or_a_no(
    office: Office, ask: AskSlack, may: bool | None
) -> None:
    office.slack.trouble("profile", SlackUnreachable("down"))
    assert (await decide(office.context, ANA, ask=ask)).may is may


@pytest.mark.parametrize("ask", [AskSlack.TRY, AskSlack.FINAL])
async def test_what_slack_refuses_to_tell_is_a_no_at_once(office: Office, ask: AskSlack) -> None:
    office.slack.trouble("profile", refused("user_not_found"))
    assert (await decide(office.context, ANA, ask=ask)).denied is Access.UNTOLD


async def test_once_slack_has_told_our_rows_are_enough(office: Office) -> None:
    assert (await decide(office.context, ANA, ask=AskSlack.FINAL)).may
    assert (await decide(office.context, ANA)).may


@EVERY_WAY
async def test_in_a_channel_without_the_bot_nobody_may(office: Office, ask: AskSlack) -> None:
    office.access_policy(channels=frozenset({PRIVATE}))
    decision = await decide(office.context, ANA, channel=CHANNEL, ask=ask)
    assert decision == Decision(Access.CHANNEL, sees_job=False)


async def test_whoever_is_in_a_jobs_channel_sees_it_before_slack_has_told_of_them(office: Office) -> None:
    await add_job(office.store, channel=PRIVATE, root_ts="1.1")
    job = await office.job()
    inside = await decide(office.context, BEN, job=job, here=PRIVATE)
    assert (inside.sees_job, inside.may) == (True, None)
    outside = await decide(office.context, BEN, job=job, here=CHANNEL)
    assert (outside.sees_job, outside.may) == (None, None)


async def test_where_slack_cannot_tell_who_somebody_is_no_channel_is_looked_at(office: Office) -> None:
    await add_job(office.store, channel=PRIVATE, root_ts="1.1")
    office.slack.trouble("profile", SlackUnreachable("down"))
    office.slack.trouble("is_public", refused("nobody asks"))
    decision = await decide(office.context, BEN, job=await office.job(), ask=AskSlack.TRY)
    assert decision.may is None
    assert office.slack.troubles["is_public"]


async def test_a_guest_sees_no_job_even_from_its_channel(office: Office) -> None:
    await add_job(office.store)
    office.slack.profiles[GUS] = Profile(True, False, False, False)
    decision = await decide(office.context, GUS, job=await office.job(), here=CHANNEL, ask=AskSlack.FINAL)
    assert decision == Decision(Access.GUEST, sees_job=False)


@pytest.mark.parametrize(("user", "may"), [(ANA, True), (CHIKA, True), (GUS, True), (BEN, False)])
async def test_a_prompt_is_decided_about_by_who_asked_it_or_the_job_and_by_admins(
    office: Office, user: UserId, may: bool
) -> None:
    """Ana asked for the job, Chika for the prompt; Gus is an admin."""
    office.access_policy(admins=frozenset({GUS}))
    await add_prompt(office.store, await add_job(office.store), asked_by=CHIKA)
    prompt = await office.store.read(lambda tx: tx.prompts.get(PromptId(1)))
    assert prompt is not None
    decision = await decide(office.context, user, prompt=prompt, ask=AskSlack.FINAL)
    assert (decision.may, decision.decided_by) == (may, None if may else CHIKA)

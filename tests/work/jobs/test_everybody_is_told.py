"""Whoever asked is told the end, also when somebody else's follow-up came in between."""

from __future__ import annotations

import httpx

from bot.model.ids import UserId
from bot.slack.client import refused
from tests.builders import ANA, BEN
from tests.work.office import Office

CHIKA = UserId("U0CHIKA")


async def followed_up(office: Office) -> None:
    """Ben and Chika follow up on Ana's job while it runs."""
    await office.started()
    for text, user in (("Write more", BEN), ("Write about it", CHIKA), ("the last", BEN)):
        await office.replied(text, user=user)


async def test_the_one_end_mentions_everybody_who_waits_for_it_once(office: Office) -> None:
    await followed_up(office)
    await office.ends()
    [end] = office.said()
    assert [end.count(f"<@{user}>") for user in (ANA, BEN, CHIKA)] == [1, 1, 1]


async def test_who_was_told_one_end_is_not_called_for_the_next(office: Office) -> None:
    await followed_up(office)
    await office.ends()
    await office.replied("Write once more", user=BEN)
    await office.ends()
    assert f"<@{BEN}>" in office.said()[-1]
    assert f"<@{ANA}>" not in office.said()[-1]


async def test_who_sent_an_unconfirmed_follow_up_to_a_running_job_is_told_its_end(office: Office) -> None:
    await office.started()
    office.docs.answer_instead("follow_up", httpx.Response(502, text="<html>"))
    await office.replied("Write more", user=BEN)
    await office.ends()
    end = office.said()[-1]
    assert f"<@{ANA}>" in end
    assert f"<@{BEN}>" in end


async def test_an_end_that_the_thread_refuses_reaches_everybody_directly(office: Office) -> None:
    await followed_up(office)
    office.docs.finish()
    office.slack.trouble("post", refused("is_archived"))
    await office.settle()
    assert sorted(user for user, _, _ in office.slack.direct) == sorted((ANA, BEN, CHIKA))

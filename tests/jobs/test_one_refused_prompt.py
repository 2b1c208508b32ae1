"""A prompt that the docs service, or a firewall before it, refuses by itself: the others go on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.talk import Talk
from tests.talk_people import Person

BAD = "Show `<script>alert(1)</script>` as an example"


class Firewall:
    """Refuses prompts with a script, or all of them."""

    def __init__(self, talk: Talk, status: int = 403) -> None:
        self.status = status
        self.refuses_all = False
        self.refused = 0
        talk.service.firewall = self._check

    def _check(self, prompt: str) -> int | None:
        if not self.refuses_all and "<script>" not in prompt:
            return None
        self.refused += 1
        return self.status


def people(talk: Talk) -> list[Person]:
    return [talk.newcomer(f"P{number}") for number in range(5)]


async def seconds_until_sent(talk: Talk, count: int) -> float:
    """Let time pass until so many prompts have reached the service."""
    began_at = talk.time.at
    while len(talk.agent_got()) < count and talk.time.at - began_at < timedelta(hours=25):
        await talk.time.passes(1)
    return (talk.time.at - began_at).total_seconds()


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("together", [True, False])
async def test_prompt_refused_by_a_firewall_delays_nobody(
    talk: Talk, status: int, together: bool
) -> None:
    await talk.process.starts(admins=talk.chika.id)
    firewall, (first, *others) = Firewall(talk, status), people(talk)
    await first.asks(BAD)
    if not together:
        await talk.time.passes(5)
    for person in others:
        await person.asks(f"Add a page for {person.name}")
    assert await seconds_until_sent(talk, 4) < 60
    await talk.time.passes(60)
    assert "Not started" in talk.job(1)
    assert firewall.refused == 2
    [reply] = [reply for reply in talk.all_replies() if f"<@{first.id}>" in reply]
    assert "Change the prompt" in reply
    assert "key" not in reply
    assert len(talk.chika.reads()) <= 2
    assert talk.errors() <= {"key_refused"}
    talk.everything()


async def test_prompt_long_after_a_refused_one_starts_soon(talk: Talk) -> None:
    Firewall(talk)
    await talk.started(BAD)
    await talk.time.passes(hours=2)
    await talk.ben.asks("Add a page on keys")
    assert await seconds_until_sent(talk, 1) < 60
    await talk.time.passes(5)
    assert "Not started" in talk.job(1)
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_untried_prompt_goes_before_refused_ones(talk: Talk) -> None:
    firewall = Firewall(talk)
    for person in people(talk)[:3]:
        await person.asks(f"{BAD} for {person.name}")
    await talk.time.passes(600)
    before = firewall.refused
    await talk.ben.asks("Add a page on keys")
    assert await seconds_until_sent(talk, 1) < 60
    await talk.time.passes(5)
    assert firewall.refused == before + 3
    assert all("Not started" in talk.job(number) for number in (1, 2, 3))
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_refused_follow_up_is_reported_and_the_job_goes_on(talk: Talk) -> None:
    Firewall(talk)
    await talk.started("Add a page on keys")
    await talk.ben.replies(BAD)
    await talk.time.passes(40)
    await talk.started("Add another page")
    await talk.time.passes(60)
    [reply] = [reply for reply in talk.replies() if f"<@{talk.ben.id}>" in reply]
    assert "refuses this one" in reply
    assert "Working on it" in talk.job(1)
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_running_jobs_are_polled_while_prompts_are_refused(talk: Talk) -> None:
    Firewall(talk)
    await talk.started("Add a page on keys", by=talk.ben)
    await talk.ana.asks(BAD)
    await talk.time.passes(minutes=12)
    assert "refuses the bot's key" not in talk.job(1)
    assert "refuses the bot's key" in talk.job(2)
    talk.service.finish()
    await talk.time.passes(60)
    assert "Pull request ready" in talk.job(1)
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_refused_key_is_tried_with_one_prompt_at_a_time(talk: Talk) -> None:
    await talk.process.starts(admins=talk.chika.id)
    firewall = Firewall(talk)
    firewall.refuses_all = True
    for person in people(talk):
        await person.asks(f"Add a page for {person.name}")
    await talk.time.passes(hours=20)
    assert firewall.refused < 60
    assert len(talk.chika.reads()) == 1
    firewall.refuses_all = False
    await talk.time.passes(1_900)
    assert len(talk.agent_got()) == 5
    assert talk.errors() == {"key_refused"}
    talk.everything()

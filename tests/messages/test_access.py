"""Messages for a person who may not: they say why, and are valid and harmless."""

from __future__ import annotations

import re

import pytest

from bot.messages import general as messages
from bot.messages.blocks import bare
from bot.model.access import Access
from bot.model.ids import JobNumber
from tests.builders import ANA, CHANNEL
from tests.messages.slack_limits import Allowed, problems_of


@pytest.mark.parametrize("access", [each for each in Access if not each.may])
def test_every_no_says_why_and_what_to_do_next(access: Access) -> None:
    said = messages.not_allowed(access).text
    others = {messages.not_allowed(each).text for each in Access if not each.may and each is not access}
    assert said not in others
    assert re.search("Ask |Try again|again in a minute", said)
    assert "limit" not in said


@pytest.mark.parametrize("access", Access)
def test_no_refusal_breaks_or_pings(access: Access) -> None:
    assert problems_of(messages.not_allowed(access, CHANNEL), Allowed(set(), set())) == []


@pytest.mark.parametrize("access", sorted(set(Access) - {Access.MEMBER, Access.UNTOLD}))
def test_a_refusal_names_the_channel_since_it_may_be_read_elsewhere(access: Access) -> None:
    said = messages.not_allowed(access, CHANNEL)
    assert f" in <#{CHANNEL}>" in said.text
    assert " in that channel" in bare(said), "a form shows no links"


def test_a_button_of_somebody_else_names_only_the_requester() -> None:
    assert problems_of(messages.not_yours(JobNumber(7), ANA), Allowed({ANA}, set())) == []

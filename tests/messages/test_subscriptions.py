"""Commands that a message about a subscription shows concern that subscription alone."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.commands.visitors_options import WeeklyWords, parse_weekly
from bot.ids import Refusal
from bot.messages import digests
from bot.model.questions import Subscription
from bot.outbox.model import NotPosted
from tests.builders import NOW
from tests.messages.anything import WEEKLY_TIMES
from tests.messages.visitor_samples import subscription

SECTIONS = st.sampled_from([None, "/api", "/api*", "/a-b/c"])


@given(st.builds(subscription, section=SECTIONS, weekly=WEEKLY_TIMES))
def test_shown_command_subscribes_to_the_same_digest_again(told: Subscription) -> None:
    said = digests.paused(told, NotPosted(Refusal.ARCHIVED, told.channel, NOW), "docs-agent").text
    shown = re.search(r"`/docs-visitors subscribe ([^`]*)`", said)
    assert shown
    weekly = told.weekly
    assert parse_weekly(shown[1]) == WeeklyWords(weekly.weekday, weekly.at, weekly.zone, told.section)

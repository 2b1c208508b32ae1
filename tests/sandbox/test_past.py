"""The past of the sandbox before it is opened for the first time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import running_bot
from sandbox.past import begins_at, is_untouched, tell_past
from sandbox.workspace.options import utcnow
from sandbox.world import WorldOptions, both_sides
from tests.limits import HANG_SECONDS
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, DOCS, Story
from tests.scenarios.timeouts import STEADY


@pytest.mark.hypothesis
@given(st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_past_begins_at_nine_on_recent_monday(now: datetime) -> None:
    begin = begins_at(now)
    assert (begin.weekday(), begin.hour, begin.minute) == (0, 9, 0)
    assert timedelta(minutes=130) <= now - begin < timedelta(days=8)


async def test_past_has_digest_finished_thread_and_running_job(
    tmp_path: Path,
) -> None:
    options = WorldOptions(
        tmp_path, work_seconds=100, answer_seconds=HANG_SECONDS, pages=80, days=70
    )
    async with both_sides(options) as world:
        assert is_untouched(world)
        world.clock.set(begins_at(utcnow()))
        settings = world.settings.model_copy(update=FAST)
        async with running_bot(settings, timeouts=STEADY, clock=world.clock):
            await tell_past(world, uses_an_hour=100)
            story = Story(world)
            running = await story.post("Add a page on testing webhooks")
            *past, last = reversed(list(world.workspace.state.history(DOCS)))
            assert last == running
            digest, root, talk = past
            assert "Your docs," in digest["text"]
            assert float(digest["ts"]) == pytest.approx(
                begins_at(utcnow()).timestamp(), abs=HANG_SECONDS
            )
            thread = story.state.thread(DOCS, root["ts"])
            people = [message["user"] for message in thread if not message["bot_id"]]
            assert people[:3] == ["U02BEN", "U03CHIKA", "U02BEN"]
            assert len(thread) - len(people) == 3
            assert [reaction["name"] for reaction in thread[-1]["reactions"]] == ["+1"]
            assert [message["bot_id"] for message in story.state.thread(DOCS, talk["ts"])] == [
                None,
                None,
            ]
            assert abs(world.clock() - utcnow()) < timedelta(seconds=HANG_SECONDS)
            await story.command("/docs-agent", "limits", ANA)
            assert "0 of 100" in (await story.answer("of 100"))["text"]

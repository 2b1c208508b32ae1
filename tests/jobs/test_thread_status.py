"""Under the thread of a running job Slack shows that the agent works, where the workspace takes that."""

from __future__ import annotations

import pytest

from tests.talk import Talk

METHOD = "assistant.threads.setStatus"


def statuses(talk: Talk) -> int:
    """Return how many statuses were set."""
    return talk.slack.calls.count(METHOD)


async def test_status_is_set_again_before_slack_removes_it(talk: Talk) -> None:
    await talk.started()
    assert statuses(talk) == 1
    await talk.time.passes(minutes=6)
    assert 4 <= statuses(talk) <= 6
    await talk.ends()
    before = statuses(talk)
    await talk.time.passes(minutes=10)
    assert statuses(talk) == before
    talk.everything()


@pytest.mark.parametrize("code", ["missing_scope", "feature_disabled"])
async def test_refused_status_is_tried_once_an_hour(talk: Talk, code: str) -> None:
    talk.faults.refuses(METHOD, code, times=9)
    await talk.started()
    await talk.time.passes(minutes=20)
    assert statuses(talk) == 1
    await talk.ends()
    await talk.time.passes(minutes=3)
    assert "is done" in talk.replies()[-1]
    talk.everything()


async def test_failed_status_delays_no_job(talk: Talk) -> None:
    talk.faults.fails(METHOD, times=9)
    await talk.started()
    await talk.ends()
    assert "is done" in talk.replies()[0]
    talk.everything()

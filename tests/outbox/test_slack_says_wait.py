"""Rate limits of Slack hold the limited calls alone, for the requested time."""

from __future__ import annotations

from tests.talk import Talk


def posts(talk: Talk) -> tuple[int, int]:
    """Return how many posts there are in #docs and in #elsewhere."""
    return len(talk.channel("docs")), len(talk.channel("elsewhere"))


async def test_limit_of_the_channel_holds_that_channel_only(talk: Talk) -> None:
    talk.opens_channel("elsewhere")
    talk.faults.limits("chat.postMessage", 1)
    await talk.ana.types("/docs-agent Add a page on keys")
    await talk.time.passes(0.1)
    await talk.ben.types("/docs-agent Add a page on limits", channel="elsewhere")
    await talk.time.passes(0.8)
    assert posts(talk) == (0, 1)
    await talk.time.passes(0.2)
    assert posts(talk) == (1, 1)


async def test_limit_of_the_workspace_holds_all_posts_and_no_edits(talk: Talk) -> None:
    talk.opens_channel("elsewhere")
    await talk.started()
    talk.faults.limits("chat.postMessage", 60)
    await talk.ana.types("/docs-agent Add a page on keys")
    await talk.time.passes(0.1)
    await talk.ben.types("/docs-agent Add a page on limits", channel="elsewhere")
    before = talk.status()
    await talk.ana.replies("Mention Go")
    await talk.time.passes(57)
    assert posts(talk) == (1, 0)
    assert talk.status() != before
    await talk.time.passes(5)
    assert posts(talk) == (2, 1)
    talk.everything()


async def test_limit_of_edits_holds_edits_only(talk: Talk) -> None:
    talk.opens_channel("elsewhere")
    await talk.started()
    talk.faults.limits("chat.update", 30)
    talk.service.finish()
    while talk.faults.left():
        await talk.time.passes(0.5)
    [end] = talk.replies()
    assert "is done" in end
    await talk.ben.types("/docs-agent Add a page on limits", channel="elsewhere")
    await talk.time.passes(29)
    assert posts(talk) == (1, 1)
    assert "Working on it" in talk.status()
    await talk.time.passes(1)
    assert "Pull request ready" in talk.status()
    talk.everything()

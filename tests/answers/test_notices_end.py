"""A notice that cannot be given ends, and asks Slack no more."""

from __future__ import annotations

from tests.answers.conftest import QUESTION, asks, drafts, merges
from tests.talk import Talk


async def test_notice_ends_when_slack_no_longer_knows_the_jobs_channel(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.presses("Didn't help", await asks(talk))
    await talk.ben.presses("Didn't help", await asks(talk, channel="secret"))
    await drafts(talk)
    talk.everything()
    # The channel was deleted, or the bot removed, before the merge was seen.
    talk.faults.refuses("conversations.info", "channel_not_found", times=1_000)
    await merges(talk)
    talk.everything()
    asked = talk.slack.calls.count("conversations.info")
    for _ in range(60):
        await talk.time.passes(minutes=1)
    assert talk.slack.calls.count("conversations.info") - asked < 10


async def ask_by_command_in_private(talk: Talk) -> None:
    """Let Ana ask in a private channel, by a command, and Ben write the page there."""
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.asks(f"ask {QUESTION}", "secret")
    await talk.time.passes()
    talk.everything()
    await drafts(talk, "Draft a page", by=talk.ana)
    talk.everything()


async def test_direct_message_names_no_job_of_a_private_channel(talk: Talk) -> None:
    await ask_by_command_in_private(talk)
    await merges(talk)
    [notice] = talk.ana.reads()
    assert notice.endswith(f"“{QUESTION}” It is written now.")
    talk.everything()


async def test_asker_who_left_a_private_channel_is_told_nothing_of_it(talk: Talk) -> None:
    await ask_by_command_in_private(talk)
    talk.room("secret").members.remove(talk.ana.id)
    await talk.time.passes(minutes=3)
    await merges(talk)
    assert talk.ana.reads() == []
    assert "It is written now" not in talk.everything()

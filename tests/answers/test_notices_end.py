"""A notice that cannot be given ends, and asks Slack no more."""

from __future__ import annotations

from tests.answers.conftest import asks, drafts, merges
from tests.defects import known_defect
from tests.talk import Talk


@known_defect("A notice about a job whose channel is gone asks Slack every minute, for ever.")
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

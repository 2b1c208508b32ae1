"""A job from its prompt to its result, with the events in between."""

from __future__ import annotations

import re

from tests.services import PULL_REQUEST
from tests.talk import Talk


async def test_agent_gets_only_visible_characters(talk: Talk) -> None:
    talk.newcomer("Bo\u202eb")
    message = await talk.ana.says(
        "@docs-agent Add a 👩\u200d🚀 page\U000e0041\ufe0f, so\u00adftly, for <@UBO\u202eB>"
    )
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert prompt.startswith("Add a 👩\u200d🚀 page\ufffd, softly, for ")
    assert "\u202e" not in prompt
    assert prompt in talk.thread(message)[0].replace("&lt;", "<").replace("&gt;", ">")


async def test_pull_request_on_a_host_not_allowed_is_text(talk: Talk) -> None:
    await talk.process.starts(allowed_link_hosts="github.com")
    await talk.started()
    await talk.ends()
    [end] = talk.replies()
    assert f"`{PULL_REQUEST.removeprefix('https://')}`" in end
    assert "on a host that your bot admin allows" in end
    messages = [end, talk.status(), await talk.ana.answer_to("/docs-agent status 1")]
    assert PULL_REQUEST not in str([(message, message.message["blocks"]) for message in messages])


async def test_stale_poll_after_a_follow_up_is_not_its_end(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.replies("Make it shorter")
    while len(talk.agent_got()) < 2:
        await talk.time.passes(0.5)
    talk.service.finish()  # as if the service still showed the first round
    await talk.time.passes(30)
    assert len(talk.replies()) == 1
    await talk.time.passes(60)
    assert len(talk.replies()) == 2
    talk.everything()


async def test_names_reach_the_agent_as_text(talk: Talk) -> None:
    await talk.started("Add what @ben says about #general & https://x.example/a")
    [prompt] = talk.agent_got()
    assert prompt == "Add what @ben says about #general & https://x.example/a"
    assert f"<@{talk.ben.id}>" not in talk.status()


async def test_unknown_status_counts_as_running(talk: Talk) -> None:
    await talk.started()
    await talk.ends("paused", pr_link=None)
    await talk.time.passes(60)
    assert "Working on it" in talk.status()
    await talk.ends()
    await talk.time.passes(60)
    assert "Pull request ready" in talk.status()
    talk.everything()


async def test_long_job_has_one_note_until_polls_end(talk: Talk) -> None:
    await talk.started()
    await talk.time.passes(6_000)
    assert len(talk.replies()) == 1
    await talk.time.passes(days=8)
    assert "Stopped checking" in talk.status()
    assert len(talk.replies()) == 2


async def test_only_mentions_steer_in_a_channel_with_replies_off(talk: Talk) -> None:
    await talk.started()
    assert "Here every reply" in await talk.ana.answer_to("/docs-agent replies")
    assert "only replies that mention me" in await talk.ben.answer_to("/docs-agent replies off")
    await talk.ana.replies("Make it longer")
    await talk.ana.replies("@docs-agent make it shorter")
    await talk.time.passes(30)
    assert talk.agent_got() == ["Add a quickstart", "make it shorter"]
    await talk.ends()
    await talk.time.passes(60)
    assert "Mention me to change it" in talk.replies()[-1]
    for text in ("replies", "help"):
        answer = await talk.ana.answer_to(f"/docs-agent {text}")
        assert re.search(
            "only (replies|those) that mention me|mention me: in this channel only", answer
        )
    assert "Here every reply" in await talk.ana.answer_to("/docs-agent replies", channel="partners")
    await talk.ana.types("/docs-agent Replies ON")
    await talk.ana.replies("and make it simpler")
    await talk.time.passes(30)
    await talk.ends()
    await talk.time.passes(60)
    assert talk.agent_got()[-1] == "and make it simpler"
    assert "ention me" not in talk.replies()[-1]
    talk.everything()


async def test_name_that_slack_refuses_is_logged_once(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started("Add a page on keys")
    for number in range(3):
        talk.faults.refuses("users.info", "user_not_found")
        await talk.ana.says(f"@docs-agent Add what @sol says {number}")
        await talk.time.passes(12)
    assert len(talk.agent_got()) == 4
    assert sum('"event": "name_not_read"' in line for line in talk.log()) == 1
    talk.everything()

"""The main story: ask, pull request, follow-up, second end; and what may come in between."""

from __future__ import annotations

import re

from tests.services import PULL_REQUEST
from tests.talk import Talk


async def test_the_agent_is_sent_nothing_that_the_person_could_not_see(talk: Talk) -> None:
    talk.newcomer("Bo\u202eb")
    said = await talk.ana.says(
        "@docs-agent Add a 👩\u200d🚀 page\U000e0041\ufe0f, so\u00adftly, for <@UBO\u202eB>"
    )
    said["text"] = said["text"]
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert prompt.startswith("Add a 👩\u200d🚀 page\ufffd, softly, for ")
    assert "\u202e" not in prompt
    assert prompt in talk.thread(said)[0].replace("&lt;", "<").replace("&gt;", ">")


async def test_a_pull_request_on_another_host_than_the_allowed_ones_is_told_as_text(talk: Talk) -> None:
    await talk.process.starts(allowed_link_hosts="github.com")
    await talk.started()
    await talk.ends()
    [end] = talk.replies()
    assert f"`{PULL_REQUEST.removeprefix('https://')}`" in end
    assert "on a host that your bot admin allows" in end
    shown = [end, talk.status(), await talk.ana.answer_to("/docs-agent status 1")]
    assert PULL_REQUEST not in str([(each, each.message["blocks"]) for each in shown])


async def test_a_reply_steers_the_job_and_is_marked_as_taken(talk: Talk) -> None:
    await talk.finished()
    reply = await talk.ben.replies("Mention Python 3.11")
    await talk.time.passes(20)
    assert talk.service.prompts[-1] == ("job-1", "Mention Python 3.11")
    assert talk.reactions(reply) == ["eyes"]
    assert "Working on it" in talk.status()
    talk.everything()


async def test_a_stale_answer_after_a_follow_up_is_not_taken_for_its_end(talk: Talk) -> None:
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


async def test_replies_meant_for_people_are_left_alone(talk: Talk) -> None:
    await talk.started()
    texts = ("aside: looks fine", "! not for the bot", "@ben can you look?")
    replies = [await talk.ana.replies(text) for text in texts]
    await talk.time.passes(60)
    assert len(talk.agent_got()) == 1
    assert [talk.reactions(reply) for reply in replies] == [[], [], []]
    assert talk.replies() == []
    talk.status()


async def test_names_reach_the_agent_as_words_and_ping_nobody(talk: Talk) -> None:
    await talk.started("Add what @ben says about #general & https://x.example/a")
    [prompt] = talk.agent_got()
    assert prompt == "Add what @ben says about #general & https://x.example/a"
    assert f"<@{talk.ben.id}>" not in talk.status()


async def test_a_status_nobody_knows_counts_as_running(talk: Talk) -> None:
    await talk.started()
    await talk.ends("paused", pr_link=None)
    await talk.time.passes(60)
    assert "Working on it" in talk.status()
    await talk.ends()
    await talk.time.passes(60)
    assert "Pull request ready" in talk.status()
    talk.everything()


async def test_a_job_that_runs_long_is_mentioned_once(talk: Talk) -> None:
    await talk.started()
    await talk.time.passes(6_000)
    assert len(talk.replies()) == 1
    await talk.time.passes(days=8)
    assert "Stopped checking" in talk.status()
    assert len(talk.replies()) == 2


async def test_where_a_channel_has_chosen_so_only_replies_that_mention_the_bot_steer(talk: Talk) -> None:
    await talk.started()
    assert "Here every reply" in await talk.ana.answer_to("/docs-agent replies")
    assert "only replies that mention me" in await talk.ben.answer_to("/docs-agent replies off")
    await talk.ana.replies("Make it longer")
    await talk.ana.replies("@docs-agent make it shorter")
    await talk.time.passes(30)
    assert talk.agent_got() == ["Add a quickstart", "make it shorter"]
    await talk.ends()
    await talk.time.passes(60)
    assert "ention me here" in talk.replies()[-1]
    for words in ("replies", "help"):
        answer = await talk.ana.answer_to(f"/docs-agent {words}")
        assert re.search("only (replies|those) that mention me|mention me: in this channel only", answer)
    assert "Here every reply" in await talk.ana.answer_to("/docs-agent replies", channel="partners")
    await talk.ana.types("/docs-agent Replies ON")
    await talk.ana.replies("and make it simpler")
    await talk.time.passes(30)
    await talk.ends()
    await talk.time.passes(60)
    assert talk.agent_got()[-1] == "and make it simpler"
    assert "ention me" not in talk.replies()[-1]
    talk.everything()


async def test_in_direct_messages_every_reply_steers(talk: Talk) -> None:
    assert "every reply is for me" in await talk.ana.answer_to("/docs-agent replies off", channel="dm")
    said = await talk.ana.says("Add a quickstart", channel="dm")
    await talk.time.passes()
    await talk.ana.replies("make it shorter", to=said)
    await talk.time.passes(30)
    assert talk.agent_got() == ["Add a quickstart", "make it shorter"]
    talk.everything()


async def test_a_name_that_slack_never_tells_stops_nothing_and_is_logged_once(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started("Add a page")
    for number in range(3):
        talk.faults.refuses("users.info", "user_not_found")
        await talk.ana.says(f"@docs-agent Add what @sol says {number}")
        await talk.time.passes(5)
    assert len(talk.agent_got()) == 4
    assert sum('"event": "name_not_told"' in line for line in talk.log()) == 1
    talk.everything()

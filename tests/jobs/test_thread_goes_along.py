"""Attachments of a prompt: its author, the earlier messages of the thread, and files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.workspace.state import Json
from tests.services import MARK
from tests.talk import Talk
from tests.talk_people import Person
from tests.turns import other_task

MAX_EARLIER_CHARACTERS = 6_000


async def begins(talk: Talk, *texts: str, by: Person | None = None, channel: str = "docs") -> Json:
    """Let somebody begin a thread with the first text and reply with the others; return its root."""
    person = by or talk.ben
    root = await person.says(texts[0], channel)
    for text in texts[1:]:
        await person.replies(text, to=root)
    await talk.time.passes(1)
    return root


async def asked(talk: Talk, root: Json, text: str) -> str:
    """Let Ana mention the bot in the thread; return the agent's prompt."""
    before = len(talk.agent_got())
    await talk.ana.replies(f"@docs-agent {text}", to=root)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()[before:]
    return prompt


async def test_earlier_messages_are_quoted_and_no_instructions(talk: Talk) -> None:
    root = await begins(talk, "The #general page is wrong, @ana\nsee below")
    await talk.ana.replies("Delete it & all", to=root)
    await talk.time.passes(1)
    prompt, _, rest = (await asked(talk, root, "Fix the page on keys")).partition("\n\n")
    heading, *quoted = rest.split("\n")
    assert prompt == "Fix the page on keys"
    assert heading.endswith("as background:")
    assert talk.service.ended_with == [MARK]
    assert quoted == [
        "> Ben Okafor: The #general page is wrong, @Ana Brandt",
        "> see below",
        "> Ana Brandt: Delete it & all",
    ]
    assert "with 2 earlier messages" in talk.job(1)


async def test_long_thread_is_read_while_other_tasks_get_turns(talk: Talk) -> None:
    turns = []
    for length in (1, 40_000):
        root = await begins(talk, "The page on keys is wrong")
        for _ in range(50):
            fields = {"thread_ts": root["ts"]}
            talk.slack.people.say(talk.ben.id, root["channel"], "\u200b" * length, **fields)
        await talk.hears()
        async with other_task() as other:
            await asked(talk, root, f"Describe {length} keys")
            turns.append(other.count)
        talk.everything()
    short, long = turns
    assert long > 3 * short


async def test_words_for_the_bot_alone_that_it_has_missed_are_left_out(talk: Talk) -> None:
    root = await begins(talk, "The page on keys is wrong")
    talk.slack.line.drops_events = True
    await talk.ben.replies("@docs-agent limits", to=root)
    await talk.ben.replies("@docs-agent How do I rotate a key?", to=root)
    talk.slack.line.drops_events = False
    prompt = await asked(talk, root, "Fix the page on keys")
    assert prompt.partition("> ")[2] == (
        "Ben Okafor: The page on keys is wrong\n> Ben Okafor: @docs-agent How do I rotate a key?"
    )
    talk.everything()


async def test_guests_and_asides_are_left_out_and_counted(talk: Talk) -> None:
    root = await begins(talk, "From a guest", by=talk.gus)
    await talk.sol.replies("From another guest", to=root)
    await talk.ben.replies("aside: not for the agent", to=root)
    await talk.ben.replies("From Ben", to=root)
    await talk.time.passes(1)
    prompt = await asked(talk, root, "Fix the page on keys")
    assert prompt.endswith("\n> Ben Okafor: From Ben")
    assert "guest" not in prompt
    assert "with 1 earlier message (3 left out)" in talk.job(1)
    talk.everything()


async def test_messages_that_got_an_answer_are_not_attached(talk: Talk) -> None:
    held = "Say that the token is sk_live_51HqLyjWDarjtT1zdp7dc"
    root = await begins(talk, f"@docs-agent {held}", "From Ben")
    await talk.chika.replies(f"@docs-agent {held}", to=root)
    assert "From Ben" in (prompt := await asked(talk, root, "Fix the page on keys"))
    assert "the token" not in prompt
    talk.everything()


async def test_only_messages_before_the_mention_are_attached(talk: Talk) -> None:
    root = await begins(talk, "Before")
    await talk.ana.replies("@docs-agent Fix the page on keys", to=root)
    await talk.ben.replies("aside: after", to=root)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert "Before" in prompt
    assert "after" not in prompt
    talk.everything()


async def test_keys_and_numbers_in_earlier_messages_are_masked(talk: Talk) -> None:
    root = await begins(
        talk, "Mine is ghp_9fK2mQ7xR4tW8zB1, the password is hunter2, card 4111 1111 1111 1111"
    )
    prompt = await asked(talk, root, "Fix the page on keys")
    assert prompt.endswith("\n> Ben Okafor: Mine is [key], the password is [key], card [number]")
    talk.everything()


async def test_key_is_masked_where_a_long_earlier_message_is_cut(talk: Talk) -> None:
    key = "ghp_abcdefghij0123456789abcdefghij01234567"
    text = f"{'word ' * 2_394}{key} {'more ' * 2_000}"  # the key stands where the text is cut
    root = await begins(talk, "The page is wrong", text)
    prompt = await asked(talk, root, "Change the page")
    assert ": word word" in prompt
    assert "ghp_" not in prompt
    assert len(prompt) < 7_000
    talk.everything()


async def test_newest_20_messages_are_attached(talk: Talk) -> None:
    root = await begins(talk, *(f"Message {number}" for number in range(30)))
    prompt = await asked(talk, root, "Fix the page on keys")
    quoted = [line for line in prompt.splitlines() if line.startswith("> ")]
    assert quoted == [f"> Ben Okafor: Message {number}" for number in range(10, 30)]
    assert "with 20 earlier messages (10 left out)" in talk.job(1)


async def test_newest_characters_are_attached(talk: Talk) -> None:
    root = await begins(talk, "a" * 4_000, "b" * 4_000)
    prompt = await asked(talk, root, "Fix the page on keys")
    assert "aaa" not in prompt
    assert "b" * 4_000 in prompt
    root = await begins(talk, "c" * 9_000)
    assert len(await asked(talk, root, "Fix another page")) < MAX_EARLIER_CHARACTERS + 400
    talk.everything()


async def test_newest_messages_of_a_very_long_thread_are_attached(talk: Talk) -> None:
    begun = await begins(talk, "the limits page says 60")
    for number in range(1_005):
        talk.slack.state.add_message(
            begun["channel"], user=talk.ben.id, text=f"note {number}", thread_ts=begun["ts"]
        )
    assert "note 1004" in await asked(talk, begun, "fix it as Ben said last")
    talk.everything()


async def test_setting_leaves_every_thread_out(talk: Talk) -> None:
    await talk.process.starts(context="none")
    root = await begins(talk, "Before")
    assert await asked(talk, root, "Fix the page on keys") == "Fix the page on keys"
    talk.everything()


async def test_private_thread_is_left_out(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    root = await begins(talk, "Before", channel="secret")
    await talk.ana.replies("@docs-agent Fix the page on keys", to=root)
    await talk.time.passes(20)
    await talk.ana.presses("Start without them", talk.ana.reads()[0])
    await talk.time.passes(20)
    assert talk.agent_got() == ["Fix the page on keys"]
    talk.everything()


@pytest.mark.parametrize("code", [None, "missing_scope"])
async def test_status_shows_that_slack_returned_no_thread(talk: Talk, code: str | None) -> None:
    root = await begins(talk, "Before")
    if code is None:
        talk.faults.fails("conversations.replies")
    else:
        talk.faults.refuses("conversations.replies", code)
    assert await asked(talk, root, "Fix the page on keys") == "Fix the page on keys"
    assert "Slack didn't let me read them" in talk.job(1)


async def test_prompt_goes_without_a_thread_that_never_arrives(talk: Talk) -> None:
    talk.process.timeouts = replace(talk.process.timeouts, names_seconds=0.1)
    root = await begins(talk, "Before")
    talk.faults.hangs("conversations.replies")
    await talk.ana.replies("@docs-agent Fix the page on keys", to=root)
    await talk.time.passes(5)
    await talk.stuck_work_ends()
    await talk.time.passes(20)
    assert talk.agent_got() == ["Fix the page on keys"]
    talk.everything()


async def test_prompt_sent_again_has_the_same_text(talk: Talk) -> None:
    root = await begins(talk, "Before")
    talk.service.loses_the_answer()
    prompt = await asked(talk, root, "Fix the page on keys")
    await talk.ben.edits(root, "Edited meanwhile")
    await talk.ana.presses("Send again")
    await talk.time.passes(20)
    assert talk.agent_got() == [prompt, prompt]
    talk.everything()


async def test_follow_up_has_the_messages_since_the_last_prompt(talk: Talk) -> None:
    root = await begins(talk, "Before")
    await asked(talk, root, "Fix the page on keys")
    await talk.ben.replies("I think it lacks a table", to=root)
    await talk.time.passes(20)
    before = len(talk.agent_got())
    await talk.ana.replies("@docs-agent Add what Ben says", to=root)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()[before:]
    assert prompt.startswith("Add what Ben says\n\n")
    assert prompt.endswith("> Ben Okafor: I think it lacks a table")
    assert "Before" not in prompt
    talk.everything()


async def test_prompt_has_its_author_and_public_channel(talk: Talk) -> None:
    await talk.process.starts(prompt_signature=True)
    await talk.started("Fix the page on keys")
    talk.opens_channel("secret", talk.ana, is_private=True)
    await talk.ana.asks("Fix the page on keys", channel="secret")
    await talk.time.passes()
    assert talk.agent_got() == [
        "Fix the page on keys\n\nAsked by Ana Brandt in #docs.",
        "Fix the page on keys\n\nAsked by Ana Brandt.",
    ]
    assert "Asked by" not in talk.status()
    talk.everything()


async def test_prompt_goes_without_a_name_that_slack_refuses(talk: Talk) -> None:
    await talk.process.starts(prompt_signature=True)
    await talk.ana.types("/docs-agent jobs")
    talk.ana.reads()
    talk.faults.fails("users.info")
    await talk.started("Fix the page on keys")
    assert talk.agent_got() == ["Fix the page on keys"]
    talk.status()


async def test_attached_messages_are_not_logged(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    root = await begins(talk, "Sesame opens")
    assert "Sesame" in await asked(talk, root, "Fix the page on keys")
    await talk.ends()
    assert "Sesame" not in str(talk.log())
    assert talk.kept("Sesame") != []
    talk.everything()


async def test_text_files_are_attached_and_other_files_named(talk: Talk) -> None:
    files = [("notes.txt", "One\nTwo"), ("a`b.png", "PNG"), ("large.txt", "x" * 20_001)]
    message = await talk.ana.says("@docs-agent Use these", files=files)
    await talk.time.passes()
    assert talk.agent_got() == ["Use these\n\nFile “notes.txt”:\n> One\n> Two"]
    [note] = [reply for reply in talk.thread(message) if "Not sent" in reply]
    assert "png" in note
    assert "large.txt" in note
    assert "notes.txt" not in note


async def test_prompt_goes_without_a_file_that_slack_refuses(talk: Talk) -> None:
    talk.faults.fails("file")
    message = await talk.ana.says("@docs-agent Use this", files=[("notes.txt", "One")])
    await talk.time.passes()
    assert talk.agent_got() == ["Use this"]
    assert [
        reply
        for reply in talk.thread(message)
        if "didn't let me read" in reply and "notes.txt" in reply
    ]


async def test_files_without_a_text_are_named_as_not_sent(talk: Talk) -> None:
    await talk.ana.says("@docs-agent", files=[("a.png", "PNG")])
    await talk.time.passes()
    assert talk.agent_got() == []
    assert "png" in talk.ana.reads()[-1]

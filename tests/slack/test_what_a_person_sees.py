"""The bot reads a message as a person sees it: with tables, forwards, blocks and files."""

from __future__ import annotations

from tests.talk import Talk
from tests.talk_messages import (
    BOT,
    STATUS_APP,
    forwarded_blocks,
    forwarded_file,
    pasted_table,
    post,
    section,
)


async def prompt_after(talk: Talk, seconds: float = 30) -> str:
    """Let time pass, read all messages, and return the prompts that reached the agent."""
    await talk.time.passes(seconds)
    talk.everything()
    return "\n".join(talk.agent_got())


async def test_pasted_table_reaches_the_agent(talk: Talk) -> None:
    table = pasted_table(("Plan", "Requests a minute"), ("Free", "60"))
    await post(talk, f"{BOT} Put this table on the limits page", attachments=[table])
    assert "Requests a minute" in await prompt_after(talk)


async def test_file_name_stays_as_it_was_typed(talk: Talk) -> None:
    await post(talk, f"{BOT} Fix the typo in <http://README.md|README.md>")
    assert await prompt_after(talk) == "Fix the typo in README.md"


async def test_blocks_of_a_forwarded_message_reach_the_agent(talk: Talk) -> None:
    forward = forwarded_blocks(section("The limits page says 60, it is 100"))
    await post(talk, f"{BOT} fix the docs for this", attachments=[forward])
    assert "it is 100" in await prompt_after(talk)


async def test_file_of_a_forwarded_message_is_read_or_named(talk: Talk) -> None:
    forward = forwarded_file("The new limits are in the file", "limits.md")
    await post(talk, f"{BOT} put these on the limits page", attachments=[forward])
    await talk.time.passes(30)
    assert "limits.md" in talk.everything()


async def test_allowed_app_mentions_the_bot_in_a_block(talk: Talk) -> None:
    await talk.process.starts(allowed_bots="A0STATUS")
    words = section(f"{BOT} Add an entry to the changelog for 2.4")
    await post(talk, "Release 2.4", **STATUS_APP, blocks=[words])
    assert "changelog for 2.4" in await prompt_after(talk)


async def test_person_who_writes_through_an_app_is_heard(talk: Talk) -> None:
    await post(talk, f"{BOT} Add a page on webhooks", bot_id="B0CLIENT", app_id="A0CLIENT")
    assert await prompt_after(talk) == "Add a page on webhooks"


async def test_file_of_a_shared_channel_is_asked_of_slack(talk: Talk) -> None:
    file = {"id": "F0SHARED", "mode": "file_access", "file_access": "check_file_info"}
    words = f"{BOT} put these on the limits page"
    await post(talk, words, "partners", files=[file], subtype="file_share")
    await prompt_after(talk)
    assert "files.info" in talk.slack.calls


async def test_user_group_has_a_name(talk: Talk) -> None:
    await post(talk, f"{BOT} Say on the support page that <!subteam^S01WRITERS> answers")
    prompt = await prompt_after(talk)
    assert "Say on the support page" in prompt
    assert "S01WRITERS" not in prompt


async def test_quoted_mention_is_no_request(talk: Talk) -> None:
    await post(talk, f"&gt; {BOT} Add a page on quotas\nDid anybody merge this already?")
    assert await prompt_after(talk) == ""

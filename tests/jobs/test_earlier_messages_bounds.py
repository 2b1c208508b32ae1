"""Of long earlier messages only the beginnings are masked, and no key is cut into a part of one."""

from __future__ import annotations

from tests.talk import Talk


async def test_long_earlier_message_is_masked_in_its_beginning(talk: Talk) -> None:
    key = "ghp_abcdefghij0123456789abcdefghij01234567"
    text = f"{'word ' * 2_394}{key} {'more ' * 2_000}"  # the key stands where the text is cut
    root = await talk.ben.says("The page is wrong")
    await talk.ben.replies(text, root)
    await talk.ana.replies("@docs-agent Change the page", root)
    await talk.time.passes()
    talk.everything()
    [prompt] = talk.agent_got()
    assert ": word word" in prompt
    assert "ghp_" not in prompt
    assert len(prompt) < 7_000

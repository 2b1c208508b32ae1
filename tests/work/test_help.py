"""The rest of the help has every word of every command."""

from __future__ import annotations

from bot.features import COMMANDS
from tests.talk import Talk


async def test_rest_of_the_help_has_every_word(talk: Talk) -> None:
    short = await talk.ana.answer_to("/docs-followup help")
    await talk.ana.presses("More", on=short)
    rest = talk.ana.form()
    words = [
        f"{command.name} {word.example or word.usage}"
        for command in COMMANDS
        for word in command.all_words
        if not word.needs_several_projects and word.hint != "help"
    ]
    assert [each for each in words if f"`{each.strip()}`" not in rest] == []
    for part in ("`aside`", "`!`", ":eyes:", "no slash commands in threads", "hourly limit"):
        assert part in rest


async def test_first_help_has_a_question_where_questions_are_answered(talk: Talk) -> None:
    example = "`@docs-agent How do I rotate an API key?`"
    assert example not in await talk.ana.answer_to("/docs-agent help")
    talk.process.answers_questions()
    await talk.process.starts()
    assert example in await talk.ana.answer_to("/docs-agent help")

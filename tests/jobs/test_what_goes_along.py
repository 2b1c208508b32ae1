"""The parts of a message besides its text: tables, forwarded messages, and files of shared channels."""

from __future__ import annotations

from sandbox.workspace.state import Json
from tests.talk import Talk

BOT = "@docs-agent"
TABLE = (("Plan", "Requests a minute"), ("Free", "60"))


def by_app(talk: Talk, text: str, channel: str = "docs") -> Json:
    """Add a message of an app, which has its words in a block."""
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return talk.slack.state.add_message(
        talk.room(channel).id, user="U0DESK", bot_id="B0DESK", blocks=[block]
    )


async def test_pasted_table_reaches_the_agent(talk: Talk) -> None:
    await talk.ana.says(f"{BOT} Put this table on the limits page", table=TABLE)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert prompt == (
        "Put this table on the limits page\n\n| Plan | Requests a minute |\n| Free | 60 |"
    )
    talk.everything()


async def test_table_added_by_an_edit_joins_the_waiting_prompt(talk: Talk) -> None:
    said = await talk.ana.says(f"{BOT} Put the table on the limits page")
    await talk.time.passes(2)
    await talk.ana.edits(said, f"{BOT} Put the table on the limits page", table=TABLE)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert prompt.endswith("| Free | 60 |")
    talk.everything()


async def test_words_of_a_forwarded_app_reach_the_agent(talk: Talk) -> None:
    ticket = by_app(talk, "The limits page says 60, it is *100*")
    await talk.ana.says(f"{BOT} fix the docs for this", forwards=ticket)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert prompt.endswith("Forwarded from “App”:\n> The limits page says 60, it is *100*")
    talk.everything()


async def test_file_of_a_forwarded_message_is_read_where_the_bot_can(talk: Talk) -> None:
    here = await talk.ben.says("The new limits", files=[("limits.md", "Free 60")])
    await talk.ana.says(f"{BOT} put these on the limits page", forwards=here)
    await talk.time.passes(20)
    assert talk.agent_got()[0].endswith("File “limits.md”:\n> Free 60")
    talk.everything()


async def test_file_of_a_forwarded_message_is_named_where_it_cannot(talk: Talk) -> None:
    elsewhere = await talk.ben.says("The new limits", "general", files=[("limits.md", "Free 60")])
    said = await talk.ana.says(f"{BOT} put these on the limits page", forwards=elsewhere)
    await talk.time.passes(20)
    [prompt] = talk.agent_got()
    assert prompt.endswith("> The new limits")
    [note] = [reply for reply in talk.thread(said) if "didn't let me read" in reply]
    assert "limits.md" in note


async def test_text_file_of_a_shared_channel_goes_along(talk: Talk) -> None:
    files = [("limits.md", "Free 60")]
    await talk.ana.says(f"{BOT} put these on the limits page", "partners", files=files)
    await talk.time.passes(20)
    assert talk.agent_got() == ["put these on the limits page\n\nFile “limits.md”:\n> Free 60"]
    talk.everything()


async def test_picture_of_a_shared_channel_is_asked_about_first(talk: Talk) -> None:
    files = [("limits.png", "PNG")]
    await talk.ana.says(f"{BOT} put these on the limits page", "partners", files=files)
    await talk.time.passes(20)
    assert talk.agent_got() == []
    [question] = talk.ana.reads()
    assert "limits.png" in question


async def test_file_that_slack_does_not_describe_is_named(talk: Talk) -> None:
    talk.faults.refuses("files.info", "file_not_found", times=2)
    said = await talk.ana.says(f"{BOT} use it", "partners", files=[("limits.md", "Free 60")])
    await talk.time.passes(20)
    assert talk.agent_got() == ["use it"]
    assert [reply for reply in talk.thread(said) if "didn't let me read it" in reply]
    talk.everything()


async def test_form_has_the_words_of_an_apps_message(talk: Talk) -> None:
    ticket = by_app(talk, "Ticket: the limits page says 60, it is 100")
    await talk.ana.uses_shortcut("ask_about", on=ticket)
    assert "it is 100" in str(talk.ana.form().message["blocks"])
    talk.everything()


async def test_form_names_what_does_not_go_along(talk: Talk) -> None:
    said = await talk.ben.says("Look at this " + "x" * 3_000, files=[("limits.png", "PNG")])
    await talk.ana.uses_shortcut("ask_about", on=said)
    form = talk.ana.form()
    assert "without `limits.png`, `the end of the text`" in form


async def test_part_that_is_no_text_is_named_before_it_is_sent(talk: Talk) -> None:
    ticket = by_app(talk, "The limits page is wrong")
    ticket["blocks"].append({"type": "data_visualization", "title": "Visits"})
    said = await talk.ana.says(f"{BOT} fix the docs for this", forwards=ticket)
    await talk.time.passes(5)
    assert talk.agent_got() == []
    assert [reply for reply in talk.thread(said) if "Left out: `chart: Visits`" in reply]
    assert talk.kept("Visits") == ["inbox.omitted_parts", "prompts.omitted_parts"]
    await talk.time.passes(20)
    assert len(talk.agent_got()) == 1
    talk.everything()


async def test_deleted_message_leaves_none_of_its_words(talk: Talk) -> None:
    ticket = by_app(talk, "The limits page is wrong")
    ticket["blocks"].append({"type": "data_visualization", "title": "Visits"})
    said = await talk.ana.says(f"{BOT} fix the docs for this", forwards=ticket)
    await talk.ana.deletes(said)
    await talk.time.passes(20)
    assert talk.kept("Visits") == []
    talk.everything()

"""Jobs where the bot serves several projects: chosen for a channel, named in a text, kept for good."""

from __future__ import annotations

import json

import pytest

from tests.talk import Talk
from tests.talk_people import Person

BOT = "@docs-agent"
ACME, BETA = {"id": "acme-docs", "label": "Acme docs"}, {"id": "beta-docs", "label": "Beta"}
BOTH = json.dumps({"acme": ACME, "beta": BETA})
ONLY_ACME = json.dumps({"acme": ACME})


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot for two projects, Acme's by default."""
    await talk.process.starts(docs_projects=BOTH)
    return talk


async def serves(talk: Talk, projects: str) -> None:
    """Restart the bot with other projects."""
    await talk.process.stops()
    await talk.process.starts(docs_projects=projects)


async def types(talk: Talk, text: str, by: Person | None = None, channel: str = "docs") -> str:
    """Type ``/docs-agent`` and read the private answers."""
    person = by or talk.ana
    await person.types(f"/docs-agent {text}", channel)
    await talk.time.passes(5)
    return "\n".join(person.reads())


def prompts(talk: Talk) -> tuple[list[str], list[str]]:
    """Return the prompts of both projects, first Acme's."""
    return tuple(talk.service.by_project.get(project["id"], []) for project in (ACME, BETA))  # type: ignore[return-value]


async def test_channel_has_the_default_project_until_somebody_chooses(talk: Talk) -> None:
    await types(talk, "Write Keys")
    assert "From now on, what you ask here is for *Beta*" in await types(talk, "project beta")
    await types(talk, "Write Two")
    await types(talk, "Write Three", channel="partners")
    assert prompts(talk) == (["Write Keys", "Write Three"], ["Write Two"])
    for number, label in enumerate(("Acme docs", "Beta", "Acme docs"), 1):
        assert label in talk.job(number)


async def test_list_of_jobs_has_their_projects(talk: Talk) -> None:
    await types(talk, "Write Keys")
    await types(talk, "project:beta Write Two")
    _, two, one = (await types(talk, "jobs")).splitlines()
    assert "|Write Keys> · Working on it · Acme docs · " in one
    assert "|Write Two> · Working on it · Beta · " in two
    talk.channel()


async def test_mention_can_name_a_project(talk: Talk) -> None:
    root = await talk.ana.says("Two pages are missing")
    await talk.ana.says(f"{BOT} project:beta Write Keys")
    await talk.ana.replies(f"{BOT} Write Two project:beta", to=root)
    await talk.time.passes(20)
    assert prompts(talk)[0] == []
    assert sorted(prompt.split("\n")[0] for prompt in prompts(talk)[1]) == [
        "Write Keys",
        "Write Two",
    ]
    talk.everything()


async def test_unknown_project_starts_nothing_and_returns_the_prompt(talk: Talk) -> None:
    answer = await types(talk, "project:gamma Add <b>a page</b>")
    assert "I don't know the project “gamma”, so nothing was started." in answer
    assert "`acme` (Acme docs), `beta` (Beta)" in answer
    assert "Add &lt;b&gt;a page&lt;/b&gt;" in answer
    await talk.ana.says(f"{BOT} Add a page on keys project:gamma")
    await talk.time.passes(5)
    [note] = talk.ana.reads()
    assert "I don't know the project “gamma”" in note
    assert "Add a page on keys" in note
    answer = await types(talk, "project gamma")
    assert "I don't know the project “gamma”, so nothing was changed" in answer
    assert prompts(talk) == ([], [])


async def test_only_admins_choose_where_there_are_some(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(admins=talk.chika.id)
    assert "Only an admin of this bot" in await types(talk, "project beta")
    assert "Here I work on *Acme docs*" in await types(talk, "project")
    assert "for *Beta*" in await types(talk, "project beta", by=talk.chika)
    assert "Here I work on *Beta*" in await types(talk, "project")


async def test_everybody_chooses_for_their_direct_messages(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(admins=talk.chika.id)
    assert "for *Beta*" in await types(talk, "project beta", channel="dm")
    assert "Here I work on *Beta*" in await types(talk, "project", channel="dm")
    assert "Here I work on *Acme docs*" in await types(talk, "project")
    await talk.ana.says("Write Keys", channel="dm")
    await talk.time.passes(20)
    assert prompts(talk) == ([], ["Write Keys"])
    talk.everything()


async def test_person_without_access_sees_no_project(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(allowed_users=talk.ben.id)
    for text in (
        "project beta",
        "project",
        "project gamma",
        "project:gamma Add a page on keys",
        "limits",
    ):
        answer = await types(talk, text)
        assert "acme" not in answer.lower()
        assert "Beta" not in answer, "only their own text is quoted"
    await talk.ana.says(f"{BOT} project:gamma Add a page on keys")
    await talk.time.passes(5)
    assert "acme" not in str(talk.ana.reads()).lower()
    assert "Here I work on *Acme docs*" in await types(talk, "project", by=talk.ben)


async def test_job_keeps_its_project(talk: Talk) -> None:
    await types(talk, "project:beta Write Keys")
    await types(talk, "project beta")
    await types(talk, "project acme")
    await serves(talk, json.dumps({"beta": BETA, "acme": ACME}))
    await talk.ana.replies("Write Two")
    await talk.time.passes(20)
    await talk.ends("failed", pr_link=None)
    await talk.time.passes(60)
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in(prompt="Write Three") == {}
    await talk.time.passes(20)
    assert prompts(talk) == ([], ["Write Keys", "Write Two", "Write Three"])
    talk.everything()


async def test_mention_of_another_project_starts_another_job(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    for text in ("Write Keys", "project:acme Write Two", "project:beta Write Three"):
        await talk.ana.replies(f"{BOT} {text}", to=root)
        await talk.time.passes(20)
    (one, two), [three] = prompts(talk)
    assert one.startswith("Write Keys")
    assert two == "Write Two"
    assert three.startswith("Write Three")
    assert "Beta" in talk.job(2)
    talk.everything()


async def test_same_prompt_for_two_projects_is_two_requests(talk: Talk) -> None:
    await types(talk, "Write Keys")
    assert await types(talk, "Write Keys project:beta") == ""
    assert prompts(talk) == (["Write Keys"], ["Write Keys"])
    assert "a minute" in await types(talk, "project:beta Write Keys")
    talk.channel()


async def test_edit_moves_a_pending_prompt_to_another_project(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(uses_an_hour=1)
    await types(talk, "Write First")
    message = await talk.ana.says(f"{BOT} Write Second")
    await talk.time.passes(20)
    await talk.ana.edits(message, f"{BOT} project:gamma Write Second")
    await talk.time.passes(1)
    await talk.ana.edits(message, f"{BOT} project:beta Write Second")
    await talk.time.passes(20)
    assert prompts(talk) == (["Write First"], ["Write Second"])
    assert "Withdrawn" in talk.job(2)
    assert "Beta" in talk.job(3)
    assert "I don't know the project “gamma”, so nothing was started" in str(talk.ana.reads())
    talk.channel()


async def test_form_offers_the_channels_project_first(talk: Talk) -> None:
    await types(talk, "project beta")
    await talk.ana.types("/docs-agent")
    [choice] = [block for block in talk.ana.form().message["blocks"] if "Beta" in str(block)]
    assert choice["element"]["initial_option"]["value"] == "beta"
    assert [option["value"] for option in choice["element"]["options"]] == ["beta", "acme"]
    assert await talk.ana.fills_in(prompt="Write Keys", project="acme") == {}
    await talk.time.passes(10)
    assert prompts(talk) == (["Write Keys"], [])
    talk.everything()


async def test_project_has_its_own_limits_and_key(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(uses_an_hour=1)
    talk.service.says("create", 401)
    await types(talk, "Write Keys project:beta")
    await types(talk, "Write Two")
    assert prompts(talk) == (["Write Two"], [])
    acme, refused, beta = (await types(talk, "limits")).splitlines()
    assert acme.startswith("*Acme docs*: *0 of 1 jobs and follow-ups left this hour*")
    assert refused.startswith(":warning: The docs service refuses my key")
    assert beta.startswith("*Beta*: *1 of 1 jobs and follow-ups left this hour*")
    await talk.time.passes(90)
    assert prompts(talk) == (["Write Two"], ["Write Keys"])
    assert talk.errors() == {"key_refused"}
    talk.channel()


async def test_jobs_of_a_removed_project_end_with_one_reply(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(uses_an_hour=1)
    await types(talk, "project:beta Write Keys")
    await types(talk, "project:beta Write Two", by=talk.ben)
    await types(talk, "project beta")
    await serves(talk, ONLY_ACME)
    await talk.time.passes(3_700)
    assert len([reply for reply in talk.all_replies() if "no longer set up here" in reply]) == 2
    assert "Not started" in talk.job(2)
    talk.everything()
    calls, posts = len(talk.service.calls), len(talk.all_replies())
    await talk.time.passes(days=3)
    assert (len(talk.service.calls), len(talk.all_replies())) == (calls, posts)
    await types(talk, "Write Three")
    assert prompts(talk)[0] == ["Write Three"], "the channel's choice counts as none"
    talk.everything()


async def test_prompt_run_again_goes_to_no_other_project(talk: Talk) -> None:
    await types(talk, "project:beta Write Keys")
    await talk.ends("failed", pr_link=None)
    await talk.time.passes(60)
    await serves(talk, ONLY_ACME)
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(10)
    assert prompts(talk) == ([], ["Write Keys"])
    assert "no longer set up here" in talk.everything()


async def test_help_has_the_names_of_several_projects(talk: Talk) -> None:
    assert "`project:beta`" in await types(talk, "help")
    await serves(talk, ONLY_ACME)
    assert "project:" not in await types(talk, "help")


async def test_addition_for_an_unknown_project_is_no_part_of_the_request(talk: Talk) -> None:
    said = await talk.ana.says(f"{BOT} Write Keys")
    await talk.time.passes(2)
    await talk.ana.replies(f"{BOT} project:gamma and a table", to=said)
    await talk.time.passes(2)
    await talk.ana.edits(said, f"{BOT} Write Two")
    await talk.time.passes(20)
    [answer] = talk.ana.reads()
    assert "I don't know the project “gamma”" in answer
    assert prompts(talk) == (["Write Two"], [])
    talk.everything()


async def test_project_is_plain_text_with_one_project(talk: Talk) -> None:
    await talk.process.stops()
    del talk.process.settings["DOCS_PROJECTS"]
    await talk.process.starts()
    await types(talk, "project:beta Write Keys")
    assert talk.agent_got() == ["project:beta Write Keys"]
    assert "These prompts go to" in await types(talk, "project")
    assert "Beta" not in talk.status()
    await talk.ana.types("/docs-agent")
    assert "project" not in str(
        [block.get("element") for block in talk.ana.form().message["blocks"]]
    )


async def test_edit_without_change_keeps_a_follow_up_with_project(talk: Talk) -> None:
    """An edit made while the bot was away arrives as a message, and as an edit that changes nothing."""
    root = await talk.ana.says(f"{BOT} Write Keys")
    await talk.time.passes(12)
    message = await talk.ana.replies(f"{BOT} project:acme Write Shorter", to=root)
    await talk.ana.edits(message, f"{BOT} project:acme Write Shorter")
    await talk.time.passes(20)
    assert prompts(talk) == (["Write Keys", "Write Shorter"], [])
    assert talk.ana.reads() == []
    talk.everything()


async def test_status_message_names_the_project_that_an_edit_chose(talk: Talk) -> None:
    """Also if it waits there for the same time as before, so that nothing else of the job changes."""
    await talk.process.stops()
    await talk.process.starts(uses_an_hour=1)
    for project in ("acme", "beta"):
        await talk.ben.types(f"/docs-agent project:{project} Write First")
    await talk.time.passes(1)
    message = await talk.ana.says(f"{BOT} Write Second")
    await talk.time.passes(5)
    assert "Acme docs" in talk.job(3)
    await talk.ana.edits(message, f"{BOT} project:beta Write Second")
    await talk.time.passes(5)
    assert "Beta" in talk.job(3)
    talk.everything()

"""`docs-bot jobs` and `forget`: list jobs and undelivered messages, and forget a person."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.command_line import docs_bot, make_tables
from tests.talk import Talk

SECRET = "Add the launch of Project Heron to the changelog"


async def jobs(talk: Talk, *arguments: object, exit_code: int = 0) -> str:
    """Return the output of `docs-bot jobs`, and ignore the messages in Slack."""
    talk.everything()
    return await talk.operator("jobs", *arguments, exit_code=exit_code)


async def forget(talk: Talk, user: str) -> str:
    talk.everything()
    return await talk.operator("forget", user)


async def lose_the_end(talk: Talk) -> str:
    """Let Slack refuse the end of Ana's job; return the number of the dead letter."""
    talk.time.at = datetime.now(UTC)  # the time of the command, when the letter becomes due
    await talk.started(SECRET)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ends()
    letters = (await jobs(talk)).partition("Could not be said:\n")[2].split()
    assert letters[1:5] == ["#1", "reply:", "is_archived", "(--retry"]
    return letters[0]


async def test_texts_of_the_service_do_not_steer_the_terminal(talk: Talk) -> None:
    talk.service.branch = "main\x1b[1m"
    await talk.started()
    await talk.ends(pr_link="https://code.example/\x1b]0;owned\x07\n#9")
    whole = await jobs(talk) + await jobs(talk, "1")
    assert "https://code.example/" in whole
    assert "branch: main" in whole
    assert "\x1b" not in whole
    assert len([line for line in whole.splitlines() if line.startswith("#")]) == 2


async def test_filter_leaves_only_its_jobs(talk: Talk) -> None:
    projects = '{"acme-docs": {"id": "acme-docs"}, "beta": {"id": "beta-docs"}}'
    await talk.process.starts(docs_projects=projects)
    await talk.started()
    await talk.ends("failed", pr_link=None)
    talk.opens_channel("other")
    await talk.ben.asks("project:beta Add a page on keys", "other")
    await talk.time.passes()
    filters = {"state": "failed", "channel": "C01DOCS", "user": talk.ana.id, "project": "acme-docs"}
    for option, value in filters.items():
        [line] = (await jobs(talk, f"--{option}", value)).splitlines()
        assert line.startswith("#1  failed")
    assert await jobs(talk, "--state", "failed", "--user", talk.ben.id) == "No jobs.\n"


async def test_job_is_listed_with_acts_and_without_texts(talk: Talk) -> None:
    await talk.started(SECRET)
    await talk.ends("failed", pr_link=None)
    output = await jobs(talk, 1)
    assert "  project: acme-docs" in output
    assert f"  2026-11-02 09:00 UTC  asked  {talk.ana.id}  failed" in output
    assert SECRET not in output


async def test_pending_work_of_a_job_has_its_reasons(talk: Talk) -> None:
    talk.time.at = datetime.now(UTC).replace(microsecond=0)  # the time of the command
    await talk.process.starts(uses_an_hour=1)
    await talk.started()
    await talk.ana.replies(SECRET)
    await talk.time.passes(20)
    prompt, poll = (await jobs(talk, 1)).splitlines()[1:3]
    assert prompt.startswith("  prompt waits for the hourly limit until ")
    assert prompt.endswith(" UTC)")
    assert poll.startswith("  poll waits ")


async def test_undelivered_message_is_tried_again_once(talk: Talk) -> None:
    letter = await lose_the_end(talk)
    assert "is tried again" in await jobs(talk, "--retry", letter)
    assert f"there is no letter {letter}" in await jobs(talk, "--retry", letter, exit_code=2)
    talk.time.at = datetime.now(UTC)
    await talk.time.passes()
    assert "is done" in talk.replies()[-1]
    assert "Could not be said" not in await jobs(talk)


async def test_message_that_shows_an_old_state_is_not_tried_again(talk: Talk) -> None:
    await talk.started(SECRET)
    talk.faults.refuses("chat.update", "cant_update_message")
    await talk.ends()
    [line] = (await jobs(talk)).partition("Could not be said:\n")[2].splitlines()
    assert "#1  edit: cant_update_message" in line
    assert "--retry" not in line
    assert "there is no letter" in await jobs(talk, "--retry", line.split()[0], exit_code=2)


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (
            ["jobs", "--user", "U1", "--channel", "C1", "--state", "failed", "--project", "x"],
            0,
            "No jobs.",
        ),
        (["jobs", "7"], 2, "there is no job 7"),
        (["jobs", "--retry", "7"], 2, "no letter 7"),
        (["jobs", "7", "--retry", "7"], 2, "each stand alone"),
        (["jobs", "0"], 2, "0 is not in the range"),
        *(
            ([command, user], 2, "begins with U or W")
            for command in ("export", "forget")
            for user in ("ana", "@ana", "C0DOCS", "U0A; DROP", "U", "")
        ),
    ],
)
def test_command_needs_only_the_database_and_names_its_mistake(
    arguments: list[str], code: int, expected: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    make_tables(url)
    ran = docs_bot(*arguments, DATABASE_URL=url)
    assert (ran.exit_code, expected in ran.output) == (code, True), ran.output


@pytest.mark.parametrize(
    "arguments", [["jobs"], ["audit"], ["export", "U0ANA"], ["forget", "U0ANA"]]
)
def test_before_the_first_start_one_is_advised(arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    ran = docs_bot(*arguments, DATABASE_URL=f"sqlite:///{file}")
    assert (ran.exit_code, "first start of the bot makes the file" in ran.stderr) == (69, True)
    assert not file.exists()
    file.touch()
    ran = docs_bot(*arguments, DATABASE_URL=f"sqlite:///{file}")
    assert (ran.exit_code, "a start of the bot creates its tables" in ran.stderr) == (69, True)


async def test_person_is_forgotten_except_for_work_under_way(talk: Talk) -> None:
    await talk.finished(SECRET)
    await talk.finished("Add a second page")
    await talk.started("Add a third page")
    forgotten, others = (await forget(talk, talk.ana.id)).splitlines()
    assert forgotten.startswith(f"Forgotten of {talk.ana.id}: access checks 1, jobs 2, prompts 2, ")
    assert others.startswith("Under way and therefore kept: jobs 1")
    assert others.endswith("Run this again when that is over.")
    assert talk.kept(SECRET) == []
    assert talk.kept("Add a third page") != []


async def test_forget_names_the_prompts_of_others_that_may_quote_the_person(talk: Talk) -> None:
    root = await talk.ben.says("The webhook page lacks the zinc secret")
    await talk.ana.replies("@docs-agent add what Ben says to the page", root)
    await talk.time.passes(20)
    await talk.ends()
    assert talk.kept("zinc secret") != []
    report = await forget(talk, talk.ben.id)
    assert f"Not searched, of others: prompts 1, which may quote {talk.ben.id}" in report
    assert talk.kept("zinc secret") != [], "Ana's prompt keeps it"
    # Of the person who asked, the conversation goes along, and nothing is left to search.
    await forget(talk, talk.ana.id)
    assert talk.kept("zinc secret") == []
    assert "Not searched" not in await forget(talk, talk.ben.id)


async def test_reviewer_is_forgotten_in_jobs_of_others(talk: Talk) -> None:
    await talk.finished()
    await talk.ben.presses("Reviewed")
    await talk.time.passes()
    assert "names in others' jobs 1" in await forget(talk, talk.ben.id)
    assert talk.kept(talk.ben.id) == []
    assert await forget(talk, talk.ben.id) == f"Nothing of {talk.ben.id} was kept.\n"


async def test_export_has_what_forgetting_then_takes(talk: Talk) -> None:
    await talk.finished(SECRET)
    await talk.started("Add a third page")
    await talk.ben.presses("Reviewed")
    await talk.time.passes()

    document = json.loads(await talk.operator("export", talk.ana.id))

    assert document["user"] == talk.ana.id
    jobs_of_ana = [row for row in document["rows"] if row["kind"] == "jobs"]
    texts = {row["values"]["text"]: row["under_way"] for row in jobs_of_ana}
    assert texts == {SECRET: False, "Add a third page": True}
    await forget(talk, talk.ana.id)
    rest = json.loads(await talk.operator("export", talk.ana.id))
    assert {row["under_way"] for row in rest["rows"]} == {True}


async def test_somebody_unknown_has_an_empty_export(talk: Talk) -> None:
    await talk.finished(SECRET)
    talk.everything()
    assert json.loads(await talk.operator("export", "U0NOBODY"))["rows"] == []

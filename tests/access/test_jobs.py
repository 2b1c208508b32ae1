"""A job is as private as its channel: who may see and steer it, and what all others are told."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.services import PULL_REQUEST
from tests.talk import Talk
from tests.talk_people import Person, Shown

PROMPT = "Write down our secret"
HIDDEN = pytest.mark.parametrize("hidden", ["private", "dm"])
FORM_WITHOUT_JOB = {"prompt": "I couldn't tell which job this is for. Close this and try again."}


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """A conversation in which Ana and Chika share a private channel, and Ana and Pat a public one."""
    pat = talk.newcomer("Pat")
    await talk.process.starts(admins=pat.id)
    talk.opens_channel("private", talk.ana, talk.chika, is_private=True)
    talk.opens_channel("public", talk.ana, pat)
    return talk


async def started(talk: Talk, channel: str) -> dict[str, str]:
    """Let Ana's job run in a channel; return how it can be named."""
    await talk.ana.asks(PROMPT, channel)
    await talk.time.passes()
    assert talk.agent_got() == [PROMPT]
    root = talk.root(channel=channel)
    talk.everything()
    link = f"https://acme.slack.com/archives/{root['channel']}/p{root['ts'].replace('.', '')}"
    reply = f"{link[:-3]}999?thread_ts={root['ts']}&cid={root['channel']}"
    return {
        "number": "1",
        "hash": "#1",
        "service id": "job-1",
        "link": link,
        "link to a reply": reply,
    }


def person_called(talk: Talk, name: str) -> Person:
    """Return somebody by name."""
    [user] = [user for user in talk.slack.state.users.values() if user.real_name.split()[0] == name]
    return Person(talk, user.id, name)


UNKNOWN = {
    "number": "99",
    "hash": "#99",
    "service id": "job-99",
    "link": "https://acme.slack.com/archives/C9NONE/p1700000000000001",
}


async def is_told_as_if_unknown(
    talk: Talk, command: str, name: str, unknown: str, text: str = ""
) -> Shown:
    """Let Ben type a command about a job and about one that there is not; return the first answer."""
    answers = []
    for each in (name, unknown):
        answer = await talk.ben.answer_to(f"{command} {each} {text}".strip())
        answers.append((answer, answer.replace(each.removeprefix("#"), "it")))
        await talk.time.passes()
    assert answers[0][1] == answers[1][1]
    assert (talk.unread(), talk.agent_got()[1:]) == ([], [])
    return answers[0][0]


@HIDDEN
@pytest.mark.parametrize("how", UNKNOWN)
async def test_somebody_outside_is_told_of_no_such_job(talk: Talk, hidden: str, how: str) -> None:
    name = (await started(talk, hidden))[how]
    told = await is_told_as_if_unknown(talk, "/docs-agent status", name, UNKNOWN[how])
    assert "that you can see" in told


@HIDDEN
@pytest.mark.parametrize("how", UNKNOWN)
@pytest.mark.parametrize("text", ["", "Delete everything"])
async def test_somebody_outside_neither_steers_a_job_nor_learns_of_it(
    talk: Talk, hidden: str, how: str, text: str
) -> None:
    """The service's id of a hidden job is a word like any other."""
    name = (await started(talk, hidden))[how]
    told = await is_told_as_if_unknown(talk, "/docs-followup", name, UNKNOWN[how], text)
    assert (
        "You have no job in this channel" if how == "service id" else "that you can see"
    ) in told
    assert told.endswith(text)


async def test_a_hidden_service_id_does_not_keep_a_follow_up_from_ones_own_job(talk: Talk) -> None:
    await started(talk, "private")
    await talk.ben.asks("Add Mine")
    await talk.time.passes()
    told = await talk.ben.answer_to("/docs-followup Use job-1 as my example")
    assert "Sent to your latest job here, Job 2" in told
    await talk.time.passes()
    assert talk.service.prompts[-1] == ("job-2", "Use job-1 as my example")
    talk.everything()


@HIDDEN
@pytest.mark.parametrize("number", [1, 99])
async def test_a_form_for_a_hidden_job_is_answered_as_for_an_unknown_one(
    talk: Talk, hidden: str, number: int
) -> None:
    await started(talk, hidden)
    await talk.ben.asks("Add Mine")
    await talk.time.passes()
    await talk.ben.types("/docs-followup 2")
    [view] = talk.slack.state.views.values()
    kept = json.loads(view["private_metadata"])
    assert 2 in kept.values()
    forged = {key: number if value == 2 else value for key, value in kept.items()}
    view["private_metadata"] = json.dumps(forged)
    assert await talk.ben.fills_in(prompt="Delete everything") == FORM_WITHOUT_JOB
    await talk.time.passes()
    assert talk.agent_got() == [PROMPT, "Add Mine"]
    talk.everything()


LET_IN = pytest.mark.parametrize(
    ("name", "of", "here"),
    [
        pytest.param("Ana", "dm", "docs", id="who asked for it"),
        pytest.param("Chika", "private", "docs", id="a member of the private channel"),
        pytest.param("Chika", "private", "private", id="somebody in the very channel"),
        pytest.param("Ben", "public", "docs", id="a full member, the channel being public"),
    ],
)


@LET_IN
@pytest.mark.parametrize("how", ["number", "hash", "service id", "link", "link to a reply"])
async def test_who_may_see_a_job_does_and_steers_it_once(
    talk: Talk, name: str, of: str, here: str, how: str
) -> None:
    job = (await started(talk, of))[how]
    person = person_called(talk, name)
    assert PROMPT in await person.answer_to(f"/docs-agent status {job}", here)
    told = await person.answer_to(f"/docs-followup {job} Mention Python 3.11", here)
    assert f"Sent to Job 1 (“{PROMPT}”)" in told
    await talk.time.passes()
    assert talk.service.prompts == [("job-1", PROMPT), ("job-1", "Mention Python 3.11")]
    assert "Mention Python 3.11" in talk.everything()


@LET_IN
async def test_who_may_see_a_job_gets_its_form_and_sends_it(
    talk: Talk, name: str, of: str, here: str
) -> None:
    await started(talk, of)
    person = person_called(talk, name)
    await person.types("/docs-followup 1", here)
    assert await person.fills_in(prompt="Delete everything") == {}
    await talk.time.passes()
    await talk.ends()
    assert talk.service.prompts[-1] == ("job-1", "Delete everything")
    talk.everything()


@HIDDEN
@pytest.mark.parametrize("how", UNKNOWN)
async def test_admin_outside_sees_the_state_of_a_job_and_none_of_its_words(
    talk: Talk, hidden: str, how: str
) -> None:
    name = (await started(talk, hidden))[how]
    pat = person_called(talk, "Pat")
    told = await pat.answer_to(f"/docs-agent status {name}")
    assert "Job 1" in told
    assert "Slack doesn't tell me that you can read its channel" in told
    assert told.buttons == ["Keep quiet about it"]
    assert "secret" not in str(told.message)


@HIDDEN
@pytest.mark.parametrize("text", ["", "Delete everything"])
@pytest.mark.parametrize("how", ["number", "service id"])
async def test_admin_outside_does_not_steer_a_job(
    talk: Talk, hidden: str, how: str, text: str
) -> None:
    """Nor does the text go to the admin's own job in the channel."""
    name = (await started(talk, hidden))[how]
    pat = person_called(talk, "Pat")
    await pat.asks("Add Mine", "public")
    await talk.time.passes()
    talk.everything()
    told = await pat.answer_to(f"/docs-followup {name} {text}".strip(), "public")
    assert "Slack doesn't tell me that you can read its channel" in told
    assert ("Nothing was sent." in told) is bool(text)
    assert told.endswith(text)
    await talk.time.passes()
    assert (talk.unread(), talk.agent_got()) == ([], [PROMPT, "Add Mine"])
    # Nor did they become one of those who asked for it.
    assert "secret" not in await pat.answer_to("/docs-agent status 1")


async def test_mention_of_an_admin_outside_steers_no_job(talk: Talk) -> None:
    await started(talk, "private")
    pat = person_called(talk, "Pat")
    await pat.says("@docs-agent #1 Delete everything", "public")
    await talk.time.passes(20)
    [told] = pat.reads()
    assert "Nothing was sent." in told
    assert "secret" not in str(told.message)
    assert talk.agent_got() == [PROMPT]
    talk.everything()


async def test_admin_outside_who_decides_too_late_reads_the_outcome(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=36_000)
    await talk.ana.asks(PROMPT, "private")
    await talk.time.passes()
    pat = person_called(talk, "Pat")
    told = await pat.answer_to("/docs-agent status 1")
    await talk.ana.presses("Withdraw", on=Shown.of(talk.root(channel="private")))
    await pat.presses("Withdraw", on=told)
    [after] = pat.reads()
    assert f"*Withdrawn* by <@{talk.ana.id}>" in after
    assert (after.buttons, "secret" in str(after.message)) == ([], False)
    talk.everything()


@pytest.mark.parametrize("how", ["by button", "by word"])
async def test_admin_outside_takes_back_a_job_that_waits(talk: Talk, how: str) -> None:
    talk.service.says("create", 429, seconds=36_000)
    await talk.ana.asks(PROMPT, "private")
    await talk.time.passes()
    pat = person_called(talk, "Pat")
    if how == "by word":
        asked_back = await pat.answer_to("/docs-agent stop 1")
        await pat.presses("stop 1", on=asked_back)
        [told] = pat.reads()
        assert "Taken back" in told
    else:
        told = await pat.answer_to("/docs-agent status 1")
        assert told.buttons == ["Withdraw"]
        await pat.presses("Withdraw", on=told)
        [after] = pat.reads()
        assert f"*Withdrawn* by <@{pat.id}>" in after
        assert (after.buttons, "secret" in str(after.message)) == ([], False)
    await talk.time.passes()
    assert f"*Withdrawn* by <@{pat.id}>" in talk.job(1)
    assert talk.agent_got() == []
    talk.everything()


@pytest.mark.parametrize("choice", ["Send again", "Dismiss"])
async def test_admin_outside_decides_about_an_unconfirmed_job(talk: Talk, choice: str) -> None:
    talk.service.answer_instead("create", httpx.ReadError("cut off"))
    await talk.ana.asks(PROMPT, "private")
    await talk.time.passes()
    pat = person_called(talk, "Pat")
    told = await pat.answer_to("/docs-agent status 1")
    assert told.buttons == ["Send again", "Dismiss"]
    await pat.presses(choice, on=told)
    await talk.time.passes()
    [after] = pat.reads()
    assert "secret" not in str(after.message)
    assert talk.agent_got() == ([PROMPT] if choice == "Send again" else [])
    talk.everything()


async def test_author_of_a_follow_up_neither_sees_nor_steers_a_job_after_leaving(
    talk: Talk,
) -> None:
    await started(talk, "private")
    await talk.chika.replies("Mention Python 3.11", channel="private")
    await talk.time.passes(20)
    await talk.ends()
    talk.everything()
    talk.room("private").members.remove(talk.chika.id)
    await restarts(talk)
    for line in ("status 1", "jobs review", "jobs mine", "jobs find secret"):
        answer = await talk.chika.answer_to(f"/docs-agent {line}")
        assert "secret" not in answer.replace("“secret”", ""), line
        assert PULL_REQUEST not in answer, line
    assert "that you can see" in await talk.chika.answer_to("/docs-followup 1 Delete everything")
    await talk.time.passes(20)
    assert talk.agent_got() == [PROMPT, "Mention Python 3.11"]


async def test_requester_sees_a_job_also_after_leaving(talk: Talk) -> None:
    await started(talk, "private")
    talk.room("private").members.remove(talk.ana.id)
    await restarts(talk)
    assert PROMPT in await talk.ana.answer_to("/docs-agent status 1")


@pytest.mark.parametrize("refusal", ["is_archived", "thread_not_found"])
async def test_end_that_cannot_be_posted_shows_words_to_the_requester_alone(
    talk: Talk, refusal: str
) -> None:
    await started(talk, "private")
    await talk.chika.replies("Mention Python 3.11", channel="private")
    await talk.time.passes(20)
    talk.everything()
    talk.room("private").members.remove(talk.chika.id)
    talk.faults.refuses("chat.postMessage", refusal)
    await talk.ends()
    [hers] = talk.ana.reads()
    [others] = talk.chika.reads()
    assert (PROMPT in hers, PULL_REQUEST in hers) == (True, True)
    assert "Job 1" in others
    assert (PROMPT in others, PULL_REQUEST in others) == (False, False)
    talk.everything()
    talk.log()


NAMING = (
    "#{} stop",
    "#{} status",
    "#{} thanks",
    "#{} no",
    "#{} merged",
    "#{} looks good",
    "#{} help",
    "#{} why?",
    "#{} make it shorter",
    "job {}: thanks",
    "is job {} done?",
    "merge job {}",
    "retry job {}",
)
"""Texts that name a job, by their meaning: words, thanks, a no, questions and instructions."""


@HIDDEN
@pytest.mark.parametrize("where", ["docs", "dm"])
async def test_messages_that_name_a_hidden_job_are_answered_as_for_an_unknown_one(
    talk: Talk, hidden: str, where: str
) -> None:
    await started(talk, hidden)
    await talk.ends()
    talk.everything()
    mention = "" if where == "dm" else "@docs-agent "
    for text in NAMING:
        told = []
        for number in (1, 99):
            said = await talk.ben.says(mention + text.format(number), where)
            await talk.time.passes(3)
            answers = [answer.replace(str(number), "it") for answer in talk.ben.reads()]
            told.append((answers, talk.reactions(said)))
        assert told[0] == told[1], text
    assert talk.agent_got() == [PROMPT]
    talk.everything()


@pytest.mark.parametrize("here", ["docs", "private"])
@pytest.mark.parametrize("how", ["typed", "said"])
async def test_follow_up_from_elsewhere_starts_no_job_there_with_private_words(
    talk: Talk, here: str, how: str
) -> None:
    await started(talk, "private")
    await talk.ends("archived", pr_link=None)
    talk.everything()
    if how == "typed":
        told = await talk.chika.answer_to("/docs-followup 1 And for Windows", here)
    else:
        await talk.chika.says("@docs-agent #1 And for Windows", here)
        await talk.time.passes(20)
        told = talk.replies(channel="private")[-1]
    assert "Job 1 has been archived at the docs service" in told
    assert told.buttons == (["Start a new job"] if here == "private" else [])


@pytest.mark.parametrize("text", ["", "Delete everything"])
async def test_the_state_of_a_hidden_job_makes_no_difference(talk: Talk, text: str) -> None:
    await started(talk, "private")
    await talk.ends("archived", pr_link=None)
    talk.everything()
    await is_told_as_if_unknown(talk, "/docs-followup", "1", "99", text)
    assert "that you can see" not in await talk.chika.answer_to(
        "/docs-followup 1 Delete everything"
    )


@pytest.mark.parametrize("code", ["", "channel_not_found", "missing_scope"])
async def test_what_slack_does_not_say_is_a_no(talk: Talk, code: str) -> None:
    await started(talk, "private")
    asked = ("conversations.info", "conversations.members")
    for command in ("/docs-agent status 1", "/docs-followup 1 Mention Python 3.11"):
        if code:
            for method in asked:
                talk.faults.refuses(method, code, times=3)
        else:
            talk.faults.goes_down(*asked)
        assert "that you can see" in await talk.chika.answer_to(command)
        talk.faults.comes_back()
    assert PROMPT in await talk.chika.answer_to("/docs-agent status 1")
    talk.log()


async def restarts(talk: Talk) -> None:
    """Let a new process ask Slack anew who is in a channel."""
    await talk.process.stops()
    await talk.process.starts()


@pytest.mark.parametrize("here", ["docs", "private"])
async def test_form_opened_before_leaving_sends_nothing(talk: Talk, here: str) -> None:
    await started(talk, "private")
    await talk.chika.types("/docs-followup 1", here)
    talk.room("private").members.remove(talk.chika.id)
    await restarts(talk)
    assert await talk.chika.fills_in(prompt="Delete everything") == FORM_WITHOUT_JOB
    await talk.time.passes()
    assert (talk.unread(), talk.agent_got()) == ([], [PROMPT])
    # What they sent did not make them one of those who asked for it.
    assert "that you can see" in await talk.chika.answer_to("/docs-agent status 1")


async def test_ask_form_starts_nothing_where_its_sender_may_not_read(talk: Talk) -> None:
    members = talk.room("private").members
    members.append(talk.ben.id)
    await talk.ben.types("/docs-agent", "private")
    members.remove(talk.ben.id)
    await restarts(talk)
    errors = await talk.ben.fills_in(prompt="Delete everything")
    assert "Slack doesn't tell me that you can read this channel" in str(errors)
    assert (talk.unread(), talk.agent_got()) == ([], [])
    members.append(talk.ben.id)
    await restarts(talk)
    assert await talk.ben.fills_in(prompt="Delete everything") == {}
    await talk.time.passes()
    assert talk.agent_got() == ["Delete everything"]
    talk.everything()


async def test_a_newcomer_to_a_private_channel_sees_its_jobs_soon(talk: Talk) -> None:
    await started(talk, "private")
    members = talk.room("private").members
    assert "that you can see" in await talk.ben.answer_to("/docs-agent status 1")
    members.append(talk.ben.id)
    await talk.time.passes(11)
    assert PROMPT in await talk.ben.answer_to("/docs-agent status 1")
    members.remove(talk.ben.id)
    await talk.time.passes(121)
    assert "that you can see" in await talk.ben.answer_to("/docs-agent status 1")
    talk.everything()


async def test_follow_up_typed_elsewhere_is_refused_once_its_author_has_left_the_jobs_channel(
    talk: Talk,
) -> None:
    await talk.process.stops()
    await talk.process.starts(uses_an_hour=1)
    await started(talk, "private")
    await talk.chika.types("/docs-followup 1 Add a table", "docs")
    await talk.time.passes(20)
    talk.everything()
    talk.room("private").members.remove(talk.chika.id)
    await talk.time.passes(3_700)
    assert talk.agent_got() == [PROMPT]
    [note] = talk.chika.reads()
    assert "what you asked there wasn't carried out" in note
    talk.everything()

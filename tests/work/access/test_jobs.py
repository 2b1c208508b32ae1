"""A job is as private as its channel: who may see and steer it, and what all others are told."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest

from bot.commands.command import Answer, FormState
from bot.messages import job_answers as say
from bot.model.ids import ChannelId, JobNumber, Message, UserId
from bot.model.jobs import JobState
from bot.slack.client import refused
from bot.work.ports import SlackError, SlackUnreachable
from tests.builders import ANA, BEN, CHANNEL, set_job
from tests.work.office import BOT, RESPONSE_URL, Office

PRIVATE, DIRECT, PUBLIC = ChannelId("G0PRIVATE"), ChannelId("D0ANA"), ChannelId("C0PUBLIC")
CHIKA, GUS = UserId("U0CHIKA"), UserId("U0GUS")
PROMPT = "Write down our secret"
HIDDEN = pytest.mark.parametrize("hidden", [PRIVATE, DIRECT])


@pytest.fixture(autouse=True)
def rooms(office: Office) -> None:
    """Ana and Chika share a private channel; Ana writes to the bot alone."""
    office.slack.private_rooms = {PRIVATE: frozenset({ANA, CHIKA, BOT}), DIRECT: frozenset({ANA, BOT})}


async def started(office: Office, channel: ChannelId) -> str:
    """Ana's job in this channel runs; answers the link to its thread."""
    await office.ask(PROMPT, channel=channel)
    await office.settle()
    assert office.docs.prompts == [("job-1", PROMPT)]
    root = office.slack.root()
    return f"https://acme.slack.com/archives/{channel}/p{root.ts.replace('.', '')}"


def named(how: str, link: str) -> str:
    """The first job by its number, the service's id, or the link."""
    return {"number": "1", "hash": "#1", "service id": "job-1", "link": link}[how]


async def told(office: Office, answer: Awaitable[Answer]) -> list[Message]:
    """Everything that a person is told of what they did, in order; no form opens."""
    before = len(office.slack.private)
    shown = await answer
    assert shown.modal is None
    await office.settle(12)
    later = [message for _, message in office.slack.private[before:]]
    return [*([shown.message] if shown.message else []), *later]


def traces(office: Office) -> tuple[object, ...]:
    """What everybody else and the docs service have seen."""
    return (
        list(office.slack.posts),
        {ts: list(edits) for ts, edits in office.slack.edits.items()},
        list(office.slack.reactions),
        list(office.slack.direct),
        list(office.docs.prompts),
    )


@HIDDEN
@pytest.mark.parametrize("how", ["number", "hash", "service id", "link"])
async def test_somebody_outside_is_told_of_no_such_job(office: Office, hidden: ChannelId, how: str) -> None:
    name = named(how, await started(office, hidden))
    said = await told(office, office.types("/docs-agent", f"status {name}", user=BEN))
    assert said == [say.no_such_job(name)]


@HIDDEN
@pytest.mark.parametrize("how", ["number", "hash", "link"])
@pytest.mark.parametrize("text", ["", "Delete everything"])
async def test_somebody_outside_neither_steers_a_job_nor_learns_of_it(
    office: Office, hidden: ChannelId, how: str, text: str
) -> None:
    name = named(how, await started(office, hidden))
    before = traces(office)
    said = await told(office, office.types("/docs-followup", f"{name} {text}", user=BEN))
    assert said == [say.with_prompt(say.no_such_job(name), text)]
    assert traces(office) == before


@pytest.mark.parametrize("text", ["", "Delete everything"])
async def test_a_service_id_of_a_hidden_job_is_a_word_like_any_other(office: Office, text: str) -> None:
    await started(office, PRIVATE)
    before = traces(office)
    hidden = await told(office, office.types("/docs-followup", f"job-1 {text}", user=BEN))
    unknown = await told(office, office.types("/docs-followup", f"job-2 {text}", user=BEN))
    assert hidden == [say.with_prompt(say.no_job_yet("/docs-followup"), f"job-1 {text}")]
    assert unknown == [say.with_prompt(say.no_job_yet("/docs-followup"), f"job-2 {text}")]
    assert traces(office) == before


async def test_a_hidden_service_id_does_not_keep_a_follow_up_from_ones_own_job(office: Office) -> None:
    await started(office, PRIVATE)
    await office.ask("Mine", user=BEN)
    await office.settle()
    [said] = await told(office, office.types("/docs-followup", "Use job-1 as my example", user=BEN))
    assert "Sent to your latest job here, Job 2" in said.text
    assert office.docs.prompts[-1] == ("job-2", "Use job-1 as my example")


async def sent(
    office: Office, user: UserId, carried: FormState, callback: str = "follow_up", **fields: str
) -> object:
    """What a person reads in the form after sending it; None when it closes."""
    errors = await office.submits(callback, carried, user=user, prompt="Delete everything", **fields)
    await office.settle()
    return errors.errors if errors else None


@HIDDEN
async def test_a_form_for_a_hidden_job_is_answered_as_for_an_unknown_one(
    office: Office, hidden: ChannelId
) -> None:
    await started(office, hidden)
    before = traces(office)
    for number in (1, 99):
        job = JobNumber(number)
        for carried in (
            FormState(CHANNEL, RESPONSE_URL, job),
            FormState(None, RESPONSE_URL, job),
        ):
            assert await sent(office, BEN, carried) == {"prompt": say.FORM_WITHOUT_JOB}
        chosen = await sent(office, BEN, FormState(CHANNEL, RESPONSE_URL), job=str(number))
        assert chosen == {"prompt": say.FORM_WITHOUT_JOB}
    assert traces(office) == before


LET_IN = pytest.mark.parametrize(
    ("user", "of", "here"),
    [
        pytest.param(ANA, DIRECT, CHANNEL, id="who asked for it"),
        pytest.param(CHIKA, PRIVATE, CHANNEL, id="a member of the private channel"),
        pytest.param(CHIKA, PRIVATE, PRIVATE, id="somebody in the very channel"),
        pytest.param(BEN, PUBLIC, CHANNEL, id="a full member, the channel being public"),
        pytest.param(GUS, DIRECT, CHANNEL, id="an admin"),
    ],
)


@LET_IN
@pytest.mark.parametrize("how", ["number", "service id", "link"])
async def test_who_may_see_a_job_does_and_steers_it_once(
    office: Office, user: UserId, of: ChannelId, here: ChannelId, how: str
) -> None:
    office.access_policy(admins=frozenset({GUS}))
    name = named(how, await started(office, of))
    [said] = await told(office, office.types("/docs-agent", f"status {name}", user=user, channel=here))
    assert PROMPT in said.text
    typed = office.types("/docs-followup", f"{name} Mention Python 3.11", user=user, channel=here)
    [said] = await told(office, typed)
    assert said == say.follow_up_taken(await office.job(), guessed=False)
    assert office.docs.prompts == [("job-1", PROMPT), ("job-1", "Mention Python 3.11")]
    assert any("Mention Python 3.11" in each for each in office.said())


@LET_IN
async def test_who_may_see_a_job_gets_its_form_and_sends_it(
    office: Office, user: UserId, of: ChannelId, here: ChannelId
) -> None:
    office.access_policy(admins=frozenset({GUS}))
    await started(office, of)
    typed = await office.types("/docs-followup", "1", user=user, channel=here)
    assert typed.modal is not None
    assert await sent(office, user, FormState.loads(typed.modal["private_metadata"])) is None
    assert office.docs.prompts[-1] == ("job-1", "Delete everything")


@LET_IN
async def test_who_may_see_a_job_may_run_it_again(
    office: Office, user: UserId, of: ChannelId, here: ChannelId
) -> None:
    office.access_policy(admins=frozenset({GUS}))
    await started(office, of)
    await office.run_again(user=user, channel=here)
    await office.settle()
    assert office.docs.prompts[-1] == ("job-2", PROMPT)


async def test_who_asked_one_of_its_prompts_sees_a_job_also_after_leaving(office: Office) -> None:
    await started(office, PRIVATE)
    await office.reply("Mention Python 3.11", user=CHIKA)
    await office.settle()
    office.slack.private_rooms[PRIVATE] = frozenset({ANA, BOT})
    [said] = await told(office, office.types("/docs-agent", "status 1", user=CHIKA))
    assert PROMPT in said.text


async def test_the_state_of_a_hidden_job_makes_no_difference(office: Office) -> None:
    await started(office, PRIVATE)
    await office.store.write(lambda tx: set_job(tx, JobNumber(1), state=JobState.ARCHIVED))
    for text in ("", "Delete everything"):
        said = await told(office, office.types("/docs-followup", f"1 {text}", user=BEN))
        assert said == [say.with_prompt(say.no_such_job("1"), text)]
    [said_inside] = await told(office, office.types("/docs-followup", "1 Delete everything", user=CHIKA))
    assert said_inside == say.with_prompt(say.cannot_follow_up(await office.job()), "Delete everything")


@pytest.mark.parametrize(
    "trouble", [refused("channel_not_found"), refused("missing_scope"), SlackUnreachable("down")]
)
async def test_what_slack_does_not_say_is_a_no(office: Office, trouble: SlackError) -> None:
    await started(office, PRIVATE)
    office.slack.trouble("is_public", trouble, trouble)
    assert await told(office, office.types("/docs-agent", "status 1", user=CHIKA)) == [say.no_such_job("1")]
    said = await told(office, office.types("/docs-followup", "1 Mention Python 3.11", user=CHIKA))
    assert said == [say.with_prompt(say.no_such_job("1"), "Mention Python 3.11")]


@pytest.mark.parametrize("opened_in", [CHANNEL, PRIVATE])
@pytest.mark.parametrize("action", ["/docs-followup", "run_again"])
async def test_form_opened_before_leaving_sends_nothing(
    office: Office, opened_in: ChannelId, action: str
) -> None:
    await started(office, PRIVATE)
    typed = (
        await office.press(action, "1", user=CHIKA, channel=opened_in)
        if action == "run_again"
        else await office.types(action, "1", user=CHIKA, channel=opened_in)
    )
    assert typed.modal is not None
    office.slack.private_rooms[PRIVATE] = frozenset({ANA, BOT})
    before = traces(office)
    form = FormState.loads(typed.modal["private_metadata"])
    callback = typed.modal["callback_id"]
    assert await sent(office, CHIKA, form, callback=callback) == {"prompt": say.FORM_WITHOUT_JOB}
    assert traces(office) == before
    # What they sent did not make them one of those who asked for it.
    assert await told(office, office.types("/docs-agent", "status 1", user=CHIKA)) == [say.no_such_job("1")]


@pytest.mark.parametrize("chosen", [None, PRIVATE, DIRECT])
async def test_ask_form_starts_nothing_where_its_sender_may_not_read(
    office: Office, chosen: ChannelId | None
) -> None:
    fields = {} if chosen is None else {"channel": chosen}
    form = FormState(PRIVATE if chosen is None else CHANNEL)
    refusal = {"channel": say.CHANNEL_NOT_YOURS}
    assert await sent(office, BEN, form, callback="ask", **fields) == refusal
    assert (office.docs.prompts, office.slack.posts) == ([], [])
    office.slack.private_rooms[chosen or PRIVATE] |= {BEN}
    assert await sent(office, BEN, form, callback="ask", **fields) is None
    assert office.docs.prompts == [("job-1", "Delete everything")]

"""Jobs where the bot serves several projects: chosen for a channel, named in a text, kept for good."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from bot.commands.command import FormState
from bot.model.ids import ChannelId, UserId
from bot.model.jobs import JobState
from bot.model.prompts import Act
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.submit import submit_prompts
from bot.work.outbox.deliver import deliver_due
from tests.builders import ANA, BEN, CHANNEL
from tests.limits import HANG_SECONDS
from tests.work.office import BOT, Office
from tests.work.sites import ACME, BETA, Sites, open_sites

AT_BOT = f"<@{BOT}>"
OTHER = ChannelId("C0OTHER")
ADMIN = UserId("U0ADA")
TALK = "1700000400.000001"


@pytest.fixture
async def sites(office: Office) -> Sites:
    return await open_sites(office)


async def types(sites: Sites, text: str, *, user: UserId = ANA, channel: ChannelId = CHANNEL) -> str:
    """Type ``/docs-agent``, let the workers run, and return what is said at once."""
    answer = await sites.office.types("/docs-agent", text, user=user, channel=channel)
    await sites.office.settle()
    return answer.message.text if answer.message else ""


async def test_a_channel_works_on_the_default_until_somebody_chooses_another(sites: Sites) -> None:
    await types(sites, "Write One")
    assert "From now on, what you ask here is for *Beta*" in await types(sites, "project beta")
    await types(sites, "Write Two")
    await types(sites, "Write Three", channel=OTHER)
    assert sites.prompts == (["Write One", "Write Three"], ["Write Two"])
    for face, label in zip(sites.office.posted(), ("Acme docs", "Beta", "Acme docs"), strict=True):
        assert label in face


async def test_a_list_of_jobs_names_the_project_of_each(sites: Sites) -> None:
    await types(sites, "Write One")
    await types(sites, "project:beta Write Two")
    _, two, one = (await types(sites, "jobs")).splitlines()
    assert (" · Write One · Acme docs · " in one, " · Write Two · Beta · " in two) == (True, True)


async def test_a_mention_names_a_project_too_also_beside_the_words_about_its_thread(sites: Sites) -> None:
    await sites.office.hears(f"{AT_BOT} project:beta Write One")
    await sites.office.hears(f"{AT_BOT} alone Write Two project:beta", thread=TALK)
    sites.office.clock.pass_seconds(1)
    await sites.office.hears(f"{AT_BOT} project:beta alone Write Three", thread=TALK)
    await sites.office.settle()
    assert sites.prompts[0] == []
    assert sorted(sites.prompts[1]) == ["Write One", "Write Three", "Write Two"]


async def test_a_name_that_is_not_known_starts_nothing_and_the_prompt_is_there_to_copy(sites: Sites) -> None:
    said = await types(sites, "project:gamma Add <b>a page</b>")
    assert "I don't know the project “gamma”, so nothing was started." in said
    assert "`acme` (Acme docs), `beta` (Beta)" in said
    assert "Add &lt;b&gt;a page&lt;/b&gt;" in said
    await sites.office.hears(f"{AT_BOT} Add a page project:gamma")
    await sites.office.settle()
    whisper = sites.office.slack.whispers[-1][-1]
    assert "I don't know the project “gamma”" in whisper.text
    assert "Add a page" in whisper.text
    assert "I don't know the project “gamma”, so nothing was changed" in await types(sites, "project gamma")
    assert sites.prompts == ([], [])


async def test_only_admins_choose_where_there_are_some(sites: Sites) -> None:
    sites.office.access_policy(admins=frozenset({ADMIN}))
    assert "Only an admin of this bot" in await types(sites, "project beta")
    assert "Here I work on *Acme docs*" in await types(sites, "project")
    assert "for *Beta*" in await types(sites, "project beta", user=ADMIN)
    _, [row] = await sites.office.store.read(lambda tx: tx.audit.after(0, 10))
    assert (row.act, row.user, row.project, row.channel) == (Act.CHOSE_PROJECT, ADMIN, BETA.id, CHANNEL)
    assert "Here I work on *Beta*" in await types(sites, "project")


async def test_everybody_chooses_for_their_own_direct_message(sites: Sites) -> None:
    sites.office.access_policy(admins=frozenset({ADMIN}))
    direct = ChannelId("D0ANA")
    assert "for *Beta*" in await types(sites, "project beta", channel=direct)
    assert "Here I work on *Beta*" in await types(sites, "project", channel=direct)
    assert "Here I work on *Acme docs*" in await types(sites, "project")
    await sites.office.hears("Write One", channel=direct)
    await sites.office.settle()
    assert sites.prompts == ([], ["Write One"])


async def test_a_guest_chooses_nothing_and_is_told_no_name(sites: Sites) -> None:
    sites.office.access_policy(users=frozenset({BEN}))
    for text in ("project beta", "project", "project gamma", "project:gamma Add a page", "limits"):
        said = await types(sites, text)
        assert "acme" not in said.lower()
        assert "Beta" not in said, "only what they wrote themselves is quoted"
    await sites.office.hears(f"{AT_BOT} project:gamma Add a page")
    await sites.office.settle()
    assert "acme" not in str(sites.office.slack.whispers)
    assert "Here I work on *Acme docs*" in await types(sites, "project", user=BEN)


async def test_a_job_stays_with_its_project_through_follow_ups_a_restart_and_another_choice(
    sites: Sites,
) -> None:
    await types(sites, "project:beta Write One")
    await types(sites, "project beta")
    await types(sites, "project acme")
    await sites.serve(BETA, ACME)
    await sites.office.reply("Write Two")
    await sites.office.settle()
    sites.beta.finish()
    await sites.office.pass_time(60)
    assert (await sites.office.job()).state is JobState.PULL_REQUEST
    await sites.office.run_again(prompt="Write Three")
    await sites.office.settle()
    assert sites.prompts == ([], ["Write One", "Write Two", "Write Three"])
    assert sites.office.docs.calls == [], "Acme's service was never called"


async def test_a_mention_in_a_thread_that_names_another_project_starts_a_job_of_its_own(sites: Sites) -> None:
    await sites.office.hears(f"{AT_BOT} Write One", thread=TALK)
    await sites.office.settle()
    await sites.office.hears(f"{AT_BOT} project:acme Write Two", thread=TALK)
    await sites.office.hears(f"{AT_BOT} project:beta Write Three", thread=TALK)
    await sites.office.settle()
    [one, two], [three] = sites.prompts
    assert (one, two) == ("Write One", "Write Two")
    assert three.startswith("Write Three")
    assert (await sites.office.job(2)).project == BETA.id


async def test_the_same_words_for_two_projects_are_two_requests(sites: Sites) -> None:
    await types(sites, "Write One")
    assert await types(sites, "Write One project:beta") == ""
    assert sites.prompts == (["Write One"], ["Write One"])
    assert "a minute" in await types(sites, "project:beta Write One")


async def test_an_edit_moves_a_prompt_that_still_waits(sites: Sites) -> None:
    sites.office.limit(1)
    await types(sites, "Write First")
    ts = await sites.office.hears(f"{AT_BOT} Write Second")
    await sites.office.settle()
    await sites.office.corrects(ts, f"{AT_BOT} project:gamma Write Second")
    await sites.office.corrects(ts, f"{AT_BOT} project:beta Write Second", at="2")
    await sites.office.settle()
    assert sites.prompts == (["Write First"], ["Write Second"])
    moved = await sites.office.job(2)
    assert (moved.project, moved.project_label) == (BETA.id, "Beta")
    _, rows = await sites.office.store.read(lambda tx: tx.audit.after(0, 10))
    assert [(row.act, row.project) for row in rows] == [(Act.ASKED, ACME.id), (Act.ASKED, BETA.id)]
    assert "I don't know the project “gamma”, so nothing was changed" in str(sites.office.slack.whispers)


async def test_the_form_offers_the_channels_project_first_and_asks_for_the_chosen_one(sites: Sites) -> None:
    await types(sites, "project beta")
    modal = (await sites.office.types("/docs-agent")).modal
    assert modal is not None
    choice = next(each for each in modal["blocks"] if each.get("block_id") == "project")
    options = [each["value"] for each in choice["element"]["options"]]
    assert (options, choice["element"]["initial_option"]["value"]) == (["beta", "acme"], "beta")
    state = FormState.loads(modal["private_metadata"])
    assert await sites.office.submits("ask", state, prompt="Write One", project="acme") is None
    gone = await sites.office.submits("ask", state, prompt="Write Two", project="gone")
    assert gone is not None
    assert list(gone.errors) == ["project"]
    await sites.office.settle()
    assert sites.prompts == (["Write One"], [])


async def test_each_project_has_its_limits_and_a_refused_key_holds_up_no_other(sites: Sites) -> None:
    sites.office.limit(1)
    sites.beta.answer_instead("create", httpx.Response(401, json={"error": "no"}))
    await types(sites, "Write One project:beta")
    await types(sites, "Write Two")
    assert sites.prompts == (["Write Two"], [])
    said = await types(sites, "limits")
    acme, refused, beta, _ = said.splitlines()
    assert acme.startswith("*Acme docs*: *0 of 1 left this hour*")
    assert refused.startswith(":warning: The docs service refuses my key")
    assert beta.startswith("*Beta*: *1 of 1 left this hour*")
    await sites.office.pass_time(90)
    assert sites.prompts == (["Write Two"], ["Write One"])


async def test_a_service_that_hangs_delays_no_prompt_of_another_project(sites: Sites) -> None:
    office, hanging = sites.office, asyncio.get_running_loop().create_future()
    office.docs.answer_instead("create", hanging)
    for text in ("Write One project:acme", "Write Two project:beta"):
        await office.types("/docs-agent", text)
        await prepare_prompts(office.context)
        await deliver_due(office.context)
        office.clock.pass_seconds(1.1)
    submitting = asyncio.create_task(submit_prompts(office.context))
    async with asyncio.timeout(HANG_SECONDS):
        while not sites.prompts[1]:
            await asyncio.sleep(0.01)
    assert not submitting.done()
    hanging.set_result(httpx.Response(503))
    await submitting


async def test_a_job_of_a_project_that_is_served_no_more_says_so_once_and_is_left_alone(sites: Sites) -> None:
    await types(sites, "project:beta Write One")
    sites.office.limit(1)
    await types(sites, "project:beta Write Two", user=BEN)
    await types(sites, "project beta")
    await sites.serve(ACME)
    await sites.office.pass_time(3_700)
    await sites.office.settle()
    said = [text for text in sites.office.said() if "no longer set up here" in text]
    assert len(said) == 2, said
    assert (await sites.office.job()).state is JobState.UNWATCHED
    assert (await sites.office.job(2)).state is JobState.REFUSED
    calls, posts = list(sites.beta.calls), len(sites.office.slack.posts)
    for _ in range(3):
        await sites.office.pass_time(86_400)
    assert (sites.beta.calls, len(sites.office.slack.posts)) == (calls, posts)
    await types(sites, "Write Three")
    assert sites.prompts[0] == ["Write Three"], "the channel's choice counts as none"


async def test_a_prompt_run_again_never_goes_to_another_project(sites: Sites) -> None:
    await types(sites, "project:beta Write One")
    sites.beta.finish()
    await sites.office.pass_time(60)
    await sites.serve(ACME)
    await sites.office.run_again()
    await sites.office.settle()
    assert sites.prompts == ([], ["Write One"])
    assert (await sites.office.job(2)).state is JobState.REFUSED
    assert "no longer set up here" in sites.office.said()[-1]


async def test_help_names_the_projects_where_there_are_several(sites: Sites) -> None:
    assert "`project:beta`" in await types(sites, "help")
    await sites.serve(ACME)
    assert "project:" not in await types(sites, "help")


async def test_where_there_is_one_project_its_words_are_text(office: Office) -> None:
    await office.started("project:beta Write One")
    assert office.sent() == ["project:beta Write One"]
    assert (await office.job()).project_label is None
    assert "There is one docs project here" in str((await office.types("/docs-agent", "project")).message)
    modal = (await office.types("/docs-agent")).modal
    assert modal is not None
    assert "project" not in [each.get("block_id") for each in modal["blocks"]]


async def test_a_follow_up_that_names_its_project_is_the_same_however_it_is_heard(sites: Sites) -> None:
    """What was edited while the bot was away is heard as a message, and as an edit that changes nothing."""
    office = sites.office
    root = await office.says(f"{AT_BOT} Write One")
    ts = await office.says(f"{AT_BOT} project:acme Write Shorter", thread=root)
    await office.corrects(ts, f"{AT_BOT} project:acme Write Shorter", thread=root)
    await office.settle()
    assert sites.prompts == (["Write One", "Write Shorter"], [])
    assert office.slack.whispers == []

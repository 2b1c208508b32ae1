"""What goes to the agent besides the text of a prompt: who asked, and the earlier messages of the thread."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bot.commands.command import FormState, ShortcutUse
from bot.ids import ChannelId, MessageTs, UserId
from bot.jobs.ask import ask
from bot.jobs.attachments import OfferedThread, offer_thread
from bot.jobs.commands.agent import COMMAND
from bot.jobs.model.jobs import Earlier, LeftOut, TakeThread
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.store.prompts import Prompts
from bot.ports import Profile, Said, SlackUnclear, ThreadRef
from bot.slack.client import refused
from bot.store.retention import forget_person
from tests.builders import ANA, BEN, CHANNEL, let_in, origin
from tests.work.office import BOT, Office

AT_BOT = f"<@{BOT}>"
EVE, GUS, PIA, ROBOT = UserId("U0EVE"), UserId("U0GUS"), UserId("U0PIA"), UserId("U0ROBOT")
ROOT = MessageTs("1700000400.000001")
PRIVATE = ChannelId("G0SECRET")


def talk(office: Office, *said: Said, channel: ChannelId = CHANNEL) -> None:
    """Let these messages be the thread's."""
    office.slack.names |= {ANA: "Ana", BEN: "Ben", GUS: "Gus"}
    office.slack.profiles[GUS] = Profile(is_guest=True, is_bot=False, is_stranger=False, is_deleted=False)
    office.slack.profiles[PIA] = Profile(is_guest=False, is_bot=False, is_stranger=True, is_deleted=False)
    office.slack.threads[channel, ROOT] = list(said)


def line(number: int, text: str, user: UserId = BEN, *, by_bot: bool = False) -> Said:
    return Said(MessageTs(f"17000004{number:02}.000001"), user, text, by_bot)


async def asked(office: Office, text: str, channel: ChannelId = CHANNEL) -> str:
    """Ana mentions the bot in the thread; return what the agent got for it."""
    office.clock.pass_seconds(1)
    await office.hears(f"{AT_BOT} {text}", thread=ROOT, channel=channel)
    await office.settle(2)
    return office.docs.prompts[-1][1]


async def hears(office: Office, number: int, text: str, user: UserId = ANA) -> None:
    """Somebody says something in the thread, which the bot hears."""
    said = line(number, text, user)
    office.slack.threads[CHANNEL, ROOT].append(said)
    await office.hears(text, thread=ROOT, ts=said.ts, user=user)
    await office.settle(2)


async def test_what_the_bot_was_told_and_has_answered_or_passed_on_does_not_go_along(office: Office) -> None:
    talk(office, line(0, "The page is wrong"))
    await hears(office, 1, f"{AT_BOT} Fix the page")
    office.slack.threads[CHANNEL, ROOT].append(Said(MessageTs("1700000401.500000"), ANA, f"{AT_BOT} hello?"))
    await hears(office, 2, f"{AT_BOT} status 1")
    await hears(office, 3, f"{AT_BOT} stop")
    await hears(office, 4, f"{AT_BOT} thanks!")
    await hears(office, 5, "It also lacks a table", BEN)
    await hears(office, 6, f"{AT_BOT} Add one")
    assert office.docs.prompts[-1][1].endswith("\n> Ben: It also lacks a table")
    assert (await office.job()).earlier == Earlier(1)


async def test_what_no_agent_works_on_any_more_goes_along_with_the_next_prompt(office: Office) -> None:
    office.access_policy(users=frozenset({ANA}))
    talk(office)
    await hears(office, 1, f"{AT_BOT} Explain the limit of 120", BEN)
    await hears(office, 2, f"{AT_BOT} Do what Ben wants")
    assert office.docs.prompts[-1][1].endswith(" Explain the limit of 120")
    await office.ends("archived", None)
    await office.pass_time(60)
    await hears(office, 3, f"{AT_BOT} Again, please do it now")
    assert (await office.job(2)).earlier == Earlier(2)
    assert office.docs.prompts[-1][1].endswith(" Do what Ben wants")


async def test_a_form_from_a_threads_message_starts_a_job_in_the_thread_that_goes_on_from_there(
    office: Office,
) -> None:
    talk(office, line(0, "The page is wrong"), line(1, "Very wrong"))
    form = FormState(CHANNEL, thread=ROOT)
    given = "Ben: Very wrong"
    await office.submits("ask", form, prompt="Fix the page", earlier=given, take_earlier="yes")
    await office.settle()
    [face] = office.slack.posts
    assert face.thread == ROOT
    assert office.docs.prompts[-1][1].endswith("\n> Ben: Very wrong")
    await hears(office, 2, f"{AT_BOT} Shorten the introduction")
    assert office.sent()[-1] == "Shorten the introduction", "the agent has the rest"


@pytest.mark.parametrize(("thread", "is_said"), [(ROOT, True), (None, False)])
async def test_a_form_says_that_a_thread_could_not_be_read_where_there_is_one(
    office: Office, thread: MessageTs | None, is_said: bool
) -> None:
    office.slack.trouble("said_before", refused("not_in_channel"))
    used = replace(origin("shortcut:1"), thread=thread, message_ts=ROOT)
    opens = COMMAND.shortcuts["ask_about"]
    modal = (await opens(office.context, ShortcutUse(let_in(used), "The page is wrong"))).modal
    assert modal is not None
    assert ("didn't let me read" in str(modal)) is is_said
    assert FormState.loads(modal["private_metadata"]).thread == ROOT


async def test_whoever_may_see_the_job_is_shown_what_went_along(office: Office) -> None:
    office.slack.private_rooms[PRIVATE] = frozenset({ANA, BEN})
    request = PromptRequest("Fix the page", take_thread=TakeThread.GIVEN, given="Ben: Between <us>")
    await ask(office.context, let_in(origin("view:1", channel=PRIVATE)), request)
    await office.settle()
    shown = (await office.press("show_attachments", "1", user=BEN, channel=PRIVATE)).message
    assert shown is not None
    assert "&gt; Ben: Between &lt;us&gt;" in shown.text
    hidden = (await office.press("show_attachments", "1", user=UserId("U0EVE"), channel=CHANNEL)).message
    assert hidden is not None
    assert "There's no Job 1 that you can see" in hidden.text


async def test_what_went_along_is_forgotten_and_never_logged(office: Office) -> None:
    talk(office, line(0, "Sesame opens"))
    with capture_logs() as logged:
        await asked(office, "Fix the page")
        await office.ends()
    assert "Sesame" not in str(logged)
    assert await office.store.read(lambda tx: Prompts(tx).attachments(1)) != []  # type: ignore[arg-type]
    await forget_person(office.store, ANA)
    assert await office.store.read(lambda tx: Prompts(tx).attachments(1)) == []  # type: ignore[arg-type]


async def test_a_form_is_offered_what_members_said_in_the_thread_but_for_its_message(office: Office) -> None:
    talk(
        office,
        line(0, "The page\nis wrong"),
        line(1, "From a guest", GUS),
        line(2, "aside: lunch?"),
        line(3, " "),
        line(4, "From somebody", EVE),
        line(9, "The message itself"),
    )
    office.slack.silent.add(EVE)
    thread = ThreadRef(CHANNEL, ROOT)
    offered = await offer_thread(office.context, thread, line(9, "").ts)
    left_out = dict.fromkeys((LeftOut.OTHERS, LeftOut.UNTOLD, LeftOut.ASIDE, LeftOut.WORDLESS), 1)
    assert offered == OfferedThread("Ben: The page is wrong", left_out, is_chosen=True)
    office.slack.private_rooms[CHANNEL] = frozenset({ANA})
    assert not (await offer_thread(office.context, thread, None)).is_chosen
    office.slack.trouble("said_before", SlackUnclear("HTTP 500"))
    assert await offer_thread(office.context, thread, None) == OfferedThread(is_read=False)


async def test_what_a_form_gives_goes_along_as_the_person_left_it(office: Office) -> None:
    given = "Ben: The page\n\nAna: Yes"
    request = PromptRequest("Fix the page", take_thread=TakeThread.GIVEN, given=given)
    await ask(office.context, let_in(origin("view:1")), request)
    await office.settle()
    [(_, got)] = office.docs.prompts
    assert got.startswith("Fix the page\n\nEarlier")
    assert got.endswith("> Ben: The page\n> \n> Ana: Yes")
    assert (await office.job()).earlier == Earlier(2)

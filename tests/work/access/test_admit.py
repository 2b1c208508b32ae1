"""Who may use the bot: decided before anything is stored, from memory or by asking Slack for a moment."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

import bot
from bot.commands.catalogue import take_message
from bot.commands.command import FormState
from bot.model.access import Access, Profile, ts_at
from bot.model.ids import ChannelId, UserId
from bot.model.jobs import JobState, Review, SharedFile
from bot.slack.client import refused
from bot.store.deadline import Deadline, within
from bot.work import access
from bot.work.access import NotAllowed, Untold, admit
from bot.work.ports import Mention, SlackError, SlackUnreachable, ThreadReply
from tests.builders import ANA, BEN, CHANNEL, let_in, origin
from tests.work.drains import catch_up, prepare_prompts
from tests.work.office import Office

GUS, DIRECT = UserId("U0GUS"), ChannelId("D0BEN")
GUEST = Profile(True, False, False, False)
IMAGE = SharedFile("a.png", 10, is_text=False)
UNTOLD = "Slack didn't tell me who you are"


@pytest.fixture(autouse=True)
def gus(office: Office) -> None:
    """Gus is a guest."""
    office.slack.profiles[GUS] = GUEST


def words(office: Office) -> list[str]:
    """What the bot said to single people, but for the answers to commands."""
    direct = [message.text for _, message, _ in office.slack.direct]
    return [*direct, *(message.text for *_, message in office.slack.whispers)]


async def is_empty(office: Office) -> bool:
    """Whether no request is stored."""
    return not await office.store.read(lambda tx: tx.jobs.newest(1))


def test_only_admit_makes_what_use_cases_ask_for() -> None:
    maker = Path(access.__file__)
    for path in Path(bot.__path__[0]).rglob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert (path == maker) == bool(names & {"_MAKER", "_Maker"}), path
    with pytest.raises(TypeError):
        type(let_in(origin()))(origin())  # type: ignore[call-arg]


@pytest.mark.parametrize("trouble", [SlackUnreachable("down"), refused("user_not_found")])
async def test_a_command_is_given_back_when_slack_does_not_say_who_sent_it(
    office: Office, trouble: SlackError
) -> None:
    office.slack.trouble("profile", trouble)
    told = await office.types("/docs-agent", "Add a <#C0DOCS|docs> page")
    assert told.message is not None
    assert UNTOLD in told.message.text
    assert told.message.text.endswith("to copy:\n/docs-agent Add a #docs page")
    assert await is_empty(office)
    assert (await office.types("/docs-agent", "Add a page")).message is None
    assert (await office.job()).requester == ANA


async def test_a_button_and_a_form_say_that_slack_does_not_say_who_it_was(office: Office) -> None:
    await office.finished()
    office.slack.trouble("profile", *[SlackUnreachable("down")] * 2)
    assert UNTOLD in str(await office.press("reviewed", "1", user=BEN))
    errors = await office.submits("ask", FormState(CHANNEL), user=BEN, prompt="Add a page")
    assert errors is not None
    assert errors.errors["prompt"].startswith(UNTOLD)
    assert (await office.job()).awaits_review


async def test_slack_is_asked_only_in_the_time_that_storing_leaves(office: Office) -> None:
    office.slack.silent.add(ANA)
    request = Deadline.after(1.1)
    with within(request), pytest.raises(Untold):
        await admit(office.context, origin())
    assert request.left_seconds() > 0.5


async def test_what_slack_says_of_somebody_is_not_what_they_asked_for(office: Office) -> None:
    """So that a failure afterwards is told as one that has stored nothing."""
    request = Deadline.after(10)
    with within(request):
        await admit(office.context, origin())
    assert not request.has_written


async def test_what_a_member_asks_for_is_stored_when_slack_is_answered(office: Office) -> None:
    await office.finished()
    assert (await office.press("reviewed", "1", user=BEN)).message is None
    assert (await office.job()).review is Review.REVIEWED


def _mention(office: Office) -> ThreadReply | Mention:
    ts = ts_at(office.clock())
    sent = replace(origin(f"message:{CHANNEL}:{ts}", BEN), message_ts=ts)
    office.slack.said.append(Mention(sent, "<@U0BOT> Add a page"))
    return office.slack.said[-1]


def _direct(office: Office) -> ThreadReply | Mention:
    return office.missed("Add a page", user=BEN, direct=True)


def _reply(office: Office) -> ThreadReply | Mention:
    return office.missed("Mention Python", user=BEN)


@pytest.mark.parametrize(
    "trouble", [SlackUnreachable("down"), refused("token_revoked"), refused("invalid_blocks")]
)
@pytest.mark.parametrize("say", [_mention, _direct, _reply])
async def test_a_message_is_left_to_slack_until_it_says_who_wrote_it_and_then_read_once_more(
    office: Office, say: Callable[[Office], ThreadReply | Mention], trouble: SlackError
) -> None:
    await office.finished("First")
    message = say(office)
    office.slack.trouble("profile", *[trouble] * 4)
    for _ in range(3):
        with pytest.raises(Untold):
            await take_message(office.context, message)
    await office.settle()
    assert len(office.docs.prompts) == 1
    assert (words(office), office.slack.reactions) == ([], [])
    office.clock.pass_seconds(600)
    for _ in range(2):
        await catch_up(office.context)
        office.clock.pass_seconds(60)
    await office.settle()
    assert len(office.docs.prompts) == 2


async def test_slack_is_asked_once_in_six_hours_and_this_process_remembers_for_minutes(
    office: Office,
) -> None:
    await admit(office.context, origin())
    rule, now = office.context.access_policy.rule, office.clock()
    await office.store.write(lambda tx: tx.members.remember(ANA, Access.GUEST, rule, now))
    await admit(office.context, origin())
    office.clock.pass_seconds(301)
    with pytest.raises(NotAllowed):
        await admit(office.context, origin())
    office.clock.pass_seconds(6 * 3_600)
    await admit(office.context, origin())


async def test_a_change_of_the_lists_counts_at_once(office: Office) -> None:
    await admit(office.context, origin())
    office.access_policy(users=frozenset({BEN}))
    with pytest.raises(NotAllowed, match=Access.NOT_LISTED):
        await admit(office.context, origin())


async def test_lists_let_in_whom_they_name_by_person_or_by_group_and_admins(office: Office) -> None:
    carl, dora = UserId("U0CARL"), UserId("U0DORA")
    office.access_policy(
        users=frozenset({ANA, GUS}), groups=frozenset({"S1", "S2"}), admins=frozenset({dora})
    )
    office.slack.groups["S2"] = frozenset({BEN})
    for user in (ANA, BEN, dora):
        await admit(office.context, origin(user=user))
    for user, why in ((carl, Access.NOT_LISTED), (GUS, Access.GUEST)):
        with pytest.raises(NotAllowed, match=why):
            await admit(office.context, origin(user=user))


async def test_in_a_channel_that_is_not_listed_nothing_is_done(office: Office) -> None:
    await office.started("Add a page")
    office.access_policy(channels=frozenset({"C0OTHER"}))
    elsewhere = ChannelId("C0OTHER")
    for channel, text in ((CHANNEL, "Add a page"), (elsewhere, "1 Write more")):
        command = "/docs-agent" if channel == CHANNEL else "/docs-followup"
        answer = await office.types(command, text, channel=channel)
        assert answer.message is not None
        assert "not set up for use in" in answer.message.text
        assert answer.message.text.endswith(f"to copy:\n{command} {text}")
    chosen = await office.submits("ask", FormState(elsewhere), prompt="Add a page", channel=CHANNEL)
    assert chosen is not None
    assert "not set up for use in" in chosen.errors["prompt"]
    await office.settle()
    assert len(office.docs.prompts) == 1


@pytest.mark.parametrize("action", ["preview", "reviewed", "send_again"])
async def test_buttons_of_job_in_unlisted_channel_do_nothing(office: Office, action: str) -> None:
    office.docs.branch = "agent/page"
    await office.finished("Add a page")
    office.docs.lost.append(httpx.ReadError("cut"))
    await office.started("Add another page")
    office.access_policy(channels=frozenset({"C0OTHER"}))
    calls, seen = list(office.docs.calls), office.slack.edits[office.slack.root().ts][-1]
    value = "2" if action == "send_again" else "1"
    answer = await office.press(action, value, channel=ChannelId("D0ANA"))
    await office.settle()
    assert answer.message is not None
    assert "not set up for use in" in answer.message.text
    assert (office.docs.calls, office.slack.edits[office.slack.root().ts][-1]) == (calls, seen)


async def test_what_a_refused_person_says_is_answered_once_an_hour(office: Office) -> None:
    for text in ("Page 1", "jobs", "visitors last week", "", "Page 2"):
        await office.hears(text, user=GUS)
        await office.settle()
        office.restart()
    assert ["Guests can't use this bot" in text for text in words(office)] == [True]
    assert "to copy" not in words(office)[0]
    office.clock.pass_seconds(3_600)
    await office.hears("One more page", user=GUS)
    await office.settle()
    assert len(words(office)) == 2


async def test_a_refused_person_is_answered_each_time_they_type(office: Office) -> None:
    await office.hears("Add a page", user=GUS)
    for _ in range(2):
        assert "Guests can't use this bot" in str(await office.types("/docs-agent", "Add a page", user=GUS))


async def test_the_word_of_the_hour_is_kept_in_the_store(office: Office) -> None:
    rule = office.context.access_policy.rule
    told = await asyncio.gather(
        *(office.store.write(lambda tx: tx.members.may_tell_denied(ANA, rule, office.clock())) for _ in "abc")
    )
    assert sorted(told) == [False, False, True]


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(("text", "files"), [("", 1), ("Delete everything", 0)])
async def test_a_reply_of_a_guest_is_answered_in_private_and_gets_no_reaction(
    office: Office, text: str, files: int, ended: bool
) -> None:
    await office.started("Add a page")
    if ended:
        office.docs.finish("archived", None)
        await office.settle()
    posts = list(office.slack.posts)
    for _ in range(2):
        await office.reply(text, user=GUS, files=(IMAGE,) * files)
        await office.settle()
    assert office.slack.posts == posts
    assert office.slack.reactions == []
    assert ["Guests can't use this bot" in said for said in words(office)] == [True]


async def test_a_request_is_known_before_its_root_is_noted(office: Office) -> None:
    """People may see the root in Slack earlier than the bot knows that it stands there."""
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    assert "Add a quickstart" in str(await office.types("/docs-agent", "jobs", user=BEN))
    assert "that you can see" not in str(await office.types("/docs-followup", "1 Mention Python", user=BEN))


async def test_only_who_asked_and_admins_decide_about_a_waiting_prompt(office: Office) -> None:
    office.limit(1)
    office.access_policy(admins=frozenset({BEN}))
    await office.ask("One")
    await office.ask("Two")
    await office.settle()
    answer = await office.press("withdraw", "2", user=UserId("U0CARL"))
    assert f"Only <@{ANA}> or an admin of this bot can decide that" in str(answer)
    assert (await office.job(2)).state is JobState.WAITING
    assert (await office.press("withdraw", "2", user=BEN)).message is None
    assert (await office.job(2)).state is JobState.WITHDRAWN


async def test_a_guest_is_told_no_more_than_that_even_about_their_own_prompt(office: Office) -> None:
    office.limit(1)
    await office.ask("One")
    await office.ask("Two")
    await office.settle()
    office.clock.pass_seconds(timedelta(hours=7).total_seconds())
    office.limit(0)
    office.slack.profiles[ANA] = GUEST
    assert "Guests can't use this bot" in str(await office.press("withdraw", "2"))
    assert (await office.job(2)).state is JobState.WAITING


@pytest.mark.parametrize("value", ["", "0", "-1", "99", "x", "9" * 40, "1; DROP TABLE jobs", "٣"])
@pytest.mark.parametrize(
    "action", ["withdraw", "send_again", "dismiss", "ask_anyway", "follow_up_anyway", "run_again"]
)
async def test_a_button_that_names_nothing_is_answered(office: Office, action: str, value: str) -> None:
    assert (await office.press(action, value)).message is not None
    await office.started("One")
    for each in ("withdraw", "send_again", "dismiss"):
        assert "decided already" in str(await office.press(each, "1"))

"""Whoever has no access leaves no trace: private words, an hour apart in threads, and nothing for others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.cli.rows import _line
from bot.commands.command import Answer
from bot.commands.form_state import FormState
from bot.model.access import Access, Profile
from bot.model.along import SharedFile
from bot.model.ids import MessageTs, UserId
from bot.model.jobs import JobState
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.thread_events import heard_mention
from bot.work.ports import Mention, SlackUnreachable
from tests.builders import ANA, BEN, CHANNEL, claimer, origin
from tests.work.office import Office

GUS = UserId("U0GUS")
GUEST = Profile(True, False, False, False)
IMAGE = SharedFile("a.png", 10, is_text=False)


@pytest.fixture(autouse=True)
def gus(office: Office) -> None:
    """Gus is a guest."""
    office.slack.profiles[GUS] = GUEST


def words(office: Office) -> list[str]:
    """What the bot said to single people after the acknowledgements."""
    said = [message for _, message in office.slack.private]
    return [message.text for message in (*said, *(message for _, message, _ in office.slack.direct))]


async def mention(office: Office, text: str, number: int, user: UserId = GUS) -> None:
    ts = MessageTs(f"1700000100.{number:06}")
    said = replace(origin(f"message:{CHANNEL}:{ts}", user), message_ts=ts)
    await heard_mention(office.context, Mention(said, f"<@U0BOT> {text}"))
    await office.settle()


async def test_a_refused_person_is_answered_each_time_they_type_or_press(office: Office) -> None:
    for command, text in (("/docs-agent", "help"), ("/docs-agent", "Add a page"), ("/docs-visitors", "")):
        for _ in range(2):
            said = await office.types(command, text, user=GUS)
            assert said.message is not None
            assert "Guests can't start jobs" in said.message.text
            assert said.message.text.endswith(f"What you wrote, to copy:\n{command} {text}".strip())
    for _ in range(2):
        assert "Guests can't start jobs" in str((await office.press("run_again", "1:1", user=GUS)).message)


async def test_what_a_refused_person_typed_while_nothing_was_known_of_them_is_given_back_each_time(
    office: Office,
) -> None:
    for number in range(2):
        assert await office.types("/docs-agent", f"Page {number}", user=GUS) == Answer()
    await office.settle()
    assert sorted(text.rpartition("to copy:\n")[2] for text in words(office)) == ["Page 0", "Page 1"]


async def test_a_form_of_a_refused_person_stays_open_each_time(office: Office) -> None:
    await mention(office, "Add a page", 1)
    for _ in range(2):
        errors = await office.submits("ask", FormState(CHANNEL), user=GUS, prompt="Add a page")
        assert errors is not None
        assert "Guests can't start jobs" in errors.errors["prompt"]


async def test_what_a_refused_person_says_is_answered_once_an_hour(office: Office) -> None:
    for number in range(2):
        await mention(office, f"Page {number}", number)
        await mention(office, "jobs", 10 + number)
        await office.hears("visitors last week", user=GUS)
        await office.settle()
        office.restart()
    assert len(words(office)) + len(office.slack.whispers) == 1
    office.clock.pass_seconds(3_600)
    await mention(office, "One more page", 20)
    assert len(words(office)) + len(office.slack.whispers) == 2


async def test_the_word_of_the_hour_is_kept_in_the_store(office: Office) -> None:
    rule = office.context.access_policy.rule
    told = await asyncio.gather(
        *(office.store.write(lambda tx: tx.members.may_tell_denied(ANA, rule, office.clock())) for _ in "abc")
    )
    assert sorted(told) == [False, False, True]


async def test_a_member_who_may_not_here_is_told_each_time(office: Office) -> None:
    await office.started("Add a page")
    office.access_policy(channels=frozenset({"C0OTHER"}))
    for _ in range(2):
        answer = await office.types("/docs-agent", "Add another page")
        assert answer.message is not None
        assert "isn't set up for this channel" in answer.message.text


async def test_a_refused_request_stands_in_nobodys_list(office: Office) -> None:
    office.access_policy(admins=frozenset({BEN}))
    await office.started("Guests secret", user=GUS)
    assert (await office.job()).problem == f"not_allowed:{Access.GUEST}"
    for user in (ANA, BEN):
        for command, text in (("/docs-agent", "jobs"), ("/docs-agent", "status 1"), ("/docs-followup", "")):
            shown = await office.types(command, text, user=user)
            assert "Guests secret" not in str(shown)
            assert GUS not in str(shown)
        assert "I don't know the job “1”" in str(await office.types("/docs-followup", "1", user=user))
    listed = await office.store.read(lambda tx: tx.jobs.newest(10))
    assert [_line(job) for job in listed] == []
    assert await office.store.read(lambda tx: tx.jobs.newest(10, state=JobState.REFUSED)) == []


async def test_a_request_that_is_not_decided_yet_is_its_requesters_alone(office: Office) -> None:
    office.slack.trouble("profile", *[SlackUnreachable("down")] * 50)
    await office.store.write(
        lambda tx: tx.members.note(BEN, Access.MEMBER, office.context.access_policy.rule, office.clock())
    )
    await office.ask("Perhaps a guests", user=GUS)
    await prepare_prompts(office.context)
    for text in ("jobs", "status 1"):
        assert "Perhaps" not in str(await office.types("/docs-agent", text, user=BEN))
    asker = await office.store.read(lambda tx: tx.jobs.in_channel(CHANNEL, 10, GUS))
    assert len(asker) == 1


async def test_a_request_that_is_let_in_is_known_before_its_root_is_noted(office: Office) -> None:
    """People may see the root in Slack earlier than the bot knows that it stands there."""
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    await office.store.write(
        lambda tx: tx.members.note(BEN, Access.MEMBER, office.context.access_policy.rule, office.clock())
    )
    assert "Add a quickstart" in str(await office.types("/docs-agent", "jobs", user=BEN))
    assert "I don't know the job" not in str(
        await office.types("/docs-followup", "1 Mention Python", user=BEN)
    )


@pytest.mark.parametrize("text", ["", "help", "Add a page"])
async def test_a_mention_of_a_guest_is_answered_by_the_one_word(office: Office, text: str) -> None:
    await mention(office, text, 1)
    await mention(office, text, 2)
    assert len(words(office)) == 1
    assert "Guests can't start jobs" in words(office)[0]
    assert (office.slack.posts, office.slack.reactions) == ([], [])


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
    assert [post for post in office.slack.posts if post not in posts] == []
    assert office.slack.reactions == []
    assert ["Guests can't start jobs" in said for said in words(office)] == [True]


async def test_a_reply_of_somebody_of_whom_slack_does_not_tell_in_time_leaves_no_trace(
    office: Office,
) -> None:
    await office.started("Add a page")
    office.slack.silent.add(BEN)
    posts = list(office.slack.posts)
    await office.reply("", user=BEN, files=(IMAGE,))
    await office.settle(3)
    assert office.slack.posts == posts
    assert "Slack couldn't tell me who you are" in words(office)[-1]


async def test_follow_ups_to_a_refused_job_fall_without_a_word(office: Office) -> None:
    await office.ask("Add a page", user=GUS)
    assert await office.types("/docs-followup", "and more", user=GUS) == Answer()
    await office.settle(12)
    assert len(words(office)) == 1
    assert office.slack.posts == []
    assert await office.store.read(lambda tx: tx.outbox.dead_letters(10)) == []
    assert await office.store.write(lambda tx: tx.prompts.claim_new(claimer(at=office.clock()), 10)) == []

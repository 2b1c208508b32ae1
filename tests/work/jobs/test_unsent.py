"""Words that nobody means as a prompt cost nothing, and go out when their author insists."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.command import Answer
from bot.model.access import Profile
from bot.model.ids import ChannelId, Message
from bot.model.jobs import JobState, SharedFile
from tests.builders import ANA, BEN, CHANNEL
from tests.messages.samples import buttons
from tests.work.office import BOT, Office
from tests.work.sites import open_sites

AT_BOT = f"<@{BOT}>"
DIRECT = ChannelId("D0ANA")
TALK = "1700000400.000001"
FILE_URL = "https://files.slack.com/notes"
FILE = SharedFile("notes.txt", 9, is_text=True, url=FILE_URL)


def value_of(message: Message | None) -> str:
    """The value of the button that sends what was not sent."""
    assert message is not None
    (words, action, value) = buttons(message)[-1]
    assert (words, action) == ("Send it to the agent anyway", "send_anyway")
    assert len(value) <= 2_000
    return value


async def insist(office: Office, message: Message | None, **options: Any) -> Answer:
    answer = await office.press("send_anyway", value_of(message), **options)
    await office.settle()
    return answer


@pytest.mark.parametrize(
    "text",
    ["status", "job", "projects", "project acme", "jobs failed", "stop", "cancel 1", "settings", "?", "hi"],
)
async def test_a_command_that_is_none_starts_nothing_until_its_author_insists(
    office: Office, text: str
) -> None:
    answer = await office.types("/docs-agent", text)
    await office.settle()
    assert (await office.count_jobs(), office.slack.posts) == (0, [])
    assert (await insist(office, answer.message)).replaces
    assert office.sent() == [text]
    again = await insist(office, answer.message)
    assert again.message is not None
    assert "as Job 1. I started nothing new." in again.message.text
    assert office.sent() == [text]


@pytest.mark.parametrize(
    ("text", "onward"),
    [
        ("merge it", "Merge a pull request where it is: the button in its job's thread leads there."),
        ("settings", "`/docs-agent help` lists those that I have."),
    ],
)
async def test_a_command_that_the_bot_lacks_is_answered_with_what_to_do_instead(
    office: Office, text: str, onward: str
) -> None:
    assert (await office.told("/docs-agent", text)).endswith(f"so nothing was started. {onward}")


async def test_thanks_by_command_start_nothing(office: Office) -> None:
    answer = await office.told("/docs-agent", "Thank you so much!")
    assert "That looks like thanks or agreement, so nothing was started." in answer
    assert await office.count_jobs() == 0


@pytest.mark.parametrize(
    "text",
    ["status codes are missing on the errors page", "done is spelled wrong, fix it", "Jobs: add a page"],
)
async def test_a_prompt_that_begins_like_a_command_is_a_prompt(office: Office, text: str) -> None:
    await office.types("/docs-agent", text)
    await office.says(f"{AT_BOT} {text}, too")
    assert office.sent() == [text, f"{text}, too"]


@pytest.mark.parametrize("text", ["status", "stop", "what can you do?", "Hello!"])
async def test_a_mention_of_such_words_is_answered_in_private_and_goes_out_where_it_was_said(
    office: Office, text: str
) -> None:
    ts = await office.hears(f"{AT_BOT} {text}")
    await office.says(f"{AT_BOT} {text}", ts=ts)
    [(channel, thread, user, said)] = office.slack.whispers
    assert (channel, thread, user) == (CHANNEL, None, ANA)
    assert await office.count_jobs() == 0
    await insist(office, said)
    await insist(office, said)
    await office.says(f"{AT_BOT} {text}", ts=ts)
    assert office.sent() == [text]
    assert {post.thread for post in office.slack.posts} == {ts}


async def test_in_a_thread_the_words_go_out_as_the_follow_up_that_they_were(office: Office) -> None:
    await office.says(f"{AT_BOT} Add a page", thread=TALK)
    ts = await office.says(f"{AT_BOT} stop", thread=TALK, user=BEN)
    assert office.sent() == ["Add a page"]
    [(_, thread, user, said)] = office.slack.whispers
    assert (thread, user) == (TALK, BEN)
    assert said.text == "The docs service can't stop a job once it runs. Job 1 goes on. Nothing was sent."
    await insist(office, said, user=BEN)
    await insist(office, said, user=BEN)
    assert office.sent() == ["Add a page", "stop"]
    assert await office.count_jobs() == 1
    assert (ts, "eyes") in office.slack.reactions


async def test_a_direct_message_of_such_words_goes_out_as_one(office: Office) -> None:
    await office.says("hello", channel=DIRECT)
    assert await office.count_jobs() == 0
    [(_, said, _)] = office.slack.direct
    await insist(office, said, channel=DIRECT)
    assert office.sent() == ["hello"]
    assert (await office.job()).channel == DIRECT


@pytest.mark.parametrize("typed", ["1 stop", "stop", "#1 merged", "status"])
async def test_a_follow_up_of_such_words_does_not_reopen_its_job(office: Office, typed: str) -> None:
    await office.finished()
    await office.press("reviewed", "1")
    answer = await office.types("/docs-followup", typed)
    await office.settle()
    assert ((await office.job()).state, (await office.job()).reviewed_by) == (JobState.PULL_REQUEST, ANA)
    assert office.sent() == ["Add a quickstart"]
    assert (await insist(office, answer.message)).replaces
    assert office.sent()[1:] == [typed.removeprefix("#").removeprefix("1 ")]
    assert "decided already" in str((await insist(office, answer.message)).message)
    assert len(office.sent()) == 2


async def test_merged_after_a_mention_that_names_a_job_elsewhere_does_not_reopen_it(office: Office) -> None:
    await office.finished()
    await office.says(f"{AT_BOT} #1 merged", thread=TALK)
    assert (await office.job()).state is JobState.PULL_REQUEST
    assert office.sent() == ["Add a quickstart"]


async def test_what_is_sent_anyway_goes_to_the_project_that_was_named(office: Office) -> None:
    sites = await open_sites(office)
    answer = await office.types("/docs-agent", "project:beta status")
    assert answer.message is not None
    assert "“status”" in answer.message.text
    await insist(office, answer.message)
    assert sites.prompts == ([], ["status"])


async def test_a_message_with_files_says_more_than_its_words(office: Office) -> None:
    office.slack.contents[FILE_URL] = "notes"
    await office.says(f"{AT_BOT} ?", files=(FILE,))
    [prompt] = office.sent()
    assert prompt.startswith("?")
    assert "notes" in prompt


async def test_a_guest_is_not_told_what_was_taken_for_what_and_sends_nothing(office: Office) -> None:
    office.slack.profiles[BEN] = Profile(True, False, False, False)
    answer = await office.types("/docs-agent", "status", user=BEN)
    assert answer.message is not None
    assert buttons(answer.message) == []
    allowed = await office.types("/docs-agent", "status")
    await insist(office, allowed.message, user=BEN)
    assert office.sent() == []


@pytest.mark.parametrize(
    "value",
    [
        "",
        "1",
        "|||",
        "command:1|||",
        "command:1||x|stop",
        "command:1||99|stop",
        f"command:1||{'9' * 40}|stop",
    ],
)
async def test_a_button_that_keeps_nothing_sends_nothing(office: Office, value: str) -> None:
    answer = await office.press("send_anyway", value)
    assert answer.message is not None
    assert "that you can see" in answer.message.text
    assert await office.count_jobs() == 0


async def test_a_text_that_reads_short_and_is_long_on_the_wire_fits_its_button(office: Office) -> None:
    await office.types("/docs-agent", f"<!subteam^S{'0' * 3_000}|stop>")
    answer = await office.types("/docs-agent", f"{' ' * 3_000}stop{' ' * 3_000}")
    assert value_of(answer.message).endswith("|stop")
    assert await office.count_jobs() == 1


async def whispered(office: Office, text: str, **options: Any) -> Message:
    """Reply in the first job's thread, and return the private answer, told once of two events."""
    before = len(office.slack.whispers)
    for _ in range(2):
        await office.replied(text, ts="1700000500.000777", **options)
    [(_, thread, _, said)] = office.slack.whispers[before:]
    assert thread == office.slack.root().ts
    return said


@pytest.mark.parametrize("text", ["stop", "please cancel this", "wait, never mind"])
async def test_who_may_steer_a_running_job_can_have_it_kept_quiet(office: Office, text: str) -> None:
    await office.started()
    said = await whispered(office, text)
    assert "can't stop a job once it runs. I can keep quiet about Job 1." in said.text
    assert [action for _, action, _ in buttons(said)] == ["keep_quiet", "send_anyway"]
    assert (await office.press("keep_quiet", "1")).message is None
    await office.ends()
    assert (await office.job()).state is JobState.UNWATCHED
    assert office.sent() == ["Add a quickstart"]
    assert "decided already" in str((await office.press("keep_quiet", "1")).message)


async def test_nobody_else_can_have_a_job_kept_quiet(office: Office) -> None:
    await office.started()
    said = await whispered(office, "stop", user=BEN)
    assert [action for _, action, _ in buttons(said)] == ["send_anyway"]
    assert "<@U0ANA>" in str((await office.press("keep_quiet", "1", user=BEN)).message)
    assert (await office.job()).state is JobState.WORKING


async def test_what_waits_can_be_withdrawn_where_somebody_says_stop(office: Office) -> None:
    office.limit(0)
    await office.started()
    said = await whispered(office, "stop")
    assert buttons(said)[0] == ("Withdraw", "withdraw", "1")
    await office.press("withdraw", "1")
    assert (await office.job()).state is JobState.WITHDRAWN


@pytest.mark.parametrize("text", ["status?", "is it done yet?", "what's the status of job 1?", "any news?"])
async def test_who_asks_in_a_thread_how_its_job_is_doing_is_told(office: Office, text: str) -> None:
    await office.finished()
    said = await whispered(office, text)
    assert ":memo: *Pull request ready*" in said.text
    assert office.sent() == ["Add a quickstart"]
    assert (await insist(office, said)).replaces
    assert office.sent()[1:] == [text]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello", "“hello”: That looks like a greeting, so nothing was started."),
        ("why is it POST?", "That's a question, and this agent changes docs rather than answers,"),
        ("what can you do?", "That's a question about me, so"),
        ("quickstart", "I see nothing to change in that, so"),
        ("jobs mine open", "`/docs-agent jobs` lists this channel's jobs"),
        (
            "subscribe munday 9:00",
            "That looks like `/docs-visitors subscribe monday 09:00`, so nothing was started.",
        ),
        ("status 7", "`/docs-agent status 42` shows one"),
    ],
)
async def test_what_is_no_instruction_in_a_thread_is_told_for_what_it_was_taken(
    office: Office, text: str, told: str
) -> None:
    await office.finished()
    assert told in (await whispered(office, text)).text
    assert office.sent() == ["Add a quickstart"]


async def test_where_people_talk_a_reply_without_a_mention_is_left_alone(office: Office) -> None:
    await office.says(f"{AT_BOT} Add a page", thread=TALK)
    for text in ("stop", "thanks", "status?", "why is it POST?"):
        await office.says(text, thread=TALK)
    assert (office.slack.whispers, office.sent()) == ([], ["Add a page"])
    assert office.slack.reactions == []


async def test_an_edit_that_leaves_no_instruction_withdraws_the_prompt(office: Office) -> None:
    office.limit(0)
    ts = await office.says(f"{AT_BOT} Add a page")
    await office.corrects(ts, f"{AT_BOT} never mind")
    await office.settle()
    assert (await office.job()).state is JobState.WITHDRAWN


@pytest.mark.parametrize("text", ["quickstart", "done", "stop"])
async def test_apps_are_taken_at_their_word_unless_they_thank(office: Office, text: str) -> None:
    office.access_policy(bots=frozenset({BEN}))
    await office.says(f"{AT_BOT} {text}", user=BEN)
    assert office.sent() == ([] if text == "done" else [text])
    assert office.slack.whispers == []


async def test_what_was_sent_anyway_is_not_taken_back_by_an_edit_that_says_the_like(office: Office) -> None:
    office.limit(1)
    await office.started("Something first", user=BEN)
    ts = await office.says(f"{AT_BOT} Is the quickstart outdated?")
    [(_, _, _, said)] = office.slack.whispers
    await insist(office, said)
    await office.corrects(ts, f"{AT_BOT} Is the quickstart outdated?")  # as read again after an outage
    assert (await office.job(2)).state is JobState.WAITING
    await office.corrects(ts, f"{AT_BOT} Is the Python quickstart outdated?")
    await office.pass_time(3_700)
    assert office.sent() == ["Something first", "Is the Python quickstart outdated?"]

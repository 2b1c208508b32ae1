"""What people write that is no instruction, at each door: what the bot does, and what they see."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.command import FormState
from bot.model.access import Profile
from bot.model.ids import ChannelId, Message
from bot.model.jobs import JobState, Review, SharedFile
from tests.builders import BEN, CHANNEL
from tests.messages.samples import buttons
from tests.work.office import BOT, RESPONSE_URL, Office
from tests.work.sites import open_sites

AT_BOT = f"<@{BOT}>"
DIRECT = ChannelId("D0ANA")
TALK = "1700000400.000001"
FILE_URL = "https://files.slack.com/notes"
FILE = SharedFile("notes.txt", 9, is_text=True, url=FILE_URL)
WHAT = "What should change? Reply with what it should say."
NO_ANSWERS = "I change docs; I can't answer questions yet."
PULL_REQUEST = "Pull request #1 · code.example"
NOES = ("no", "not good", "thank you but no", "👎", "hmm", "nope, that is wrong", "this is wrong", "?")


def labels(message: Message) -> list[str]:
    return [words for words, _, _ in buttons(message)]


async def whispered(office: Office, text: str, **options: Any) -> Message:
    """Reply in the first job's thread, and return the private answer, told once of two events."""
    before = len(office.slack.whispers)
    for _ in range(2):
        await office.replied(text, ts="1700000500.000777", **options)
    [(_, thread, _, said)] = office.slack.whispers[before:]
    assert thread == office.slack.root().ts
    return said


async def says_by(door: str, office: Office, text: str) -> tuple[str, list[str]]:
    """Say something by a door, and return the private answers and the reactions that follow."""
    whispers, reactions = len(office.slack.whispers), len(office.slack.reactions)
    said = []
    match door:
        case "command":
            answer = await office.types("/docs-agent", text)
            said = [answer.message.text] if answer.message else []
        case "form":
            form = FormState(CHANNEL, RESPONSE_URL)
            assert await office.submits("ask", form, prompt=text) is None
        case "mention":
            await office.says(f"{AT_BOT} {text}")
        case "direct":
            await office.says(text, channel=DIRECT)
        case "reply":
            await office.replied(text)
        case _:
            await office.says(text, thread=TALK)
    await office.settle()
    said += [message.text for *_, message in office.slack.whispers[whispers:]]
    said += [message.text for _, message, _ in office.slack.direct]
    return "\n".join(said), [name for _, name in office.slack.reactions[reactions:]]


FIRST_DOORS = ("command", "form", "mention", "direct")
DOORS = (*FIRST_DOORS, "reply")


@pytest.mark.parametrize("door", DOORS)
async def test_one_of_the_bots_own_words_is_done_by_every_door(office: Office, door: str) -> None:
    await office.finished()
    said, reactions = await says_by(door, office, "status?" if door != "direct" else "limits")
    assert ("99 of 100 left" if door == "direct" else "Ready: pull request #1, since ") in said
    assert (office.sent(), reactions) == (["Add a quickstart"], [])


@pytest.mark.parametrize("door", DOORS)
async def test_thanks_get_a_thumb_and_nothing_is_sent(office: Office, door: str) -> None:
    await office.finished()
    said, reactions = await says_by(door, office, "Great, thank you!")
    thumb = (":+1:", []) if door in ("command", "form") else ("", ["+1"])
    assert (said, reactions, office.sent()) == (*thumb, ["Add a quickstart"])


@pytest.mark.parametrize("door", DOORS)
async def test_a_greeting_is_greeted_and_left_alone_in_a_jobs_thread(office: Office, door: str) -> None:
    await office.finished()
    said, reactions = await says_by(door, office, "hi")
    assert said.startswith("Hi!") is (door != "reply")
    assert (reactions, office.sent()) == ([], ["Add a quickstart"])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", NOES)
async def test_a_no_is_asked_what_should_change(office: Office, door: str, text: str) -> None:
    await office.finished()
    assert await says_by(door, office, text) == (WHAT, [])
    assert office.sent() == ["Add a quickstart"]
    assert (await office.job()).review is None


@pytest.mark.parametrize("door", DOORS)
async def test_talk_is_sent_but_for_a_reply(office: Office, door: str) -> None:
    await office.finished()
    text = "I'll review it after lunch"
    said, _ = await says_by(door, office, text)
    assert said == ""
    assert office.sent()[1:] == ([] if door == "reply" else [text])


@pytest.mark.parametrize("door", DOORS)
async def test_a_question_is_offered_first_and_an_instruction_in_a_jobs_thread(
    office: Office, door: str
) -> None:
    await office.finished()
    text = "how do I rotate an API key?"
    said, _ = await says_by(door, office, text)
    assert said.startswith(NO_ANSWERS) is (door != "reply")
    assert office.sent()[1:] == ([text] if door == "reply" else [])


@pytest.mark.parametrize("door", DOORS)
async def test_all_else_is_sent(office: Office, door: str) -> None:
    await office.finished()
    said, _ = await says_by(door, office, "shorter")
    assert (said, office.sent()[1:]) == ("", ["shorter"])


@pytest.mark.parametrize("text", ["status?", "thanks", "hi", "no", "I'll look", "why is it POST?", "shorter"])
async def test_a_reply_where_only_mentions_steer_is_left_alone(office: Office, text: str) -> None:
    await office.says(f"{AT_BOT} Add a page", thread=TALK)
    before = list(office.slack.posts)
    await office.says(text, thread=TALK)
    assert (office.slack.posts, office.slack.whispers, office.slack.reactions) == (before, [], [])
    assert office.sent() == ["Add a page"]


@pytest.mark.parametrize("text", ["try again", "again!", "retry", "Please run it again"])
async def test_retry_in_a_failed_jobs_thread_runs_it_again_once(office: Office, text: str) -> None:
    await office.started()
    await office.ends("failed", None)
    for _ in range(2):
        await office.replied(text, ts="1700000500.000777", user=BEN)
    assert office.sent() == ["Add a quickstart", "Add a quickstart"]
    assert ((await office.job(2)).again_of, (await office.job(2)).requester) == (1, BEN)
    assert office.slack.whispers == []


async def test_retry_about_another_job_is_for_its_agent_or_offers_to_run_it_again(office: Office) -> None:
    await office.finished()
    await office.replied("try again")
    assert office.sent()[1:] == ["try again"]
    answer = await office.types("/docs-agent", "retry")
    assert answer.message is not None
    assert (answer.message.text.splitlines()[0], labels(answer.message)) == (
        "Job 1 hasn't failed.",
        ["Run again"],
    )


@pytest.mark.parametrize("text", ["merge it", "close the PR", "Can you merge this?"])
async def test_what_the_bot_cannot_do_has_the_button_that_leads_there(office: Office, text: str) -> None:
    await office.finished()
    said = await whispered(office, text)
    assert said.text.startswith("I can't merge or close it from here:")
    assert labels(said) == [PULL_REQUEST]


@pytest.mark.parametrize(
    ("text", "told"),
    [("is it ready?", "Yes: pull request #1, since "), ("status", "Ready: pull request #1, since ")],
)
async def test_a_status_is_one_line_and_the_rest_behind_a_button(
    office: Office, text: str, told: str
) -> None:
    await office.finished()
    said = await whispered(office, text)
    assert told in said.text
    assert "\n" not in said.text.splitlines()[0]
    assert labels(said) == [PULL_REQUEST, "Details"]
    details = await office.press("details", "1")
    assert details.replaces
    assert details.message is not None
    assert "The service's id" in details.message.text


@pytest.mark.parametrize(
    ("text", "told"), [("is it ready?", "Not yet. :gear: *Working on it*"), ("eta", ":gear:")]
)
async def test_a_job_that_runs_is_not_ready_yet(office: Office, text: str, told: str) -> None:
    await office.started()
    assert (await whispered(office, text)).text.startswith(told)


@pytest.mark.parametrize("door", ["command", "mention", "direct", "reply"])
async def test_what_can_you_do_shows_the_help(office: Office, door: str) -> None:
    await office.finished()
    said, _ = await says_by(door, office, "what can you do?")
    assert "Lists the channel's jobs" in said
    assert office.sent() == ["Add a quickstart"]


async def test_whoever_wants_somebody_mentioned_is_told_how(office: Office) -> None:
    await office.finished()
    assert (await whispered(office, "can you ping Chika to review")).text.startswith("I can't mention people")


async def test_a_word_about_a_job_that_nobody_can_see_says_so(office: Office) -> None:
    assert (await office.told("/docs-agent", "stop")).startswith("You have no job here yet.")
    assert "There's no Job 7 that you can see" in await office.told("/docs-agent", "cancel job 7")
    assert await office.count_jobs() == 0


@pytest.mark.parametrize("text", ["stop", "please cancel this", "cancel job 1"])
async def test_who_may_steer_a_running_job_can_have_it_kept_quiet(office: Office, text: str) -> None:
    await office.started()
    said = await whispered(office, text)
    assert said.text.startswith("I can't stop Job 1 once it runs.")
    assert [action for _, action, _ in buttons(said)] == ["keep_quiet"]
    assert (await office.press("keep_quiet", "1")).message is None
    await office.ends()
    assert (await office.job()).state is JobState.UNWATCHED
    assert office.sent() == ["Add a quickstart"]
    assert "decided already" in str((await office.press("keep_quiet", "1")).message)


async def test_nobody_else_can_have_a_job_kept_quiet(office: Office) -> None:
    await office.started()
    assert buttons(await whispered(office, "stop", user=BEN)) == []
    assert "<@U0ANA>" in str((await office.press("keep_quiet", "1", user=BEN)).message)
    assert (await office.job()).state is JobState.WORKING


async def test_what_waits_can_be_withdrawn_where_somebody_says_stop(office: Office) -> None:
    office.limit(1)
    await office.started()
    await office.replied("Make it shorter")
    assert buttons(await whispered(office, "stop")) == [("Withdraw", "withdraw", "1")]
    await office.press("withdraw", "1")
    await office.pass_time(3_700)
    assert office.sent() == ["Add a quickstart"]


@pytest.mark.parametrize("words", ["merged", "done", "#1 approved", "lgtm"])
async def test_reviewed_is_set_by_an_exact_word(office: Office, words: str) -> None:
    await office.finished()
    await office.replied(words, user=BEN)
    assert (await office.job()).review is Review.REVIEWED
    assert [name for _, name in office.slack.reactions] == ["+1"]


@pytest.mark.parametrize("words", ["merging after lunch", "I approved a similar one", "done?", "not merged"])
async def test_nothing_else_sets_reviewed(office: Office, words: str) -> None:
    await office.finished()
    await office.replied(words, user=BEN)
    assert (await office.job()).review is None


async def test_a_follow_up_by_command_that_says_merged_marks_the_job_it_names(office: Office) -> None:
    await office.finished()
    answer = await office.told("/docs-followup", "1 merged")
    assert answer.startswith(":+1: Job 1: :white_check_mark: *Reviewed*")
    assert ((await office.job()).review, office.sent()) == (Review.REVIEWED, ["Add a quickstart"])


@pytest.mark.parametrize(
    "text", ["status codes are missing", "done is spelled wrong, fix it", "Jobs: add a page"]
)
async def test_a_prompt_that_begins_like_a_command_is_a_prompt(office: Office, text: str) -> None:
    await office.types("/docs-agent", text)
    await office.says(f"{AT_BOT} {text}, too")
    assert office.sent() == [text, f"{text}, too"]


@pytest.mark.parametrize("door", FIRST_DOORS)
async def test_a_question_goes_out_once_when_its_author_insists(office: Office, door: str) -> None:
    text = "Is the quickstart outdated?"
    if door == "command":
        said = (await office.types("/docs-agent", text)).message
        assert said is not None
    else:
        await says_by(door, office, text)
        said = office.slack.direct[0][1] if door == "direct" else office.slack.whispers[0][-1]
    [(label, action, value)] = buttons(said)
    assert (label, len(value) <= 2_000) == ("Send it to the agent anyway", True)
    channel = DIRECT if door == "direct" else CHANNEL
    assert (await office.press(action, value, channel=channel)).replaces
    await office.settle()
    await office.press(action, value, channel=channel)
    await office.settle()
    assert office.sent() == [text]
    assert (await office.job()).channel == channel


async def test_a_question_goes_to_the_project_that_was_named(office: Office) -> None:
    sites = await open_sites(office)
    answer = await office.types("/docs-agent", "project:beta what is SSO?")
    assert answer.message is not None
    await office.press("send_anyway", buttons(answer.message)[0][2])
    await office.settle()
    assert sites.prompts == ([], ["what is SSO?"])


async def test_a_message_with_files_says_more_than_its_words(office: Office) -> None:
    office.slack.contents[FILE_URL] = "notes"
    await office.says(f"{AT_BOT} ?", files=(FILE,))
    [prompt] = office.sent()
    assert prompt.startswith("?")
    assert "notes" in prompt


async def test_a_guest_gets_no_button_and_sends_nothing(office: Office) -> None:
    office.slack.profiles[BEN] = Profile(True, False, False, False)
    answer = await office.types("/docs-agent", "what is SSO?", user=BEN)
    assert answer.message is not None
    assert buttons(answer.message) == []
    allowed = await office.types("/docs-agent", "what is SSO?")
    assert allowed.message is not None
    await office.press("send_anyway", buttons(allowed.message)[0][2], user=BEN)
    assert office.sent() == []


@pytest.mark.parametrize("value", ["", "1", "|||", "command:1|||", "command:1||99|stop"])
async def test_a_button_that_keeps_nothing_sends_nothing(office: Office, value: str) -> None:
    answer = await office.press("send_anyway", value)
    assert answer.message is not None
    assert "that you can see" in answer.message.text
    assert await office.count_jobs() == 0


async def test_an_edit_that_leaves_no_instruction_withdraws_the_prompt(office: Office) -> None:
    office.limit(0)
    ts = await office.says(f"{AT_BOT} Add a page")
    await office.corrects(ts, f"{AT_BOT} stop")
    await office.settle()
    assert (await office.job()).state is JobState.WITHDRAWN


@pytest.mark.parametrize("text", ["quickstart", "done", "stop"])
async def test_apps_are_taken_at_their_word_unless_they_thank(office: Office, text: str) -> None:
    office.access_policy(bots=frozenset({BEN}))
    await office.says(f"{AT_BOT} {text}", user=BEN)
    assert office.sent() == ([] if text == "done" else [text])
    assert office.slack.whispers == []


async def test_a_question_that_was_sent_is_not_taken_back_by_an_edit_that_asks_again(office: Office) -> None:
    office.limit(1)
    await office.started("Something first", user=BEN)
    ts = await office.says(f"{AT_BOT} Is the quickstart outdated?")
    [(_, _, _, said)] = office.slack.whispers
    await office.press("send_anyway", buttons(said)[0][2])
    await office.settle()
    await office.corrects(ts, f"{AT_BOT} Is the Python quickstart outdated?")
    await office.pass_time(3_700)
    assert office.sent() == ["Something first", "Is the Python quickstart outdated?"]

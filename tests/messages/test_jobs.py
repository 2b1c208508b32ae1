"""A job's thread, as the people in it read it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.messages import jobs, problems
from bot.messages.problems import Spent
from bot.model import Block, JobState
from tests.builders import ANA, BEN, NOW
from tests.messages.samples import LATER, PULL_REQUEST, actions, buttons, job, quoted

PINGS_ANA = f"<@{ANA}>"


def test_the_root_says_state_number_prompt_and_who_asked() -> None:
    root = jobs.face(job(repository="acme/docs"), NOW)
    assert root.text == (
        ":memo: *Pull request ready* · #42\n"
        "Add a quickstart for the Python SDK\n"
        f"asked by {PINGS_ANA} <!date^1793610000^{{date_short_pretty}} at {{time}}|2026-11-02 09:00 UTC>"
        " · acme-docs · `acme/docs` · took 4\N{NO-BREAK SPACE}min"
    )
    assert quoted(root) == "Add a quickstart for the Python SDK"


@pytest.mark.parametrize("state", JobState)
def test_every_state_has_a_root_of_its_own(state: JobState) -> None:
    others = {jobs.state_words(job(other)) for other in JobState if other is not state}
    assert jobs.state_words(job(state)) not in others
    assert jobs.face(job(state), NOW).text.startswith(jobs.state_words(job(state)))


def test_a_pull_request_never_looks_approved() -> None:
    for message in (jobs.face(job(), NOW), jobs.ended(job(), NOW)):
        assert ":white_check_mark:" not in message.text


def test_a_job_that_waits_for_the_limit_says_when_it_goes_out_and_can_be_withdrawn() -> None:
    root = jobs.face(job(JobState.WAITING, queue_until=NOW + timedelta(hours=1)), NOW)
    assert "goes out at <!date^1793613600^{time}|2026-11-02 10:00 UTC>" in root.text
    assert buttons(root) == [("Withdraw", "withdraw", "42")]


def test_a_job_about_to_go_out_cannot_be_withdrawn() -> None:
    assert buttons(jobs.face(job(JobState.WAITING), NOW)) == []


def test_a_follow_up_that_waits_is_announced_in_the_root() -> None:
    root = jobs.face(job(JobState.WORKING, queue_until=NOW + timedelta(hours=1)), NOW)
    assert "a follow-up goes out at" in root.text


def test_the_root_leads_to_the_pull_request() -> None:
    [button] = [
        each
        for block in jobs.face(job(), NOW).blocks
        if block["type"] == "actions"
        for each in block["elements"]
    ]
    assert (button["action_id"], button["url"]) == ("view_pull_request", PULL_REQUEST)


def test_a_short_prompt_is_not_said_twice() -> None:
    assert jobs.full_prompt(job()) == ()


def test_a_prompt_too_long_for_the_root_follows_whole() -> None:
    long = "Describe every error code.\n" * 2_000
    shown = jobs.full_prompt(job(text=long))
    assert "".join(quoted(part) for part in shown) == long
    assert len(quoted(jobs.face(job(text=long), NOW))) <= jobs.QUOTE_LENGTH
    assert [part.text.split(":\n")[0] for part in shown][:2] == [
        f"The whole prompt of #42 (1 of {len(shown)})",
        f"The whole prompt of #42 (2 of {len(shown)})",
    ]


def test_a_pull_request_is_told_to_who_asked_with_the_next_steps() -> None:
    end = jobs.ended(job(), LATER)
    assert end.text == (
        f"{PINGS_ANA} :memo: #42 is done after 4\N{NO-BREAK SPACE}min: the pull request is ready. "
        "Review it, or reply here to have something changed. "
        f"<{PULL_REQUEST}|Open pull request on code.example>"
    )
    assert buttons(end) == [
        ("Open pull request on code.example", "view_pull_request", "42"),
        ("Follow up", "follow_up", "42"),
        ("Run again", "run_again", "42:1"),
    ]


def test_a_failure_says_what_it_cost() -> None:
    assert Spent.YES.value in jobs.ended(job(JobState.FAILED), LATER).text


def test_without_the_link_button_the_words_still_lead_to_the_pull_request() -> None:
    plain = jobs.ended(job(), LATER).plain_blocks
    assert PULL_REQUEST in plain[0]["text"]["text"]
    assert [each["action_id"] for each in plain[-1]["elements"]] == ["follow_up", "run_again"]


def test_the_end_of_a_follow_up_is_told_to_who_asked_for_it() -> None:
    end = jobs.ended(job(iteration=2, iteration_requester=BEN), LATER)
    assert end.text.startswith(f"<@{BEN}> :memo: the follow-up to #42 is done")
    assert PINGS_ANA not in end.text
    assert "the pull request has been updated" in end.text
    assert buttons(end)[-1] == ("Run again", "run_again", "42:2")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "ftp://code.example/7",
        "https://code.example@evil.example/",
        "https://code.example/\u202e7",
        "not an address",
    ],
)
def test_an_odd_address_is_shown_but_not_linked_to(address: str) -> None:
    end = jobs.ended(job(pr_link=address), LATER)
    assert "is not one I can link to" in end.text
    assert actions(end) == ["follow_up", "run_again"]
    assert buttons(jobs.face(job(pr_link=address), NOW)) == []


@pytest.mark.parametrize(
    ("state", "words", "offered"),
    [
        (JobState.NO_CHANGE, "without changing a file", ["follow_up", "run_again"]),
        (JobState.FAILED, "Run it again, or reply here with a smaller step.", ["follow_up", "run_again"]),
        (JobState.ARCHIVED, "Run it again if it is still needed.", ["run_again"]),
        (JobState.GONE, "the docs service no longer knows #42", ["run_again"]),
    ],
)
def test_each_other_end_says_what_to_do_next(state: JobState, words: str, offered: list[str]) -> None:
    end = jobs.ended(job(state), LATER)
    assert end.text.startswith(PINGS_ANA)
    assert words in end.text
    assert actions(end) == offered


def test_a_long_run_is_mentioned_without_pinging_anybody() -> None:
    said = jobs.still_running(job(JobState.WORKING), NOW + timedelta(minutes=31)).text
    assert "#42 has been running for 31\N{NO-BREAK SPACE}min" in said
    assert "<@" not in said


def test_who_asked_is_told_that_we_stop_watching() -> None:
    said = jobs.unwatched(job(JobState.UNWATCHED), NOW + timedelta(days=7))
    assert said.text.startswith(f"{PINGS_ANA} :zzz: #42 is still running after 7\N{NO-BREAK SPACE}days")
    assert actions(said) == ["follow_up", "run_again"]


def test_a_job_that_did_not_start_says_why_what_it_cost_and_what_to_do() -> None:
    problem = problems.service_rejected("prompt is too long <!channel>")
    assert jobs.refused(job(JobState.REFUSED), problem).text == (
        f"{PINGS_ANA} :no_entry: #42 was not started. "
        "The docs service did not accept the prompt: “prompt is too long &lt;!channel&gt;” "
        "No use of the hourly limit was spent. Change the prompt and ask again."
    )


def test_a_job_in_doubt_is_left_to_a_person() -> None:
    said = jobs.unconfirmed(job(JobState.UNCONFIRMED), 7, BEN, follow_up=False)
    assert said.text.startswith(
        f"<@{BEN}> :grey_question: #42 was sent, but the docs service's answer was lost."
    )
    assert buttons(said) == [("Send again", "send_again", "7"), ("Forget it", "forget", "7")]
    assert said.plain_blocks[-1] == said.blocks[-1]


def test_a_follow_up_in_doubt_is_called_one() -> None:
    said = jobs.unconfirmed(job(), 7, BEN, follow_up=True)
    assert "Your follow-up to #42 was sent" in said.text


def test_a_follow_up_by_command_is_quoted_in_the_thread() -> None:
    said = jobs.follow_up_by_command(job(), "Mention *Python* 3.11 <!here>", BEN)
    assert said.text == (f":speech_balloon: <@{BEN}> follows up on #42:\nMention *Python* 3.11 &lt;!here&gt;")
    assert quoted(said) == "Mention *Python* 3.11 <!here>"


def test_a_follow_up_too_long_for_one_message_says_that_it_is_the_beginning() -> None:
    said = jobs.follow_up_by_command(job(), "word " * 4_000, BEN)
    assert "(its beginning; the agent gets all of it)" in said.text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (5_400, "1 h 30 min"), (604_800, "7 days")],
)
def test_durations_are_said_as_people_say_them(seconds: int, words: str) -> None:
    assert jobs.lasted(timedelta(seconds=seconds)) == words.replace(" ", "\N{NO-BREAK SPACE}")


def kinds(shown: tuple[Block, ...]) -> list[str]:
    return [block["type"] for block in shown]


def test_the_plain_form_of_a_redrawn_face_keeps_its_rich_text_and_links_nowhere() -> None:
    """Slack refuses to replace rich text by blocks that are not rich text."""
    shown = jobs.redrawn(jobs.face(job(JobState.PULL_REQUEST), NOW), posted_plain=False)
    assert kinds(shown.blocks) == ["section", "rich_text", "context", "actions"]
    assert kinds(shown.plain_blocks) == ["section", "rich_text", "context"]


def test_a_face_that_was_posted_plain_is_redrawn_plain() -> None:
    face = jobs.face(job(JobState.PULL_REQUEST), NOW)
    shown = jobs.redrawn(face, posted_plain=True)
    assert shown.blocks == shown.plain_blocks == face.plain_blocks

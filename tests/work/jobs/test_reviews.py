"""What becomes of a pull request: people say it with a button, or the thread is reminded once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.model.access import Profile
from bot.model.ids import ChannelId
from bot.model.jobs import JobState, Review
from bot.model.questions import working_time
from bot.work.jobs.decisions import remind
from bot.work.ports import SlackUnreachable
from tests.builders import ANA, BEN, CHANNEL
from tests.work.office import Office

DAY = 86_400
WORKSPACE = "https://acme.slack.example"


def offered(office: Office) -> list[str]:
    """What the buttons of the first job's face do now."""
    rows = [
        each for each in office.slack.edits[office.slack.root().ts][-1].blocks if each["type"] == "actions"
    ]
    return [button["action_id"] for row in rows for button in row["elements"]]


async def days_pass(office: Office, days: float, *, step_hours: float = 1.0) -> None:
    for _ in range(int(days * 24 / step_hours)):
        office.clock.pass_seconds(step_hours * 3_600)
        await office.works(remind)
        await office.settle(1.0)


UNSAID = ["reviewed", "not_needed"]


@pytest.mark.parametrize(
    ("action", "words", "then"),
    [
        ("reviewed", ":white_check_mark: *Reviewed* · Job 1 · <", ["undo_review", "not_needed"]),
        ("not_needed", ":no_entry_sign: *Not needed* · Job 1 · <", ["reviewed", "undo_review"]),
    ],
)
async def test_what_somebody_says_of_a_pull_request_is_the_first_line_of_its_face_until_it_is_undone(
    office: Office, action: str, words: str, then: list[str]
) -> None:
    await office.finished()
    assert offered(office) == UNSAID
    for _ in range(2):  # pressed twice, it is said once
        assert (await office.press(action, "1", user=BEN)).message is None
    await office.settle()
    assert office.root_text().startswith(words)
    assert f"marked by <@{BEN}> <!date^" in office.root_text()
    assert offered(office) == then
    assert (await office.press("undo_review", "1")).message is None
    await office.settle()
    assert office.root_text().startswith(":memo: *Pull request ready* · Job 1")
    assert "marked" not in office.root_text()
    assert offered(office) == UNSAID
    assert (await office.job()).awaits_review
    assert len(office.said()) == 1
    assert office.slack.replies()[0].ts not in office.slack.edits, "the end stays as it is"


async def test_the_other_button_changes_what_was_said(office: Office) -> None:
    await office.finished()
    await office.press("not_needed", "1", user=BEN)
    await office.press("reviewed", "1")
    await office.settle()
    assert office.root_text().startswith(":white_check_mark: *Reviewed*")
    assert (await office.job()).reviewed_by == ANA


async def test_nothing_is_said_of_the_pull_request_of_a_job_that_goes_on(office: Office) -> None:
    await office.finished()
    await office.press("reviewed", "1")
    await office.replied("Mention Python 3.11 too")
    assert offered(office) == ["view_pull_request"]
    refused = (await office.press("reviewed", "1")).message
    assert refused is not None
    assert "Job 1 has gone on since" in refused.text
    assert (await office.job()).review is None


async def test_what_is_undone_is_reminded_of_again(office: Office) -> None:
    await office.finished()
    await office.press("reviewed", "1")
    office.clock.pass_seconds(4 * DAY)
    await office.press("undo_review", "1")
    await office.settle(1.0)
    assert await office.works(remind) == 0
    await days_pass(office, 4)
    assert len(office.said()) == 2


async def test_a_thread_is_reminded_once_in_the_hours_in_which_who_asked_works(office: Office) -> None:
    """The job ends on a Monday at nine in London, which is one o'clock in California."""
    office.slack.zones = {ANA: "America/Los_Angeles"}
    office.context = replace(office.context, workspace_url=WORKSPACE)
    await office.finished()
    await days_pass(office, 3)
    assert len(office.said()) == 1
    await days_pass(office, 1)
    [_, reminder] = office.said()
    assert reminder.startswith(f"<@{ANA}> :memo: The pull request of Job 1 has been ready for 3")
    face = f"{WORKSPACE}/archives/{CHANNEL}/p{office.slack.root().ts.replace('.', '')}"
    assert f"*Reviewed* or *Not needed*, in <{face}|its first message>." in reminder
    posted_at = (await office.job()).ended_at
    assert posted_at is not None
    await days_pass(office, 10, step_hours=6)
    assert len(office.said()) == 2


@pytest.mark.parametrize(
    ("typed", "whom"),
    [
        ("reviewers <!subteam^S1|@docs-team>", "<!subteam^S1>"),
        ("Reviewers <@U0BEN|ben> and <!subteam^S1>", "<!subteam^S1> <@U0BEN>"),
        ("reviewers NONE", f"<@{ANA}>"),
    ],
)
async def test_a_reminder_goes_to_whom_the_channel_chose(office: Office, typed: str, whom: str) -> None:
    for words in ("reviewers <@U0PAT|pat>", typed):
        await office.types("/docs-agent", words, user=BEN)
    told = await office.told("/docs-agent", "reviewers")
    assert (whom in told) is ("NONE" not in typed)
    await office.finished()
    await days_pass(office, 4)
    assert office.said()[1].startswith(f"{whom} :memo: The pull request of Job 1 has been ready for ")
    assert office.sent() == ["Add a quickstart"]


@pytest.mark.parametrize(
    "typed", ["reviewers @nobody", "reviewers <!channel>", f"reviewers <@{BEN}> @nobody", "reviewers <@U9>"]
)
async def test_who_names_somebody_unknown_as_reviewer_changes_nothing(office: Office, typed: str) -> None:
    many = typed.replace("<@U9>", " ".join(f"<@U{number}>" for number in range(11)))
    assert "Nothing was changed" in await office.told("/docs-agent", many)
    assert "whoever asked" in await office.told("/docs-agent", "reviewers")


async def test_in_direct_messages_nobody_chooses_who_is_reminded(office: Office) -> None:
    told = await office.told("/docs-agent", f"reviewers <@{BEN}>", channel=ChannelId("D0ANA"))
    assert "reminders go to you" in told


async def test_a_reminder_goes_out_when_slack_tells_the_time_zone_again(office: Office) -> None:
    await office.finished()
    office.clock.pass_seconds(3 * DAY)
    office.slack.trouble("user_zone", SlackUnreachable("down"))
    await office.works(remind)
    await office.settle(1.0)
    assert len(office.said()) == 1
    office.clock.pass_seconds(700)
    assert await office.works(remind) == 1
    assert await office.works(remind) == 0
    await office.settle(1.0)
    assert len(office.said()) == 2


@pytest.mark.parametrize("how", ["reviewed", "follow-up", "never"])
async def test_nobody_is_reminded_of_what_is_settled_or_goes_on(office: Office, how: str) -> None:
    if how == "never":
        office.context = replace(office.context, remind_after=None)
    await office.finished()
    if how == "reviewed":
        await office.press("reviewed", "1")
    elif how == "follow-up":
        await office.reply("Mention Python 3.11 too")
    await office.settle()
    before = len(office.said())
    office.clock.pass_seconds(4 * DAY)
    assert await office.works(remind) == 0
    assert len(office.said()) == before


@pytest.mark.parametrize(
    ("at", "zone", "works_at"),
    [
        ("2026-11-02T09:00", "UTC", "2026-11-02T09:00"),
        ("2026-11-02T08:59", "UTC", "2026-11-02T09:00"),
        ("2026-11-02T17:00", "UTC", "2026-11-03T09:00"),
        ("2026-11-06T17:00", "UTC", "2026-11-09T09:00"),
        ("2026-11-07T12:00", "UTC", "2026-11-09T09:00"),
        ("2026-11-08T23:30", "Asia/Tokyo", "2026-11-09T00:00"),
        ("2026-03-28T12:00", "Europe/Berlin", "2026-03-30T07:00"),
    ],
)
def test_people_work_from_nine_to_five_on_weekdays_of_their_zone(at: str, zone: str, works_at: str) -> None:
    moment, expected = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (at, works_at))
    assert working_time(moment, zone) == expected


@pytest.mark.parametrize("words", ["merged", "Merged!", "ok, merged", "approved :tada:", "#1 merged"])
async def test_who_replies_that_it_is_merged_has_said_it_as_with_the_button(
    office: Office, words: str
) -> None:
    await office.finished()
    await office.replied(words, user=BEN)
    job = await office.job()
    assert (job.review, job.reviewed_by) == (Review.REVIEWED, BEN)
    assert office.root_text().startswith(":white_check_mark: *Reviewed*")
    assert office.sent() == ["Add a quickstart"]
    assert [name for _, name in office.slack.reactions] == ["+1"]


@pytest.mark.parametrize("words", ["merged", "done", "approved", "LGTM", "reviewed and merged"])
@pytest.mark.parametrize("action", ["reviewed", "not_needed"])
async def test_words_that_agree_never_reopen_a_job_or_change_what_was_said_of_it(
    office: Office, words: str, action: str
) -> None:
    await office.finished()
    await office.press(action, "1")
    await office.replied(words, user=BEN)
    job = await office.job()
    assert (job.state, job.review, job.reviewed_by) == (JobState.PULL_REQUEST, Review(action), ANA)
    assert office.sent() == ["Add a quickstart"]


async def test_merged_of_a_job_without_a_pull_request_or_by_a_stranger_is_no_review(office: Office) -> None:
    await office.started()
    await office.replied("merged")
    assert ((await office.job()).state, (await office.job()).review) == (JobState.WORKING, None)
    await office.ends()
    office.slack.profiles[BEN] = Profile(True, False, False, False)
    await office.replied("merged", user=BEN)
    assert (await office.job()).awaits_review


async def test_merged_is_said_of_what_was_there_then_though_its_event_comes_again(office: Office) -> None:
    await office.finished()
    await office.reply("merged", ts="1700000500.000777")
    await office.replied("Mention Python 3.11 too")
    office.docs.finish()
    await office.pass_time(120)
    await office.reply("merged", ts="1700000500.000777")
    assert (await office.job()).awaits_review

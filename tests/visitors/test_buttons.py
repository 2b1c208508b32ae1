"""Answers about visitors are shared in a channel or sent as a file, once, and lead to the form of a page."""

from __future__ import annotations

import csv
import io
import resource
import sys
from typing import Any

import pytest

from tests.site import Site
from tests.talk import Talk
from tests.talk_people import Person, Shown, controls_of
from tests.work.readers import DAY, FIRST, LAST, asked, files, pressed, searches

CSV, SHARE, MORE = "All pages as CSV", "Share in channel", "More"


async def answered(talk: Talk) -> Shown:
    """Let Ana ask about twelve pages, and press *More*: return her answer."""
    talk.service.site.fill(12, FIRST - 7 * DAY, LAST)
    answer = await asked(talk)
    await pressed(talk, MORE)
    return answer


async def test_refused_share_can_be_repeated(talk: Talk) -> None:
    answer = await answered(talk)
    talk.faults.refuses("chat.postMessage", "channel_not_found")
    assert "/invite @docs-agent" in (await pressed(talk, SHARE, on=answer))[-1]
    assert talk.channel() == []
    await pressed(talk, SHARE, on=answer)
    assert len(talk.channel()) == 1


@pytest.mark.parametrize("text", ["", "searches"])
@pytest.mark.parametrize(
    ("channel", "count", "offered"), [("docs", 1, 1), ("dm", 1, 0), ("docs", 0, 0)]
)
async def test_share_is_offered_in_channels_with_numbers(
    talk: Talk, text: str, channel: str, count: int, offered: int
) -> None:
    talk.service.site.fill(12 * count, FIRST, LAST)
    talk.service.readers["searches"] = searches(*[("limits", 41, 0)] * count)
    await talk.ana.types(f"/docs-visitors {text}".strip(), channel)
    await talk.time.passes(20)
    answer = talk.ana.reads()[-1]
    assert answer.buttons.count(SHARE) == offered


async def test_csv_file_has_all_pages(talk: Talk) -> None:
    talk.service.site.fill(1_200, FIRST, LAST)
    talk.service.site.read('=HYPERLINK("http://evil")', FIRST, LAST, people=3)
    await talk.ana.types("/docs-visitors compare none csv")
    await talk.time.passes(20)
    talk.ana.reads()
    [(text, name, content)] = await files(talk)
    assert name.startswith("docs-visitors-2026-10-26-to-2026-11-01-")
    assert "1,201 pages" in text
    assert "\n\"'=HYPERLINK" in content, "no spreadsheet runs it"
    rows = list(csv.reader(io.StringIO(content.removeprefix("\ufeff"))))
    assert rows[0] == ["page", "human", "ai", "total"]
    counted = Site.rows(talk.service.site.visits)
    truth = {path: (str(it.human), str(it.ai), str(it.total)) for path, it in counted}
    assert {path.removeprefix("'"): tuple(counts) for path, *counts in rows[1:]} == truth


async def test_button_pressed_often_sends_one_file(talk: Talk) -> None:
    await answered(talk)
    await talk.ana.presses(CSV)
    [first] = talk.ana.reads()
    assert "The CSV file comes in our direct messages" in first
    for seconds in (0, 5):
        await talk.time.passes(seconds)
        talk.ana.reads()
        await talk.ana.presses(CSV)
        assert "didn't send it again" in talk.ana.reads()[-1]
    await talk.time.passes(20)
    assert len(await files(talk)) == 1


@pytest.mark.parametrize("code", ["not_in_channel", "channel_not_found"])
async def test_channel_is_joined_for_a_refused_file(talk: Talk, code: str) -> None:
    """A refused post ends at once, but Slack hides even public channels from outsiders with files."""
    talk.faults.refuses("files.completeUploadExternal", code)
    await asked(talk, "7d compare none csv here")
    assert talk.slack.calls.count("conversations.join") == 1
    assert len(await files(talk, "docs")) == 1


async def test_direct_messages_are_not_joined_for_a_file(talk: Talk) -> None:
    talk.faults.refuses("files.completeUploadExternal", "not_in_channel")
    await talk.ana.types("/docs-visitors 7d compare none csv")
    await talk.time.passes(20)
    assert "I couldn't send you the file: I'm not a member." in talk.ana.reads()[-1]
    assert "conversations.join" not in talk.slack.calls
    assert await files(talk) == []


async def test_refused_file_is_sent_at_the_next_press(talk: Talk) -> None:
    await answered(talk)
    talk.faults.refuses("files.completeUploadExternal", "storage_limit_reached")
    assert "I couldn't send you the file: Slack refused it." in (await pressed(talk, CSV))[-1]
    assert await files(talk) == []
    await pressed(talk, CSV)
    assert len(await files(talk)) == 1


async def test_file_of_unclear_outcome_is_sent_once(talk: Talk) -> None:
    await answered(talk)
    talk.faults.loses_the_answer("files.completeUploadExternal")
    await pressed(talk, CSV)
    await talk.time.passes(minutes=5)
    assert len(await files(talk)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="how large a file may be is set as Linux does")
async def test_file_is_sent_when_the_disk_has_room(talk: Talk) -> None:
    await talk.process.starts(database_url="sqlite://")
    for page in range(250):
        talk.service.site.read(f"/guides/a-page-with-a-long-name-{page}", LAST, LAST, people=1)
    await asked(talk, "yesterday compare none")
    await pressed(talk, MORE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
    try:
        await pressed(talk, CSV)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert await files(talk) == []
    await talk.time.passes(minutes=5)
    [(_, _, content)] = await files(talk)
    assert len(content.splitlines()) == 251


def forged(
    talk: Talk, by: Person, message: Shown, label: str, channel: str, **changed: str
) -> Shown:
    """Return a note to somebody in a channel with one button of a message, after changes to the button."""
    action = dict(controls_of(message.message["blocks"]))[label]
    control: dict[str, Any] = {"type": action["type"], "action_id": action["action_id"]}
    text = {"type": "plain_text", "text": label}
    if option := action.get("selected_option"):
        control |= {"placeholder": text, "options": [{**option, **changed}]}
    else:
        control |= {"text": text, "value": action["value"], **changed}
    blocks = [{"type": "actions", "elements": [control]}]
    note = talk.slack.state.add_ephemeral(
        talk.room(channel).id, by.id, text="forged", blocks=blocks
    )
    return talk.mark_read(note)


@pytest.mark.parametrize("label", [SHARE, MORE])
async def test_button_of_another_channel_finds_nothing(talk: Talk, label: str) -> None:
    answer = await answered(talk)
    for value in ("1", "99", "x", "99999999999999"):
        note = forged(talk, talk.ben, answer, label, "partners", value=value)
        [refusal] = await pressed(talk, label, talk.ben, note)
        assert "no longer have those numbers" in refusal
    assert talk.channel() == talk.channel("partners") == []
    own = forged(talk, talk.ben, answer, label, "docs")
    assert "no longer" not in str(await pressed(talk, label, talk.ben, own))
    talk.channel()


async def test_page_opens_a_form_until_its_numbers_are_gone(talk: Talk) -> None:
    talk.service.site.read("/webhooks", FIRST, LAST, people=12, agents=340)
    answer = await asked(talk, "compare none")
    await talk.ana.presses(answer.buttons[-1])
    prompt = talk.ana.form().message["blocks"][0]["element"]["initial_value"]
    assert "Improve the page “/webhooks”" in prompt
    assert "12 people, 340 AI agents, 352 in all" in prompt
    assert "mostly by AI agents" in prompt
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(days=210)
    talk.service.site.read("/zzz", FIRST + 210 * DAY, LAST + 210 * DAY, people=5)
    talk.everything()
    newer = await asked(talk, "compare none")
    values = ["page:1", "page:99999", "page:9999999999:x", "page:1:x", "nonsense", ""]
    label = newer.buttons[-1]
    for old in (
        answer,
        *(forged(talk, talk.ana, newer, label, "docs", value=value) for value in values),
    ):
        [note] = await pressed(talk, old.buttons[-1], on=old)
        assert "no longer have those numbers" in note
    await talk.ana.presses(label, on=newer)
    assert "/zzz" in str(talk.ana.form().message["blocks"])


async def test_file_that_slack_never_accepts_is_given_up(talk: Talk) -> None:
    await answered(talk)
    talk.faults.loses_the_answer("upload", times=12)
    await pressed(talk, CSV)
    await talk.time.passes(minutes=60)
    assert "I couldn't send you the file: Slack refused it." in talk.ana.reads()[-1]
    assert await files(talk) == []

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


async def test_sharing_where_the_bot_may_not_post_tells_who_tried_and_can_be_tried_again(talk: Talk) -> None:
    answer = await answered(talk)
    talk.faults.refuses("chat.postMessage", "channel_not_found")
    assert "/invite @docs-agent" in (await pressed(talk, SHARE, on=answer))[-1]
    assert talk.channel() == []
    await pressed(talk, SHARE, on=answer)
    assert len(talk.channel()) == 1


@pytest.mark.parametrize("text", ["", "searches"])
@pytest.mark.parametrize(("channel", "holds", "offered"), [("docs", 1, 1), ("dm", 1, 0), ("docs", 0, 0)])
async def test_sharing_is_offered_where_there_is_a_channel_and_something_to_share(
    talk: Talk, text: str, channel: str, holds: int, offered: int
) -> None:
    """``holds``: whether the service has anything of the period."""
    talk.service.site.fill(12 * holds, FIRST, LAST)
    talk.service.readers["searches"] = searches(*[("limits", 41, 0)] * holds)
    await talk.ana.types(f"/docs-visitors {text}".strip(), channel)
    await talk.time.passes(20)
    answer = talk.ana.reads()[-1]
    assert answer.buttons.count(SHARE) == offered


async def test_all_pages_come_as_a_file_in_the_direct_messages(talk: Talk) -> None:
    talk.service.site.fill(1_200, FIRST, LAST)
    talk.service.site.read('=HYPERLINK("http://evil")', FIRST, LAST, people=3)
    await talk.ana.types("/docs-visitors compare none csv")
    await talk.time.passes(20)
    talk.ana.reads()
    [(words, name, content)] = await files(talk)
    assert name.startswith("docs-visitors-2026-10-26-to-2026-11-01-")
    assert "1,201 pages" in words
    assert "\n\"'=HYPERLINK" in content, "no spreadsheet runs it"
    rows = list(csv.reader(io.StringIO(content.removeprefix("\ufeff"))))
    assert rows[0] == ["page", "human", "ai", "total"]
    counted = Site.rows(talk.service.site.visits)
    truth = {path: (str(it.human), str(it.ai), str(it.total)) for path, it in counted}
    assert {path.removeprefix("'"): tuple(counts) for path, *counts in rows[1:]} == truth


async def test_a_file_comes_once_however_often_its_button_is_pressed(talk: Talk) -> None:
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
async def test_a_channel_in_which_a_file_is_refused_to_outsiders_is_joined(talk: Talk, code: str) -> None:
    """A post there is given up at once; with a file Slack hides also public channels from outsiders."""
    talk.faults.refuses("files.completeUploadExternal", code)
    await asked(talk, "7d compare none csv here")
    assert talk.slack.calls.count("conversations.join") == 1
    assert len(await files(talk, "docs")) == 1


async def test_a_conversation_is_never_joined_for_a_file(talk: Talk) -> None:
    talk.faults.refuses("files.completeUploadExternal", "not_in_channel")
    await talk.ana.types("/docs-visitors 7d compare none csv")
    await talk.time.passes(20)
    assert "I couldn't send you the file: I'm not a member." in talk.ana.reads()[-1]
    assert "conversations.join" not in talk.slack.calls
    assert await files(talk) == []


async def test_a_file_that_slack_refused_can_be_asked_for_again_with_the_same_button(talk: Talk) -> None:
    await answered(talk)
    talk.faults.refuses("files.completeUploadExternal", "storage_limit_reached")
    assert "I couldn't send you the file: Slack refused it." in (await pressed(talk, CSV))[-1]
    assert await files(talk) == []
    await pressed(talk, CSV)
    assert len(await files(talk)) == 1


async def test_a_file_whose_answer_was_lost_is_looked_for_before_it_is_sent_again(talk: Talk) -> None:
    await answered(talk)
    talk.faults.loses_the_answer("files.completeUploadExternal")
    await pressed(talk, CSV)
    await talk.time.passes(minutes=5)
    assert len(await files(talk)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="how large a file may be is set as Linux does")
async def test_a_file_for_which_there_is_no_room_is_sent_when_there_is(talk: Talk) -> None:
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


def forged(talk: Talk, by: Person, shown: Shown, label: str, channel: str, **changed: str) -> Shown:
    """Return a note to somebody in a channel with one button of a message, of which something was changed."""
    action = dict(controls_of(shown.message["blocks"]))[label]
    control: dict[str, Any] = {"type": action["type"], "action_id": action["action_id"]}
    text = {"type": "plain_text", "text": label}
    if option := action.get("selected_option"):
        control |= {"placeholder": text, "options": [{**option, **changed}]}
    else:
        control |= {"text": text, "value": action["value"], **changed}
    blocks = [{"type": "actions", "elements": [control]}]
    note = talk.slack.state.add_ephemeral(talk.room(channel).id, by.id, text="forged", blocks=blocks)
    return talk.mark_read(note)


@pytest.mark.parametrize("label", [SHARE, MORE])
async def test_a_button_of_another_channels_answer_is_answered_as_for_an_unknown_one(
    talk: Talk, label: str
) -> None:
    answer = await answered(talk)
    for value in ("1", "99", "x", "99999999999999"):
        note = forged(talk, talk.ben, answer, label, "partners", value=value)
        [told] = await pressed(talk, label, talk.ben, note)
        assert "no longer have those numbers" in told
    assert talk.channel() == talk.channel("partners") == []
    here = forged(talk, talk.ben, answer, label, "docs")
    assert "no longer" not in str(await pressed(talk, label, talk.ben, here))
    talk.channel()


async def test_a_page_leads_to_the_form_of_the_agent_and_an_old_one_to_no_other(talk: Talk) -> None:
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
    for old in (answer, *(forged(talk, talk.ana, newer, label, "docs", value=value) for value in values)):
        [told] = await pressed(talk, old.buttons[-1], on=old)
        assert "no longer have those numbers" in told
    await talk.ana.presses(label, on=newer)
    assert "/zzz" in str(talk.ana.form().message["blocks"])


async def test_a_file_that_slack_never_takes_is_given_up_and_its_asker_told(talk: Talk) -> None:
    await answered(talk)
    talk.faults.loses_the_answer("upload", times=12)
    await pressed(talk, CSV)
    await talk.time.passes(minutes=60)
    assert "I couldn't send you the file: Slack refused it." in talk.ana.reads()[-1]
    assert await files(talk) == []

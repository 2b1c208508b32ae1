"""A face whose blocks Slack refuses is shown plainly, and stays of the kind that an edit may not change."""

from __future__ import annotations

from bot.model.ids import JobNumber
from bot.slack.client import refused
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.thread import redraw_face
from tests.work.office import Office


def kinds(office: Office) -> list[str]:
    return [block["type"] for block in office.slack.edits[office.slack.root().ts][-1].blocks]


async def test_an_edit_that_is_refused_keeps_the_rich_text_of_the_face(office: Office) -> None:
    await office.started()
    office.slack.trouble("edit", refused("invalid_blocks"))
    office.docs.finish()
    await office.settle(10)
    assert kinds(office) == ["section", "rich_text", "context", "actions"]


async def test_a_face_that_was_posted_plain_is_never_drawn_with_what_slack_refused(office: Office) -> None:
    office.slack.trouble("post", refused("feature_disabled"))
    await office.finished()
    assert [block["type"] for block in office.slack.root().message.blocks] == ["section"]
    drawn = office.slack.edits[office.slack.root().ts]
    assert {block["type"] for message in drawn for block in message.blocks} == {"section", "actions"}


async def test_an_edit_that_waits_while_slack_refuses_the_face_is_drawn_anew(office: Office) -> None:
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await office.store.write(lambda tx: redraw_face(tx, JobNumber(1), office.clock()))
    office.clock.pass_seconds(1)
    office.slack.trouble("post", refused("feature_disabled"))
    await office.settle()
    drawn = office.slack.edits[office.slack.root().ts]
    assert {block["type"] for message in drawn for block in message.blocks} == {"section"}

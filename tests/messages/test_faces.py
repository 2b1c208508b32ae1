"""The face of a job: what Slack asks of its edits, and how often it changes."""

from __future__ import annotations

from hypothesis import given

from bot.jobs.messages import status_message
from bot.jobs.model.jobs import TrackedJob
from tests.messages.anything import built


@given(built(TrackedJob))
def test_edit_in_plain_form_keeps_rich_text_and_has_no_link_button(job: TrackedJob) -> None:
    """Slack refuses to replace rich text by blocks that are not rich text."""
    shown = status_message.redrawn(status_message.format_status_message(job), posted_plain=False)
    kinds = [
        [block["type"] for block in form if block["type"] != "actions"]
        for form in (shown.blocks, shown.plain_blocks)
    ]
    assert kinds[0] == kinds[1]
    assert "rich_text" in kinds[1]
    rows = [block["elements"] for block in shown.plain_blocks if block["type"] == "actions"]
    assert not [button for row in rows for button in row if "url" in button]

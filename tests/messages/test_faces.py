"""The face of a job: what Slack asks of its edits, and how often it changes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given

from bot.messages import face
from bot.model.jobs import JobState, TrackedJob, minutes_to_show
from tests.messages.anything import built
from tests.messages.samples import job


def test_every_state_has_words_of_its_own() -> None:
    assert len({face.state_words(job(state)) for state in JobState}) == len(JobState)


@given(built(TrackedJob))
def test_edit_in_plain_form_keeps_rich_text_and_has_no_link_button(job: TrackedJob) -> None:
    """Slack refuses to replace rich text by blocks that are not rich text."""
    shown = face.redrawn(face.face(job), posted_plain=False)
    kinds = [
        [block["type"] for block in form if block["type"] != "actions"]
        for form in (shown.blocks, shown.plain_blocks)
    ]
    assert kinds[0] == kinds[1]
    assert "rich_text" in kinds[1]
    rows = [block["elements"] for block in shown.plain_blocks if block["type"] == "actions"]
    assert not [button for row in rows for button in row if "url" in button]


@pytest.mark.parametrize(
    ("minutes", "shown"), [(1, 0), (2, 2), (4, 2), (19, 10), (59, 30), (61, 60), (190, 180)]
)
def test_the_minutes_change_rarely(minutes: int, shown: int) -> None:
    assert minutes_to_show(timedelta(minutes=minutes)) == shown

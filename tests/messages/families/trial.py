"""The posts of ``docs-bot doctor --try``."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import general
from bot.operator.trial_slack import native_blocks

_TOKEN = "doctor-0123456789ab"


def samples() -> Mapping[str, object]:
    """Return the doctor's posts; of the posts with made-up numbers only the text."""
    return {
        "the first post": general.FIRST_POST,
        "private": general.PRIVATE_POST,
        "the file": general.FILE_POST,
        "direct": general.DIRECT_POST,
        "a question": general.press_request(_TOKEN),
        "the form": general.trial_form(_TOKEN, is_changed=False),
        "the changed form": general.trial_form(_TOKEN, is_changed=True),
        "the form above it": general.further_trial_form(_TOKEN),
        "the answer": general.NOTED,
        "the answer to an old token": general.TRIAL_OVER,
        "the edited post": general.EDITED_POST,
        **{name: message.text for name, message in native_blocks().items()},
    }

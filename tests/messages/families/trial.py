"""What ``docs-bot doctor --try`` posts."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import trial
from bot.operator.trial import native_blocks


def samples() -> Mapping[str, object]:
    """The doctor's posts; of those with made-up numbers the text."""
    return {
        "the first post": trial.FIRST_POST,
        "private": trial.private(),
        "a question": trial.PRESS_ME,
        "the answer": trial.PRESSED,
        "the edited post": trial.EDITED_POST,
        **{name: message.text for name, message in native_blocks().items()},
    }

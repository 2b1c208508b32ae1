"""The posts of ``docs-bot doctor --try``."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import general
from bot.operator.trial import native_blocks


def samples() -> Mapping[str, object]:
    """Return the doctor's posts; of the posts with made-up numbers only the text."""
    return {
        "the first post": general.FIRST_POST,
        "private": general.PRIVATE_POST,
        "a question": general.PRESS_ME,
        "the answer": general.PRESSED,
        "the edited post": general.EDITED_POST,
        **{name: message.text for name, message in native_blocks().items()},
    }

"""What ``docs-bot doctor --try`` posts."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import trial


def samples() -> Mapping[str, object]:
    """The doctor's posts; of those with made-up numbers the text."""
    return {
        "the first post": trial.first_post(),
        "private": trial.private(),
        "a question": trial.press_me(),
        "the answer": trial.pressed(),
        "the edited post": trial.edited_post(),
        **{name: message.text for name, message in trial.native_blocks().items()},
    }

"""What ``docs-bot doctor --try`` posts."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import trial


def samples() -> Mapping[str, object]:
    """Its own words, and the text of each made-up message."""
    return {
        "hello": trial.hello(),
        "private": trial.private(),
        "a question": trial.press_me(),
        "the answer": trial.pressed(),
        "the edited face": trial.edited(),
        **{name: message.text for name, message in trial.samples().items()},
    }

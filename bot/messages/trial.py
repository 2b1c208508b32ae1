"""Messages of ``docs-bot doctor --try``, with made-up numbers."""

from __future__ import annotations

from bot.ids import Message
from bot.messages import blocks as b

FIRST_POST = b.words(
    ":warning: Your bot admin tries what I can do here (`docs-bot doctor --try`). "
    "The messages in this thread are made up, and I delete them at the end."
)
"""The post in whose thread the other messages are."""


EDITED_POST = b.words(":warning: Your bot admin has tried what I can do here.")
"""The first post after its edit."""


def private() -> Message:
    """Return the message for one person."""
    return b.words("`docs-bot doctor --try` tries whether I can reach you in private.")


PRESS_ME = b.with_buttons("Press this, please.", [b.button("Press me", b.Action.TRY, "try")])
"""The request to press a button."""


PRESSED = b.words(":white_check_mark: I heard it.")
"""The answer to the press."""

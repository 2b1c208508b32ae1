"""``docs-bot forget``: forgets one person's texts at once, and says what is left."""

from __future__ import annotations

import re

from bot.model.ids import UserId
from bot.store import Store
from bot.store.retention import RowCounts
from bot.work.retention import forget_person

_USER = re.compile(r"[UW][A-Z0-9]{2,38}")


async def forget_user(store: Store, user: str) -> str:
    """Forget a person and return what was forgotten and what is under way.

    Raises ValueError, with a text for people, if this is no user id.
    """
    if not _USER.fullmatch(user):
        raise ValueError("this is no id of a Slack user: it begins with U or W, such as U012AB3CD")
    forgotten, left = await forget_person(store, UserId(user))
    said = f"Forgotten of {user}: {counted(forgotten)}." if forgotten else f"Nothing of {user} was kept."
    if not left:
        return said
    return f"{said}\nUnder way and therefore kept: {counted(left)}. Run this again when that is over."


def counted(counts: RowCounts) -> str:
    """Return how many rows of each kind were forgotten, without kinds of which none was."""
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)

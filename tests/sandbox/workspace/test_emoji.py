"""The web page can show every emoji that the bot uses."""

from __future__ import annotations

import re
from pathlib import Path

BOT = Path(__file__).parents[3] / "bot"


def test_the_page_draws_every_emoji_that_the_bot_uses() -> None:
    drawn = (BOT.parent / "sandbox/workspace/page/mrkdwn.js").read_text()
    used = {
        name
        for module in BOT.rglob("*.py")
        if "messages" in str(module)
        for name in re.findall(r":([a-z][a-z_]{2,}):", module.read_text())
    }
    assert "hourglass_flowing_sand" in used
    assert {name for name in used if not re.search(rf"\b{name}: ", drawn)} == set()

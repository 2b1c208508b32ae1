"""The command line of the bot, as an operator uses it, in this process."""

from __future__ import annotations

import asyncio
import ctypes
import os

from click.testing import CliRunner, Result

from bot.__main__ import cli
from bot.settings import Settings
from tests.talk import DATABASE_URL, Talk

SETTINGS = {
    "SLACK_BOT_TOKEN": "xoxb-canary",
    "SLACK_APP_TOKEN": "xapp-canary",
    "DOCS_API_URL": "http://127.0.0.1:1/",
    "DOCS_API_KEY": "canary",
    "DOCS_PROJECT_ID": "acme",
}

_CAP_DAC_OVERRIDE = 1
_PR_CAPBSET_DROP = 24


def docs_bot(*words: object, **settings: str) -> Result:
    """Run `docs-bot` with these settings and no others; not where an event loop runs."""
    env = dict.fromkeys(Settings.variables()) | settings
    return CliRunner().invoke(cli, [str(word) for word in words], env=env)


async def docs_bot_beside(talk: Talk, *words: object) -> str:
    """Run `docs-bot` on the database of a conversation; return the output."""
    talk.note(f"the operator: docs-bot {' '.join(map(str, words))}")
    ran = await asyncio.to_thread(docs_bot, *words, DATABASE_URL=DATABASE_URL)
    talk.note(ran.output)
    return ran.output


def migrate(url: str) -> None:
    """Make all tables in a database."""
    ran = docs_bot("migrate", **SETTINGS, DATABASE_URL=url)
    assert ran.exit_code == 0, ran.output


def as_anybody() -> None:
    """Take from root the right to write everywhere, in a process before it starts."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)

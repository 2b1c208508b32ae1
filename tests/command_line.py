"""The command line of the bot, as an operator uses it, in this process."""

from __future__ import annotations

import asyncio
import ctypes
import os

from click.testing import CliRunner, Result

from bot.__main__ import cli
from bot.settings import Settings
from tests.databases import prepare_database

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


def make_tables(url: str) -> None:
    """Create the tables in an empty database; not where an event loop runs."""
    asyncio.run(prepare_database(url))


def as_anybody() -> None:
    """Take from root the right to write everywhere, in a process before it starts."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)

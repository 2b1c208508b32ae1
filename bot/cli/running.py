"""``docs-bot run``, ``serve`` and ``work``: run the bot until a signal stops it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from contextlib import suppress
from typing import NoReturn

import structlog
from click.exceptions import Exit
from sqlalchemy.exc import SQLAlchemyError

from bot import logs
from bot.app import Roles, running_bot
from bot.cli.ending import BAD_SETTINGS, CANNOT_START, CRASHED, about_database, echo
from bot.ops.health import allow_open_files
from bot.ops.stopping import Stopping
from bot.settings import Settings, SettingsError
from bot.work.ports import SlackError


def run(roles: Roles) -> NoReturn:
    """Run the bot until SIGTERM or SIGINT, and exit. A start that fails is told in the format of the log."""
    allow_open_files()
    stopping, form = Stopping(), os.environ.get("LOG_FORMAT", "auto").lower()
    try:
        settings = Settings.load()
        form = settings.log_format
        with suppress(asyncio.CancelledError):  # told to stop before it was ready
            asyncio.run(_run_until_stopped(settings, roles, stopping))
    except SettingsError as error:
        _not_started(str(error), BAD_SETTINGS, form)
    except SQLAlchemyError as error:
        _not_started(about_database(error), CANNOT_START, form)
    except SlackError as error:
        advice = "Look at SLACK_BOT_TOKEN, SLACK_APP_TOKEN and SLACK_API_URL."
        _not_started(f"Slack: {error}. {advice}", CANNOT_START, form)
    except OSError as error:
        advice = "Look at HOST, PORT, HEALTH_HOST and HEALTH_PORT."
        _not_started(f"{error.strerror or error}. {advice}", CANNOT_START, form)
    except Exception:  # a traceback that Python prints has no format and may have a secret
        if not structlog.is_configured():
            logs.configure("ERROR", form)
        structlog.get_logger(__name__).critical("crashed", exc_info=True, exit_code=CRASHED)
        raise Exit(CRASHED) from None
    raise Exit(stopping.told())


async def _run_until_stopped(settings: Settings, roles: Roles, stopping: Stopping) -> None:
    starting, stop = asyncio.current_task(), asyncio.Event()

    def begin_to_stop() -> None:
        if stop.is_set():  # a second signal must not cancel the clean-up
            return
        stopping.begin()
        stopping.end_in_time()
        stop.set()
        if starting is not None:
            starting.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, begin_to_stop)
    async with running_bot(settings, roles=roles, stopping=stopping):
        starting = None
        # Imported objects stay for good; collecting them repeatedly would delay acknowledgements by 0.1 s.
        gc.collect()
        gc.freeze()
        # Nor does the configuration of the log change any more, so that no line has to look it up.
        structlog.configure(cache_logger_on_first_use=True)
        await stop.wait()


def _not_started(about: str, code: int, form: str) -> NoReturn:
    """Tell why the bot does not start, in the format of its log, and exit."""
    if logs.is_for_people(form):
        echo(about, err=True)
    else:
        logs.configure("ERROR", form)
        structlog.get_logger(__name__).error("not_started", about=about, exit_code=code)
    raise Exit(code)

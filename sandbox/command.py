"""The command ``docs-bot sandbox``: read its options and run the sandbox."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bot.app import running_bot
from sandbox.docs_service import own_agent
from sandbox.docs_service.options import MAX_DAYS, MAX_PAGES
from sandbox.past import begins_at, is_untouched, tell_past
from sandbox.play import play
from sandbox.terminal import plain
from sandbox.waiting import DidNotCome
from sandbox.workspace.options import utcnow
from sandbox.world import TIMEOUTS, World, WorldOptions, both_sides

console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False, soft_wrap=True)
FAILED = 1
USAGE = 2


@dataclass(frozen=True, kw_only=True)
class Choice(WorldOptions):
    """The options of the command line: those of the sandbox, and events in it."""

    folder: Path = Path("var/sandbox")
    port: int = 8800
    play: bool = False
    services: bool = False
    empty: bool = False


_HELP = {
    "port": "Where the workspace's page is.",
    "folder": "Where the sandbox keeps its things.",
    "http": "Signed HTTP instead of Socket Mode.",
    "play": "Tell one story without a person, then leave.",
    "services": "Without a bot; the settings for one of your own are written to bot.env in the folder.",
    "empty": "Begin with empty channels, not with what happened before.",
    "work-seconds": "How long the agent takes for an ordinary job.",
    "pages": "Pages of the site whose visits are made.",
    "days": "For how many past days visits are made.",
    "seed": "Another number makes other visits.",
    "uses-an-hour": "The shared limit; a small one shows how prompts wait.",
    "agent": "Run this program for each prompt, in a fresh worktree of --repository, with your rights.",
    "repository": "The git repository that --agent works on; its checkout is not touched.",
    "publish": "Run this after a change; its last line with an https:// address is the pull request.",
    "agent-env": "A variable that --agent and --publish get besides PATH, HOME and LANG; can be repeated.",
    "agent-minutes": "After how long --agent or --publish is killed.",
}
_TYPES: dict[str, click.ParamType[Any]] = {
    "port": click.IntRange(0, 65_534),  # the docs service is on the port after the workspace's
    "folder": click.Path(path_type=Path),
    "work-seconds": click.FloatRange(0),
    "pages": click.IntRange(1, MAX_PAGES),
    "days": click.IntRange(1, MAX_DAYS),
    "uses-an-hour": click.IntRange(1),
    "repository": click.Path(path_type=Path),
    "agent-minutes": click.FloatRange(0, 24 * 60, min_open=True),
}
_METAVARS = {"agent": "COMMAND", "publish": "COMMAND", "agent-env": "NAME", "repository": "FOLDER"}


def _option(name: str, text: str) -> click.Option:
    """Return the option for a field of `Choice`, whose default lists its values."""
    field = "http_mode" if name == "http" else name.replace("-", "_")
    default = getattr(Choice, field)
    return click.Option(
        [f"--{name}", field],
        default=default,
        help=text,
        show_default=bool(default),
        metavar=_METAVARS.get(name),
        type=_TYPES.get(name),
        is_flag=isinstance(default, bool),
        multiple=isinstance(default, tuple),
    )


def _run(**fields: Any) -> None:
    sys.exit(sandbox_command(Choice(**fields)))


cli = click.Command(
    "sandbox",
    params=[_option(name, text) for name, text in _HELP.items()],
    callback=_run,
    help="A Slack workspace, a docs service and the bot on this machine, no account needed.",
)


def main(arguments: list[str]) -> None:
    """Run ``docs-bot sandbox`` with these arguments. Raise SystemExit, or click's error for a bad option."""
    with cli.make_context("docs-bot sandbox", arguments) as context:
        cli.invoke(context)


def sandbox_command(choice: Choice) -> int:
    """Run the sandbox and return the exit code; print errors to standard error."""
    if wrong := _usage_error(choice):
        stderr.print(plain(wrong))
        return USAGE
    try:
        if choice.play:
            return asyncio.run(play(http=choice.http_mode))
        with _lock_folder(choice.folder):
            asyncio.run(_run_until_stopped(choice))
    except FolderTaken:
        stderr.print(
            f"Another sandbox uses {plain(choice.folder)}. End it, or name another with --folder."
        )
        return FAILED
    except OSError as error:
        stderr.print(plain(_os_error_text(error, choice)))
        return FAILED
    return 0


def _usage_error(choice: Choice) -> str | None:
    """Return the message for the first invalid option, or None if all are valid."""
    if shutil.which("git") is None:
        return "The sandbox needs the program git"
    if choice.play and (choice.services or choice.agent):
        return f"--{'services' if choice.services else 'agent'} does not go with --play"
    return own_agent.wrong(choice)


def _os_error_text(error: OSError, choice: Choice) -> str:
    problem = error.strerror or str(error)
    if error.filename is not None:
        return f"{problem}: {error.filename}. Name a folder that can be written with --folder."
    return f"{problem}. Is something else on port {choice.port} or the next? Try --port 8810."


class FolderTaken(Exception):
    """Another sandbox uses this folder."""


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder, because two workspaces would overwrite each other's files.

    Raise FolderTaken if another process holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "in-use").open("w") as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTaken from None
        yield


async def _run_until_stopped(choice: Choice) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        await _start(choice, stack)
        await stop.wait()
        console.print("Stopping.")


@contextmanager
def _progress_line(choice: Choice) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of generating visits on standard error; other programs read standard output."""
    progress = Console(stderr=True, highlight=False)
    with progress.status("") as line:

        def tell(done: int, of: int) -> None:
            line.update(f"Making visits to {choice.pages:,} pages: day {done} of {of}")
            if done == of:
                progress.print(f"Made {of} days of visits to {choice.pages:,} pages.")

        yield tell


async def _start(choice: Choice, stack: AsyncExitStack) -> None:
    with _progress_line(choice) as on_progress:
        world = await stack.enter_async_context(
            both_sides(replace(choice, on_progress=on_progress))
        )
    # The past is acted out with the agent that follows rules, and never in somebody's repository.
    has_past = not (choice.empty or choice.agent or choice.services) and is_untouched(world)
    if has_past:
        world.clock.set(begins_at(utcnow()))
    bot = f"connected through {'signed HTTP' if choice.http_mode else 'Socket Mode'}"
    if choice.services:
        bot = f"yours, with the settings in {plain(write_settings(choice.folder, world))}"
    else:
        await stack.enter_async_context(
            running_bot(world.settings, timeouts=TIMEOUTS, clock=world.clock)
        )
    console.print(f"\n  The workspace:     [bold]{world.workspace_url}[/]")
    console.print(f"  The docs service:  {world.docs_service_url}")
    console.print(f"  The bot:           {bot}\n")
    console.print("  In #docs, type:    [bold]/docs-agent Add a quickstart for the Python SDK[/]")
    console.print("  Ctrl-C ends it; what happened is kept in", plain(choice.folder), "\n")
    if has_past:
        try:
            await tell_past(world, choice.uses_an_hour)
        except DidNotCome as missing:
            stderr.print(
                f"The workspace's past is incomplete: {missing} did not come. The rest works."
            )


def write_settings(folder: Path, world: World) -> Path:
    """Write the settings of a bot that is to work with both services, for its owner alone."""
    path, written = folder / "bot.env", folder / "bot.env.new"
    lines = [f"{name}={value}\n" for name, value in world.environment.items()]
    with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.writelines(lines)
    return written.replace(path)

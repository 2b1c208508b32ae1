"""What ``docs-bot sandbox`` does with its options."""

from __future__ import annotations

import asyncio
import fcntl
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from sandbox.docs_service import DocsService
from sandbox.docs_service.options import MOST_DAYS, MOST_PAGES
from sandbox.play import play
from sandbox.workspace import Workspace
from sandbox.world import PROJECT, WorldOptions, sandbox

console = Console(highlight=False)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)
cli = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
FAILED = 1
USAGE = 2


@dataclass(frozen=True)
class Choice(WorldOptions):
    """The options of the command line: those of the sandbox, and which part of it runs."""

    folder: Path = Path("var/sandbox")
    port: int = 8800
    play: bool = False
    only: str = ""


def main(arguments: list[str]) -> NoReturn:
    """Run ``docs-bot sandbox`` with these arguments and leave with its exit code."""
    cli(arguments, prog_name="docs-bot sandbox")
    raise SystemExit(0)


@cli.command()
def _sandbox(
    port: Annotated[int, typer.Option(help="Where the workspace's page is.")] = Choice.port,
    folder: Annotated[Path, typer.Option(help="Where the sandbox keeps its things.")] = Choice.folder,
    http: Annotated[
        bool, typer.Option("--http", help="Signed HTTP instead of Socket Mode.")
    ] = Choice.http_mode,
    play: Annotated[
        bool, typer.Option("--play", help="Tell one story without a person, then leave.")
    ] = Choice.play,
    only: Annotated[
        str, typer.Option(help="Run only `docs-service` or only `workspace`, on the given port.")
    ] = Choice.only,
    work_seconds: Annotated[
        float, typer.Option(help="How long the agent takes for an ordinary job.")
    ] = Choice.work_seconds,
    pages: Annotated[
        int, typer.Option(help=f"Pages of the site whose visits are made, up to {MOST_PAGES:,}.")
    ] = Choice.pages,
    days: Annotated[int, typer.Option(help="For how many past days visits are made.")] = Choice.days,
    seed: Annotated[int, typer.Option(help="Another number makes other visits.")] = Choice.seed,
    uses_an_hour: Annotated[
        int, typer.Option(help="The shared limit; a small one shows how prompts wait.")
    ] = Choice.uses_an_hour,
) -> None:
    """A Slack workspace, a docs service and the bot on this machine, no account needed."""
    chosen = Choice(
        folder,
        port,
        http_mode=http,
        play=play,
        only=only,
        work_seconds=work_seconds,
        pages=pages,
        days=days,
        seed=seed,
        uses_an_hour=uses_an_hour,
    )
    sys.exit(sandbox_command(chosen))


def sandbox_command(choice: Choice) -> int:
    """Run what was chosen, or say on the standard error why not; answers the exit code."""
    if wrong := _wrong(choice):
        complaints.print(wrong)
        return USAGE
    try:
        if choice.play:
            return asyncio.run(play(http=choice.http_mode))
        with _alone_in(choice.folder):
            asyncio.run(_stay(choice))
    except FolderTaken:
        complaints.print(f"Another sandbox uses {choice.folder}. End it, or name another with --folder.")
        return FAILED
    except OSError as error:
        complaints.print(_trouble(error, choice))
        return FAILED
    return 0


def _wrong(choice: Choice) -> str | None:
    """What an option cannot be, or None."""
    allowed = {
        "--only takes docs-service or workspace": choice.only in ("", "docs-service", "workspace"),
        # The docs service is on the port after the workspace's.
        "--port takes 0 (any that is free) to 65,534": 0 <= choice.port < 65_535,
        "--work-seconds takes 0 or more": choice.work_seconds >= 0,
        f"--pages takes 1 to {MOST_PAGES:,}": 1 <= choice.pages <= MOST_PAGES,
        f"--days takes 1 to {MOST_DAYS:,}": 1 <= choice.days <= MOST_DAYS,
        "--uses-an-hour takes 1 or more": choice.uses_an_hour >= 1,
    }
    return next((said for said, fits in allowed.items() if not fits), None)


def _trouble(error: OSError, choice: Choice) -> str:
    what = error.strerror or str(error)
    if error.filename is not None:
        return f"{what}: {error.filename}. Name a folder that can be written with --folder."
    return f"{what}. Is something else on port {choice.port} or the next? Try --port 8810."


class FolderTaken(Exception):
    """Another sandbox keeps its things in this folder."""


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """The folder to ourselves, since two workspaces would write over each other's words; else FolderTaken."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "in-use").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTaken from None
        yield


async def _stay(choice: Choice) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        if choice.only == "docs-service":
            await _only_docs_service(choice, stack)
        elif choice.only == "workspace":
            await _only_workspace(choice, stack)
        else:
            await _everything(choice, stack)
        await stop.wait()
        console.print("Stopping.")


@contextmanager
def _filling(choice: Choice) -> Iterator[Callable[[int, int], None]]:
    """A line that grows while the visits of the site are made, beside what other programs read."""
    progress = Console(stderr=True, highlight=False)
    with progress.status("") as line:

        def tell(done: int, of: int) -> None:
            line.update(f"Making visits to {choice.pages:,} pages: day {done} of {of}")
            if done == of:
                progress.print(f"Made {of} days of visits to {choice.pages:,} pages.")

        yield tell


async def _everything(choice: Choice, stack: AsyncExitStack) -> None:
    with _filling(choice) as tell_filled:
        world = await stack.enter_async_context(sandbox(replace(choice, tell_filled=tell_filled)))
    console.print(f"\n  The workspace:     [bold]{world.workspace_url}[/]")
    console.print(f"  The docs service:  {world.docs_service_url}")
    console.print(
        f"  The bot:           connected through {'signed HTTP' if choice.http_mode else 'Socket Mode'}\n"
    )
    console.print("  In #docs, type:    [bold]/docs-agent Add a quickstart for the Python SDK[/]")
    console.print("  Ctrl-C ends it; what happened is kept in", choice.folder, "\n")


async def _only_docs_service(choice: Choice, stack: AsyncExitStack) -> None:
    options = choice.docs_service()
    with _filling(choice) as tell_filled:
        service = DocsService(options, tell_filled=tell_filled)
        url = await service.start(port=choice.port)
    stack.push_async_callback(service.stop)
    console.print(f"DOCS_API_URL={url}\nDOCS_API_KEY={options.api_key}\nDOCS_PROJECT_ID={PROJECT}")


async def _only_workspace(choice: Choice, stack: AsyncExitStack) -> None:
    options = choice.workspace()
    workspace = Workspace(options)
    url = await workspace.start(port=choice.port)
    stack.push_async_callback(workspace.stop)
    console.print(f"The page: {url}\nSLACK_API_URL={workspace.api_url}")
    console.print(f"SLACK_BOT_TOKEN={options.bot_token}\nSLACK_APP_TOKEN={options.app_token}")

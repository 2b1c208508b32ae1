"""The text files of a message, which go to the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from bot.context import Context, WorkerContext
from bot.ports import SharedFile, SlackError, SlackRefused

log = structlog.get_logger(__name__)
_MAX_FILES = 5
_MAX_FILE_BYTES = 20_000


def choose_fitting_files(files: Sequence[SharedFile]) -> Sequence[SharedFile]:
    """Return the files that can go to the agent: the first text files that are not too large."""
    fitting = [file for file in files if file.is_text and file.size_bytes <= _MAX_FILE_BYTES]
    return fitting[:_MAX_FILES]


async def describe_files(context: Context, files: Sequence[SharedFile]) -> Sequence[SharedFile]:
    """Return files, each with its description. Slack sends some files as ids alone.

    A file that Slack does not describe counts as a text that cannot be read.
    """
    return [file if file.id is None else await _describe(context, file, file.id) for file in files]


async def _describe(context: Context, file: SharedFile, file_id: str) -> SharedFile:
    try:
        async with asyncio.timeout(context.timeouts.names_seconds):
            return await context.messenger.describe_file(file_id)
    except (SlackError, TimeoutError) as error:
        log.warning("file_not_described", reason=str(error) or type(error).__name__)
        return SharedFile(file.name, 0, is_text=True)


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """The files of a prompt, as far as they go to the agent."""

    texts: Sequence[tuple[str, str]] = ()
    """The names and contents of the files that go to the agent."""
    other_files: Sequence[str] = ()
    """The names of the files that are no text files, too large, or too many."""
    unread_files: Sequence[str] = ()
    """The names of the files that Slack did not return."""


async def read_files(context: WorkerContext, files: Sequence[SharedFile]) -> ReadFiles:
    """Return the texts of the files that fit, and the names of the others."""
    described = await describe_files(context, files)
    fitting = choose_fitting_files(described)
    texts: list[tuple[str, str]] = []
    unread: list[str] = []
    for file in fitting:
        try:
            if file.url is None:
                raise SlackRefused.not_found("file")
            async with asyncio.timeout(context.timeouts.names_seconds):
                text = await context.messenger.read_text(file.url, most_bytes=_MAX_FILE_BYTES)
        except (SlackError, TimeoutError) as error:
            log.warning("file_not_read", reason=str(error) or type(error).__name__)
            unread.append(file.name)
        else:
            texts.append((file.name, text))
    other = [file.name for file in described if file not in fitting]
    return ReadFiles(texts, other, unread)

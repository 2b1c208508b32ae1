"""``docs-bot visitors``: exports the visitors of a period as a table, a JSON document or a CSV file."""

from __future__ import annotations

import heapq
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from functools import partial
from pathlib import Path
from time import monotonic
from typing import BinaryIO, TextIO

from bot.docs_api import (
    DocsApiError,
    DocsClient,
    Forbidden,
    InvalidArgument,
    NotFound,
    PageVisitors,
    RateLimited,
    Unauthorized,
    Visitors,
)
from bot.logs import terminal_safe
from bot.messages.plain_text import BOM, HEADER, csv_line, visible
from bot.model.visitors import in_section
from bot.settings import DocsProject, DocsSettings

MOST_ROWS_SHOWN = 20
"""Maximum of pages in the table; JSON and CSV have all pages."""

_EXAMPLE = "for example --from 2026-10-01 --to 2026-10-31"

STDOUT = Path("-")
"""As the name of the CSV file, this means the standard output."""


class ExitCode(IntEnum):
    """Exit codes of a failed export, with the numbers of sysexits.h.

    https://man.freebsd.org/cgi/man.cgi?query=sysexits
    """

    UNAVAILABLE = 69
    """The service cannot be reached, or its response is unusable."""
    CANNOT_WRITE = 73
    LIMITED = 75
    """The hourly limit is reached; the command works later."""
    REFUSED = 77
    """The service refuses the key."""
    BAD_SETTINGS = 78


class ExportError(Exception):
    """The export failed. The text says why and what to do, without secrets; ``code`` is the exit code."""

    def __init__(self, text: str, code: ExitCode) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Wanted:
    """The period (days included, in UTC), the section of pages ("" for all), the project ("": default)."""

    first: date
    last: date
    section: str = ""
    project: str = ""

    def __post_init__(self) -> None:
        # Page paths begin with a slash; add it if it was left out.
        if self.section:
            object.__setattr__(self, "section", f"/{self.section.lstrip('/')}")


# ---- arguments


def parse_day(text: str) -> date:
    """Return a day written as ``2026-10-31``. Raises ValueError with a text for people."""
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{_one_line(text)!r} is no day; write year, month and day, {_EXAMPLE}") from None


def check_days(first: date, last: date, today: date) -> None:
    """Raise ValueError, with a text for people, if the days are reversed or in the future."""
    if last < first:
        raise ValueError(f"{last} is before {first}; both days are included, {_EXAMPLE}")
    if last > today:
        raise ValueError(f"{last} hasn't come yet; the last day possible is today, {today} in UTC")


def check_target(target: Path) -> Path:
    """Return the CSV file's absolute path, with links resolved. Raises ValueError if it cannot be a file."""
    if target == STDOUT:
        return target
    target = target.expanduser().resolve()
    if target.exists() and not target.is_file():
        raise ValueError(f"{target} is not a file; name one, or - for the standard output")
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {target.parent}; make it first, or name another")
    return target


# ---- outputs


@dataclass(slots=True)
class Read:
    """What was read: the whole site's totals, the wanted pages, and what ended the reading early."""

    taken_at: datetime
    totals: Visitors | None = None
    rows: list[PageVisitors] = field(default_factory=list)
    error: DocsApiError | None = None


def _csv_lines(rows: Sequence[PageVisitors]) -> Iterator[str]:
    yield csv_line(HEADER)
    yield from (csv_line((row.path, row.human, row.ai, row.total)) for row in rows)


def write_whole(target: Path, text: str) -> None:
    """Write a temporary file that replaces the target on success and is deleted on an error."""
    part = target.with_name(f".docs-bot-{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def json_text(read: Read, project: str, wanted: Wanted) -> str:
    """Return one JSON document. ``complete`` says whether it has all pages."""
    head = {
        "project": project,
        "from": wanted.first.isoformat(),
        "to": wanted.last.isoformat(),
        "path": wanted.section or None,
        "totals": read.totals.model_dump() if read.totals else None,
        "complete": read.error is None,
        "taken_at": read.taken_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    pages = ",\n".join(json.dumps(row.model_dump()) for row in read.rows)
    return f'{json.dumps(head)[:-1]}, "pages": [\n{pages}\n]}}\n'


def table(read: Read, project: str, wanted: Wanted) -> str:
    """Return the totals and the pages read most, for people."""
    so_far = ", today so far" if wanted.last >= read.taken_at.date() else ""
    lines = [f"{_one_line(project)}, {wanted.first} to {wanted.last}, both included (UTC){so_far}"]
    if (site := read.totals) is not None and not site.total:
        return "\n".join([*lines, "The docs service has no visits for these days.", ""])
    if site is not None:
        lines.append(f"The whole site: {site.human:,} people, {site.ai:,} AI agents, {site.total:,} in all")
    lines += ["Approximate, unique, never additive: who comes twice, or as both, counts once.", ""]
    where = f" under {_one_line(wanted.section)}" if wanted.section else ""
    if not read.rows:
        return "\n".join([*lines, f"The docs service has no visits for pages{where}.", ""])
    top = heapq.nsmallest(MOST_ROWS_SHOWN, read.rows, key=lambda row: (-row.total, row.path))
    shown = f", the {len(top)} most read" if len(read.rows) > len(top) else ""
    lines += [
        f"Pages read{where}: {len(read.rows):,}{shown}",
        f"{'People':>10}{'AI agents':>12}{'All':>10}  Page",
    ]
    lines += [f"{row.human:>10,}{row.ai:>12,}{row.total:>10,}  {_one_line(row.path)}" for row in top]
    return "\n".join([*lines, ""])


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "\ufffd").replace("\t", "\ufffd")


# ---- fetching


async def export(
    settings: DocsSettings,
    wanted: Wanted,
    *,
    csv: Path | None,
    as_json: bool,
    stdout: BinaryIO,
    now: Callable[[], datetime],
    encoding: str = "utf-8",
) -> None:
    """Read all pages, then write them in the requested forms.

    ``stdout`` gets one of these: JSON, CSV if ``csv`` is `STDOUT`, otherwise a table in ``encoding``.
    Raises ExportError, and BrokenPipeError when the reader of ``stdout`` has gone. After an error nothing is
    written but a JSON document with what was read, which says that it is not complete.
    """
    source = project_of(settings, wanted.project)
    is_silent = as_json or csv == STDOUT
    # On a terminal only, and never between the lines of something else there.
    is_alone = not (is_silent and stdout.isatty())
    with counted_pages(sys.stderr, shown=is_alone and sys.stderr.isatty()) as told:
        read = await _read(settings, source, wanted, told, now())
    if read.error is None or (as_json and read.totals is not None):
        said = partial(json_text if as_json else table, read, source.name, wanted)
        file = csv if read.error is None else None
        write_out(said, partial(_csv_lines, read.rows), file, as_json, stdout, encoding)
    if read.error is not None:
        raise explained(read.error, source, now())


def write_out(
    said: Callable[[], str],
    lines: Callable[[], Iterable[str]],
    csv: Path | None,
    as_json: bool,
    stdout: BinaryIO,
    encoding: str,
) -> None:
    """Write the CSV file, if one is named, and what is said, or the ``lines`` of the CSV in its place.

    Raises ExportError, and BrokenPipeError when the reader of ``stdout`` has gone.
    """
    try:
        if csv is not None and csv != STDOUT:
            write_whole(csv, BOM + "".join(lines()))
        if csv != STDOUT or as_json:
            # A path may contain characters that the terminal's encoding lacks.
            stdout.write(said().encode("utf-8" if as_json else encoding, "replace"))
        else:
            # No mark: programs that read a pipe would take it for part of the first column's name.
            safe = (f"{terminal_safe(line.rstrip())}\r\n" for line in lines())
            stdout.write("".join(safe if stdout.isatty() else lines()).encode())
        stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        words = f"Cannot write: {error.strerror or type(error).__name__}. Look at the disk and at the folder."
        raise ExportError(words, ExitCode.CANNOT_WRITE) from None


def project_of(settings: DocsSettings, name: str) -> DocsProject:
    """Return the project of a name, the first for "". Raises ExportError."""
    for each in settings.projects:
        if name in ("", each.name):
            return each
    known = ", ".join(each.name for each in settings.projects)
    said = f"I don't know the project {_one_line(name)}. I know {_one_line(known)}."
    raise ExportError(said, ExitCode.BAD_SETTINGS)


@contextmanager
def counted_pages(
    terminal: TextIO, *, shown: bool, clock: Callable[[], float] = monotonic
) -> Iterator[Callable[[int], None]]:
    """Yield what takes the number of pages that have just come; the line tells their sum and the time.

    Writes nothing unless ``shown``. ``clock`` returns seconds.
    """
    began, count, line = clock(), 0, ""

    def tell(pages: int) -> None:
        nonlocal count, line
        count += pages
        line = f"{count:,} pages of the docs {timedelta(seconds=int(clock() - began))}"
        _show(terminal, f"\r{line}")

    if not shown:
        yield lambda _: None
        return
    tell(0)
    try:
        yield tell
    finally:
        # The line only grows, so that the last one is the longest.
        _show(terminal, f"\r{' ' * len(line)}\r")


def _show(terminal: TextIO, text: str) -> None:
    terminal.write(text)
    terminal.flush()


async def _read(
    settings: DocsSettings,
    source: DocsProject,
    wanted: Wanted,
    told: Callable[[int], None],
    now: datetime,
) -> Read:
    read, url, day_after = Read(now), source.address, wanted.last + timedelta(days=1)
    try:
        async with DocsClient(base_url=url, api_key=source.key, proxy=settings.proxy_for(url)) as docs:
            async for page in docs.all_visitors(source.id, date_from=wanted.first, date_to=day_after):
                read.totals = read.totals or page.totals
                read.rows += [
                    row for row in page.visitors if not wanted.section or in_section(row.path, wanted.section)
                ]
                told(len(page.visitors))
    except DocsApiError as error:
        read.error = error
    return read


def explained(error: DocsApiError, source: DocsProject, now: datetime) -> ExportError:
    """Return what to say of an error, and what to look at."""
    named, code, what = source.named, ExitCode.REFUSED, "The docs service refuses the key"
    match error:
        case RateLimited():
            said = f"The docs service's hourly limit is reached. {_later(error, now)}"
            return ExportError(said, ExitCode.LIMITED)
        case Unauthorized():
            advice = f"Look at {named.key}: it is unknown or has expired."
        case Forbidden():
            advice = "The key needs the right to read, from this machine's address."
        case NotFound():
            code, what = ExitCode.BAD_SETTINGS, f"The docs service does not know {_one_line(source.id)}"
            advice = f"Look at {named.id} and at the path in {named.address}."
        case InvalidArgument():
            code, what = ExitCode.BAD_SETTINGS, "These settings cannot work"
            advice = "Look at the settings that begin with DOCS_."
        case _:
            code, what = ExitCode.UNAVAILABLE, "No usable answer of the docs service"
            advice = f"Look at {named.address} and the network."
    return ExportError(f"{what}: {error}.\n{advice}", code)


def _later(error: RateLimited, now: datetime) -> str:
    if error.retry_after_seconds is None:
        return "Try again later; the service did not say when."
    free_at = now.astimezone(UTC) + timedelta(seconds=error.retry_after_seconds)
    return f"Try again after {free_at:%Y-%m-%d %H:%M:%S} UTC."

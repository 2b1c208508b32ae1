"""``docs-bot visitors``: exports the visitors of a period as a table, a JSON document or a CSV file."""

from __future__ import annotations

import heapq
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO, Protocol

from bot.cli.progress import counted_pages
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
from bot.messages.plain_text import visible
from bot.messages.spreadsheet import BOM, HEADER, csv_line
from bot.model.visitors import in_section
from bot.setting_projects import DocsProject
from bot.settings import DocsSettings

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


class Output(Protocol):
    """Receives the totals once, then the rows as they arrive."""

    def begin(self, totals: Visitors) -> None:
        """Receive the whole site's totals."""

    def add(self, rows: Sequence[PageVisitors]) -> None:
        """Receive some more rows, one for each documentation page."""


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


class CsvRows:
    """Writes all rows as CSV, as they arrive. ``mark`` is a byte-order mark or empty.

    On a terminal, what could steer it is escaped.
    """

    def __init__(self, stream: BinaryIO, mark: str = "") -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._mark = mark

    def begin(self, totals: Visitors) -> None:
        """Write the header. Totals are left out, because all rows of the file are pages."""
        del totals
        self._stream.write(f"{self._mark}{csv_line(HEADER)}".encode())

    def add(self, rows: Sequence[PageVisitors]) -> None:
        """Write a line for each page."""
        lines = (csv_line((row.path, row.human, row.ai, row.total)) for row in rows)
        if self._is_terminal:
            lines = (f"{terminal_safe(line.rstrip())}\r\n" for line in lines)
        self._stream.write("".join(lines).encode())
        self._stream.flush()


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Write a temporary file that replaces the target on success and is deleted on an error."""
    part = target.with_name(f".docs-bot-{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


class JsonDocument:
    """Writes one JSON document as rows arrive. It is always valid; ``complete`` says if it has all rows."""

    def __init__(self, stream: BinaryIO, project: str, wanted: Wanted, now: Callable[[], datetime]) -> None:
        self._stream = stream
        self._head = {
            "project": project,
            "from": wanted.first.isoformat(),
            "to": wanted.last.isoformat(),
            "path": wanted.section or None,
        }
        self._now = now
        self._taken_at: datetime | None = None
        self._separator = "\n"

    def begin(self, totals: Visitors) -> None:
        """Write the document's beginning, up to the pages."""
        self._taken_at = self._now()
        head = json.dumps({**self._head, "totals": _counts(totals)})
        self._write(f'{head[:-1]}, "pages": [')

    def add(self, rows: Sequence[PageVisitors]) -> None:
        """Write a line for each page."""
        for row in rows:
            self._write(self._separator + json.dumps({"path": row.path, **_counts(row)}))
            self._separator = ",\n"
        self._stream.flush()

    def end(self, *, complete: bool) -> None:
        """Close the document; write nothing if it was not begun."""
        if self._taken_at is not None:
            taken_at = self._taken_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            self._write(f'\n], "complete": {json.dumps(complete)}, "taken_at": "{taken_at}"}}\n')
            self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write(text.encode())


@contextmanager
def json_document(
    stream: BinaryIO, project: str, wanted: Wanted, now: Callable[[], datetime]
) -> Iterator[JsonDocument]:
    """Yield a document, and close it even after an error, with the right value of ``complete``."""
    document = JsonDocument(stream, project, wanted, now)
    complete = False
    try:
        yield document
        complete = True
    finally:
        document.end(complete=complete)


def _counts(visitors: Visitors) -> dict[str, int]:
    return {"human": visitors.human, "ai": visitors.ai, "total": visitors.total}


class Table:
    """Collects the totals and the most read pages for a table, keeping only the rows that it shows."""

    def __init__(self, project: str, wanted: Wanted) -> None:
        self._project = project
        self._wanted = wanted
        self._totals: Visitors | None = None
        self._top: list[PageVisitors] = []
        self._count = 0

    def begin(self, totals: Visitors) -> None:
        """Keep the totals."""
        self._totals = totals

    def add(self, rows: Sequence[PageVisitors]) -> None:
        """Keep the most read pages so far."""
        self._count += len(rows)
        self._top = heapq.nsmallest(
            MOST_ROWS_SHOWN, [*self._top, *rows], key=lambda row: (-row.total, row.path)
        )

    def text(self, today: date) -> str:
        """Return the table with its heading."""
        wanted = self._wanted
        span = f"{wanted.first} to {wanted.last}, both included"
        lines = [f"{_one_line(self._project)}, {span} (UTC)" + (", today so far" * (wanted.last >= today))]
        if self._totals is not None:
            people, agents, everyone = (f"{count:,}" for count in _counts(self._totals).values())
            lines.append(f"The whole site: {people} people, {agents} AI agents, {everyone} in all")
        lines.append("Approximate, unique, never additive: who comes twice, or as both, counts once.")
        return "\n".join([*lines, "", *self._pages()])

    def _pages(self) -> list[str]:
        where = f" under {_one_line(self._wanted.section)}" if self._wanted.section else ""
        if not self._count:
            return [f"No page{where} was read."]
        shown = f", the {len(self._top)} most read" if self._count > len(self._top) else ""
        return [
            f"Pages read{where}: {self._count:,}{shown}",
            f"{'People':>10}{'AI agents':>12}{'All':>10}  Page",
            *(f"{row.human:>10,}{row.ai:>12,}{row.total:>10,}  {_one_line(row.path)}" for row in self._top),
        ]


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
    """Fetch all pages and write them in the requested forms.

    ``stdout`` gets one of these: JSON, CSV if ``csv`` is `STDOUT`, otherwise a table in ``encoding``.
    Raises ExportError, and BrokenPipeError when the reader of ``stdout`` has gone. After an error no partial
    CSV file is left, and a JSON document is closed with ``complete`` false.
    """
    source = _project(settings, wanted.project)
    table = Table(source.name, wanted)
    outputs: list[Output] = []
    try:
        with ExitStack() as stack:
            if as_json:
                outputs.append(stack.enter_context(json_document(stdout, source.name, wanted, now)))
            if csv == STDOUT:
                # No mark: programs that read a pipe would take it for part of the first column's name.
                outputs.append(CsvRows(stdout))
            elif csv is not None:
                # Entered after the document: the file is in place before the document says "complete".
                outputs.append(CsvRows(stack.enter_context(whole_file(csv)), BOM))
            is_silent = as_json or csv == STDOUT
            if not is_silent:
                outputs.append(table)
            # On a terminal only, and never between the lines of something else there.
            is_alone = not (is_silent and stdout.isatty())
            told = stack.enter_context(counted_pages(sys.stderr, shown=is_alone and sys.stderr.isatty()))
            await _fetch(settings, source, wanted, outputs, told)
        if not is_silent:
            # A path may contain characters that the terminal's encoding lacks.
            stdout.write(f"{table.text(now().date())}\n".encode(encoding, "replace"))
            stdout.flush()
    except DocsApiError as error:
        raise _explained(error, source, now()) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        words = f"Cannot write: {error.strerror or type(error).__name__}. Look at the disk and at the folder."
        raise ExportError(words, ExitCode.CANNOT_WRITE) from None


def _project(settings: DocsSettings, name: str) -> DocsProject:
    for each in settings.projects:
        if name in ("", each.name):
            return each
    known = ", ".join(each.name for each in settings.projects)
    said = f"I don't know the project {_one_line(name)}. I know {_one_line(known)}."
    raise ExportError(said, ExitCode.BAD_SETTINGS)


async def _fetch(
    settings: DocsSettings,
    source: DocsProject,
    wanted: Wanted,
    outputs: Sequence[Output],
    told: Callable[[int], None],
) -> None:
    day_after = wanted.last + timedelta(days=1)
    is_begun = False
    url, key = source.address, source.key
    async with DocsClient(base_url=url, api_key=key, proxy=settings.proxy_for(url)) as docs:
        pages = docs.all_visitors(source.id, date_from=wanted.first, date_to=day_after)
        async for page in pages:
            rows = [row for row in page.visitors if _is_wanted(row.path, wanted)]
            for output in outputs:
                if not is_begun:
                    output.begin(page.totals)
                output.add(rows)
            is_begun = True
            told(len(page.visitors))


def _is_wanted(path: str, wanted: Wanted) -> bool:
    return not wanted.section or in_section(path, wanted.section)


def _explained(error: DocsApiError, source: DocsProject, now: datetime) -> ExportError:
    named = source.named
    match error:
        case RateLimited():
            words, code = (
                f"The docs service's hourly limit is reached. {_later(error, now)}",
                ExitCode.LIMITED,
            )
        case Unauthorized():
            advice = f"Look at {named.key}: it is unknown or has expired."
            words, code = f"The docs service refuses the key: {error}.\n{advice}", ExitCode.REFUSED
        case Forbidden():
            advice = "The key needs the right to read, from this machine's address."
            words, code = f"The docs service refuses the key: {error}.\n{advice}", ExitCode.REFUSED
        case NotFound():
            advice = f"Look at {named.id} and at the path in {named.address}."
            words = f"The docs service does not know {_one_line(source.id)}: {error}.\n{advice}"
            code = ExitCode.BAD_SETTINGS
        case InvalidArgument():
            words = f"These settings cannot work: {error}.\nLook at the settings that begin with DOCS_."
            code = ExitCode.BAD_SETTINGS
        case _:
            words = (
                f"No usable answer of the docs service: {error}.\nLook at {named.address} and the network."
            )
            code = ExitCode.UNAVAILABLE
    return ExportError(words, code)


def _later(error: RateLimited, now: datetime) -> str:
    if error.retry_after_seconds is None:
        return "Try again later; the service did not say when."
    free_at = now.astimezone(UTC) + timedelta(seconds=error.retry_after_seconds)
    return f"Try again after {free_at:%Y-%m-%d %H:%M:%S} UTC."

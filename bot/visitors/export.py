"""``docs-bot visitors``: the visitors of a period as a table, a JSON document or a CSV file."""

from __future__ import annotations

import heapq
import json
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO

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
from bot.settings import DocsProject, DocsSettings
from bot.visitors.model import in_section

MOST_ROWS_SHOWN = 20
"""Maximum pages in the table; JSON and CSV have all pages."""
STDOUT = Path("-")
"""The name that means the standard output."""
_EXAMPLE = "for example --from 2026-10-01 --to 2026-10-31"


class ExitCode(IntEnum):
    """Exit codes of a failed export: https://man.freebsd.org/cgi/man.cgi?query=sysexits"""

    UNAVAILABLE = 69
    CANNOT_WRITE = 73
    LIMITED = 75
    REFUSED = 77
    BAD_SETTINGS = 78


class ExportError(Exception):
    """The export failed. The text has the reason and an advice, without secrets."""

    def __init__(self, text: str, code: ExitCode) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class VisitorsArgs:
    """The arguments of the command."""

    first: date
    last: date
    """The last day, included. Days are in UTC."""
    section: str = ""
    project: str = ""
    """The name of a project; "" for the default."""

    def __post_init__(self) -> None:
        # Page paths begin with a slash; add it if it was left out.
        if self.section:
            object.__setattr__(self, "section", f"/{self.section.lstrip('/')}")


def parse_day(text: str) -> date:
    """Parse ``2026-10-31``. Raises ValueError with a text for people."""
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{_one_line(text)!r} is no day; write year, month and day, {_EXAMPLE}"
        ) from None


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


async def export(
    settings: DocsSettings,
    args: VisitorsArgs,
    *,
    csv: Path | None,
    as_json: bool,
    stdout: BinaryIO,
    now: Callable[[], datetime],
    encoding: str = "utf-8",
) -> None:
    """Read all pages, then write them, unless there is an error.

    ``stdout`` gets one of these: JSON, CSV if ``csv`` is `STDOUT`, otherwise a table in ``encoding``.
    Raises ExportError, and BrokenPipeError when the reader of ``stdout`` has gone.
    """
    project, taken_at = _find_project(settings, args.project), now()
    try:
        totals, rows = await _fetch_visitors(settings, project, args)
    except DocsApiError as error:
        raise _explain(error, project, now()) from None
    lines = [
        csv_line(HEADER),
        *(csv_line((row.path, row.human, row.ai, row.total)) for row in rows),
    ]
    try:
        if csv is not None and csv != STDOUT:
            replace_file(csv, BOM + "".join(lines))
        if as_json:
            stdout.write(format_json(totals, rows, project.name, args, taken_at).encode())
        elif csv == STDOUT:
            # No BOM: programs that read a pipe would take it for part of the first column's name.
            safe = (f"{terminal_safe(line.rstrip())}\r\n" for line in lines)
            stdout.write("".join(safe if stdout.isatty() else lines).encode())
        else:
            # A path may contain characters that the terminal's encoding lacks.
            stdout.write(
                format_table(totals, rows, project.name, args, taken_at).encode(encoding, "replace")
            )
        stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        text = f"Cannot write: {error.strerror or type(error).__name__}. Look at the disk and at the folder."
        raise ExportError(text, ExitCode.CANNOT_WRITE) from None


async def _fetch_visitors(
    settings: DocsSettings, project: DocsProject, args: VisitorsArgs
) -> tuple[Visitors, list[PageVisitors]]:
    """Return the totals of the site, and the pages of the section."""
    totals, rows = Visitors(human=0, ai=0, total=0), list[PageVisitors]()
    proxy = settings.proxy_for(project.address)
    async with DocsClient(base_url=project.address, api_key=project.key, proxy=proxy) as docs:
        end = args.last + timedelta(days=1)
        async for page in docs.all_visitors(project.id, date_from=args.first, date_to=end):
            totals = page.totals
            rows += [row for row in page.visitors if in_section(row.path, args.section or None)]
    return totals, rows


def _find_project(settings: DocsSettings, name: str) -> DocsProject:
    """Return the project of a name, the first for "". Raises ExportError."""
    for project in settings.projects:
        if name in ("", project.name):
            return project
    names = ", ".join(project.name for project in settings.projects)
    unknown = f"I don't know the project {_one_line(name)}. I know {_one_line(names)}."
    raise ExportError(unknown, ExitCode.BAD_SETTINGS)


def replace_file(target: Path, text: str) -> None:
    """Write a temporary file that replaces the target, and keeps its mode."""
    part = target.with_name(f".docs-bot-{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(text.encode())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def format_json(
    totals: Visitors,
    rows: Sequence[PageVisitors],
    project: str,
    args: VisitorsArgs,
    taken_at: datetime,
) -> str:
    """Return one JSON document, with a line for each page."""
    head = {
        "project": project,
        "from": args.first.isoformat(),
        "to": args.last.isoformat(),
        "path": args.section or None,
        "totals": totals.model_dump(),
        "complete": True,
        "taken_at": taken_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    pages = ",\n".join(json.dumps(row.model_dump()) for row in rows)
    return f'{json.dumps(head)[:-1]}, "pages": [\n{pages}\n]}}\n'


def format_table(
    totals: Visitors,
    rows: Sequence[PageVisitors],
    project: str,
    args: VisitorsArgs,
    taken_at: datetime,
) -> str:
    """Return the totals and the most read pages, for people."""
    so_far = ", today so far" if args.last >= taken_at.date() else ""
    lines = [f"{_one_line(project)}, {args.first} to {args.last}, both included (UTC){so_far}"]
    if not totals.total:
        return "\n".join([*lines, "The docs service has no visits for these days.", ""])
    lines.append(
        f"The whole site: {totals.human:,} people, {totals.ai:,} AI agents, {totals.total:,} in all"
    )
    lines += ["Approximate, unique, never additive: who comes twice, or as both, counts once.", ""]
    where = f" under {_one_line(args.section)}" if args.section else ""
    if not rows:
        return "\n".join([*lines, f"The docs service has no visits for pages{where}.", ""])
    top = heapq.nsmallest(MOST_ROWS_SHOWN, rows, key=lambda row: (-row.total, row.path))
    part = f", the {len(top)} most read" if len(rows) > len(top) else ""
    lines += [
        f"Pages read{where}: {len(rows):,}{part}",
        f"{'People':>10}{'AI agents':>12}{'All':>10}  Page",
    ]
    lines += [
        f"{row.human:>10,}{row.ai:>12,}{row.total:>10,}  {_one_line(row.path)}" for row in top
    ]
    return "\n".join([*lines, ""])


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "\ufffd").replace("\t", "\ufffd")


def _explain(error: DocsApiError, project: DocsProject, now: datetime) -> ExportError:
    """Return the error for people, with an advice."""
    settings, code, problem = project.named, ExitCode.REFUSED, "The docs service refuses the key"
    match error:
        case RateLimited(retry_after_seconds=None):
            advice = "Try again later; the service did not say when."
            return ExportError(
                f"The docs service's hourly limit is reached. {advice}", ExitCode.LIMITED
            )
        case RateLimited():
            free_at = now.astimezone(UTC) + timedelta(seconds=error.retry_after_seconds or 0)
            advice = f"Try again after {free_at:%Y-%m-%d %H:%M:%S} UTC."
            return ExportError(
                f"The docs service's hourly limit is reached. {advice}", ExitCode.LIMITED
            )
        case Unauthorized():
            advice = f"Look at {settings.key}: it is unknown or has expired."
        case Forbidden():
            advice = "The key needs the right to read, from this machine's address."
        case NotFound():
            code, problem = (
                ExitCode.BAD_SETTINGS,
                f"The docs service does not know {_one_line(project.id)}",
            )
            advice = f"Look at {settings.id} and at the path in {settings.address}."
        case InvalidArgument():
            code, problem = ExitCode.BAD_SETTINGS, "These settings cannot work"
            advice = "Look at the settings that begin with DOCS_."
        case _:
            code, problem = ExitCode.UNAVAILABLE, "No usable answer of the docs service"
            advice = f"Look at {settings.address} and the network."
    return ExportError(f"{problem}: {error}.\n{advice}", code)

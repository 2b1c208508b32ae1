"""What readers miss, as text, JSON or CSV: ``docs-bot visitors --searches`` and its like."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO

from bot.docs_api import DocsApiError, DocsClient, Forbidden, NotFound
from bot.ids import ProjectId, SnapshotId
from bot.messages.misses import csv_lines, header_of, rows_of
from bot.messages.plain_text import one_line
from bot.model.misses import SOURCES, Topic
from bot.model.questions import MissesReport, VisitorsQuery
from bot.model.visitors import Period, Snapshot, SnapshotState
from bot.operator.visitors import MOST_ROWS_SHOWN, Wanted, explained, project_of, write_out
from bot.settings import DocsProject, DocsSettings
from bot.work.visitors.words import read_words

_CELL_LENGTH = 150


async def export_misses(
    settings: DocsSettings,
    wanted: Wanted,
    topic: Topic,
    *,
    csv: Path | None,
    as_json: bool,
    stdout: BinaryIO,
    now: Callable[[], datetime],
    encoding: str = "utf-8",
) -> None:
    """Make one call for each source of a topic, then write its rows.

    Raises ExportError, and BrokenPipeError when the reader of ``stdout`` has gone.
    """
    source = project_of(settings, wanted.project)
    try:
        answer = await _read(settings, source, wanted, topic, now())
    except DocsApiError as error:
        raise explained(error, source, now()) from None
    said = partial(_json if as_json else _text, answer, source.name, wanted)
    write_out(said, partial(csv_lines, answer), csv, as_json, stdout, encoding)


async def _read(
    settings: DocsSettings, project: DocsProject, wanted: Wanted, topic: Topic, now: datetime
) -> MissesReport:
    """Read each source; one that the service does not give is left out, unless nothing else is there."""
    period, url = Period(wanted.first, wanted.last + timedelta(days=1)), project.address
    found: list[Snapshot] = []
    missing: DocsApiError | None = None
    async with DocsClient(base_url=url, api_key=project.key, proxy=settings.proxy_for(url)) as docs:
        for each in SOURCES[topic]:
            try:
                words = await read_words(docs, project.id, each, period)
            except (Forbidden, NotFound) as error:
                missing = error
            else:
                about = SnapshotId(0), ProjectId(project.id), period, SnapshotState.DONE, now
                is_whole = not words.is_part
                found.append(Snapshot(*about, complete=is_whole, taken_at=now, source=each, words=words))
    if missing is not None and not found:
        raise missing
    return MissesReport(VisitorsQuery(period, None, topic=topic), tuple(found), is_open=False, read_at=now)


def _json(answer: MissesReport, project: str, wanted: Wanted) -> str:
    topic = answer.query.topic
    head = {"project": project, "from": wanted.first.isoformat(), "to": wanted.last.isoformat()}
    rows = [dict(zip(header_of(topic), row.cells, strict=True)) for row in rows_of(answer)]
    taken_at = answer.read_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    complete = len(answer.windows) == len(SOURCES[topic]) and all(each.complete for each in answer.windows)
    return json.dumps({**head, "complete": complete, "taken_at": taken_at, str(topic): rows}, indent=1) + "\n"


def _text(answer: MissesReport, project: str, wanted: Wanted) -> str:
    topic, rows = answer.query.topic, rows_of(answer)
    lines = [f"{one_line(project, _CELL_LENGTH)}, {wanted.first} to {wanted.last}, both included (UTC)"]
    lines.append(f"{topic.capitalize()}: {len(rows):,} rows of the first 100 that the docs service names")
    lines.append(" | ".join(header_of(topic)))
    shown = [[one_line(str(cell), _CELL_LENGTH) for cell in row.cells] for row in rows[:MOST_ROWS_SHOWN]]
    return "\n".join([*lines, *map(" | ".join, shown), ""])

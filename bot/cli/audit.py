"""``docs-bot audit``: writes who did what, as CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import partial
from typing import TextIO

from bot.logs import terminal_safe
from bot.messages.spreadsheet import csv_line
from bot.model.audit import AuditRow
from bot.model.ids import UserId
from bot.store import Store, Transaction

COLUMNS = tuple(field.name for field in fields(AuditRow))
"""The names of the columns in CSV, and of the fields in JSON."""
_AT_ONCE = 1_000


async def write_audit(
    store: Store, stdout: TextIO, *, as_json: bool, since: datetime | None, user: UserId | None
) -> None:
    """Write the rows in the order of writing: with ``since`` those from then on, with ``user`` theirs."""
    await (_write_json if as_json else _write_csv)(_rows(store, since, user), stdout)


async def _rows(store: Store, since: datetime | None, user: UserId | None) -> AsyncIterator[AuditRow]:
    last, is_more = 0, True

    def page(tx: Transaction, after: int) -> tuple[int, list[AuditRow]]:
        return tx.audit.after(after, _AT_ONCE, since=since, user=user)

    while is_more:
        last, rows = await store.read(partial(page, after=last))
        for row in rows:
            yield row
        is_more = len(rows) == _AT_ONCE


async def _write_csv(found: AsyncIterator[AuditRow], stdout: TextIO) -> None:
    safe = terminal_safe if stdout.isatty() else str
    stdout.write(csv_line(COLUMNS))
    async for row in found:
        line = csv_line(["" if cell is None else cell for cell in _cells(row).values()])
        stdout.write(f"{safe(line.rstrip())}\r\n")


async def _write_json(found: AsyncIterator[AuditRow], stdout: TextIO) -> None:
    separator = "\n"
    stdout.write("[")
    async for row in found:
        stdout.write(separator + json.dumps(_cells(row)))
        separator = ",\n"
    stdout.write("\n]\n")


def _cells(row: AuditRow) -> dict[str, str | int | None]:
    return {**asdict(row), "at": row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}

"""Carry out a plan: both services in this process, bots as processes of their own, faults, then the end."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from tests.bots import Zygote
from tests.torture.acting import Acting
from tests.torture.bots import Bot
from tests.torture.plan import Act, Plan, Trouble
from tests.torture.record import Record
from tests.torture.rows import (
    NotReadable,
    Row,
    Rows,
    let_polls_come,
    let_the_week_pass,
    let_time_pass,
    read_rows,
    read_service,
)
from tests.torture.servers import database_for, drop, go_away, lock
from tests.torture.stage import Stage, docs_log, end_faults, order_docs, order_slack, stage

_LIMIT_SECONDS = 240.0
"""Time limit after the last fault, also on a busy machine.

A lease of a killed process whose clock was ahead lasts until the sweep, which comes once a minute.
"""
_SOON_SECONDS = 1.5
"""Work that is due later than this is made due instead of waiting for it."""
_QUIET_SECONDS = 0.6
_CHECK_SECONDS = 0.25
OPEN_STATES = {
    "prompts": ("new", "waiting", "sending"),
    "deliveries": ("pending", "sending", "unclear"),
    "questions": ("waiting",),
    "digests": ("waiting",),
    "inquiries": ("asked", "written"),
}
"""The states of rows on which the bot has still to work, by table."""


async def carry_out(
    plan: Plan, zygote: Zygote, folder: Path, postgres: str, kind: Callable[..., Run] | None = None
) -> Record:
    """Carry out one run in an emptied folder and return its record. The folder keeps the logs."""
    began = monotonic()
    await asyncio.to_thread(_empty, folder)
    database = await asyncio.to_thread(database_for, plan, folder, postgres)
    record = Record(plan)
    try:
        async with stage(plan, folder, database) as place:
            await (kind or Run)(plan, place, zygote, postgres, record).carry_out()
    finally:
        await asyncio.to_thread(drop, database, postgres)
    record.wall_seconds = monotonic() - began
    return record


def _read_logs(folder: Path) -> str:
    logs = sorted(folder.glob("bot-*.log"))
    return "".join(log.read_text(encoding="utf-8", errors="replace") for log in logs)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


class Run:
    """A plan that is carried out: its acts and faults at their times, and then its end."""

    def __init__(
        self, plan: Plan, place: Stage, zygote: Zygote, postgres: str, record: Record
    ) -> None:
        self._plan, self._place, self._postgres, self._record = plan, place, postgres, record
        self._acting = Acting(place.workspace, place.clocks)
        self._week_is_over = self._has_polled = False
        self._bots = [
            Bot(
                zygote,
                self._env(number),
                place.folder / f"bot-{number}.log",
                place.clocks.file,
            )
            for number in range(plan.processes)
        ]

    def _env(self, number: int) -> dict[str, str]:
        return self._place.env | {"PORT": str(self._place.ports[number])}

    async def carry_out(self) -> None:
        """Carry out the run, from the start of its bots to their end."""
        keepers = [asyncio.create_task(bot.keep()) for bot in self._bots]
        await self._until(lambda: all(bot.ready for bot in self._bots), _LIMIT_SECONDS)
        await self._play()
        await end_faults(self._place)
        await self._settle()
        await self._decide()
        for bot in self._bots:
            await bot.end()
        await asyncio.gather(*keepers)
        await self._note()

    async def _until(self, check: Any, limit_seconds: float) -> bool:
        deadline = monotonic() + limit_seconds
        while not check() and monotonic() < deadline:
            await asyncio.sleep(0.03)
        return bool(check())

    async def _play(self) -> None:
        """Start each act and fault at its time, and wait until all have ended."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._act(self._plan.acts))
            for trouble in self._plan.troubles:
                group.create_task(_after(trouble.at, self._trouble(trouble)))

    async def _act(self, acts: Sequence[Act]) -> None:
        async def do(act: Act) -> None:
            self._record.done.append(await self._acting.do(act))

        async with asyncio.TaskGroup() as group:
            for act in acts:
                group.create_task(_after(act.at, do(act)))

    async def _trouble(self, trouble: Trouble) -> None:
        extent = {
            "times": trouble.times,
            "lasts": trouble.lasts or None,
            "seconds": trouble.seconds or None,
        }
        match trouble.side:
            case "slack":
                await order_slack(self._place, method=trouble.target, fault=trouble.kind, **extent)
            case "docs":
                await order_docs(self._place, match=trouble.target, fault=trouble.kind, **extent)
            case "line":
                await self._trouble_the_line(trouble)
            case "database":
                await self._trouble_the_database(trouble)
            case "week":
                with contextlib.suppress(NotReadable):
                    await asyncio.to_thread(
                        let_the_week_pass, self._place.database_url, self._now()
                    )
            case "clock":
                await self._trouble_the_clock(trouble)
            case _:
                await self._trouble_a_bot(trouble)

    async def _trouble_the_line(self, trouble: Trouble) -> None:
        line = self._place.workspace.bot_connection
        if trouble.kind == "repeat":
            line.repeats += trouble.times
        elif trouble.kind == "silent":
            line.sockets.silence()
        else:
            if trouble.kind == "refused":
                await order_slack(self._place, method="socket", fault="500", lasts=trouble.lasts)
            await line.sockets.disconnect(warn=trouble.kind == "disconnect")

    async def _trouble_the_clock(self, trouble: Trouble) -> None:
        clocks = self._place.clocks
        if trouble.kind == "wrong":
            clocks.set_bots(trouble.seconds)
            await asyncio.sleep(trouble.lasts)
            clocks.set_bots(0.0)
            return
        for method in ("*", "socket"):
            await order_slack(self._place, method=method, fault="500", lasts=trouble.lasts)
        await self._place.workspace.bot_connection.sockets.disconnect(warn=False)
        await clocks.let_pass(trouble.seconds, trouble.lasts)

    def _now(self) -> datetime:
        return self._place.clocks.now()

    async def _trouble_the_database(self, trouble: Trouble) -> None:
        url = self._place.database_url
        if trouble.kind == "gone":
            await go_away(url, self._postgres, trouble.lasts)
        elif trouble.kind == "locked":
            # If the bot holds the lock for five seconds, the run continues without this fault.
            with contextlib.suppress(sqlite3.OperationalError):
                await lock(url, trouble.lasts)
        else:
            for bot in self._bots:
                bot.fill_disk(full=True)
            await asyncio.sleep(trouble.lasts)
            for bot in self._bots:
                bot.fill_disk(full=False)

    async def _trouble_a_bot(self, trouble: Trouble) -> None:
        bot = self._bots[int(trouble.target)]
        if trouble.kind == "kill":
            self._record.kills += bot.kill(trouble.seconds)
        else:
            await bot.stop(trouble.seconds)

    async def _settle(self) -> None:
        """Wait until the run is over or the time limit has passed."""
        deadline = monotonic() + _LIMIT_SECONDS
        last, since = self._sign(), monotonic()
        while monotonic() < deadline:
            await asyncio.sleep(_CHECK_SECONDS)
            if self._sign() != last or not all(bot.ready for bot in self._bots):
                last, since = self._sign(), monotonic()
                continue
            if (
                monotonic() - since < _QUIET_SECONDS
                or self._place.workspace.bot_connection.has_pending_events()
                or not self._place.workspace.bot_connection.is_reachable()
            ):
                continue
            if await asyncio.to_thread(self._is_over):
                return
        open_rows = due(read_rows(self._place.database_url), self._now())
        self._record.moving = open_rows or ["events, polls or edits"]

    async def _decide(self) -> None:
        """Let users decide about unconfirmed prompts at the end of the run."""
        rows = await asyncio.to_thread(read_rows, self._place.database_url)
        if not self._plan.decision or self._record.moving:
            return
        if any(row["state"] == "unconfirmed" for row in rows["prompts"]):
            acts = self._record.beginnings()
            self._record.done += await self._acting.decide(self._plan.decision, acts)
            await self._settle()

    def _sign(self) -> tuple[int, ...]:
        """Return a value that changes with each event in the workspace and each call to it."""
        workspace = self._place.workspace
        return workspace.state.seq, len(workspace.log)

    def _is_over(self) -> bool:
        """Return whether all work is done. Bring work forward that is due much later."""
        try:
            rows = read_rows(self._place.database_url)
            if not due(rows, self._now()):
                if not self._has_polled:
                    # The bot learns of the last merge at its next poll.
                    let_polls_come(self._place.database_url, self._now())
                    self._has_polled = True
                    return False
                if self._week_is_over:
                    return True
                # The last digest of every subscription.
                let_the_week_pass(self._place.database_url, self._now())
                self._week_is_over = True
                return False
            if not due(rows, self._now(), until=self._now() + timedelta(seconds=_SOON_SECONDS)):
                let_time_pass(self._place.database_url, self._now())
        except NotReadable:
            return False
        return False

    async def _note(self) -> None:
        """Fill the record for the checker."""
        record, state = self._record, self._place.workspace.state
        for done in record.done:
            self._acting.settle(done)
        record.messages = [
            message for messages in state.messages.values() for message in messages.values()
        ]
        record.private = list(state.ephemerals.values())
        record.notices = [str(event["text"]) for event in state.events if event["type"] == "notice"]
        record.slack = list(self._place.workspace.log)
        record.docs = await docs_log(self._place)
        record.rows = await asyncio.to_thread(read_rows, self._place.database_url)
        record.service = await asyncio.to_thread(read_service, self._place.folder / "docs")
        record.log = await asyncio.to_thread(_read_logs, self._place.folder)
        record.secrets = self._place.secrets
        record.starts = sum(bot.starts for bot in self._bots)
        record.failed_starts = sum(bot.failed_starts for bot in self._bots)
        record.complaints = [complaint for bot in self._bots for complaint in bot.complaints]


async def _after(seconds: float, act: Coroutine[Any, Any, None]) -> None:
    await asyncio.sleep(seconds)
    await act


def _publications(rows: Rows, latest: datetime) -> list[str]:
    """Return descriptions of the merged pages that are looked for in the docs before ``latest``."""
    descriptions = []
    for row in rows["publications"]:
        when = max(filter(None, (row["due_at"], row["claimed_until"])))
        if row["state"] == "awaited" and when <= latest:
            descriptions.append(f"publication of job {row['job']} due {when.isoformat()}")
    return descriptions


def due(rows: Rows, now: datetime, until: datetime | None = None) -> list[str]:
    """Return descriptions of the open rows that are due before ``until``, or of all open rows."""
    latest = until or datetime.max.replace(tzinfo=UTC)
    back_offs = {row["project"]: row["retry_at"] for row in rows["back_offs"]}
    budget = {row["project"]: row["analytics_limited_until"] for row in rows["limits"]}
    undecided = {row["number"] for row in rows["jobs"] if row["state"] == "unconfirmed"}
    descriptions = []
    for table, states in OPEN_STATES.items():
        holds = back_offs if table in ("prompts", "deliveries") else budget
        before_it: dict[object, datetime] = {}
        for row in sorted(
            rows[table], key=lambda row: int(row["seq"] if "seq" in row else row["id"])
        ):
            if row["state"] in states and not _awaits_a_person(table, row, undecided):
                own = (
                    row["due_at"],
                    row.get("held_until"),
                    row["claimed_until"],
                    holds.get(row.get("project")),
                )
                when = max(filter(None, (*own, before_it.get(row.get("job")))))
                if row.get("job") is not None:
                    before_it[row["job"]] = when
                if when <= latest:
                    descriptions.append(
                        f"{table} {row['id']} {row['state']} due {when.isoformat()}"
                    )
    descriptions += [*_unread_or_weekly(rows, now, latest), *_polls(rows, now, latest)]
    descriptions += _publications(rows, latest)
    for row in rows["jobs"]:
        if row["poll_at"] is not None:
            when = max(
                filter(None, (row["poll_at"], row["claimed_until"], back_offs.get(row["project"])))
            )
            if when <= latest:
                descriptions.append(f"job {row['number']} {row['state']} poll {when.isoformat()}")
    return descriptions


def _unread_or_weekly(rows: Rows, now: datetime, latest: datetime) -> list[str]:
    """Return descriptions of messages of the inbox to work on, and unsettled subscriptions."""
    undecided = [*rows["inbox"], *rows["missed_messages"]]
    unread = [row for row in undecided if row["due_at"] is not None and row["due_at"] <= latest]
    weekly = [
        row
        for row in rows["subscriptions"]
        if row["state"] == "new" or (row["state"] == "active" and row["next_run_at"] <= now)
    ]
    return [
        *(f"conversation {row['id']} due {row['due_at'].isoformat()}" for row in unread),
        *(f"subscription {row['id']} {row['state']} due {row['next_run_at']}" for row in weekly),
    ]


def _polls(rows: Rows, now: datetime, latest: datetime) -> list[str]:
    """Return descriptions of open previews and due polls of pull requests."""
    polls = [
        row for row in rows["pull_requests"] if row["poll_at"] is not None and row["poll_at"] <= now
    ]
    open_rows = [("pull request", row, row["poll_at"]) for row in polls]
    open_rows += [
        ("preview", row, row["due_at"]) for row in rows["previews"] if row["due_at"] is not None
    ]
    ends = [(kind, row, max(at, row["claimed_until"] or at)) for kind, row, at in open_rows]
    return [
        f"{kind} of {row['job']} due {at.isoformat()}" for kind, row, at in ends if at <= latest
    ]


def _awaits_a_person(table: str, row: Row, undecided: set[int]) -> bool:
    """Return whether a follow-up waits for a decision about its unconfirmed job."""
    return table == "prompts" and row["state"] == "waiting" and row["job"] in undecided

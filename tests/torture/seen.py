"""Lookups in a record, for the rules."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

from tests.torture.plan import ARCHIVED, ASKS, SECRET
from tests.torture.record import Done, Record
from tests.torture.rows import Row

Json = dict[str, Any]
END = re.compile(
    r"^(<@U\w+>(?: <@U\w+>)*) "
    r":(memo|heavy_minus_sign|x|file_folder|ghost|zzz|white_check_mark(?=: \*)|no_entry_sign): "
)
_USER = re.compile(r"U\w+")
_NATURAL = {ARCHIVED: {"is_archived"}, SECRET: {"channel_not_found", "not_in_channel"}}
_FOLLOWS_FROM = {"not_in_channel": "conversations.join", "file_not_found": "upload"}
"""Error codes of Slack that follow from the refusal of an earlier call."""


def thread_of(job: Row) -> str | None:
    """Return the thread of a job: the one in which its face is a reply, or the one that its face begins."""
    ts = job.get("thread_ts") or job["root_ts"]
    return None if ts is None else str(ts)


class Seen:
    """A record with indexes and queries that several rules use."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.jobs: dict[int, Row] = {row["number"]: row for row in record.of("jobs")}
        self.threads = {(row["channel"], thread_of(row)): row for row in record.of("jobs") if row["root_ts"]}
        self.job_of = {row["id"]: row["job"] for row in record.of("deliveries")}
        self.prompts_of: dict[int, list[Row]] = defaultdict(list)
        for row in record.of("prompts"):
            self.prompts_of[row["job"]].append(row)
        self.said_as: dict[str, list[Json]] = defaultdict(list)
        for message in record.messages:
            if (delivery := delivery_of(message)) is not None:
                self.said_as[delivery].append(message)
        self.refusals = {kind.removeprefix("error:") for side, kind in record.faults() if side == "slack"}
        self._refused_calls = {
            each.get("method") for each in record.slack if str(each.get("fault", "")).startswith("error:")
        }
        self.docs_faults = Counter(kind for side, kind in record.faults() if side == "docs")
        self.presses = Counter(
            (done.act.about, done.act.words) for done in record.done if done.act.what == "press" and done.made
        )

    def pressed(self, marker: str, *buttons: str) -> int:
        """Return how often these buttons were pressed in the thread of a request."""
        return sum(self.presses[marker, button] for button in buttons)

    def with_marker(self, marker: str, kind: str) -> list[Row]:
        """Return the stored prompts of a kind that contain this marker."""
        rows = self.record.of("prompts")
        return [row for row in rows if row["kind"] == kind and marker in (row["raw"] or "")]

    def arrived(self, marker: str, *, first: bool) -> list[Row]:
        """Return the prompts with this marker that the docs service received, as first ones or later ones."""
        return [
            row
            for row in self.record.service["messages"]
            if marker in row["prompt"] and (row["number"] == 1) is first
        ]

    def alone(self, user: str) -> list[str]:
        """Return the texts that the bot sent to this user alone."""
        notes = [note["text"] for note in self.record.private if note["user"] == user]
        direct = f"D{user[1:]}"
        return notes + [
            each["text"] for each in self.record.messages if each["channel"] == direct and each["bot_id"]
        ]

    def told_in(self, user: str, channel: str) -> list[str]:
        """Return the texts that only this user saw in a channel."""
        notes = self.record.private
        return [note["text"] for note in notes if (note["user"], note["channel"]) == (user, channel)]

    def in_thread(self, job: Row) -> list[Json]:
        """Return the bot's messages about a job in its thread, oldest first, without the job's face.

        Other jobs may live in the same thread. A message without a delivery counts for each.
        """
        if job["root_ts"] is None:
            return []
        said = self.record.thread(job["channel"], str(thread_of(job)))
        about = (None, job["number"])
        mine = [each for each in said if self.job_of.get(delivery_of(each) or "") in about]
        return sorted((each for each in mine if each["ts"] != job["root_ts"]), key=lambda each: each["ts"])

    def is_since(self, message: Json, at: datetime) -> bool:
        """Return whether a message was posted after a time that the bot wrote, as far as it knows that."""
        return float(message["ts"]) >= at.timestamp() - self.record.plan.clock_is_wrong_by()

    def ends(self, job: Row) -> list[tuple[set[str], str]]:
        """Return the ends reported in a job's thread, as the mentioned users and the emoji."""
        found = [END.match(each["text"]) for each in self.in_thread(job)]
        return [(set(_USER.findall(match[1])), match[2]) for match in found if match]

    def deliveries(self, job: int) -> list[Row]:
        """Return the outbox rows of a job."""
        return [row for row in self.record.of("deliveries") if row["job"] == job]

    def is_refusal_explained(self, row: Row) -> bool:
        """Return whether a fault or the channel itself explains that Slack refused this delivery."""
        code = row["error"] or ""
        if row["kind"] == "reaction" or code in self.refusals:
            return True
        if code in _FOLLOWS_FROM and _FOLLOWS_FROM[code] in self._refused_calls:
            return True
        if code in ("thread_not_found", "message_not_found"):
            job = self.jobs.get(row["job"])
            return job is not None and job["root_ts"] is None
        return code in _NATURAL.get(row["channel"], ())

    def muted(self, job: int | None, user: str) -> bool:
        """Return whether Slack refused a delivery about this job or to this user for good."""
        return any(
            row["state"] == "dead" and (row["user"] == user or (job is not None and row["job"] == job))
            for row in self.record.of("deliveries")
            if row["kind"] != "reaction"
        )

    def has_database_trouble(self) -> bool:
        """Return whether the plan made the database unreachable, locked or full."""
        return any(each.side == "database" for each in self.record.plan.troubles)

    def was_interrupted(self) -> bool:
        """Return whether a bot was killed or stopped during the run."""
        return self.record.kills > 0 or any(each.side == "bot" for each in self.record.plan.troubles)

    def asks(self) -> list[Done]:
        """Return the requests for new jobs that were made."""
        return self.made(*ASKS)

    def follow_ups(self) -> list[Done]:
        """Return the follow-ups that were made."""
        return self.made("reply", "followup")

    def changes(self) -> list[Done]:
        """Return the edits and deletions of messages that were made."""
        return self.made("edit", "delete")

    def repeats(self, marker: str) -> list[Done]:
        """Return how the command with this marker was typed again."""
        return [each for each in self.made("repeat") if each.act.about == marker]

    def anyways(self, user: str) -> int:
        """Return how often a user asked for a repeated command to be run nevertheless."""
        return sum(each.act.who == user for each in self.made("anyway"))

    def was_deleted(self, marker: str) -> bool:
        """Return whether the message with this marker was deleted."""
        return any(done.act.about == marker for done in self.made("delete"))

    def made(self, *what: str) -> list[Done]:
        """Return the acts of these kinds that were possible."""
        return [done for done in self.record.done if done.made and done.act.what in what]


def delivery_of(message: Json) -> str | None:
    """Return the delivery id in a message's metadata, or None."""
    metadata = message.get("metadata")
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    return ((metadata or {}).get("event_payload") or {}).get("delivery")

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
    r":(memo|heavy_minus_sign|x|file_folder|ghost|zzz|white_check_mark(?!: The pull request)|no_entry_sign): "
)
_USER = re.compile(r"U\w+")
_STARTED = "has started after all"
"""Of an unconfirmed job that the docs service has, which is no end."""
_NATURAL = {ARCHIVED: {"is_archived"}, SECRET: {"channel_not_found", "not_in_channel"}}
_FOLLOWS_FROM = {"not_in_channel": "conversations.join", "file_not_found": "upload"}
"""Error codes of Slack that follow from the refusal of an earlier call."""


def thread_of(job: Row) -> str | None:
    """Return the thread that a job's status message begins, or in which it is a reply."""
    ts = job.get("thread_ts") or job["status_ts"]
    return None if ts is None else str(ts)


def _without_quotations(prompt: str) -> str:
    return "\n".join(line for line in prompt.splitlines() if not line.startswith("> "))


class RecordIndex:
    """A record with indexes and queries that several rules use."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.jobs: dict[int, Row] = {row["number"]: row for row in record.of("jobs")}
        self.threads = {
            (row["channel"], thread_of(row)): row for row in record.of("jobs") if row["status_ts"]
        }
        self.job_of = {row["id"]: row["job"] for row in record.of("deliveries")}
        self.prompts_of: dict[int, list[Row]] = defaultdict(list)
        for row in record.of("prompts"):
            self.prompts_of[row["job"]].append(row)
        self.messages_of: dict[str, list[Json]] = defaultdict(list)
        for message in record.messages:
            if (delivery := delivery_of(message)) is not None:
                self.messages_of[delivery].append(message)
        self.refusals = {
            kind.removeprefix("error:") for side, kind in record.faults() if side == "slack"
        }
        self._refused_calls = {
            call.get("method")
            for call in record.slack
            if str(call.get("fault", "")).startswith("error:")
        }
        self.docs_faults = Counter(kind for side, kind in record.faults() if side == "docs")
        self.presses = Counter(
            (done.act.target, done.act.text)
            for done in record.done
            if done.act.kind == "press" and done.made
        )

    def pressed(self, marker: str, *buttons: str) -> int:
        """Return the number of presses of these buttons in a request's thread."""
        return sum(self.presses[marker, button] for button in buttons)

    def resent(self, done: Done, rows: list[Row]) -> int:
        """Return how often people had a request sent again, which its prompts may be a part of.

        They press in the thread of its job, which may show another part of it, or no marker any more.
        """
        markers = {done.act.marker, done.act.target, ""}
        for row in rows:
            markers |= self.markers_in_thread(self.jobs[row["job"]])
        return sum(self.pressed(marker, "send_again") for marker in markers)

    def markers_in_thread(self, job: Row) -> set[str]:
        """Return the markers of the acts that began a job, or others in its thread."""
        thread = thread_of(job)
        texts = [job["text"]]
        if thread is not None:
            texts += [
                other["text"]
                for other in self.jobs.values()
                if (other["channel"], thread_of(other)) == (job["channel"], thread)
            ]
        markers = [act.marker for act in self.record.beginnings()]
        return {marker for marker in markers if any(marker in text for text in texts)}

    def is_begun_by(self, job: Row, marker: str) -> bool:
        """Return whether an act began a job.

        One whose message was deleted while it was held goes on in its thread, without its text.
        """
        if marker in job["text"]:
            return True
        if not self.was_deleted(marker):
            return False
        thread = (job["channel"], thread_of(job))
        keys = [row["key"] for row in self.record.of("prompts") if row["job"] == job["number"]]
        for done in self.made("mention", "direct"):
            if done.act.marker != marker:
                continue
            key = f"message:{done.act.channel}:{done.ts}"
            if (done.act.channel, done.ts) == thread or key in keys:
                return True
        return False

    def with_marker(self, marker: str, kind: str) -> list[Row]:
        """Return the stored prompts of a kind that contain this marker."""
        rows = self.record.of("prompts")
        return [row for row in rows if row["kind"] == kind and marker in (row["raw"] or "")]

    def received(self, marker: str, *, first: bool) -> list[Row]:
        """Return the first or later prompts with this marker in the docs service.

        One that quotes it, as the title of a merged pull request, does not ask for it.
        """
        return [
            row
            for row in self.record.service["messages"]
            if marker in _without_quotations(row["prompt"]) and (row["number"] == 1) is first
        ]

    def has_joined(self, done: Done) -> bool:
        """Return whether a reply became a part of its author's message, whose job was held."""
        act = done.act
        asked = self.made("mention", "direct") if act.kind == "reply" else []
        keys = tuple(
            f"message:{earlier.act.channel}:{earlier.ts}"
            for earlier in asked
            if (earlier.act.marker, earlier.act.user) == (act.target, act.user)
        )
        begun = self.with_marker(act.marker, "start")
        return bool(begun) and all(row["key"].startswith(keys) for row in begun)

    def decided_again(self, marker: str, rows: list[Row]) -> int:
        """Return the number of a message's prompts that its edit made after their refusal."""
        if not any(done.act.target == marker for done in self.made("edit")):
            return 0
        refused = {row["key"] for row in rows if row["state"] == "refused"}
        # The key of a decision about an edit ends with its time.
        return sum(row["key"].rpartition(":")[0] in refused for row in rows)

    def private_texts(self, user: str) -> list[str]:
        """Return the texts that the bot sent to this user alone."""
        return [message["text"] for message in self.private_messages(user)]

    def private_messages(self, user: str) -> list[Json]:
        notes = [note for note in self.record.private if note["user"] == user]
        messages = [message for message in self.record.messages if message["bot_id"]]
        direct = [message for message in messages if message["channel"] == f"D{user[1:]}"]
        return [*notes, *direct]

    def in_thread(self, job: Row) -> list[Json]:
        """Return the bot's replies about a job in its thread, oldest first.

        Several jobs may share a thread. A message without a delivery counts for all of them.
        """
        if job["status_ts"] is None:
            return []
        replies = self.record.thread(job["channel"], str(thread_of(job)))
        jobs = (None, job["number"])
        own = [reply for reply in replies if self.job_of.get(delivery_of(reply) or "") in jobs]
        return sorted(
            (reply for reply in own if reply["ts"] != job["status_ts"]),
            key=lambda reply: str(reply["ts"]),
        )

    def is_since(self, message: Json, at: datetime) -> bool:
        """Return whether a message may be newer than a time that the bot wrote."""
        return float(message["ts"]) >= at.timestamp() - self.record.plan.clock_error_seconds()

    def ends(self, job: Row) -> list[tuple[set[str], str]]:
        """Return the ends reported in a job's thread, as the mentioned users and the emoji."""
        texts = [reply["text"] for reply in self.in_thread(job)]
        matches = [END.match(text) for text in texts if _STARTED not in text]
        return [(set(_USER.findall(match[1])), match[2]) for match in matches if match]

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
            return job is not None and job["status_ts"] is None
        return code in _NATURAL.get(row["channel"], ())

    def muted(self, job: int | None, user: str) -> bool:
        """Return whether Slack refused a delivery about this job or to this user for good."""
        return any(
            row["state"] == "dead"
            and (row["user"] == user or (job is not None and row["job"] == job))
            for row in self.record.of("deliveries")
            if row["kind"] != "reaction"
        )

    def has_database_trouble(self) -> bool:
        """Return whether the plan made the database unreachable, locked or full."""
        return any(trouble.side == "database" for trouble in self.record.plan.troubles)

    def was_interrupted(self) -> bool:
        """Return whether a bot was killed or stopped during the run."""
        return self.record.kills > 0 or any(
            trouble.side == "bot" for trouble in self.record.plan.troubles
        )

    def asks(self) -> list[Done]:
        """Return the requests for new jobs that were made."""
        return self.made(*ASKS)

    def repeats(self, marker: str) -> list[Done]:
        """Return the repetitions of the command with this marker."""
        return [done for done in self.made("repeat") if done.act.target == marker]

    def anyways(self, user: str) -> int:
        """Return the number of repeated commands that a user ran nevertheless."""
        return sum(done.act.user == user for done in self.made("anyway"))

    def was_deleted(self, marker: str) -> bool:
        """Return whether the message with this marker was deleted."""
        return any(done.act.target == marker for done in self.made("delete"))

    def made(self, *kinds: str) -> list[Done]:
        """Return the acts of these kinds that were possible."""
        return [done for done in self.record.done if done.made and done.act.kind in kinds]


def delivery_of(message: Json) -> str | None:
    """Return the delivery id in a message's metadata, or None."""
    metadata = message.get("metadata")
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    return ((metadata or {}).get("event_payload") or {}).get("delivery")

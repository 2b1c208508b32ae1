"""Fault injection: make the next matching requests fail in a chosen way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox.docs_service.refusals import RefusedError


class Fault(StrEnum):
    """A kind of failure."""

    ERROR_500 = "500"
    HTML_502 = "502_html"
    LIMIT_429 = "429"
    LIMIT_429_NO_HEADER = "429_no_header"
    UNAUTHORISED_401 = "401"
    FORBIDDEN_403 = "403"
    NOT_FOUND_404 = "404"
    TIMEOUT = "timeout"
    LOST_ANSWER = "lost_answer"
    SLOW = "slow"
    STALE_STATUS = "stale_status"
    ODD_STATUS = "odd_status"
    BAD_PR_LINK = "bad_pr_link"
    BROKEN_JSON = "broken_json"


EXPLAINED: Mapping[Fault, str] = {
    Fault.ERROR_500: "answers 500 with a JSON error; nothing is done",
    Fault.HTML_502: "answers 502 with a page of HTML, as a proxy does; nothing is done",
    Fault.LIMIT_429: "answers 429 with Retry-After (seconds, 30 unless told)",
    Fault.LIMIT_429_NO_HEADER: "answers 429 without Retry-After",
    Fault.UNAUTHORISED_401: "answers 401, as for an expired key",
    Fault.FORBIDDEN_403: "answers 403, as for a key without the scope",
    Fault.NOT_FOUND_404: "answers 404, as for an unknown job",
    Fault.TIMEOUT: "holds the request (seconds, 60 unless told), then closes it; nothing is done",
    Fault.LOST_ANSWER: "carries the request out, then closes the connection without an answer",
    Fault.SLOW: "waits (seconds, 5 unless told), then does as usual",
    Fault.STALE_STATUS: "answers with the job as it was before its latest change",
    Fault.ODD_STATUS: 'answers with a status that is in no document (value, "paused" unless told)',
    Fault.BAD_PR_LINK: "answers with a prLink that is no web address (value to choose it)",
    Fault.BROKEN_JSON: "carries the request out and answers with half of the JSON",
}

OPERATIONS = ("create", "follow_up", "get", "visitors")


@dataclass
class OrderedFault:
    """A fault for the next `times` requests, or for all requests until `until`.

    `match` is an operation or "any". `until` is a time of `time.monotonic`. `seconds` and `value` are
    parameters of the fault; see `EXPLAINED`.
    """

    match: str
    fault: Fault
    times: int = 1
    seconds: float | None = None
    value: str | None = None
    until: float | None = None


def read_orders(body: Any) -> list[OrderedFault]:
    """Return the ordered faults in a request body; raise `RefusedError` 400 if it is invalid."""
    entries = body.get("next") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise RefusedError(400, 'faults are ordered as {"next": [{"match": …, "fault": …}]}')
    return [_read_order(entry) for entry in entries]


def _read_order(entry: Any) -> OrderedFault:
    if not isinstance(entry, dict):
        raise RefusedError(400, "each fault is an object")
    unknown = set(entry) - {"match", "fault", "times", "seconds", "value", "lasts"}
    match, times, seconds = entry.get("match"), entry.get("times", 1), entry.get("seconds")
    if unknown:
        raise RefusedError(400, f"unknown field: {min(unknown)}")
    if match not in (*OPERATIONS, "any"):
        raise RefusedError(400, f"match is one of {', '.join(OPERATIONS)}, any")
    if entry.get("fault") not in list(Fault):
        raise RefusedError(400, f"fault is one of {', '.join(Fault)}")
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise RefusedError(400, "times is a whole number from 1")
    _check_seconds("seconds", seconds)
    lasts = entry.get("lasts")
    _check_seconds("lasts", lasts)
    value = entry.get("value")
    if value is not None and not isinstance(value, str):
        raise RefusedError(400, "value is text")
    until = None if lasts is None else time.monotonic() + lasts
    return OrderedFault(match, Fault(entry["fault"]), times, seconds, value, until)


def _check_seconds(name: str, given: Any) -> None:
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise RefusedError(400, f"{name} is a number")
    if not 0 <= given <= 3600:
        raise RefusedError(400, f"{name} is from 0 to 3600")


class Faults:
    """The faults that have not happened yet, in the order in which they were ordered."""

    def __init__(self) -> None:
        self._orders: list[OrderedFault] = []

    def order(self, orders: list[OrderedFault]) -> None:
        """Add faults at the end of the queue."""
        self._orders.extend(orders)

    def clear(self) -> None:
        """Remove all faults."""
        self._orders.clear()

    def take(self, operation: str) -> OrderedFault | None:
        """Return the fault for a request of this operation and count it, or None."""
        now = time.monotonic()
        self._orders = [order for order in self._orders if order.until is None or order.until > now]
        for order in self._orders:
            if order.match in (operation, "any"):
                order.times -= order.until is None
                if not order.times:
                    self._orders.remove(order)
                return order
        return None

    def waiting(self) -> list[dict[str, object]]:
        """Return the remaining faults as JSON values."""
        return [
            {"match": order.match, "fault": str(order.fault), "times": order.times} for order in self._orders
        ]

"""Faults on request: the next calls of a service fail in a way that a test or a person chose."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Annotated, Any

from aiohttp import web
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter

ANY = ("any", "*")
Seconds = Annotated[float, Field(ge=0, le=3600)]


class Order(BaseModel):
    """A fault for the next `times` calls that it matches, or for all of them within `lasts` seconds.

    `match` names the calls, of which `any` or `*` means each; a workspace also takes it as `method`.
    `seconds` and `value` are parameters of the fault.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    match: str = Field(validation_alias=AliasChoices("match", "method"))
    fault: str
    times: int = Field(1, ge=1)
    seconds: Seconds | None = None
    value: str | None = None
    lasts: Seconds | None = None
    ordered_at: float = Field(default_factory=time.monotonic, init=False)


_ORDERS = TypeAdapter(list[Order])


class Faults:
    """The faults that have not happened yet, in the order in which they were ordered."""

    def __init__(self, matches: Collection[str] = (), kinds: Collection[str] = ()) -> None:
        """Set the operations that orders may match, and the faults; empty: any."""
        self._matches = matches
        self._kinds = kinds
        self._orders: list[Order] = []

    def order(self, entries: Any) -> None:
        """Add faults at the end of the queue. Raise `ValueError` for an order that makes no sense."""
        orders = _ORDERS.validate_python(entries)
        for order in orders:
            if self._matches and order.match not in (*self._matches, *ANY):
                raise ValueError(f"match is one of {', '.join(self._matches)}, any")
            if self._kinds and order.fault not in self._kinds:
                raise ValueError(f"fault is one of {', '.join(self._kinds)}")
        self._orders += orders

    def clear(self) -> None:
        """Remove all faults."""
        self._orders.clear()

    def take(self, name: str) -> Order | None:
        """Return the fault for a call of this name and count it, or None."""
        now = time.monotonic()
        self._orders = [
            one for one in self._orders if one.lasts is None or one.ordered_at + one.lasts > now
        ]
        order = next((one for one in self._orders if one.match in (name, *ANY)), None)
        if order is not None and order.lasts is None:
            order.times -= 1
            if not order.times:
                self._orders.remove(order)
        return order

    def waiting(self) -> list[dict[str, object]]:
        """Return the remaining faults as JSON values."""
        return [
            {"match": one.match, "fault": one.fault, "times": one.times} for one in self._orders
        ]


def bad_gateway() -> web.Response:
    """Return a proxy's answer for a service that it does not reach."""
    page = "<html><body><h1>502 Bad Gateway</h1><hr>proxy</body></html>"
    return web.Response(status=502, text=page, content_type="text/html")


def drop_connection(request: web.Request, status: int = 503) -> web.Response:
    """Abort the connection; the returned response is never sent."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=status)

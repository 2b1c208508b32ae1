"""What tests of questions about visitors share: the days they are about, and a refusal."""

from __future__ import annotations

from datetime import date, timedelta

import httpx

FIRST, LAST = date(2026, 10, 26), date(2026, 11, 1)
"""The last seven full days before the test's now."""
START = date(2026, 9, 1)
DAY = timedelta(days=1)


def slow_down(seconds: int) -> httpx.Response:
    """What the docs service answers when it is called too often."""
    return httpx.Response(429, headers={"Retry-After": str(seconds)}, json={"error": "slow down"})

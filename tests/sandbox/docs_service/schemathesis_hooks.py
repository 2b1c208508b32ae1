"""Hooks for rules that OpenAPI cannot express: dates exist, and a period begins before it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import schemathesis

from sandbox.docs_service.wire import DATE_PATTERN


@schemathesis.hook
def filter_query(context: object, query: Mapping[str, object] | None) -> bool:
    """Leave out queries that match the document but are invalid."""
    given = [(query or {}).get(name) for name in ("dateFrom", "dateTo")]
    texts = [text for text in given if isinstance(text, str) and re.search(DATE_PATTERN, text)]
    try:
        ends = [datetime.fromisoformat(text.upper()) for text in texts]
        aware = [at if at.tzinfo else at.replace(tzinfo=UTC) for at in ends]
    except ValueError:
        return False
    return len(aware) < 2 or aware[0] < aware[1]

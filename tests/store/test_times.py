"""Times in rows: aware and in UTC for the code, and on SQLite as the text that SQLAlchemy would write."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import DateTime
from sqlalchemy.dialects import sqlite

from bot.store.schema import UtcDateTime

DIALECT = sqlite.dialect()
WRITE = UtcDateTime().dialect_impl(DIALECT).bind_processor(DIALECT)
READ = UtcDateTime().dialect_impl(DIALECT).result_processor(DIALECT, None)
AS_SQLALCHEMY = DateTime().dialect_impl(DIALECT).bind_processor(DIALECT)


FIRST, LAST = map(datetime.fromisoformat, ("0001-01-03", "9999-12-29"))
"""Every zone's times between them are times in UTC, too."""


@given(st.datetimes(FIRST, LAST, timezones=st.timezones()))
def test_time_is_the_text_of_sqlalchemy_and_comes_back(time: datetime) -> None:
    assert WRITE is not None
    assert AS_SQLALCHEMY is not None
    assert READ is not None
    in_utc = time.astimezone(UTC)
    assert WRITE(time) == AS_SQLALCHEMY(in_utc.replace(tzinfo=None))
    assert READ(WRITE(time)) == in_utc
    assert WRITE(None) is None
    with pytest.raises(ValueError, match="without a zone"):
        WRITE(time.replace(tzinfo=None))

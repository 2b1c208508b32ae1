"""What a table says of itself: each column has a type that says what it is and whether it is forgotten."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Date, Integer

from bot.store.columns import Choice, Forgotten, Id, Json, Note, Owner, UtcDateTime
from bot.store.schema import metadata

STAYS = (Id, Note, Choice, Json, Integer, BigInteger, Boolean, Date, UtcDateTime)
TABLES = tuple(metadata.tables.values())
COLUMNS = [column for table in TABLES for column in table.columns]


def test_each_column_says_what_it_is_and_whether_it_is_forgotten() -> None:
    unsaid = [each for each in COLUMNS if not isinstance(each.type, (Forgotten, *STAYS))]
    assert unsaid == [], "give them a type of bot/store/columns.py"


def test_what_is_forgotten_belongs_to_somebody() -> None:
    for table in {each.table for each in COLUMNS if isinstance(each.type, Forgotten)}:
        assert sum(isinstance(each.type, Owner) for each in table.columns) == 1, table.name

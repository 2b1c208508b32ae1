"""What `docs-bot visitors` understands and writes, without a service."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.docs_api import PageVisitors, Visitors
from bot.visitors.export import (
    MOST_ROWS_SHOWN,
    check_days,
    check_target,
    format_json,
    format_table,
    parse_day,
    replace_file,
)
from tests.visitors.test_export import FIRST, NOW, wanted

counts = st.integers(0, 50)
some_pages = st.lists(
    st.builds(PageVisitors, path=st.text(max_size=8), human=counts, ai=counts, total=counts), max_size=60
)


@given(some_pages)
def test_the_table_ranks_whatever_order_rows_come_in(pages: list[PageVisitors]) -> None:
    shown = format_table(Visitors(human=1, ai=1, total=1), pages, "acme", wanted(), NOW)
    rows = shown.split("  Page\n")[1].splitlines() if pages else []
    best = sorted((page.total for page in pages), reverse=True)[:MOST_ROWS_SHOWN]
    assert [int(line[22:32]) for line in rows] == best


@given(some_pages)
def test_the_json_document_is_one_whatever_stands_in_it(pages: list[PageVisitors]) -> None:
    text = format_json(Visitors(human=1, ai=2, total=3), pages, 'a"\n', wanted("\\"), NOW)
    told: dict[str, Any] = json.loads(text)
    assert told["pages"] == [page.model_dump() for page in pages]
    assert (told["project"], told["path"], told["complete"]) == ('a"\n', "/\\", True)


def test_a_replaced_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "real.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    replace_file(check_target(link), "new")
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)
    assert link.is_symlink()


@pytest.mark.parametrize(
    "text", ["", "today", "2026-13-01", "2026-02-29", "20261001", "01.10.2026", "2026-W40-1"]
)
def test_a_day_that_is_none_is_answered_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="--from 2026-10-01 --to 2026-10-31"):
        parse_day(text)


def test_days_reversed_or_in_the_future_are_refused_and_today_is_not() -> None:
    today = NOW.date()
    check_days(today, today, today)
    with pytest.raises(ValueError, match="2026-10-04 is before 2026-10-05"):
        check_days(FIRST, FIRST - timedelta(days=1), today)
    with pytest.raises(ValueError, match="2026-10-15 hasn't come yet"):
        check_days(FIRST, today + timedelta(days=1), today)


@pytest.mark.parametrize("name", ["/dev/null", ".", "nowhere/out.csv"])
def test_a_target_that_can_be_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        check_target(tmp_path / name)

"""Rows of CSV files arrive in a spreadsheet unchanged and without formulas."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.messages.plain_text import csv_line, escape_formula

ATTACKS = [
    *("=1+1", '=HYPERLINK("https://evil.example";"Click")', "+1", "-2+3+cmd|' /C calc'!A0"),
    *(
        "@SUM(1+1)*cmd|' /C calc'!A0",
        "\t=1",
        "\rx",
        "\nx",
        "  =1",
        "\u00a0=1",
        "\u200b=1",
        "\ufeff=1",
    ),
    *("\x00=1", "＝1", "＋1", "－1", "＠x", "﹦1", "−1", " \t"),
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
risky = st.builds(str.__add__, st.sampled_from(["=", " +", "\t", "－", "@", "\r\n-", ";="]), texts)
rows = st.lists(st.one_of(texts, risky, st.integers(min_value=0)), min_size=1, max_size=6)


@pytest.mark.parametrize("cell", ATTACKS)
def test_cell_like_a_formula_gets_an_apostrophe(cell: str) -> None:
    assert escape_formula(cell) == f"'{cell}"


def test_cell_with_another_separator_is_quoted() -> None:
    assert csv_line(["/a;=1+1", 7]) == '"/a;=1+1",7\r\n'


@given(st.lists(rows, min_size=1, max_size=5))
@example([["=1", 1], [""], ['"', ",", "\r", "\n", "\x00"]])
def test_any_rows_come_back_without_formulas(table: list[list[str | int]]) -> None:
    text = "".join(csv_line(row) for row in table)
    back = list(csv.reader(io.StringIO(text, newline="")))
    assert [[cell.removeprefix("'") for cell in row] for row in back] == [
        [str(cell).removeprefix("'") for cell in row] for row in table
    ]
    for cell in (cell for row in back for cell in row):
        assert not cell.startswith(("\t", "\r", "\n"))
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))

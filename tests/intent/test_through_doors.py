"""How well texts with a known handling are handled by the whole bot: payloads in, calls out."""

from __future__ import annotations

import pytest

from tests.intent.through_doors import handle_all
from tests.intent.words import ALL, PLACES, Row, handle_purely, is_right, measure, read_rows


def _print_nothing(_count: int) -> None:
    """Do nothing, as the progress of a test."""


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("file", "paid", "undone", "unanswered", "silent"),
    [("words.json", 2, 1, 2, 2), ("words-more.json", 4, 3, 8, 3)],
)
def test_few_texts_are_handled_wrongly_by_the_bot(
    file: str, paid: int, undone: int, unanswered: int, silent: int
) -> None:
    rows = read_rows(file)
    count = measure(rows, handle_all(rows, _print_nothing))[ALL]
    assert count.paid <= paid, count.wrong
    assert count.undone <= undone, count.wrong
    assert count.unanswered <= unanswered, count.wrong
    assert count.silent <= silent, count.wrong
    assert count.asked <= 0.08 * count.texts, count.wrong


def one_of_each_handling(context: str) -> list[Row]:
    """Return the first text of each handling at a place that the decision has right."""
    rows = dict[str, Row]()
    of_context = [row for row in read_rows("words.json") if row["context"] == context]
    for row, [handled] in zip(of_context, handle_purely(of_context), strict=True):
        if is_right(row, handled):
            rows.setdefault(row["handling"], row)
    return [*rows.values()]


@pytest.mark.parametrize("context", PLACES)
def test_bot_does_what_was_decided(context: str) -> None:
    rows = one_of_each_handling(context)
    count = measure(rows, handle_all(rows, _print_nothing))[ALL]
    assert count.wrong == []

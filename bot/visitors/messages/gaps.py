"""Messages about content gaps: an answer with a button at each row.

Comments, questions and searches are readers' texts: quoted, clipped, and data for the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.ids import Block, Message, QuestionId, UserId
from bot.messages import blocks as b
from bot.visitors.messages.answers import TIME, about, around, more_button, share_button
from bot.visitors.messages.gap_rows import FEW_EVENTS, FORMATS, Row, gap_table
from bot.visitors.messages.reasons import unread_sources
from bot.visitors.model.gaps import Topic
from bot.visitors.model.questions import Numbers, Query

_MORE_ROWS = 20


def gap_answer(
    numbers: Numbers,
    question: QuestionId,
    *,
    shared_by: UserId | None = None,
    can_share: bool = True,
) -> Message:
    """Return the answer to a question. ``shared_by``: the person who shares it in the channel."""
    query = numbers.query
    rows = gap_table(numbers)
    if not rows:
        none = f"The docs service has no {FORMATS[query.topic].none} for {query.period}."
        return b.words(
            " ".join([none, *around(query, shared_by), *unread_sources(numbers.readings)])
        )
    buttons = [more_button(question)]
    if can_share and not shared_by:
        buttons.insert(0, share_button(question))
    return _message(numbers, question, rows[: query.top], buttons, shared_by)


def more_gaps(numbers: Numbers, question: QuestionId) -> Message:
    file = b.button("All rows as CSV", b.Action.CSV_FILE, str(question))
    return _message(numbers, question, gap_table(numbers)[:_MORE_ROWS], [file])


def _message(
    numbers: Numbers,
    question: QuestionId,
    rows: Sequence[Row],
    buttons: Sequence[Block],
    shared_by: UserId | None = None,
) -> Message:
    """Return rows with a button each: as many as fit into a message."""
    query = numbers.query
    total, events = FORMATS[query.topic].total(numbers, gap_table(numbers))
    subject = about(query)
    heading = b.section(f"*{subject[:1].upper()}{subject[1:]}*\n{total}")
    blocks = [
        _row_block(row, rank, question, is_page=query.topic is Topic.FEEDBACK)
        for rank, row in enumerate(rows, 1)
    ]
    notes = b.context(*_notes(numbers, events, shared_by))
    while True:
        message = b.message(heading, *blocks, *b.actions(buttons), notes)
        message = replace(message, plain_blocks=message.blocks)  # with the button of each row
        if len(blocks) == 1 or b.fits(message):
            return message
        blocks.pop()


def _row_block(row: Row, rank: int, question: QuestionId, *, is_page: bool) -> Block:
    button = draft_button(question, row.key, is_page=is_page)
    return {**b.section(f"{rank}. {row.text}"), "accessory": button}


def _notes(numbers: Numbers, events: int, shared_by: UserId | None) -> list[str]:
    """Return the small print.

    How little the numbers tell, missing sources, and when they were read.
    """
    limits = unread_sources(numbers.readings)
    if events < FEW_EVENTS:
        limits.insert(0, f"That is too few to tell much ({events:,}).")
    times = [reading.read_at for reading in numbers.readings if reading.read_at]
    at = f" · read {b.moment(min(times), TIME)}" if times else ""
    source = f"Readers' words; addresses and keys are masked{at}"
    return [" ".join(limits), " ".join([*around(numbers.query, shared_by), source])]


def draft_button(question: QuestionId, key: str, *, is_page: bool = False) -> Block:
    """Return the button that opens the form with the prompt of a row."""
    label = "Improve it" if is_page else "Draft it"
    return b.button(label, b.Action.IMPROVE_MISS, f"{question}:{key}")


def not_offered(query: Query) -> Message:
    return b.words(
        f"The docs service gives no {query.topic} here: its plan may have none, or the bot's "
        "key may not read them. I'll ask it again in a day. "
        "Your bot admin finds more in `docs-bot doctor`."
    )

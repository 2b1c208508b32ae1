"""Messages about content gaps: an answer with a button at each row, its file, and the prompt of a row.

Comments, questions and searches are readers' texts: quoted, clipped, and data for the agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.ids import Block, Message, QuestionId, UserId
from bot.messages import blocks as b
from bot.visitors.messages.answers import TIME, about, around, more_button, share_button
from bot.visitors.messages.gap_rows import FEW_EVENTS, FORMATS, Row, gap_table
from bot.visitors.messages.reasons import reading_problem
from bot.visitors.model.gaps import Topic
from bot.visitors.model.questions import Numbers, Query
from bot.visitors.model.readings import Reading

_MORE_ROWS = 20


def gap_answer(
    numbers: Numbers,
    question: QuestionId,
    *,
    shared_by: UserId | None = None,
    can_share: bool = True,
) -> Message:
    """Return the answer to a question. ``shared_by``: the person who shares it in the channel."""
    query, rows = numbers.query, gap_table(numbers)
    if not rows:
        none = f"The docs service has no {FORMATS[query.topic].none} for {query.period}."
        return b.words(
            " ".join([none, *around(query, shared_by), *unread_sources(numbers.readings)])
        )
    share = [share_button(question)] if can_share and not shared_by else []
    return _message(
        numbers, question, rows[: query.top], [*share, more_button(question)], shared_by
    )


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
    query, topic = numbers.query, FORMATS[numbers.query.topic]
    total, events = topic.total(numbers, gap_table(numbers))
    subject, few = about(query), f"That is too few to tell much ({events:,})."
    read_at = min(
        (reading.taken_at for reading in numbers.readings if reading.taken_at), default=None
    )
    at = f" · read {b.moment(read_at, TIME)}" if read_at else ""
    source = f"Readers' words; addresses and keys are masked{at}"
    notes = [
        " ".join([*([few] if events < FEW_EVENTS else []), *unread_sources(numbers.readings)]),
        " ".join([*around(query, shared_by), source]),
    ]
    heading = b.section(f"*{subject[:1].upper()}{subject[1:]}*\n{total}")
    is_page = query.topic is Topic.FEEDBACK
    blocks: list[Block] = [
        {
            **b.section(f"{rank}. {row.text}"),
            "accessory": draft_button(question, row.key, is_page=is_page),
        }
        for rank, row in enumerate(rows, 1)
    ]
    while True:
        message = b.message(heading, *blocks, *b.actions(buttons), b.context(*notes))
        message = replace(message, plain_blocks=message.blocks)  # with the button of each row
        if len(blocks) == 1 or b.fits(message):
            return message
        blocks.pop()


def draft_button(question: QuestionId, key: str, *, is_page: bool = False) -> Block:
    """Return the button that opens the form with the prompt of a row."""
    return b.button(
        "Improve it" if is_page else "Draft it", b.Action.IMPROVE_MISS, f"{question}:{key}"
    )


def unread_sources(readings: Iterable[Reading]) -> list[str]:
    """Return a sentence for each reason why sources were not read."""
    sources: dict[str, dict[str, None]] = {}
    for reading in readings:
        if reading.gap_rows is None:
            text = reading_problem(reading.problem) if reading.problem else "no calls were left"
            sources.setdefault(text, {})[reading.source] = None
    return [
        f"{' and '.join(names).capitalize()} couldn't be read: {text}."
        for text, names in sources.items()
    ]


def not_offered(query: Query) -> Message:
    return b.words(
        f"The docs service gives no {query.topic} here: its plan may have none, or the bot's "
        "key may not read them. I'll ask it again in a day. Your bot admin finds more in `docs-bot doctor`."
    )

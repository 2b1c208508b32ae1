"""Content gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.visitors.messages import gap_rows as gap_row_messages
from bot.visitors.messages import gaps as gap_messages
from bot.visitors.model.gaps import GapRow, GapRows, ReportType, Source
from bot.visitors.model.questions import FileDestination, Numbers, Query
from bot.visitors.model.readings import ReadingProblem
from tests.builders import BEN
from tests.visitors.visitor_samples import QUESTION, WEEK, reading

SEARCHES = GapRows(
    (
        GapRow("rate <limits>", events=41, unmet=41),
        GapRow("install", "/quickstart", events=40, unmet=10),
        GapRow("webhooks", events=1, unmet=None),
    ),
    events=82,
)
VOTES = GapRows(
    (
        GapRow(page="/api", events=9, unmet=7, on_code=1),
        GapRow(page="/limits", events=1, unmet=0, on_code=2),
    )
)
COMMENTS = GapRows(
    (
        GapRow("Where is <paging>?\nI can't find it.", "/api"),
        GapRow("No curl example", "/api", by_agent=True),
        GapRow("Thanks", "/new", unmet=0),
    )
)
QUESTIONS = GapRows(
    (
        GapRow("How do I rotate keys?", "/api"),
        GapRow("how do i rotate keys"),
        GapRow("Who <pays>?"),
    ),
    events=9,
)
READ = {
    ReportType.SEARCHES: ((Source.SEARCHES, SEARCHES),),
    ReportType.FEEDBACK: ((Source.VOTES, VOTES), (Source.COMMENTS, COMMENTS)),
    ReportType.QUESTIONS: ((Source.QUESTIONS, QUESTIONS),),
}


def numbers(report_type: ReportType, *, is_part: bool = False, **query: Any) -> Numbers:
    """Return the readings of a question about a report type."""
    readings = (
        reading(source=source, gap_rows=replace(rows, is_part=is_part))
        for source, rows in READ[report_type]
    )
    return Numbers(Query(WEEK, report_type=report_type, **query), tuple(readings))


def frequent(report_type: ReportType) -> Numbers:
    """Return numbers that are large enough to recommend rows."""
    numbers_of = numbers(report_type)
    searches = (
        GapRow("sso", events=41, unmet=41),
        GapRow("audit log", events=34, unmet=33),
        GapRow("teams", events=60, unmet=57),
    )
    many = {
        Source.SEARCHES: searches,
        Source.VOTES: VOTES.rows,
        Source.COMMENTS: COMMENTS.rows,
        Source.QUESTIONS: QUESTIONS.rows * 3,
    }
    readings = [replace(item, gap_rows=GapRows(many[item.source])) for item in numbers_of.readings]
    return replace(numbers_of, readings=readings)


def samples() -> Mapping[str, object]:
    """Return answers by report type, their files, and the prompts of their rows."""
    by_report_type = {report_type: numbers(report_type) for report_type in READ}
    failed = reading(source=Source.VOTES, totals=None, problem=ReadingProblem.UNWELL)
    unread = reading(source=Source.COMMENTS, totals=None)
    searches, feedback = by_report_type[ReportType.SEARCHES], by_report_type[ReportType.FEEDBACK]
    return {
        **{
            f"{report_type}": gap_messages.gap_answer(read, QUESTION)
            for report_type, read in by_report_type.items()
        },
        **{
            f"{report_type}: the first rows of the service": gap_messages.gap_answer(
                numbers(report_type, is_part=True, top=1, label="Acme"), QUESTION
            )
            for report_type in READ
        },
        **{
            f"{report_type}: none": gap_messages.gap_answer(replace(read, readings=()), QUESTION)
            for report_type, read in by_report_type.items()
        },
        "a file": gap_messages.gap_answer(
            numbers(ReportType.SEARCHES, file_to=FileDestination.PRIVATE), QUESTION
        ),
        "shared": gap_messages.gap_answer(searches, QUESTION, shared_by=BEN),
        "not to share": gap_messages.gap_answer(searches, QUESTION, can_share=False),
        "a part was not read": gap_messages.gap_answer(
            replace(feedback, readings=(failed, *feedback.readings[1:])), QUESTION
        ),
        "nothing was read": gap_messages.gap_answer(
            replace(feedback, readings=(failed, unread)), QUESTION
        ),
        "more": gap_messages.more_gaps(searches, QUESTION),
        "not offered": gap_messages.not_offered(searches.query),
        "a prompt with more of its subject": gap_row_messages.quote_more(
            "Readers searched.\n\n> sso\n\nWrite it.", [("Is there <SSO>?", "3 questions")]
        ),
        "a prompt without quotes, with more of its subject": gap_row_messages.quote_more(
            "Write it.", [("saml", "searched 9 times")]
        ),
        "recommendations": [
            item.evidence
            for report_type in READ
            for item in gap_row_messages.gap_recommendations(frequent(report_type))
        ],
        **{
            f"{report_type}: a month later": gap_row_messages.compare_unmet(
                read, numbers(report_type), gap_row_messages.gap_table(read)[0].key
            )
            for report_type, read in by_report_type.items()
        },
        **{
            f"{report_type}: the file": list(gap_row_messages.gap_file(read))
            for report_type, read in by_report_type.items()
        },
        "a part of one of several docs, as a file": list(
            gap_row_messages.gap_file(
                numbers(ReportType.SEARCHES, is_part=True, label="Acme <docs>")
            )
        ),
        **{
            f"{report_type}: the prompt of row {at}": gap_row_messages.gap_prompt(read.query, row)
            for report_type, read in by_report_type.items()
            for at, row in enumerate(gap_row_messages.gap_table(read), 1)
        },
    }

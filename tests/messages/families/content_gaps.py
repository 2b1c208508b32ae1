"""Content gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.visitors.messages import gap_rows as gap_row_messages
from bot.visitors.messages import gaps as gap_messages
from bot.visitors.model.gaps import (
    Comment,
    GapRows,
    Search,
    Source,
    Topic,
    UnansweredQuestion,
    Votes,
)
from bot.visitors.model.questions import FileTo, Numbers, Query
from bot.visitors.model.readings import ReadingProblem
from tests.builders import BEN
from tests.visitors.visitor_samples import QUESTION, WEEK, reading

SEARCHES = GapRows(
    searches=(
        Search("rate <limits>", 41, 0),
        Search("install", 40, 30, "/quickstart"),
        Search("webhooks", 1, None),
    ),
    events=82,
)
VOTES = GapRows(votes=(Votes("/api", 2, 7, 1), Votes("/limits", 1, 0, 2)))
COMMENTS = GapRows(
    comments=(
        Comment("/api", "Where is <paging>?\nI can't find it."),
        Comment("/api", "No curl example", by_agent=True),
        Comment("/new", "Thanks"),
    )
)
QUESTIONS = GapRows(
    questions=(
        UnansweredQuestion("How do I rotate keys?", page="/api"),
        UnansweredQuestion("how do i rotate keys"),
        UnansweredQuestion("Who <pays>?"),
    ),
    events=9,
)
READ = {
    Topic.SEARCHES: ((Source.SEARCHES, SEARCHES),),
    Topic.FEEDBACK: ((Source.VOTES, VOTES), (Source.COMMENTS, COMMENTS)),
    Topic.QUESTIONS: ((Source.QUESTIONS, QUESTIONS),),
}


def numbers(topic: Topic, *, is_part: bool = False, **query: Any) -> Numbers:
    """Return the readings of a question about a topic."""
    readings = (
        reading(source=source, gap_rows=replace(rows, is_part=is_part))
        for source, rows in READ[topic]
    )
    return Numbers(Query(WEEK, topic=topic, **query), tuple(readings))


def frequent(topic: Topic) -> Numbers:
    """Return numbers that are large enough to recommend rows."""
    numbers_of = numbers(topic)
    many = GapRows(
        searches=(Search("sso", 41, 0), Search("audit log", 34, 1), Search("teams", 60, 3)),
        votes=VOTES.votes,
        comments=COMMENTS.comments,
        questions=QUESTIONS.questions * 3,
    )
    return replace(
        numbers_of, readings=tuple(replace(item, gap_rows=many) for item in numbers_of.readings)
    )


def samples() -> Mapping[str, object]:
    """Return answers by topic, their files, and the prompts of their rows."""
    by_topic = {topic: numbers(topic) for topic in READ}
    failed = reading(source=Source.VOTES, problem=ReadingProblem.UNWELL)
    unread = reading(source=Source.COMMENTS)
    searches, feedback = by_topic[Topic.SEARCHES], by_topic[Topic.FEEDBACK]
    return {
        **{f"{topic}": gap_messages.gap_answer(read, QUESTION) for topic, read in by_topic.items()},
        **{
            f"{topic}: the first rows of the service": gap_messages.gap_answer(
                numbers(topic, is_part=True, top=1, label="Acme"), QUESTION
            )
            for topic in READ
        },
        **{
            f"{topic}: none": gap_messages.gap_answer(replace(read, readings=()), QUESTION)
            for topic, read in by_topic.items()
        },
        "a file": gap_messages.gap_answer(
            numbers(Topic.SEARCHES, file_to=FileTo.PRIVATE), QUESTION
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
        "recommendations": [
            item.evidence
            for topic in READ
            for item in gap_row_messages.gap_recommendations(frequent(topic))
        ],
        **{
            f"{topic}: a month later": gap_row_messages.compare_unmet(
                read, numbers(topic), gap_row_messages.gap_table(read)[0].key
            )
            for topic, read in by_topic.items()
        },
        **{
            f"{topic}: the file": list(gap_row_messages.gap_file(read))
            for topic, read in by_topic.items()
        },
        "a part of one of several docs, as a file": list(
            gap_row_messages.gap_file(numbers(Topic.SEARCHES, is_part=True, label="Acme <docs>"))
        ),
        **{
            f"{topic}: the prompt of row {at}": gap_row_messages.gap_prompt(read.query, row)
            for topic, read in by_topic.items()
            for at, row in enumerate(gap_row_messages.gap_table(read), 1)
        },
    }

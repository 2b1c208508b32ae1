"""What readers miss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.messages import misses
from bot.model.misses import Comment, Search, Source, Topic, Unanswered, Votes, Words
from bot.model.questions import FileTo, MissesReport, VisitorsQuery
from bot.model.visitors import ReadingProblem, SnapshotState
from tests.builders import BEN
from tests.messages.visitor_samples import QUESTION, TAKEN, WEEK, snapshot

SEARCHES = Words(
    searches=(
        Search("rate <limits>", 41, 0),
        Search("install", 40, 30, "/quickstart"),
        Search("webhooks", 1, None),
    ),
    events=82,
)
VOTES = Words(votes=(Votes("/api", 2, 7, 1), Votes("/limits", 1, 0, 2)))
COMMENTS = Words(
    comments=(
        Comment("/api", "Where is <paging>?\nI can't find it."),
        Comment("/api", "No curl example", by_agent=True),
        Comment("/new", "Thanks"),
    )
)
QUESTIONS = Words(
    questions=(
        Unanswered("How do I rotate keys?", None, "/api"),
        Unanswered("how do i rotate keys", None),
        Unanswered("Who <pays>?", "Billing"),
    ),
    events=9,
)
READ = {
    Topic.SEARCHES: ((Source.SEARCHES, SEARCHES),),
    Topic.FEEDBACK: ((Source.VOTES, VOTES), (Source.COMMENTS, COMMENTS)),
    Topic.QUESTIONS: ((Source.QUESTIONS, QUESTIONS),),
}


def answer(topic: Topic, *, is_part: bool = False, **query: Any) -> MissesReport:
    """What was read about a topic."""
    windows = tuple(
        snapshot(source=source, words=replace(words, is_part=is_part)) for source, words in READ[topic]
    )
    asked = replace(VisitorsQuery(WEEK, None, topic=topic), **query)
    return MissesReport(asked, windows, False, TAKEN)


def samples() -> Mapping[str, object]:
    """Answers by topic, their files, and the prompts that their buttons offer."""
    found = {topic: answer(topic) for topic in READ}
    failed = snapshot(
        source=Source.VOTES, words=None, state=SnapshotState.FAILED, problem=ReadingProblem.UNWELL
    )
    left = snapshot(source=Source.COMMENTS, state=SnapshotState.REQUESTED)
    searches, feedback = found[Topic.SEARCHES], found[Topic.FEEDBACK]
    rows = {topic: misses.rows_of(each) for topic, each in found.items()}
    assert misses.row_of(searches, rows[Topic.SEARCHES][0].key) == rows[Topic.SEARCHES][0]
    return {
        **{f"{topic}": misses.report(each, QUESTION) for topic, each in found.items()},
        **{
            f"{topic}: the first rows of the service": misses.report(
                answer(topic, is_part=True, top=1, label="Acme"), QUESTION
            )
            for topic in READ
        },
        **{
            f"{topic}: none so far": misses.report(replace(each, windows=(), is_open=True), QUESTION)
            for topic, each in found.items()
        },
        "so far, and a file": misses.report(
            replace(answer(Topic.SEARCHES, file_to=FileTo.PRIVATE), is_open=True), QUESTION
        ),
        "shared": misses.report(searches, QUESTION, shared_by=BEN),
        "not to share": misses.report(searches, QUESTION, can_share=False),
        "a part was not read": misses.report(
            replace(feedback, windows=(failed, *feedback.windows[1:])), QUESTION
        ),
        "nothing was read": misses.report(replace(feedback, windows=(failed, left)), QUESTION),
        "more": misses.more(searches, QUESTION),
        "not given here": misses.not_here(searches.query),
        **{f"{topic}: the file": "".join(misses.csv_lines(each)) for topic, each in found.items()},
        **{f"{topic}: beside the file": misses.file_words(each) for topic, each in found.items()},
        "beside a part of one of several docs": misses.file_words(
            answer(Topic.SEARCHES, is_part=True, label="Acme <docs>")
        ),
        **{
            f"{topic}: the prompt of row {at}": misses.prompt(each, row)
            for topic, each in found.items()
            for at, row in enumerate(rows[topic], 1)
        },
    }

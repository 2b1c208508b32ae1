"""Jobs are read leniently, visitor counts strictly; both are frozen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from bot.docs_api import (
    AssistantPage,
    Build,
    BuildStatus,
    Feedback,
    FeedbackByPage,
    FeedbackPage,
    Job,
    JobSource,
    JobStatus,
    PageFeedbackCounts,
    PreviewBuild,
    SearchCount,
    SearchesPage,
    Turn,
    ViewsPage,
    VisitorsPage,
)
from bot.docs_api.models import MAX_LINES, MAX_TEXT_LENGTH
from tests.docs_api.builders import (
    ASSISTANT,
    FEEDBACK,
    FEEDBACK_BY_PAGE,
    JOB,
    SEARCHES,
    views_json,
    visitors_json,
)


def test_full_job_has_python_names() -> None:
    job = Job.model_validate(JOB)
    assert job == Job(
        id="job-1",
        status="completed",
        source=JobSource(repository="acme/docs", ref="main"),
        model="a-model",
        pr_link="https://git.example.com/acme/docs/pull/7",
        created_at=datetime(2026, 11, 20, 10, 0, tzinfo=UTC),
    )


def test_id_alone_is_a_running_job() -> None:
    job = Job.model_validate({"id": "j"})
    assert job.is_running
    assert (job.known_status, job.source, job.pr_link, job.created_at) == (
        None,
        JobSource(),
        None,
        None,
    )


@pytest.mark.parametrize(
    ("status", "expected", "running"),
    [
        ("active", JobStatus.ACTIVE, True),
        ("completed", JobStatus.COMPLETED, False),
        ("archived", JobStatus.ARCHIVED, False),
        ("failed", JobStatus.FAILED, False),
        ("queued", None, True),
        ("", None, True),
        ("Completed", None, True),
    ],
)
def test_job_runs_unless_its_status_is_a_known_end(
    status: str, expected: JobStatus | None, running: bool
) -> None:
    job = Job.model_validate({**JOB, "status": status, "prLink": None})
    assert (job.status, job.known_status, job.is_running, job.pr_link) == (
        status,
        expected,
        running,
        None,
    )


@pytest.mark.parametrize(
    "odd", [7, True, [], {}, {"ref": []}, "never", "", "0000-13-45", "99999-01-01", None]
)
def test_job_with_odd_optional_fields_is_valid(odd: object) -> None:
    job = Job.model_validate(
        {"id": "j"} | dict.fromkeys(["source", "model", "createdAt", "archivedAt"], odd)
    )
    assert (job.id, job.source, job.created_at, job.archived_at) == ("j", JobSource(), None, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-20T10:00:00.123Z", datetime(2026, 11, 20, 10, 0, 0, 123_000, tzinfo=UTC)),
        ("2026-11-20T10:00:00+02:00", datetime(2026, 11, 20, 8, 0, tzinfo=UTC)),
        ("2026-11-20T10:00:00", datetime(2026, 11, 20, 10, 0, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("0001-01-01T00:00:00+05:00", None),
        *(
            (f"{year:04}-12-31T12:00:00Z", None) for year in (1, 1969, 9999)
        ),  # outside some time zone
    ],
)
def test_times_are_aware_utc_or_nothing(written: str, read: datetime | None) -> None:
    assert Job.model_validate({"id": "j", "archivedAt": written}).archived_at == read


@pytest.mark.parametrize("missing", ["totals", "visitors", "hasMore"])
def test_visitors_without_a_required_field_are_an_error(missing: str) -> None:
    answer = visitors_json("/a")
    del answer[missing]
    with pytest.raises(ValidationError):
        VisitorsPage.model_validate(answer)


@pytest.mark.parametrize("missing", ["totals", "views", "hasMore"])
def test_views_without_a_required_field_are_an_error(missing: str) -> None:
    answer = views_json("/a")
    del answer[missing]
    with pytest.raises(ValidationError):
        ViewsPage.model_validate(answer)


@pytest.mark.parametrize("odd", [None, "2", -1, 1.5, True, 2**63, 10**400])
def test_invalid_count_of_visitors_is_an_error(odd: object) -> None:
    with pytest.raises(ValidationError):
        VisitorsPage.model_validate(
            {**visitors_json(), "totals": {"human": 1, "ai": 1, "total": odd}}
        )


def test_build_has_the_end_of_its_log() -> None:
    lines = [f"line {number}" for number in range(MAX_LINES + 5)]
    build = Build.model_validate(
        {"_id": "b", "status": "failure", "logs": [*lines, 7, "x" * 9_999]}
    )
    assert build.known_status is BuildStatus.FAILURE
    assert build.logs[0] == "line 7"
    assert build.logs[-1] == "x" * MAX_TEXT_LENGTH


@pytest.mark.parametrize("odd", [7, True, [], {}, "text", [7, None], None])
def test_build_with_odd_fields_is_valid(odd: object) -> None:
    build = Build.model_validate(dict.fromkeys(["status", "summary", "logs"], odd))
    assert build.known_status is None


@pytest.mark.parametrize("odd", [None, 7, "", "..", "a\0b", "x" * 401])
def test_preview_without_a_usable_id_is_an_error(odd: object) -> None:
    with pytest.raises(ValidationError):
        PreviewBuild.model_validate({"statusId": odd, "previewUrl": "https://preview.example.com"})


MOMENT = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def test_searches_have_hits_and_a_next_page() -> None:
    page = SearchesPage.model_validate(SEARCHES)
    search = SearchCount(
        search_query="rotate keys", hits=40, ctr=2.5, top_clicked_page="/authentication"
    )
    assert page.searches == (search,)
    assert (page.total_searches, page.has_more) == (900, True)
    assert not SearchesPage.model_validate({**SEARCHES, "nextCursor": None}).has_more


def test_feedback_has_counts_of_pages_and_comments() -> None:
    [counted] = FeedbackByPage.model_validate(FEEDBACK_BY_PAGE).feedback
    assert counted == PageFeedbackCounts(
        path="/webhooks", thumbs_up=1, thumbs_down=7, code=2, total=12
    )
    [single] = FeedbackPage.model_validate(FEEDBACK).feedback
    assert (single.id, single.path, single.comment) == (
        "f1",
        "/webhooks",
        "The signature is not explained",
    )
    assert (single.created_at, single.source, single.status) == (MOMENT, "contextual", "pending")
    assert single.helpful is False


@pytest.mark.parametrize(
    ("status", "unanswered"), [("unanswered", True), ("answered", False), (7, False)]
)
def test_question_is_answered_or_unanswered_by_its_status(status: object, unanswered: bool) -> None:
    [asked] = AssistantPage.model_validate(ASSISTANT).conversations
    turn = Turn.model_validate(asked.model_dump() | {"resolution_status": status})
    assert (turn.id, turn.timestamp, turn.query) == ("01JD3", MOMENT, "How do I rotate a key?")
    assert (turn.query_category, turn.page_url) == (
        "Security",
        "https://docs.example.com/authentication",
    )
    assert turn.is_unanswered is unanswered


def test_addresses_of_readers_and_replies_of_the_assistant_are_dropped() -> None:
    for page in (FeedbackPage.model_validate(FEEDBACK), AssistantPage.model_validate(ASSISTANT)):
        assert "reader@example.com" not in page.model_dump_json() + repr(page)


@pytest.mark.parametrize("odd", [7, True, [], {}, None, "a\0\ud800b" + "x" * 9_999])
def test_row_with_odd_texts_of_readers_is_valid(odd: object) -> None:
    text = "a  b" + "x" * (MAX_TEXT_LENGTH - 4) if isinstance(odd, str) else ""
    names = ["searchQuery", "ctr", "topClickedPage"]
    search = SearchCount.model_validate({"hits": 3} | dict.fromkeys(names, odd))
    assert (search.search_query, search.top_clicked_page or "") == (text, text)
    names = ["id", "path", "comment", "createdAt", "source", "status"]
    vote = Feedback.model_validate(dict.fromkeys(names, odd))
    assert (vote.id, vote.path, vote.comment or "", vote.created_at) == (text, text, text, None)
    names = ["id", "timestamp", "query", "resolutionStatus", "queryCategory", "pageUrl"]
    turn = Turn.model_validate(dict.fromkeys(names, odd))
    assert (turn.query, turn.query_category or "", turn.page_url or "") == (text, text, text)


@pytest.mark.parametrize(
    ("ctr", "percent"),
    [
        (0, 0.0),
        (100, 100.0),
        (33.3, 33.3),
        (-1, None),
        (100.1, None),
        (10**400, None),
        (float("nan"), None),
    ]
    + [(odd, None) for odd in (True, "50", None)],
)
def test_share_of_clicks_is_a_percentage_or_none(ctr: object, percent: float | None) -> None:
    assert SearchCount.model_validate({"hits": 1, "ctr": ctr}).ctr == percent


@pytest.mark.parametrize("odd", [None, "2", -1, 1.5, True, 2**63])
@pytest.mark.parametrize("count", ["thumbsUp", "thumbsDown", "code", "total"])
def test_invalid_count_of_feedback_is_an_error(count: str, odd: object) -> None:
    counts = {"thumbsUp": 1, "thumbsDown": 1, "code": 1, "total": 3}
    with pytest.raises(ValidationError):
        PageFeedbackCounts.model_validate({"path": "/a", **counts, count: odd})


@pytest.mark.parametrize("model", [SearchesPage, FeedbackByPage, FeedbackPage, AssistantPage])
@pytest.mark.parametrize("odd", [{}, [], 7, {"feedback": 7, "hasMore": False}])
def test_response_without_rows_is_an_error(
    model: type[SearchesPage | FeedbackByPage | FeedbackPage | AssistantPage], odd: object
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(odd)

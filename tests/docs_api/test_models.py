"""Jobs are read leniently, visitor counts strictly; both are frozen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from bot.docs_api import Job, JobStatus, Source, VisitorsPage
from tests.docs_api.builders import JOB, visitors_json


def test_a_full_job_is_read_with_python_names() -> None:
    job = Job.model_validate(JOB)
    assert job == Job(
        id="job-1",
        status="completed",
        source=Source(repository="acme/docs", ref="main"),
        model="a-model",
        pr_link="https://git.example.com/acme/docs/pull/7",
        created_at=datetime(2026, 11, 20, 10, 0, tzinfo=UTC),
    )


def test_an_id_alone_is_a_running_job() -> None:
    job = Job.model_validate({"id": "j"})
    assert job.is_running
    assert (job.known_status, job.source, job.pr_link, job.created_at) == (None, Source(), None, None)


@pytest.mark.parametrize(
    ("status", "known", "running"),
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
def test_a_status_is_kept_and_says_whether_polling_goes_on(
    status: str, known: JobStatus | None, running: bool
) -> None:
    job = Job.model_validate({**JOB, "status": status, "prLink": None})
    assert (job.status, job.known_status, job.is_running, job.pr_link) == (status, known, running, None)


@pytest.mark.parametrize(
    "odd", [7, True, [], {}, {"ref": []}, "never", "", "0000-13-45", "99999-01-01", None]
)
def test_oddities_in_optional_fields_never_lose_a_job(odd: object) -> None:
    job = Job.model_validate({"id": "j"} | dict.fromkeys(["source", "model", "createdAt", "archivedAt"], odd))
    assert (job.id, job.source, job.created_at, job.archived_at) == ("j", Source(), None, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-20T10:00:00.123Z", datetime(2026, 11, 20, 10, 0, 0, 123_000, tzinfo=UTC)),
        ("2026-11-20T10:00:00+02:00", datetime(2026, 11, 20, 8, 0, tzinfo=UTC)),
        ("2026-11-20T10:00:00", datetime(2026, 11, 20, 10, 0, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("0001-01-01T00:00:00+05:00", None),
        *((f"{year:04}-12-31T12:00:00Z", None) for year in (1, 1969, 9999)),  # outside some time zone
    ],
)
def test_times_are_aware_utc_or_nothing(written: str, read: datetime | None) -> None:
    assert Job.model_validate({"id": "j", "archivedAt": written}).archived_at == read


@pytest.mark.parametrize("missing", ["totals", "visitors", "hasMore"])
def test_visitors_without_one_of_their_parts_are_an_error(missing: str) -> None:
    answer = visitors_json("/a")
    del answer[missing]
    with pytest.raises(ValidationError):
        VisitorsPage.model_validate(answer)


@pytest.mark.parametrize("odd", [None, "2", -1, 1.5, True, 2**63, 10**400])
def test_a_count_that_is_none_is_an_error_and_never_a_zero(odd: object) -> None:
    with pytest.raises(ValidationError):
        VisitorsPage.model_validate({**visitors_json(), "totals": {"human": 1, "ai": 1, "total": odd}})

"""The docs service's answers as frozen values with Python names.

What the service is free to leave out may also be odd: a job whose id can be read is a job, because
losing it over an unreadable date would leave its caller not knowing whether it exists. Visitor counts
are the opposite: a missing number is an error, never a zero.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool
from pydantic.alias_generators import to_camel


class JobStatus(StrEnum):
    """The states of a job that the interface names."""

    ACTIVE = "active"
    COMPLETED = "completed"
    ARCHIVED = "archived"
    FAILED = "failed"


def _storable(raw: str) -> str:
    # JSON can carry half a surrogate pair, which no database and no UTF-8 stream takes.
    return raw.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(raw: object) -> object:
    return _storable(raw) if isinstance(raw, str) else raw


def _text_or_none(raw: object) -> str | None:
    return _storable(raw) if isinstance(raw, str) and raw else None


def _text_or_empty(raw: object) -> str:
    return _text_or_none(raw) or ""


def _moment_or_none(raw: object) -> datetime | None:
    """Read an ISO 8601 time as aware UTC; one without a zone is taken as UTC, an unreadable one as None."""
    if not isinstance(raw, str | datetime):
        return None
    try:
        moment = datetime.fromisoformat(raw.strip()) if isinstance(raw, str) else raw
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _object_or_empty(raw: object) -> object:
    return raw if isinstance(raw, dict | Source) else {}


_Text = Annotated[str, BeforeValidator(_text)]
_LenientText = Annotated[str | None, BeforeValidator(_text_or_none)]
_LenientMoment = Annotated[datetime | None, BeforeValidator(_moment_or_none)]
_Count = Annotated[int, Field(ge=0, strict=True)]


class _Answer(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
    )


class Source(_Answer):
    """Where the job works: repository and git ref, as the service writes them."""

    repository: _LenientText = None
    ref: _LenientText = None


class Job(_Answer):
    """One agent job as the service told it at one moment.

    ``pr_link`` is the service's text as it is: it may be null in every status, and need not be a web address.
    """

    id: Annotated[_Text, Field(min_length=1)]
    status: Annotated[str, BeforeValidator(_text_or_empty)] = ""
    source: Annotated[Source, BeforeValidator(_object_or_empty)] = Source()
    model: _LenientText = None
    pr_link: _LenientText = None
    created_at: _LenientMoment = None
    archived_at: _LenientMoment = None

    @property
    def known_status(self) -> JobStatus | None:
        """The status as one of those the interface names; None for any other."""
        try:
            return JobStatus(self.status)
        except ValueError:
            return None

    @property
    def is_running(self) -> bool:
        """Whether polling goes on; a status nobody knows counts as running."""
        return self.known_status in (None, JobStatus.ACTIVE)


class Visitors(_Answer):
    """Approximate unique visitors; ``total`` is deduplicated, so it need not be ``human + ai``."""

    human: _Count
    ai: _Count
    total: _Count


class PageVisitors(Visitors):
    """Unique visitors of one page of the documentation; never to be added over pages."""

    path: _Text


class VisitorsPage(_Answer):
    """One page of the visitors export; ``totals`` are those of the whole site and the whole date range."""

    totals: Visitors
    visitors: tuple[PageVisitors, ...]
    has_more: StrictBool

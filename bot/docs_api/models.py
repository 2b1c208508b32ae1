"""The docs service's responses as frozen models with Python names.

Jobs are parsed leniently: only the id is required, and invalid optional fields become None. Rejecting a job
because of an invalid date would leave its caller not knowing whether the job exists. Visitor counts are
parsed strictly: a missing number is an error, never zero.

No model has a value that a database refuses. An id of a job with a NUL character or a lone surrogate, or one
that is too long, is an error, and so is a count beyond 64 bits. In a job's other texts and in the path of a
page such characters are replaced: a job's end is told whatever its link is, and a path may come from anybody
who visits the docs, who must not make all rows unreadable.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool
from pydantic.alias_generators import to_camel


class JobStatus(StrEnum):
    """The job states that the service documents."""

    ACTIVE = "active"
    COMPLETED = "completed"
    ARCHIVED = "archived"
    FAILED = "failed"


MAX_ID_LENGTH = 400
MAX_TEXT_LENGTH = 4_000
"""Upper limit for the other texts of a job, in characters. The rest is left out."""
_MAX_COUNT = 2**63 - 1
_YEARS = range(1970, 9_999)
"""A time in another year counts as invalid: in some time zone it is outside what a `datetime` holds."""
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL takes no NUL character; databases and UTF-8 streams refuse lone surrogates.

https://www.postgresql.org/docs/current/datatype-character.html
"""


def _usable(raw: str) -> str:
    if _NOT_STORABLE.search(raw) or raw.strip() in ("", ".", ".."):
        raise ValueError("cannot be stored, or be a segment of an address")
    return raw


def _cleaned(raw: object) -> object:
    return _NOT_STORABLE.sub("\ufffd", raw) if isinstance(raw, str) else raw


def _text_or_empty(raw: object) -> str:
    # A blank, because it makes a link unusable: one that was changed could lead elsewhere.
    return _NOT_STORABLE.sub(" ", raw)[:MAX_TEXT_LENGTH] if isinstance(raw, str) else ""


def _text_or_none(raw: object) -> str | None:
    return _text_or_empty(raw) or None


def _moment_or_none(raw: object) -> datetime | None:
    """Parse an ISO 8601 time as aware UTC; a time without a zone counts as UTC. None when it is invalid."""
    try:
        moment = raw if isinstance(raw, datetime) else datetime.fromisoformat(str(raw).strip())
        aware = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return aware if aware.year in _YEARS else None


def _object_or_empty(raw: object) -> object:
    return raw if isinstance(raw, dict | Source) else {}


_LenientText = Annotated[str | None, BeforeValidator(_text_or_none)]
_LenientMoment = Annotated[datetime | None, BeforeValidator(_moment_or_none)]
_Count = Annotated[int, Field(ge=0, le=_MAX_COUNT, strict=True)]


class _Answer(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
        defer_build=True,
    )


class Source(_Answer):
    """The repository and git ref that the job works on, as the service writes them."""

    repository: _LenientText = None
    ref: _LenientText = None


class Job(_Answer):
    """One agent job, as the service described it at one moment.

    ``pr_link`` is the service's unchecked text: it may be null in every status and need not be a web address.
    """

    id: Annotated[str, Field(max_length=MAX_ID_LENGTH), AfterValidator(_usable)]
    status: Annotated[str, BeforeValidator(_text_or_empty)] = ""
    source: Annotated[Source, BeforeValidator(_object_or_empty)] = Source()
    model: _LenientText = None
    pr_link: _LenientText = None
    created_at: _LenientMoment = None
    archived_at: _LenientMoment = None

    @property
    def known_status(self) -> JobStatus | None:
        """Return the status as a JobStatus; None for an undocumented one."""
        try:
            return JobStatus(self.status)
        except ValueError:
            return None

    @property
    def is_running(self) -> bool:
        """Return whether the job may still change. An undocumented status counts as running."""
        return self.known_status in (None, JobStatus.ACTIVE)


class Visitors(_Answer):
    """Approximate unique visitors. ``total`` is deduplicated, so it need not be ``human + ai``."""

    human: _Count
    ai: _Count
    total: _Count


class PageVisitors(Visitors):
    """Unique visitors of one documentation page. Counts of several pages must not be added."""

    path: Annotated[str, BeforeValidator(_cleaned)]


class VisitorsPage(_Answer):
    """One page of the visitors export. ``totals`` cover the whole site and the whole date range."""

    totals: Visitors
    visitors: tuple[PageVisitors, ...]
    has_more: StrictBool

"""The docs service's responses as frozen models with Python names.

Jobs are parsed leniently: only the id is required, and invalid optional fields become None.
Rejecting a job because of an invalid date would leave its caller not knowing whether the job
exists. Counts are parsed strictly: a missing number is an error, never zero.

No model has a value that a database refuses. An id of a job with a NUL character or a lone
surrogate, or one that is too long, is an error, and so is a count beyond 64 bits. In a job's other
texts and in the path of a page such characters are replaced: a job's end is reported even if its
link is odd, and a path that a visitor made up must not make all rows unreadable. Searches, comments
and questions are like paths. The address that a reader left for an answer is not read, nor the
assistant's reply.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
)
from pydantic.alias_generators import to_camel


class JobStatus(StrEnum):
    """The job states that the service documents."""

    ACTIVE = "active"
    COMPLETED = "completed"
    ARCHIVED = "archived"
    FAILED = "failed"


class BuildStatus(StrEnum):
    """The states of a preview's build that the service documents."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    SUCCESS = "success"
    FAILURE = "failure"


MAX_ID_LENGTH = 400
MAX_TEXT_LENGTH = 4_000
"""Upper limit for the other texts of a job, in characters. The rest is left out."""
MAX_PAGE_LENGTH = 500_000
"""Upper limit for the text of a page, in characters. The rest is left out."""
MAX_LINES = 300
"""Upper limit for the lines of a log and for lists of files. The last ones are kept."""
_MAX_COUNT = 2**63 - 1
_ALL_PERCENT = 100
_YEARS = range(1970, 9_999)
"""A time in another year counts as invalid: in some time zone it is outside the range of
`datetime`.
"""
_NOT_STORABLE_PATTERN = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL takes no NUL character; databases and UTF-8 streams refuse lone surrogates.

https://www.postgresql.org/docs/current/datatype-character.html
"""


def _clean_text(raw: str) -> str:
    if _NOT_STORABLE_PATTERN.search(raw) or raw.strip() in ("", ".", ".."):
        raise ValueError("cannot be stored, or be a segment of an address")
    return raw


def _drop_unstorable(raw: object) -> object:
    return _NOT_STORABLE_PATTERN.sub("\ufffd", raw) if isinstance(raw, str) else raw


def _text_or_empty(raw: object) -> str:
    # A blank, because it makes a link unusable. A changed link could lead elsewhere.
    # Clipped first, because the time grows with the text.
    return _NOT_STORABLE_PATTERN.sub(" ", raw[:MAX_TEXT_LENGTH]) if isinstance(raw, str) else ""


def _page_or_empty(raw: object) -> str:
    return raw[:MAX_PAGE_LENGTH] if isinstance(raw, str) else ""


def _text_or_none(raw: object) -> str | None:
    return _text_or_empty(raw) or None


def _flag_or_none(raw: object) -> bool | None:
    return raw if isinstance(raw, bool) else None


def _moment_or_none(raw: object) -> datetime | None:
    """Parse an ISO 8601 time as aware UTC; None if invalid.

    A time without a zone counts as UTC.
    """
    try:
        moment = raw if isinstance(raw, datetime) else datetime.fromisoformat(str(raw).strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        in_utc = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return in_utc if in_utc.year in _YEARS else None


def _percent_or_none(raw: object) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return float(raw) if 0 <= raw <= _ALL_PERCENT else None


def _object_or_empty(raw: object) -> object:
    return raw if isinstance(raw, dict | BaseModel) else {}


def _parse_texts(raw: object) -> tuple[str, ...]:
    texts = raw[-MAX_LINES:] if isinstance(raw, list | tuple) else ()
    return tuple(text for text in map(_text_or_empty, texts) if text)


_LenientTexts = Annotated[tuple[str, ...], BeforeValidator(_parse_texts)]
_LenientText = Annotated[str | None, BeforeValidator(_text_or_none)]
_Text = Annotated[str, BeforeValidator(_text_or_empty)]
_LenientPercent = Annotated[float | None, BeforeValidator(_percent_or_none)]
_LenientFlag = Annotated[bool | None, BeforeValidator(_flag_or_none)]
_LenientMoment = Annotated[datetime | None, BeforeValidator(_moment_or_none)]
_StrictId = Annotated[str, Field(max_length=MAX_ID_LENGTH), AfterValidator(_clean_text)]
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


class JobSource(_Answer):
    """The repository and git ref of a job, in the service's words."""

    repository: _LenientText = None
    ref: _LenientText = None


class Job(_Answer):
    """One agent job, as the service described it at one moment.

    ``pr_link`` is the service's unchecked text: it may be null in every status and need not be a
    web address.
    """

    id: _StrictId
    status: _Text = ""
    source: Annotated[JobSource, BeforeValidator(_object_or_empty)] = JobSource()
    model: _LenientText = None
    pr_link: _LenientText = None
    created_at: _LenientMoment = None
    archived_at: _LenientMoment = None

    @property
    def known_status(self) -> JobStatus | None:
        """Return the status as a JobStatus; None for an undocumented one."""
        return JobStatus(self.status) if self.status in set(JobStatus) else None

    @property
    def is_running(self) -> bool:
        """Return whether the job may still change.

        An undocumented status counts as running.
        """
        return self.known_status in (None, JobStatus.ACTIVE)


class PreviewBuild(_Answer):
    """A preview of a branch whose build has begun.

    ``preview_url`` is the service's unchecked text.
    """

    status_id: _StrictId
    preview_url: _LenientText = None


class Build(_Answer):
    """The build of a preview, as the service described it once.

    ``logs``: its last lines.
    """

    status: _Text = ""
    summary: _LenientText = None
    logs: _LenientTexts = ()

    @property
    def known_status(self) -> BuildStatus | None:
        """Return the status as a BuildStatus; None for an undocumented one."""
        return BuildStatus(self.status) if self.status in set(BuildStatus) else None


class Visitors(_Answer):
    """Approximate unique visitors.

    ``total`` is deduplicated, so it need not be ``human + ai``.
    """

    human: _Count
    ai: _Count
    total: _Count


class PageVisitors(Visitors):
    """Unique visitors of one documentation page.

    Counts of several pages must not be added.
    """

    path: Annotated[str, BeforeValidator(_drop_unstorable)]


class VisitorsPage(_Answer):
    """One page of the visitors export.

    ``totals`` cover the whole site and the whole date range.
    """

    totals: Visitors
    visitors: tuple[PageVisitors, ...]
    has_more: StrictBool


class Views(_Answer):
    """Views of content. They are events, so the views of several pages may be added."""

    human: _Count
    ai: _Count
    total: _Count


class PageViews(Views):
    """The views of one documentation page."""

    path: Annotated[str, BeforeValidator(_drop_unstorable)]


class ViewsPage(_Answer):
    """One page of the views export. ``totals`` cover the whole site and the whole date range."""

    totals: Views
    views: tuple[PageViews, ...]
    has_more: StrictBool


class SearchCount(_Answer):
    """A search text, which may hold personal data, and its frequency.

    ``ctr``: the percentage of these searches that were followed by a click, 0 to 100; None if it is
    missing.
    """

    search_query: _Text = ""
    hits: _Count
    ctr: _LenientPercent = None
    top_clicked_page: _LenientText = None


class SearchesPage(_Answer):
    """The searches with the most hits.

    ``total_searches``: all hits of the date range, also of other rows.
    """

    searches: tuple[SearchCount, ...]
    total_searches: _Count
    next_cursor: _LenientText = None

    @property
    def has_more(self) -> bool:
        """Return whether the service has further rows."""
        return self.next_cursor is not None


class PageFeedbackCounts(_Answer):
    """The feedback on one page.

    ``thumbs_up`` and ``thumbs_down`` need not add up to ``total``.

    ``code``: the remarks on the page's blocks of code.
    """

    path: _Text = ""
    thumbs_up: _Count
    thumbs_down: _Count
    code: _Count
    total: _Count


class FeedbackByPage(_Answer):
    """Feedback counted for each page."""

    feedback: tuple[PageFeedbackCounts, ...]
    has_more: StrictBool


class Feedback(_Answer):
    """One vote or comment. ``helpful`` is None if the service omits it.

    ``source`` is "contextual", "code_snippet", "thumbs_only", or "agent" for other AI agents; it
    may be another text, and so may ``status``.
    """

    id: _Text = ""
    path: _Text = ""
    comment: _LenientText = None
    created_at: _LenientMoment = None
    source: _Text = ""
    status: _Text = ""
    helpful: _LenientFlag = None


class FeedbackPage(_Answer):
    """Single votes and comments."""

    feedback: tuple[Feedback, ...]
    has_more: StrictBool


class Turn(_Answer):
    """One question to the assistant.

    ``id`` is the conversation's, so turns may share it.

    ``query_category`` is the group of questions that the service puts it into.
    """

    id: _Text = ""
    timestamp: _LenientMoment = None
    query: _Text = ""
    resolution_status: _Text = ""
    query_category: _LenientText = None
    page_url: _LenientText = None

    @property
    def is_unanswered(self) -> bool:
        """Return whether the docs lack an answer, as the service judges."""
        return self.resolution_status == "unanswered"


class AssistantPage(_Answer):
    """Questions that readers asked the assistant."""

    conversations: tuple[Turn, ...]
    has_more: StrictBool


class PassageMetadata(_Answer):
    """The used part of a passage's metadata.

    The service may send anything.
    """

    title: _Text = ""


class Passage(_Answer):
    """A text of the docs with its page.

    ``path`` is a path of the site, or an address.
    """

    content: _Text = ""
    path: _Text = ""
    metadata: Annotated[PassageMetadata, BeforeValidator(_object_or_empty)] = PassageMetadata()


class PageText(_Answer):
    """The text of a page, as the service publishes it."""

    content: Annotated[str, BeforeValidator(_page_or_empty)] = ""


class CitedPage(_Answer):
    """A page that the assistant cites. ``url`` is the service's unchecked text."""

    url: _Text = ""
    title: _Text = ""


class AssistantReply(_Answer):
    """An answer of the assistant: Markdown, with the pages that it cites.

    ``thread_id``: continues the conversation; None if the service returned none that can be stored.
    """

    text: Annotated[str, BeforeValidator(_drop_unstorable)]
    sources: tuple[CitedPage, ...] = ()
    thread_id: str | None = None


def _str_or_empty(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _id_or_none(raw: object) -> str | None:
    is_id = (
        isinstance(raw, str)
        and 0 < len(raw) <= MAX_ID_LENGTH
        and not _NOT_STORABLE_PATTERN.search(raw)
    )
    return raw if is_id and isinstance(raw, str) else None


class _StreamMetadata(_Answer):
    thread_id: Annotated[str | None, BeforeValidator(_id_or_none)] = None


class StreamPart(_StreamMetadata):
    """A part of the assistant's stream.

    Each type has some of the fields; unknown types have a type alone.
    """

    type: _Text = ""
    delta: Annotated[str, BeforeValidator(_str_or_empty)] = ""
    url: _Text = ""
    title: _Text = ""
    error_text: _Text = ""
    message_metadata: Annotated[_StreamMetadata, BeforeValidator(_object_or_empty)] = (
        _StreamMetadata()
    )

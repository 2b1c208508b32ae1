"""The wire of the API: what callers send and get, and errors."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from aiohttp import web
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from sandbox.docs_service.options import EXPIRED_KEY, READ_KEY, DocsServiceOptions

JOBS_PATH = "/v2/agent/{projectId}/job"
JOB_PATH = "/v2/agent/{projectId}/job/{id}"
MESSAGE_PATH = "/v2/agent/{projectId}/job/{id}/message"
VISITORS_PATH = "/v1/analytics/{projectId}/visitors"
PREVIEW_PATH = "/v1/project/preview/{projectId}"
BUILD_PATH = "/v1/project/update-status/{statusId}"
PULL_PATH = "/api/v3/repos/{owner}/{projectId}/pulls/{number}"
"""GitHub's, as an Enterprise server has it."""
DATE_PATTERN = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?$"
)
"""The accepted ISO 8601 forms: a date, or a date with a time; UTC unless an offset is given."""

CURSOR_PATTERN = "^0{17}[0-9]{9}$"
"""The rows to skip, in the form of a ULID."""
SOURCES = ("contextual", "code_snippet", "agent", "thumbs_only")
STATUSES = ("pending", "in_progress", "resolved", "dismissed")
"""Of feedback."""


_DATE = re.compile(DATE_PATTERN.removesuffix("$"))
_INTEGER = re.compile(r"-?[0-9]+")
_MAX_INTEGER = 2**62
_DAY_SECONDS = 86_400
MOST_ROWS = 250

BodyT = TypeVar("BodyT", bound=BaseModel)
Count = Annotated[int, Field(ge=0)]
Url = Annotated[str, Field(json_schema_extra={"format": "uri"})]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class RefusedError(Exception):
    """The request is rejected with this status and `{"error": text}`; it has no effect."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = dict(headers or {})

    def response(self) -> web.Response:
        """Return the error as a JSON response."""
        return web.json_response({"error": self.text}, status=self.status, headers=self.headers)


# The bodies. The OpenAPI document has their schemas.


class Error(TypedDict):
    """The body of each refusal."""

    error: Annotated[str, Field(min_length=1)]


class Prompt(BaseModel):
    """The body of a new job and of a follow-up."""

    prompt: Annotated[str, Field(min_length=1, description="The instruction for the agent.")]


class Branch(BaseModel):
    """The body of a request for a preview."""

    branch: Annotated[str, Field(min_length=1, description="The branch to build.")]


class Source(TypedDict):
    """Where the agent works."""

    repository: Url
    ref: Annotated[str | None, Field(description="The branch that the agent works on.")]


class JobAnswer(TypedDict):
    """A job."""

    id: str
    status: Annotated[str, Field(json_schema_extra={"enum": ["active", "completed", "archived", "failed"]})]
    source: Source
    model: str
    prLink: Annotated[
        Url | None, Field(description="The pull request; null while the job is active and without changes.")
    ]
    createdAt: Moment
    archivedAt: Moment | None


class PreviewAnswer(TypedDict):
    """A build that has begun, and where its preview will be."""

    statusId: str
    previewUrl: Url


class FilesChanged(TypedDict):
    """The files of a commit, by what became of them."""

    added: list[str]
    modified: list[str]
    removed: list[str]


class BuiltCommit(TypedDict):
    """The commit that is built."""

    sha: str
    ref: str
    message: str
    filesChanged: FilesChanged


class BuildAnswer(TypedDict):
    """How far a build is."""

    _id: str
    projectId: str
    status: Annotated[str, Field(json_schema_extra={"enum": ["queued", "in_progress", "success", "failure"]})]
    summary: str
    logs: list[str]
    commit: BuiltCommit
    createdAt: Moment
    endedAt: Moment | None


class Account(TypedDict):
    """Somebody at GitHub."""

    login: str


class BranchEnd(TypedDict):
    """A branch and its newest commit."""

    ref: str
    sha: Annotated[str, Field(pattern="^[0-9a-f]{40}$")]


class PullAnswer(TypedDict):
    """A pull request, with those of GitHub's fields that somebody here reads."""

    url: Url
    html_url: Url
    number: Count
    title: str
    state: Annotated[str, Field(json_schema_extra={"enum": ["open", "closed"]})]
    draft: bool
    merged: bool
    merged_at: Moment | None
    merged_by: Account | None
    closed_at: Moment | None
    created_at: Moment
    additions: Count
    deletions: Count
    changed_files: Count
    commits: Count
    head: BranchEnd
    base: BranchEnd


class GithubError(TypedDict):
    """The body of each of GitHub's refusals."""

    message: str
    documentation_url: Url
    status: str


class Counts(TypedDict):
    """Distinct visitors. `total` is distinct over people and AI, so it is not the sum of both."""

    human: Count
    ai: Count
    total: Count


class PageCounts(Counts):
    """The distinct visitors of one page."""

    path: str


class Visitors(TypedDict):
    """The counts of a period: for the whole site, and for one page of the list of pages."""

    totals: Counts
    visitors: Annotated[list[PageCounts], Field(max_length=MOST_ROWS)]
    hasMore: bool


class SearchRow(TypedDict):
    """What was typed into the search. `ctr` is the percentage that was followed by a click."""

    searchQuery: str
    hits: Count
    ctr: Annotated[float, Field(ge=0, le=100)]
    topClickedPage: str | None
    lastSearchedAt: Moment


class SearchesAnswer(TypedDict):
    """Searches, the most frequent first. `totalSearches` are all of the period."""

    searches: list[SearchRow]
    totalSearches: Count
    nextCursor: str | None


class PageVotes(TypedDict):
    """The feedback on a page. The votes are those of contextual feedback only."""

    path: str
    thumbsUp: Count
    thumbsDown: Count
    code: Count
    total: Count


class FeedbackByPageAnswer(TypedDict):
    """The feedback on each page."""

    feedback: list[PageVotes]
    hasMore: bool


class Remark(TypedDict):
    """Feedback of another AI agent, or a vote that does not say whether it is up or down."""

    id: str
    path: str
    comment: str | None
    createdAt: Moment | None
    source: Annotated[str, Field(json_schema_extra={"enum": list(SOURCES)})]
    status: Annotated[str, Field(json_schema_extra={"enum": list(STATUSES)})]


class PageRemark(Remark):
    """Feedback on a page."""

    helpful: bool
    contact: str | None


class CodeRemark(Remark):
    """Feedback on a block of code."""

    code: str
    filename: str | None
    lang: str | None


class FeedbackAnswer(TypedDict):
    """Single feedback, the newest first."""

    feedback: list[PageRemark | CodeRemark | Remark]
    nextCursor: str | None
    hasMore: bool


class SourcePage(TypedDict):
    """A page that the assistant refers to."""

    title: str
    url: Url


class Turn(TypedDict):
    """A question to the assistant and its reply. `id` is the conversation's."""

    id: str
    timestamp: Moment
    query: str
    response: str
    responseType: Annotated[str, Field(json_schema_extra={"enum": ["answer", "clarifying_question"]})]
    sources: list[SourcePage]
    resolutionStatus: Annotated[str, Field(json_schema_extra={"enum": ["answered", "unanswered"]})]
    queryCategory: str | None
    pageUrl: Url | None


class AssistantAnswer(TypedDict):
    """Questions to the assistant, the newest first."""

    conversations: list[Turn]
    nextCursor: str | None
    hasMore: bool


class Listing(NamedTuple):
    """An operation that lists what readers did: its path, its answer, and its limits of rows."""

    path: str
    answer: Any
    default_rows: int
    most_rows: int
    has_cursor: bool = True


_ANALYTICS = "/v1/analytics/{projectId}"
LISTINGS = {
    "searches": Listing(f"{_ANALYTICS}/searches", SearchesAnswer, 50, 100),
    "feedback_by_page": Listing(
        f"{_ANALYTICS}/feedback/by-page", FeedbackByPageAnswer, 10, 100, has_cursor=False
    ),
    "feedback": Listing(f"{_ANALYTICS}/feedback", FeedbackAnswer, 50, 100),
    "assistant": Listing(f"{_ANALYTICS}/assistant", AssistantAnswer, 100, 1_000),
}
"""By the name of the operation."""


@dataclass(frozen=True)
class VisitorsQuery:
    """A query for rows; its period is half open, in Unix seconds, and unbounded where None."""

    begin: float | None
    end: float | None
    limit: int
    offset: int


def format_time(at: datetime) -> str:
    """Return a time in the APIs' format: ISO 8601 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Reading requests


def check_key(request: web.Request, options: DocsServiceOptions, *, write: bool) -> None:
    """Raise `RefusedError` 401 without a valid key, and 403 if the key lacks the scope."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")

    def is_key(known: str) -> bool:
        return hmac.compare_digest(key.strip().encode("utf-8", "surrogateescape"), known.encode())

    if scheme.lower() == "bearer" and is_key(options.api_key):
        return
    if scheme.lower() != "bearer" or not is_key(READ_KEY):
        what = "has expired" if is_key(EXPIRED_KEY) else "is missing or not known"
        raise RefusedError(
            401, f"the API key {what}: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"}
        )
    if write:
        raise RefusedError(403, "this API key lacks the scope write")


async def read_body(request: web.Request, model: type[BodyT]) -> BodyT:
    """Return the JSON body; raise `RefusedError` 415, 413 or 400."""
    charset = (request.charset or "utf-8").lower()
    if "Content-Type" not in request.headers or request.content_type != "application/json":
        raise RefusedError(415, "send JSON with Content-Type: application/json")
    if charset not in ("utf-8", "utf8"):
        raise RefusedError(415, "send JSON in UTF-8")
    try:
        return model.model_validate_json(await request.read(), strict=True)
    except web.HTTPRequestEntityTooLarge as error:
        raise RefusedError(413, "the body is too long") from error
    except (web.RequestPayloadError, ConnectionError) as error:  # the sender may have gone in its middle
        raise RefusedError(400, "the body cannot be read") from error
    except ValidationError as error:
        raise RefusedError(400, said_of(error)) from error


def said_of(error: ValidationError) -> str:
    """Return where the first mistake is and what is wrong, without what was sent."""
    first = error.errors(include_input=False, include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def read_visitors_query(request: web.Request) -> VisitorsQuery:
    """Return the query for visitors; raise `RefusedError` 400 that names the invalid parameter."""
    begin, end = _period(request)
    limit = _limit(request, 50, MOST_ROWS)
    offset = _integer(request, "offset", 0)
    if offset < 0:
        raise RefusedError(400, "offset must be at least 0")
    return VisitorsQuery(begin, end, limit, offset)


def read_listing_query(request: web.Request, listing: Listing) -> VisitorsQuery:
    """Return the query for what readers did; raise `RefusedError` 400 that names the invalid parameter."""
    begin, end = _period(request)
    limit = _limit(request, listing.default_rows, listing.most_rows)
    cursor = _single(request, "cursor")
    if cursor is not None and not re.fullmatch(CURSOR_PATTERN, cursor):
        raise RefusedError(400, "cursor is not one of these results")
    return VisitorsQuery(begin, end, limit, int(cursor or 0))


def _period(request: web.Request) -> tuple[float | None, float | None]:
    """Return the period, which ends before the UTC day of dateTo, also when dateTo has a time."""
    begin, end = _timestamp(request, "dateFrom"), _timestamp(request, "dateTo")
    if begin is not None and end is not None and begin >= end:
        raise RefusedError(400, "dateFrom must be before dateTo")
    return begin, None if end is None else end - end % _DAY_SECONDS


def _limit(request: web.Request, default: int, most: int) -> int:
    limit = _integer(request, "limit", default)
    if not 1 <= limit <= most:
        raise RefusedError(400, f"limit must be from 1 to {most}")
    return limit


def _single(request: web.Request, name: str) -> str | None:
    given = request.query.getall(name, [])
    if len(given) > 1:
        raise RefusedError(400, f"{name} is given more than once")
    return given[0] if given else None


def _integer(request: web.Request, name: str, default: int) -> int:
    text = _single(request, name)
    if text is None:
        return default
    if not _INTEGER.fullmatch(text):
        raise RefusedError(400, f"{name} must be a whole number")
    # SQLite integers end at 2**63 and int() refuses very long text, so clamp: no site has that many rows.
    return int(text) if len(text) <= 18 else (-1 if text.startswith("-") else _MAX_INTEGER)


def _timestamp(request: web.Request, name: str) -> float | None:
    text = _single(request, name)
    if text is None:
        return None
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        at = datetime.fromisoformat(text.upper())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise RefusedError(400, f"{name} must be a date such as 2026-10-01") from error

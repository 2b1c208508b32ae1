"""The wire of the API: bodies, queries, answers and errors; the OpenAPI document has their schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, ClassVar, NotRequired, Self, TypeVar

from aiohttp import web
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import TypedDict

DATE_PATTERN = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?$"
)
"""The accepted ISO 8601 forms: a date, or a date with a time; UTC unless an offset is given."""

SOURCES = ("contextual", "code_snippet", "agent", "thumbs_only")
STATUSES = ("pending", "in_progress", "resolved", "dismissed")
"""Of feedback."""

_DAY_SECONDS = 86_400
_MOST_ROWS = 250

ModelT = TypeVar("ModelT", bound=BaseModel)
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


# Bodies and answers


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
    status: Annotated[
        str, Field(json_schema_extra={"enum": ["active", "completed", "archived", "failed"]})
    ]
    source: Source
    model: str
    prLink: Annotated[
        Url | None,
        Field(description="The pull request; null while the job is active and without changes."),
    ]
    createdAt: Moment
    archivedAt: Moment | None


class PreviewAnswer(TypedDict):
    """A build that has begun, and where its preview will be."""

    statusId: str
    previewUrl: Url


class FilesChanged(TypedDict):
    """The files of a commit, by the kind of change."""

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
    status: Annotated[
        str, Field(json_schema_extra={"enum": ["queued", "in_progress", "success", "failure"]})
    ]
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


class PullFile(TypedDict):
    """A changed file. A binary file and a huge one have no patch; one that was moved has its path before."""

    sha: str
    filename: str
    status: Annotated[
        str, Field(json_schema_extra={"enum": ["added", "removed", "modified", "renamed"]})
    ]
    additions: Count
    deletions: Count
    changes: Count
    previous_filename: NotRequired[str]
    patch: NotRequired[str]


class CommitAnswer(TypedDict):
    """A commit, with those of GitHub's fields that somebody here reads."""

    sha: str


class FileAnswer(TypedDict):
    """A file of a commit, in base64."""

    type: str
    path: str
    size: Count
    encoding: str
    content: str


class CompareAnswer(TypedDict):
    """How two commits differ."""

    status: Annotated[
        str, Field(json_schema_extra={"enum": ["ahead", "behind", "diverged", "identical"]})
    ]
    ahead_by: Count
    behind_by: Count
    total_commits: Count
    commits: list[CommitAnswer]
    files: list[PullFile]


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
    visitors: Annotated[list[PageCounts], Field(max_length=_MOST_ROWS)]
    hasMore: bool


class ViewCounts(TypedDict):
    """Views of content. Each visit to a page is one, so `total` is the sum of people's and AI agents'."""

    human: Count
    ai: Count
    total: Count


class PageViewCounts(ViewCounts):
    """The views of one page."""

    path: str


class Views(TypedDict):
    """The views of a period: of the whole site, and of one page of the list of pages."""

    totals: ViewCounts
    views: Annotated[list[PageViewCounts], Field(max_length=_MOST_ROWS)]
    hasMore: bool


class SearchRow(TypedDict):
    """A search text. `ctr` is the percentage that was followed by a click."""

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
    """Feedback of another AI agent, or a vote without a direction."""

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


class Missing(TypedDict):
    """The body of the answer about a domain or a page that does not exist."""

    message: str


class Turn(TypedDict):
    """A question to the assistant and its reply. `id` is the conversation's."""

    id: str
    timestamp: Moment
    query: str
    response: str
    responseType: Annotated[
        str, Field(json_schema_extra={"enum": ["answer", "clarifying_question"]})
    ]
    sources: list[SourcePage]
    resolutionStatus: Annotated[str, Field(json_schema_extra={"enum": ["answered", "unanswered"]})]
    queryCategory: str | None
    pageUrl: Url | None


class AssistantAnswer(TypedDict):
    """Questions to the assistant, the newest first."""

    conversations: list[Turn]
    nextCursor: str | None
    hasMore: bool


# Queries


def _unix_seconds(text: str) -> float:
    try:
        if not re.fullmatch(DATE_PATTERN, text):
            raise ValueError(text)
        at = datetime.fromisoformat(text.upper())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ValueError("must be a date such as 2026-10-01") from None


def _digits(text: str) -> str:
    if not re.fullmatch("-?[0-9]+", text):
        raise ValueError("must be a whole number")
    return text


Day = Annotated[
    float,
    BeforeValidator(_unix_seconds),
    WithJsonSchema({"type": "string", "pattern": DATE_PATTERN}),
]
Whole = Annotated[int, BeforeValidator(_digits)]
_LIMIT = "Rows on a page."


class Period(BaseModel):
    """A half-open period in Unix seconds, without bounds where none are given."""

    begin: Day = Field(
        default_factory=lambda: -1e18,
        alias="dateFrom",
        description="The first day, or moment, of the window.",
        examples=["2026-10-01"],
    )
    end: Day = Field(
        default_factory=lambda: 1e18,
        alias="dateTo",
        description="After dateFrom. Its whole day is left out, also with a time.",
        examples=["2026-11-01"],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.begin >= self.end:
            raise ValueError("dateFrom must be before dateTo")
        return self

    def until(self, now: float) -> float:
        """Return the end: the UTC day of dateTo begins, or now, because visits are stored for whole days."""
        return min(self.end - self.end % _DAY_SECONDS, now)


class VisitorsQuery(Period):
    """A query for the visitors or the views of pages."""

    limit: Whole = Field(50, ge=1, le=_MOST_ROWS, description=_LIMIT)
    offset: Whole = Field(0, ge=0, description="Rows to skip.")


class PagesQuery(Period):
    """A query for the feedback on each page."""

    limit: Whole = Field(10, ge=1, le=100, description=_LIMIT)
    offset: ClassVar[int] = 0


class RowsQuery(Period):
    """A query for searches or single feedback. A cursor has the rows to skip, in the form of a ULID."""

    limit: Whole = Field(50, ge=1, le=100, description=_LIMIT)
    cursor: str = Field(
        "0" * 26, pattern="^0{17}[0-9]{9}$", description="The page: nextCursor of the one before."
    )

    @property
    def offset(self) -> int:
        """Return the number of rows to skip."""
        return int(self.cursor)


class TurnsQuery(RowsQuery):
    """A query for questions to the assistant."""

    limit: Whole = Field(100, ge=1, le=1_000, description=_LIMIT)


def format_time(at: datetime) -> str:
    """Return a time in the APIs' format: ISO 8601 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Reading requests


async def read_body(request: web.Request, model: type[ModelT]) -> ModelT:
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
    except (
        web.RequestPayloadError,
        ConnectionError,
    ) as error:  # the sender may have gone in its middle
        raise RefusedError(400, "the body cannot be read") from error
    except ValidationError as error:
        raise RefusedError(400, first_mistake(error)) from error


def read_query(request: web.Request, model: type[ModelT]) -> ModelT:
    """Return the query; raise `RefusedError` 400 that names the invalid parameter."""
    names = [field.alias or name for name, field in model.model_fields.items()]
    given = {name: request.query.getall(name) for name in names if name in request.query}
    if repeated := [name for name, values in given.items() if len(values) > 1]:
        raise RefusedError(400, f"{repeated[0]} is given more than once")
    try:
        return model.model_validate({name: value for name, [value] in given.items()})
    except ValidationError as error:
        raise RefusedError(400, first_mistake(error)) from error


def first_mistake(error: ValidationError) -> str:
    """Return the place and the kind of the first mistake, without the value."""
    first = error.errors(include_input=False, include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))

"""A pull request and its files as GitHub describes them."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated
from urllib.parse import quote, urlsplit

from pydantic import (
    AfterValidator,
    AliasPath,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)


class GithubError(Exception):
    """A call has failed.

    The text is short and safe to show: it quotes nothing of the answer.
    """

    @property
    def reason_for_log(self) -> str:
        """Return the reason for a log, with the class of the error."""
        return f"{type(self).__name__}: {self}"


class NotVisible(GithubError):
    """The pull request is missing or may not be read.

    The status is 404, 410, 451, or 403 in most cases.
    """


class RefusedToken(GithubError):
    """The token is unknown or has expired (401)."""


class Limited(GithubError):
    """There were too many calls.

    ``until``: when to call again, aware and in UTC; None if GitHub sends no time.
    """

    def __init__(self, text: str, until: datetime | None) -> None:
        super().__init__(text)
        self.until = until


class Paused(Limited):
    """No call was made, because GitHub's rate limit still lasts."""


class GithubUnavailable(GithubError):
    """There is no usable answer.

    A time-out, a broken connection, a redirect to another host, a 5xx, or an unreadable body.
    """


MAX_TEXT_LENGTH = 300
"""Upper limit for a title, a branch and an ETag, in characters.

GitHub's titles have at most 256.
"""
MAX_PATH_LENGTH = 4_096
"""Upper limit for a file's path, in characters. The rest is left out."""
_MAX_CONTENT_LENGTH = 20_000
"""Characters of a file in base64 that are read."""
MAX_COMPARED_FILES = 300
"""The most files of a comparison. Of more files GitHub leaves out the rest without a word.

https://docs.github.com/en/rest/commits/commits#compare-two-commits
"""
_NOT_STORABLE_PATTERN = re.compile("[\x00\ud800-\udfff]")
_LINK_PATTERN = re.compile(
    r"/([A-Za-z0-9_-][A-Za-z0-9._-]{0,99})/([A-Za-z0-9._-]{1,100})/pull/([1-9][0-9]{0,8})/?"
)
_REPOSITORY_PATTERN = re.compile(
    r"(?:\w+://)?(?:[^/@]*@)?(?:([\w.-]+(?::[0-9]+)?)[/:])?([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
"""A repository as its address, as git's ``git@host:owner/repo.git``, or as ``owner/repo``."""
_SHA = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_ENTERPRISE_PATH = "/api/v3"


class PullRequestState(StrEnum):
    """The state of a pull request."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class PullRequestId:
    """Which pull request of a server. ``owner``: an organisation or a person."""

    owner: str
    repo: str
    number: int

    @property
    def repository(self) -> str:
        """Return owner and repository in lower case, as GitHub compares them."""
        return f"{self.owner}/{self.repo}".lower()

    @property
    def path(self) -> str:
        """Return the path of the pull request in the API."""
        return f"/repos/{self.owner}/{self.repo}/pulls/{self.number}"

    def contents_path(self, path: str, commit: str) -> str:
        """Return the path of a file of a commit. Raises NotVisible for a path that leads elsewhere."""
        if any(step in ("", ".", "..") for step in path.split("/")):
            raise NotVisible("A file cannot have such a path")
        return (
            f"/repos/{self.owner}/{self.repo}/contents/{quote(path, errors='replace')}?ref={commit}"
        )

    def compare_path(self, base: str, head: str) -> str:
        """Return the path of the comparison of two commits.

        It has all files on each page of its commits.
        """
        return f"/repos/{self.owner}/{self.repo}/compare/{base}...{head}?per_page=1"


def site_of(api_url: str) -> str:
    """Return the host, with its port, of an API's pages.

    Raises ValueError, which does not quote the address, for one that is not an API of GitHub.
    https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
    """
    parts = urlsplit(api_url.rstrip("/"))
    host = parts.netloc.lower()
    if parts.path == _ENTERPRISE_PATH:
        return host
    if parts.path == "" and re.fullmatch(r"api\.(github\.com|[a-z0-9-]+\.ghe\.com)", host):
        return host.removeprefix("api.")
    raise ValueError(
        "must be https://api.github.com, https://HOST/api/v3 or https://api.SUBDOMAIN.ghe.com"
    )


def pull_request_of(link: str, site: str, repository: str | None = None) -> PullRequestId | None:
    """Return the pull request of a link; None for any other address.

    ``site``: the host to which the link must lead, see `site_of`.
    ``repository``: it must be of this one, given by its address or as ``owner/repo``; None for any.
    """
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    match = _LINK_PATTERN.fullmatch(parts.path)
    # A repository cannot be named with dots alone, which would lead to another path of the API.
    if match is None or parts.netloc.lower() != site or not match[2].strip("."):
        return None
    pull_request_id = PullRequestId(match[1], match[2], int(match[3]))
    if repository is None:
        return pull_request_id
    named = _REPOSITORY_PATTERN.fullmatch(repository.strip().lower())
    if named is None or named[1] not in (None, site):
        return None
    return pull_request_id if named[2] == pull_request_id.repository else None


def _join_lines(text: str) -> str:
    # Clipped first, because the time grows with the text.
    return " ".join(_NOT_STORABLE_PATTERN.sub(" ", text[:MAX_TEXT_LENGTH]).split())


def _to_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time beyond the calendar") from None


def _sha_or_none(raw: object) -> object:
    return raw if re.fullmatch(_SHA, str(raw)) else None


def _continues(status: object) -> bool:
    return status in ("ahead", "identical")


def _is_open(state: object) -> bool:
    return state == "open"


_Text = Annotated[str, AfterValidator(_join_lines)]
_Path = Annotated[str, AfterValidator(lambda path: path[:MAX_PATH_LENGTH])]
_Moment = Annotated[AwareDatetime, AfterValidator(_to_utc)]
_Count = Annotated[int, Field(ge=0, lt=2**31, strict=True)]


_Commit = Annotated[str | None, BeforeValidator(_sha_or_none)]


class PullRequestFile(BaseModel):
    """A file that a pull request changes, or that differs between two commits."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    path: Annotated[_Path, Field(alias="filename")]
    status: _Text
    additions: _Count
    deletions: _Count
    previous: Annotated[_Path | None, Field(alias="previous_filename")] = None
    """Its path before it was moved."""
    patch: str | None = None
    """None for a binary file and for too large a patch."""


class Comparison(BaseModel):
    """The files that differ between two commits, the first `MAX_COMPARED_FILES`."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    is_ahead: Annotated[bool, Field(alias="status"), BeforeValidator(_continues)]
    """Whether the second commit continues the first one."""
    files: tuple[PullRequestFile, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether GitHub has certainly left no file out."""
        return len(self.files) < MAX_COMPARED_FILES


class FileContents(BaseModel):
    """A file of a commit. GitHub sends files of up to 1 MB.

    https://docs.github.com/en/rest/repos/contents#get-repository-content
    """

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    encoding: _Text = ""
    content: str = ""

    @property
    def text(self) -> str:
        """Return the beginning of the text; "" for a file without one."""
        if self.encoding != "base64":
            return ""
        letters = "".join(self.content[:_MAX_CONTENT_LENGTH].split())
        whole = letters[: len(letters) // 4 * 4]
        try:
            return b64decode(whole).decode("utf-8-sig", "replace")
        except ValueError:
            return ""


class PullRequest(BaseModel):
    """A pull request at one moment."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    title: _Text
    is_open: Annotated[bool, Field(alias="state"), BeforeValidator(_is_open)]
    draft: Annotated[bool, BeforeValidator(bool)] = False
    additions: _Count
    """Added lines."""
    deletions: _Count
    """Removed lines."""
    changed_files: _Count
    merged_at: _Moment | None = None
    closed_at: _Moment | None = None
    merged_by: Annotated[_Text | None, Field(validation_alias=AliasPath("merged_by", "login"))] = (
        None
    )
    """A login of GitHub; None until merged, and where the account is gone."""
    branch: Annotated[_Text | None, Field(validation_alias=AliasPath("head", "ref"))] = None
    head: Annotated[_Commit, Field(validation_alias=AliasPath("head", "sha"))] = None
    """The newest commit."""
    etag: str = ""
    """For the next call."""

    @property
    def state(self) -> PullRequestState:
        """Return its state."""
        if self.is_open:
            return PullRequestState.OPEN
        return PullRequestState.MERGED if self.merged_at else PullRequestState.CLOSED

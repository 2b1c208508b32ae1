"""What was seen of a pull request, in words: its title, its size, and what has changed."""

from __future__ import annotations

from bot.messages import blocks as b
from bot.messages.numbers import counted, number
from bot.model.jobs import JobState, TrackedJob
from bot.model.pull_requests import SeenPullRequest, Size

_TITLE_LENGTH = 120
_LOGIN_LENGTH = 40


def seen_words(job: TrackedJob) -> str:
    """Return what an end says of its pull request, after a blank; "" if it was not seen since that end."""
    seen = job.pull_request
    if job.state is not JobState.PULL_REQUEST or seen is None or seen.iteration != job.iteration:
        return ""
    return f" {_facts(seen)}."


def pull_request_line(seen: SeenPullRequest) -> str:
    """Return the small line of a face about the pull request."""
    return f"{_facts(seen)} · as of {b.moment(seen.as_of)}" if seen.as_of else _facts(seen)


def by_whom(seen: SeenPullRequest) -> str:
    """Return by whom it was merged, as the end of a sentence. The login is no person of the workspace."""
    return f" by {b.quoted(seen.merged_by, _LOGIN_LENGTH)}" if seen.merged_by else ""


def _facts(seen: SeenPullRequest) -> str:
    """Return its title, how much it changes, and how much it did before."""
    before = "" if seen.before is None else f" (was {_size(seen.before)})"
    if seen.before == seen.size:
        before = ", as before"
    draft = "draft · " if seen.is_draft else ""
    return f"“{b.quoted(seen.title, _TITLE_LENGTH)}” · {draft}{_size(seen.size)}{before}"


def _size(of: Size) -> str:
    return f"+{number(of.additions)} −{number(of.deletions)} in {counted(of.files, 'file', 'files')}"

"""A pull request in words: its title, its size, and what an iteration changed."""

from __future__ import annotations

from bot.jobs.model.pull_requests import SeenPullRequest, Size
from bot.messages import blocks as b
from bot.messages.numbers import counted, number

_TITLE_LENGTH = 120
_LOGIN_LENGTH = 40


def pull_request_line(seen: SeenPullRequest) -> str:
    """Return the small line of a face about the pull request."""
    return f"{_facts(seen)} · as of {b.moment(seen.as_of)}" if seen.as_of else _facts(seen)


def by_whom(seen: SeenPullRequest) -> str:
    """Return by whom it was merged, as the end of a sentence. The login is no person of the workspace."""
    return f" by {b.quoted(seen.merged_by, _LOGIN_LENGTH)}" if seen.merged_by else ""


def _facts(seen: SeenPullRequest) -> str:
    """Return its title, and how much it changes."""
    draft = "draft · " if seen.is_draft else ""
    size = f"{lines_changed(seen.size)} in {counted(seen.size.files, 'file', 'files')}"
    return f"“{b.quoted(seen.title, _TITLE_LENGTH)}” · {draft}{size}"


def lines_changed(size: Size) -> str:
    """Return how many lines were added and removed."""
    return f"+{number(size.additions)} −{number(size.deletions)}"


def difference(seen: SeenPullRequest) -> str:
    """Return what the newest iteration changed, in lines; where that is not known, by the totals."""
    size, before = seen.made, seen.before
    if size is None and before is not None:
        size = Size(*(now - then for now, then in zip(seen.size, before, strict=True)))
        if min(size.additions, size.deletions) < 0:
            return f"{lines_changed(seen.size)} in all, {lines_changed(before)} before"
    return lines_changed(size or seen.size)


def made_nothing(seen: SeenPullRequest) -> bool:
    """Return whether the newest iteration changed nothing."""
    return seen.before == seen.size if seen.made is None else not any(seen.made)

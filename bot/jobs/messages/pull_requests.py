"""A pull request in words: its title, its size, and the changes of an iteration."""

from __future__ import annotations

from bot.jobs.model.pull_requests import SeenPullRequest, Size
from bot.messages import blocks as b
from bot.messages.numbers import counted, number

_TITLE_LENGTH = 120
_LOGIN_LENGTH = 40


def pull_request_line(pull: SeenPullRequest) -> str:
    """Return the small line of a face about the pull request."""
    return f"{_facts(pull)} · as of {b.moment(pull.as_of)}" if pull.as_of else _facts(pull)


def by_whom(pull: SeenPullRequest) -> str:
    """Return the login that merged it, as the end of a sentence. Slack does not know the login."""
    return f" by {b.quoted(pull.merged_by, _LOGIN_LENGTH)}" if pull.merged_by else ""


def _facts(pull: SeenPullRequest) -> str:
    draft = "draft · " if pull.is_draft else ""
    size = f"{lines_changed(pull.size)} in {counted(pull.size.files, 'file', 'files')}"
    return f"“{b.quoted(pull.title, _TITLE_LENGTH)}” · {draft}{size}"


def lines_changed(size: Size) -> str:
    """Return the numbers of added and removed lines."""
    return f"+{number(size.additions)} −{number(size.deletions)}"


def difference(pull: SeenPullRequest) -> str:
    """Return the newest iteration's changes, in lines; if they are unknown, by the totals."""
    size, before = pull.made, pull.before
    if size is None and before is not None:
        size = Size(*(now - then for now, then in zip(pull.size, before, strict=True)))
        if min(size.additions, size.deletions) < 0:
            return f"{lines_changed(pull.size)} in all, {lines_changed(before)} before"
    return lines_changed(size or pull.size)


def made_nothing(pull: SeenPullRequest) -> bool:
    """Return whether the newest iteration changed nothing."""
    return pull.before == pull.size if pull.made is None else not any(pull.made)

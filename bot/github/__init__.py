"""A typed client of GitHub for pull requests: their address, state, size and files.

It imports nothing else of this project and can be used alone::

    async with GithubClient(token=SecretStr(token)) as github:
        pull_request_id = github.pull_request_of("https://github.com/acme/docs/pull/7")
        pull_request = await github.pull_request(pull_request_id)
        print(pull_request.title, pull_request.state)

Every failure is a `GithubError`. Its class decides how the caller handles it:

============== =====================================================================================
`NotVisible`   there is no such pull request, or it may not be seen; asking again soon is of no use
`RefusedToken` the token is unknown or has expired (401)
`Limited`      too many calls; ``until``: the time of the next permitted one
`Unavailable`  no usable answer; asking again later may help
============== =====================================================================================
"""

from __future__ import annotations

from bot.github.client import API_URL, GithubClient
from bot.github.models import (
    Comparison,
    GithubError,
    GithubUnavailable,
    Limited,
    NotVisible,
    Paused,
    PullRequest,
    PullRequestFile,
    PullRequestId,
    PullRequestState,
    RefusedToken,
    pull_request_of,
    site_of,
)

__all__ = [
    "API_URL",
    "Comparison",
    "GithubClient",
    "GithubError",
    "GithubUnavailable",
    "Limited",
    "NotVisible",
    "Paused",
    "PullRequest",
    "PullRequestFile",
    "PullRequestId",
    "PullRequestState",
    "RefusedToken",
    "pull_request_of",
    "site_of",
]

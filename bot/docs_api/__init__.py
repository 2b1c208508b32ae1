"""A typed client of the documentation agent's service.

It covers agent jobs, previews, readers, content gaps, and answers from the docs.

It imports nothing else of this project and can be used alone::

    async with DocsClient(base_url="https://api.example.com", api_key=SecretStr(key)) as docs:
        job = await docs.create_job("my-project", "Add a quickstart for the Python SDK")
        while (job := await docs.get_job("my-project", job.id)).is_running:
            await asyncio.sleep(30)
        print(job.status, job.pr_link)

Every failure is a `DocsApiError`. Its class decides how the caller handles it:

=================== ================================================================================
`InvalidArgument`   an argument is wrong; nothing was sent (also a `ValueError`)
`Unavailable`       no usable response; `sent`: whether the request may have been carried out
`NotConfigured`     `DocsClients` has no client for the project; nothing was sent
`RateLimited`       too many requests (429); `retry_after_seconds` if the response has it
`Rejected`          the service refuses this request (400 and similar); `text` is its reason
`Unauthorized`      the key is unknown or has expired (401)
`Forbidden`         the key may not do this, or not from this address (403)
`NotFound`          the service does not know the job or the build (404)
=================== ================================================================================

The client does not retry, because the service has no idempotency keys: a prompt sent twice makes
two jobs. It sends the key to the configured address only. No error, repr or log contains the key or
a prompt.
"""

from __future__ import annotations

from bot.docs_api.client import DocsClient, DocsClients
from bot.docs_api.discovery import DiscoveryClient
from bot.docs_api.errors import (
    DocsApiError,
    Forbidden,
    InvalidArgument,
    NotConfigured,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.docs_api.models import (
    AssistantPage,
    AssistantReply,
    Build,
    BuildStatus,
    CitedPage,
    Feedback,
    FeedbackByPage,
    FeedbackPage,
    Job,
    JobSource,
    JobStatus,
    PageFeedbackCounts,
    PageViews,
    PageVisitors,
    Passage,
    PreviewBuild,
    SearchCount,
    SearchesPage,
    Turn,
    Views,
    ViewsPage,
    Visitors,
    VisitorsPage,
)

__all__ = [
    "AssistantPage",
    "AssistantReply",
    "Build",
    "BuildStatus",
    "CitedPage",
    "DiscoveryClient",
    "DocsApiError",
    "DocsClient",
    "DocsClients",
    "Feedback",
    "FeedbackByPage",
    "FeedbackPage",
    "Forbidden",
    "InvalidArgument",
    "Job",
    "JobSource",
    "JobStatus",
    "NotConfigured",
    "NotFound",
    "PageFeedbackCounts",
    "PageViews",
    "PageVisitors",
    "Passage",
    "PreviewBuild",
    "RateLimited",
    "Rejected",
    "SearchCount",
    "SearchesPage",
    "Turn",
    "Unauthorized",
    "Unavailable",
    "Views",
    "ViewsPage",
    "Visitors",
    "VisitorsPage",
]

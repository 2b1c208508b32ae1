"""The client of Slack's Web API, the identity of its token, and the meaning of error codes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeVar

import aiohttp
import structlog
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine import back_off_seconds
from bot.ids import Refusal, UserId
from bot.logs import mask
from bot.ports import (
    Method,
    SlackError,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    SlackUnreachable,
)

log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")
_THROTTLED_CODES = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_UNCLEAR_CODES = frozenset(
    {"fatal_error", "internal_error", "service_unavailable", "request_timeout"}
)
"""Codes after which the call may have been carried out in part.

https://docs.slack.dev/reference/methods/chat.postMessage
"""
_CODES_BY_REFUSAL: dict[Refusal, tuple[str, ...]] = {
    Refusal.BLOCKS: (
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_blocks_too_many",
        "block_mismatch",
        # For charts and tables in workspaces without them.
        "feature_disabled",
    ),
    Refusal.TOKEN: (
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
    ),
    Refusal.SCOPE: ("missing_scope",),
    Refusal.NOT_A_MEMBER: ("not_in_channel",),
    Refusal.NOT_VISIBLE: ("channel_not_found",),
    Refusal.ARCHIVED: ("is_archived",),
    Refusal.THREAD_GONE: ("thread_not_found",),
    Refusal.RESTRICTED: (
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
    ),
    Refusal.PASSING: ("team_added_to_org", "org_login_required", "upload_broken_off"),
}
BLOCK_CODES = _CODES_BY_REFUSAL[Refusal.BLOCKS]
REFUSAL_BY_CODE = {code: meaning for meaning, codes in _CODES_BY_REFUSAL.items() for code in codes}
"""The meaning of each refusal code of Slack. Any other code is PERMANENT.

https://docs.slack.dev/reference/methods/chat.postMessage
https://docs.slack.dev/reference/methods/chat.update
"""
REFUSED_TOKENS = {
    "invalid_auth": (
        "Slack does not know the token",
        "Copy {token} again from the app's settings.",
    ),
    "token_revoked": ("the token was revoked", "Install the app again, and copy the new {token}."),
    "token_expired": ("the token has expired", "Install the app again, and copy the new {token}."),
    "account_inactive": (
        "the app was removed from the workspace",
        "Install the app again; copy {token}.",
    ),
    "not_allowed_token_type": ("the token is of another kind", "Look at {token}: is it swapped?"),
    "missing_scope": (
        "the token lacks a scope",
        "Look at {token}: an app token needs connections:write.",
    ),
}
"""The meaning of each refusal of a token, with advice for the operator.

https://docs.slack.dev/reference/methods/auth.test
"""
UNKNOWN_ID_CODES = frozenset({"user_not_found", "no_such_subteam", "channel_not_found"})
"""The error codes of Slack for an unknown id."""
GONE_CODES = frozenset({"message_not_found", "file_not_found", "file_deleted", "no_reaction"})
"""The error codes of Slack for the removal of something that is gone already."""
NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
)
"""Errors after which Slack has certainly not received the request.

A proxy refuses a connection before the request is sent.
"""
_DEFAULT_WAIT_SECONDS = 5.0
_MIN_WAIT_SECONDS = 0.5
_MAX_WAIT_SECONDS = 600.0
_NETWORK_ERRORS = (SlackClientError, aiohttp.ClientError, TimeoutError, ValueError)
"""The errors of Slack's library, and of a connection. A `SlackApiError` is a `SlackClientError`."""


async def answered(call: Awaitable[Answer]) -> Answer:
    """Return the answer of a call. Raises a SlackError.

    No cause is chained, because the library's errors quote the request.
    """
    try:
        return await call
    except _NETWORK_ERRORS as error:
        failed = _to_slack_error(error)
    raise failed


@asynccontextmanager
async def translating_errors() -> AsyncIterator[None]:
    """Translate the errors of calls in a block into SlackErrors, as ``answered`` does."""
    failed: SlackError | None = None
    try:
        yield
    except _NETWORK_ERRORS as error:
        failed = _to_slack_error(error)
    if failed is not None:
        raise failed from None


async def pages(
    call: Callable[..., Awaitable[Any]], max_pages: int, **options: Any
) -> AsyncIterator[tuple[Any, bool]]:
    """Yield the pages of a method's results, each with whether more follow.

    https://docs.slack.dev/apis/web-api/pagination
    """
    for _ in range(max_pages):
        page = await answered(call(**options))
        options["cursor"] = (page.get("response_metadata") or {}).get("next_cursor")
        yield page, bool(options["cursor"])
        if not options["cursor"]:
            return


def _to_slack_error(error: Exception) -> SlackError:
    if isinstance(error, NEVER_SENT):
        # The text quotes the proxy's address, perhaps with its password.
        return SlackUnreachable(mask(f"{type(error).__name__}: {error}"))
    if not isinstance(error, SlackApiError):
        return SlackUnclear(type(error).__name__)
    answer: Any = error.response
    status: int = getattr(answer, "status_code", 0) or getattr(answer, "status", 200)
    data: Any = getattr(answer, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == 429 or code in _THROTTLED_CODES:
        headers = getattr(answer, "headers", {}) or {}
        return SlackThrottled(wait_seconds(headers.get("Retry-After")), _find_method(answer))
    if status >= 500 or code in _UNCLEAR_CODES or not code:
        return SlackUnclear(f"HTTP {status} {code}".strip())
    details = [*((data.get("response_metadata") or {}).get("messages") or ())]
    if data.get("needed"):
        details.append(f"needed: {data['needed']}")
    return to_refusal(code[:100], tuple(str(detail)[:300] for detail in details))


def _find_method(answer: Any) -> Method | None:
    """Return the method that was called; None for a method that no delivery calls."""
    name = str(getattr(answer, "api_url", "")).rpartition("/")[2]
    return Method(name) if name in set(Method) else None


def read_response_url_error(status: int, retry_after: str | None, answer: str) -> SlackError | None:
    """Return the error of a post to a response URL; None if Slack took the message.

    Slack responds with a code such as "expired_url", as plain text or JSON and with any status.
    """
    if status == 200 and '"ok":false' not in answer.replace(" ", ""):
        return None
    if status == 429 or any(code in answer for code in _THROTTLED_CODES):
        return SlackThrottled(wait_seconds(retry_after))
    if status >= 500 or any(code in answer for code in _UNCLEAR_CODES):
        return SlackUnclear(f"HTTP {status}")
    for code in BLOCK_CODES:
        if code in answer:
            return to_refusal(code)
    # Any other code means that the URL cannot be used again.
    return to_refusal("response_url_expired")


def to_refusal(code: str, details: tuple[str, ...] = ()) -> SlackRefused:
    """Return the refusal for a code of Slack's or of this package."""
    return SlackRefused(REFUSAL_BY_CODE.get(code, Refusal.PERMANENT), code, details)


def wait_seconds(header: str | None) -> float:
    """Return the seconds of a ``Retry-After`` header, from 0.5 to 600; 5 without a number."""
    try:
        asked = float(header or _DEFAULT_WAIT_SECONDS)
    except ValueError:
        return _DEFAULT_WAIT_SECONDS
    if isnan(asked):
        return _DEFAULT_WAIT_SECONDS
    return min(max(asked, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS)


SlackClient = AsyncWebClient
"""Slack's own class, under a name for the layers above, which do not import Slack's libraries."""

_MAX_PAUSE_SECONDS = 30.0
"""The longest pause between two calls of a start, unless Slack asks for a longer one."""
_TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=5)


@dataclass(frozen=True, slots=True)
class Identity:
    """The bot and workspace of the token (https://docs.slack.dev/reference/methods/auth.test)."""

    bot_user: UserId
    bot_name: str
    team_id: str
    workspace_url: str
    enterprise_id: str | None


def open_session(proxy: str | None = None) -> aiohttp.ClientSession:
    """Return an HTTP session with time-outs, without the proxies of the environment."""
    return aiohttp.ClientSession(timeout=_TIMEOUT, trust_env=False, proxy=proxy)


def make_web_client(
    token: SecretStr,
    api_url: str,
    session: aiohttp.ClientSession,
    proxy: str | None = None,
    kind: type[AsyncWebClient] = AsyncWebClient,
) -> AsyncWebClient:
    """Return Slack's client without its retries.

    After a broken connection a retry could post twice. ``kind``: the class of the client.
    """
    client = kind(
        token=token.get_secret_value(), base_url=api_url, session=session, retry_handlers=[]
    )
    # The library uses proxies of the environment, for local addresses too, and ignores NO_PROXY.
    client.proxy = proxy
    return client


async def retry_until_answered(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Repeat a call until Slack answers, with growing pauses.

    A start needs Slack, and an operator cannot mend a fault of Slack. Raises SlackRefused for a
    permanent refusal.
    """
    tries = 0
    while True:
        tries += 1
        seconds = back_off_seconds(tries, chance=1.0, cap=_MAX_PAUSE_SECONDS)
        try:
            return await ask()
        except SlackError as error:
            if isinstance(error, SlackRefused) and error.meaning is not Refusal.PASSING:
                raise
            if isinstance(error, SlackThrottled):
                seconds = max(seconds, error.retry_after_seconds)
            log.warning("start_waits_for_slack", reason=str(error), seconds=seconds)
        await asyncio.sleep(seconds)


async def identify(client: AsyncWebClient) -> Identity:
    """Return the identity of the client's token. Raises SlackRefused for a wrong token."""
    answer = await answered(client.auth_test())
    return Identity(
        bot_user=UserId(str(answer.get("user_id") or "")),
        bot_name=str(answer.get("user") or "docs-agent"),
        team_id=str(answer.get("team_id") or ""),
        workspace_url=str(answer.get("url") or ""),
        enterprise_id=answer.get("enterprise_id"),
    )

"""Translates Slack's error codes and its library's exceptions into the errors of ``bot.work.ports``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.model.pace import Method
from bot.model.refusal import Refusal
from bot.work.ports import SlackError, SlackRefused, SlackThrottled, SlackUnclear, SlackUnreachable

_THROTTLED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_UNCLEAR = frozenset({"fatal_error", "internal_error", "service_unavailable", "request_timeout"})
"""Codes after which the call may have been carried out in part.

https://docs.slack.dev/reference/methods/chat.postMessage
"""
_CODES: dict[Refusal, tuple[str, ...]] = {
    Refusal.BLOCKS: (
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_blocks_too_many",
        "block_mismatch",
        # Charts and tables, in workspaces that do not have them.
        "feature_disabled",
    ),
    Refusal.TOKEN: ("invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"),
    Refusal.SCOPE: ("missing_scope",),
    Refusal.NOT_A_MEMBER: ("not_in_channel",),
    Refusal.NOT_VISIBLE: ("channel_not_found",),
    Refusal.ARCHIVED: ("is_archived",),
    Refusal.RESTRICTED: (
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
    ),
    Refusal.PASSING: ("team_added_to_org",),
}
BLOCK_CODES = _CODES[Refusal.BLOCKS]
MEANINGS = {code: meaning for meaning, codes in _CODES.items() for code in codes}
"""The meaning of each refusal code of Slack; any other code is PERMANENT.

https://docs.slack.dev/reference/methods/chat.postMessage and https://docs.slack.dev/reference/methods/chat.update
list them.
"""
REFUSED_TOKENS = {
    "invalid_auth": ("Slack does not know the token", "Copy {token} again from the app's settings."),
    "token_revoked": ("the token was revoked", "Install the app again, and copy the new {token}."),
    "token_expired": ("the token has expired", "Install the app again, and copy the new {token}."),
    "account_inactive": ("the app was removed from the workspace", "Install the app again; copy {token}."),
    "not_allowed_token_type": ("the token is of another kind", "Look at {token}: is it swapped?"),
    "missing_scope": ("the token lacks a scope", "Look at {token}: an app token needs connections:write."),
}
"""What each refusal of a token means, and what to do.

https://docs.slack.dev/reference/methods/auth.test
"""
UNKNOWN_ID_CODES = frozenset({"user_not_found", "no_such_subteam", "channel_not_found"})
"""The codes with which Slack says that it does not know an id."""
NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError)
"""Errors after which Slack has certainly not seen the request. A proxy refuses before anything is sent."""
_DEFAULT_WAIT_SECONDS = 5.0
_MOST_WAIT_SECONDS = 3_600.0


@asynccontextmanager
async def translated() -> AsyncIterator[None]:
    """Translate errors of calls in the block into SlackErrors.

    No cause is chained, because the library's errors quote what was sent.
    """
    failed: SlackError | None = None
    try:
        yield
    except SlackApiError as error:
        failed = _from_answer(error)
    except NEVER_SENT as error:
        failed = SlackUnreachable(type(error).__name__)
    except (TimeoutError, aiohttp.ClientError, SlackClientError, ValueError) as error:
        failed = SlackUnclear(type(error).__name__)
    if failed is not None:
        raise failed from None


def _from_answer(error: SlackApiError) -> SlackError:
    answer: Any = error.response
    status: int = getattr(answer, "status_code", 0) or getattr(answer, "status", 200)
    headers = getattr(error.response, "headers", {}) or {}
    data: Any = getattr(error.response, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == 429 or code in _THROTTLED:
        called = str(getattr(answer, "api_url", "")).rpartition("/")[2]
        method = Method(called) if called in set(Method) else None
        return SlackThrottled(wait_seconds(headers.get("Retry-After")), method)
    if status >= 500 or code in _UNCLEAR or not code:
        return SlackUnclear(f"HTTP {status} {code}".strip())
    details = (data.get("response_metadata") or {}).get("messages") or ()
    return refused(code[:100], tuple(str(each)[:300] for each in details))


def of_response_url(status: int, retry_after: str | None, said: str) -> SlackError | None:
    """Return the error in the response of a response URL; None when the message was taken.

    Slack responds with a code such as "expired_url", as plain text or JSON and with any status.
    """
    if status == 200 and '"ok":false' not in said.replace(" ", ""):
        return None
    if status == 429 or any(code in said for code in _THROTTLED):
        return SlackThrottled(wait_seconds(retry_after))
    if status >= 500 or any(code in said for code in _UNCLEAR):
        return SlackUnclear(f"HTTP {status}")
    # Refused blocks can be left out by the caller; any other code means that the URL is unusable.
    return refused(next((code for code in BLOCK_CODES if code in said), "response_url_expired"))


def refused(code: str, details: tuple[str, ...] = ()) -> SlackRefused:
    """Return the refusal with this code (Slack's or this package's own) and the code's meaning."""
    return SlackRefused(MEANINGS.get(code, Refusal.PERMANENT), code, details)


def wait_seconds(header: str | None) -> float:
    """Return a ``Retry-After`` header in seconds, from 0.5 to an hour; 5 when it is missing or no number."""
    try:
        asked = float(header or _DEFAULT_WAIT_SECONDS)
    except ValueError:
        asked = _DEFAULT_WAIT_SECONDS
    return min(max(asked, 0.5), _MOST_WAIT_SECONDS) if asked == asked else _DEFAULT_WAIT_SECONDS

"""The doctor's look at Slack, through the client that the bot uses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from bot.cli.findings import Finding, network_trouble
from bot.settings import Settings
from bot.slack.client import SlackClient, open_session, web_client
from bot.slack.errors import translated
from bot.slack.token_faults import TOKEN_FAULTS, UNKNOWN_ID_CODES, TokenFault
from bot.work.ports import SlackError, SlackRefused, SlackThrottled

SCOPES = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "channels:join",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "reactions:write",
        "usergroups:read",
        "users:read",
    }
)
"""The scopes in ``manifest.yml``; a test compares the two."""
_MOST_LISTED = 30
"""Maximum of ids that are checked one by one: Slack allows about fifty calls a minute."""
_MOST_SKEW_SECONDS = 60.0
"""Allowed difference from Slack's clock. Slack refuses signatures that are five minutes old."""
_WRONG: Mapping[TokenFault | None, tuple[str, str]] = {
    TokenFault.UNKNOWN: ("Slack does not know the token", "Copy {token} again from the app's settings."),
    TokenFault.REVOKED: ("the token was revoked", "Install the app again, and copy the new {token}."),
    TokenFault.EXPIRED: ("the token has expired", "Install the app again, and copy the new {token}."),
    TokenFault.APP_REMOVED: (
        "the app was removed from the workspace",
        "Install the app again; copy {token}.",
    ),
    TokenFault.WRONG_KIND: ("the token is of another kind", "Look at {token}: is it swapped?"),
    TokenFault.SCOPE_MISSING: (
        "the token lacks a scope",
        "Look at {token}: an app token needs connections:write.",
    ),
    None: ("Slack refuses", "Look at {token}."),
}

_Value = TypeVar("_Value")


async def look_at_slack(settings: Settings, channels: Sequence[str], seconds: float) -> list[Finding]:
    """Look at the tokens, the scopes, the clock, the lists of ids, and the channels of subscriptions.

    A call may take ``seconds``. Nothing is said about people and channels when the token is bad.
    """
    proxy = settings.proxy_for(settings.slack_api_url)
    async with open_session(proxy) as session:
        client = web_client(settings.slack_bot_token, settings.slack_api_url, session, proxy)
        asking = _Asking(client, seconds)
        found, intake = await asyncio.gather(_token(asking), _intake(settings, asking))
        if not found[0].ok:
            return [
                *found,
                *intake,
                Finding("who may", True, "not looked at, because Slack could not be asked"),
            ]
        return [*found, *intake, await _who_may(settings, asking), *await _channels(asking, channels)]


class _Asking:
    """Slack's client with a limit of time and the bot's errors."""

    def __init__(self, client: SlackClient, seconds: float) -> None:
        self.client = client
        self._seconds = seconds

    async def call(self, answer: Awaitable[_Value]) -> _Value:
        """Return the answer. Raises a SlackError."""
        async with translated(), asyncio.timeout(self._seconds):
            try:
                return await answer
            except AttributeError:
                # Slack's library expects JSON and stumbles over a plain text.
                raise ValueError("no JSON") from None


async def _token(asking: _Asking) -> list[Finding]:
    try:
        answer = await asking.call(asking.client.auth_test())
    except SlackThrottled:
        return [Finding("slack", True, "asks to wait, so it knows the token")]
    except SlackError as error:
        return [_failed("slack", error, "SLACK_BOT_TOKEN")]
    found = [Finding("slack", True, f"{answer.get('user')} in {answer.get('team')}")]
    return [*found, *_scopes(answer.headers), *_clock(answer.headers)]


def _failed(name: str, error: SlackError, token: str) -> Finding:
    if isinstance(error, SlackRefused):
        cause, advice = _WRONG[TOKEN_FAULTS.get(error.code)]
        return Finding(name, False, f"{cause} ({error.code})", advice.format(token=token))
    said = str(error)
    if said in ("ValueError", "HTTP 200"):
        said = "a web page"
    return network_trouble(name, said, "SLACK_API_URL")


def _header(headers: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in headers.items() if key.lower() == name), None)


def _scopes(headers: Mapping[str, str]) -> list[Finding]:
    granted = _header(headers, "x-oauth-scopes")
    if granted is None:
        return []
    missing = sorted(SCOPES - {scope.strip() for scope in granted.split(",")})
    if not missing:
        return [Finding("scopes", True, "all there")]
    return [Finding("scopes", False, f"missing: {', '.join(missing)}", "Update the manifest and reinstall.")]


def _clock(headers: Mapping[str, str]) -> list[Finding]:
    try:
        slacks_at = parsedate_to_datetime(_header(headers, "date") or "")
    except ValueError:
        return []
    if slacks_at.tzinfo is None:
        slacks_at = slacks_at.replace(tzinfo=UTC)
    skew_seconds = abs((datetime.now(UTC) - slacks_at).total_seconds())
    seen, ok = f"{skew_seconds:.0f} s off Slack's", skew_seconds < _MOST_SKEW_SECONDS
    advice = "Let the machine's clock be set from the network; Slack refuses what is five minutes off."
    return [Finding("clock", ok, seen, "" if ok else advice)]


async def _intake(settings: Settings, asking: _Asking) -> list[Finding]:
    if settings.slack_app_token is None:
        return [Finding("intake", True, f"HTTP on {settings.host}, port {settings.port}, /slack/events")]
    token = settings.slack_app_token.get_secret_value()
    try:
        await asking.call(asking.client.apps_connections_open(app_token=token))
    except SlackThrottled:
        return [Finding("intake", True, "asks to wait, so it knows the token")]
    except SlackError as error:
        return [_failed("intake", error, "SLACK_APP_TOKEN")]
    return [Finding("intake", True, "Socket Mode")]


async def _who_may(settings: Settings, asking: _Asking) -> Finding:
    """Check that Slack knows all ids in ADMINS and ALLOWED_…."""
    client = asking.client
    listed: list[tuple[str, Callable[[], Awaitable[object]]]] = [
        *((each, lambda each=each: client.users_info(user=each)) for each in _people(settings)),
        *(
            (each, lambda each=each: client.usergroups_users_list(usergroup=each))
            for each in sorted(settings.allowed_user_groups)
        ),
        *(
            (each, lambda each=each: client.conversations_info(channel=each))
            for each in sorted(settings.allowed_channels)
        ),
    ]
    unknown: list[str] = []
    for each, ask in listed[:_MOST_LISTED]:
        try:
            await asking.call(ask())
        except SlackRefused as refused:
            if refused.code not in UNKNOWN_ID_CODES:
                return Finding("who may", False, f"not told ({refused.code})", "Look at the scopes.")
            unknown.append(each)
        except SlackError as error:
            return network_trouble("who may", str(error), "SLACK_API_URL")
    if unknown:
        advice = "Look at ADMINS and ALLOWED_…: ids, not names; private channels only after an invitation."
        return Finding("who may", False, f"unknown to Slack: {', '.join(unknown)}", advice)
    if not settings.admins:
        return Finding("who may", True, "no ADMINS: nobody is told when the docs service refuses the key")
    return Finding("who may", True, f"{len(listed)} ids, all known to Slack")


def _people(settings: Settings) -> list[str]:
    return sorted(settings.admins | settings.allowed_users)


async def _channels(asking: _Asking, channels: Sequence[str]) -> list[Finding]:
    """Check that the bot can still post the digests of its subscriptions."""
    bad: list[str] = []
    for channel in channels:
        try:
            answer = await asking.call(asking.client.conversations_info(channel=channel))
        except SlackRefused as refused:
            bad.append(f"{channel} ({refused.code})")
            continue
        except SlackError as error:
            return [network_trouble("channels", str(error), "SLACK_API_URL")]
        about: Mapping[str, object] = answer.get("channel") or {}
        if about.get("is_archived"):
            bad.append(f"{channel} (archived)")
        elif about.get("is_member") is False:
            bad.append(f"{channel} (the bot has left)")
    if not channels:
        return []
    if not bad:
        return [Finding("channels", True, f"{len(channels)} with a subscription, all open to the bot")]
    advice = "Invite the bot there again, or end the subscription: /docs-visitors unsubscribe."
    return [Finding("channels", False, f"have a subscription and no bot: {', '.join(bad)}", advice)]

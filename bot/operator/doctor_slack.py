"""The doctor's checks of Slack, through the client that the bot uses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import islice
from typing import TypeVar

from bot.health.checks import Finding, network_trouble, token_finding
from bot.ports import SlackError, SlackRefused
from bot.settings import Settings
from bot.slack.client import (
    UNKNOWN_ID_CODES,
    SlackClient,
    make_web_client,
    open_session,
    translating_errors,
)
from bot.slack.uses import losses_without, scopes_of

_MAX_IDS = 30
"""Of ids that are checked one by one: Slack allows about fifty calls a minute."""
_MAX_SKEW_SECONDS = 60.0
"""Of this clock from Slack's. Slack refuses signatures that are five minutes old."""

_Value = TypeVar("_Value")


async def check_slack(settings: Settings, channels: Sequence[str], seconds: float) -> list[Finding]:
    """Check the tokens, the scopes, the clock, the lists of ids, and the channels of subscriptions.

    A call may take ``seconds``. With a bad token, people and channels are not checked.
    """
    proxy = settings.proxy_for(settings.slack_api_url)
    async with open_session(proxy) as session:
        client = make_web_client(settings.slack_bot_token, settings.slack_api_url, session, proxy)
        asking = _SlackCaller(client, seconds)
        token, intake = await asyncio.gather(
            _check_bot_token(asking), _check_intake(settings, asking)
        )
        findings = [*token, intake]
        if not token[0].ok:
            text = "not looked at, because Slack could not be asked"
            return [*findings, Finding("who may", True, text)]
        findings.append(await _check_people(settings, asking))
        findings += await _check_channels(asking, channels)
        return findings


class _SlackCaller:
    """Slack's client with a limit of time and the bot's errors."""

    def __init__(self, client: SlackClient, seconds: float) -> None:
        self.client = client
        self._seconds = seconds

    async def call(self, answer: Awaitable[_Value]) -> _Value:
        """Return the answer. Raises a SlackError."""
        async with translating_errors(), asyncio.timeout(self._seconds):
            try:
                return await answer
            except AttributeError:
                # Slack's library expects JSON and stumbles over a plain text.
                raise ValueError("no JSON") from None


async def _check_bot_token(asking: _SlackCaller) -> list[Finding]:
    """Check the bot's token; then, by the answer's headers, its scopes and this machine's clock."""
    headers: dict[str, str] = {}

    async def ask() -> str:
        answer = await asking.call(asking.client.auth_test())
        headers.update((name.lower(), value) for name, value in answer.headers.items())
        return f"{answer.get('user')} in {answer.get('team')}"

    finding = await token_finding("slack", "SLACK_BOT_TOKEN", ask)
    return [finding, *_check_scopes(headers), *_check_clock(headers)]


_EVENTS_FINDING = Finding(
    "events",
    True,
    "not checked, since Slack lists them only on its page of the app: "
    "paste the manifest again after an upgrade",
)
"""The bot's token has no call for the events of its app.

https://docs.slack.dev/reference/methods
"""


def _check_scopes(headers: Mapping[str, str]) -> list[Finding]:
    if "x-oauth-scopes" not in headers:
        return []
    granted = {scope.strip() for scope in headers["x-oauth-scopes"].split(",")}
    missing = sorted(scopes_of() - granted)
    if not missing:
        return [Finding("scopes", True, "all there"), _EVENTS_FINDING]
    text = f"missing: {', '.join(missing)}"
    losses = dict.fromkeys(loss for scope in missing for loss in losses_without(scope))
    advice = f"Update the manifest and reinstall. Until then: {' '.join(losses)}"
    return [Finding("scopes", False, text, advice)]


def _check_clock(headers: Mapping[str, str]) -> list[Finding]:
    try:
        slacks_at = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return []
    if slacks_at.tzinfo is None:
        slacks_at = slacks_at.replace(tzinfo=UTC)
    skew_seconds = abs((datetime.now(UTC) - slacks_at).total_seconds())
    text = f"{skew_seconds:.0f} s off Slack's"
    if skew_seconds < _MAX_SKEW_SECONDS:
        return [Finding("clock", True, text)]
    advice = (
        "Let the machine's clock be set from the network; Slack refuses what is five minutes off."
    )
    return [Finding("clock", False, text, advice)]


async def _check_intake(settings: Settings, asking: _SlackCaller) -> Finding:
    """Check the app-level token, which Socket Mode needs."""
    token = settings.slack_app_token
    if token is None:
        text = f"HTTP on {settings.host}, port {settings.port}, /slack/events"
        return Finding("intake", True, text)

    async def ask() -> str:
        await asking.call(asking.client.apps_connections_open(app_token=token.get_secret_value()))
        return "Socket Mode"

    return await token_finding("intake", "SLACK_APP_TOKEN", ask)


async def _check_people(settings: Settings, asking: _SlackCaller) -> Finding:
    """Check that Slack finds all ids in ADMINS and ALLOWED_…."""
    client = asking.client
    ids: dict[str, Callable[[], Awaitable[object]]] = {}
    for user in sorted(settings.admins | settings.allowed_users):
        ids[user] = partial(client.users_info, user=user)
    for group in sorted(settings.allowed_user_groups):
        ids[group] = partial(client.usergroups_users_list, usergroup=group)
    for channel in sorted(settings.allowed_channels):
        ids[channel] = partial(client.conversations_info, channel=channel)
    unknown: list[str] = []
    for name, ask in islice(ids.items(), _MAX_IDS):
        try:
            await asking.call(ask())
        except SlackRefused as refused:
            if refused.code not in UNKNOWN_ID_CODES:
                text = f"not told ({refused.code})"
                return Finding("who may", False, text, "Look at the scopes.")
            unknown.append(name)
        except SlackError as error:
            return network_trouble("who may", str(error), "SLACK_API_URL")
    if unknown:
        advice = (
            "Look at ADMINS and ALLOWED_…: "
            "ids, not names; private channels only after an invitation."
        )
        return Finding("who may", False, f"unknown to Slack: {', '.join(unknown)}", advice)
    if not settings.admins:
        text = "no ADMINS: nobody is told when the docs service refuses the key"
        return Finding("who may", True, text)
    return Finding("who may", True, f"{len(ids)} ids, all known to Slack")


async def _check_channels(asking: _SlackCaller, channels: Sequence[str]) -> list[Finding]:
    """Check that the bot can still post the digests of its subscriptions."""
    if not channels:
        return []
    closed: list[str] = []
    for channel in channels:
        try:
            answer = await asking.call(asking.client.conversations_info(channel=channel))
        except SlackRefused as refused:
            closed.append(f"{channel} ({refused.code})")
            continue
        except SlackError as error:
            return [network_trouble("channels", str(error), "SLACK_API_URL")]
        facts: Mapping[str, object] = answer.get("channel") or {}
        if facts.get("is_archived"):
            closed.append(f"{channel} (archived)")
        elif facts.get("is_member") is False:
            closed.append(f"{channel} (the bot has left)")
    if closed:
        text = f"have a subscription and no bot: {', '.join(closed)}"
        advice = "Invite the bot there again, or end the subscription: /docs-visitors unsubscribe."
        return [Finding("channels", False, text, advice)]
    text = f"{len(channels)} with a subscription, all open to the bot"
    return [Finding("channels", True, text)]

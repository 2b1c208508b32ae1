"""``docs-bot doctor``: checks an installation and explains what is wrong with it."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urljoin

import httpx
from sqlalchemy.exc import SQLAlchemyError

from bot.docs_api import DocsApiError, DocsClient, Forbidden, NotFound, RateLimited, Unauthorized, Unavailable
from bot.settings import Settings
from bot.store.database import Database, UnusableFile, exposed, is_exposed, sqlite_file
from bot.store.migrate import current, newest

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

_UNREACHED = "Look at SLACK_API_URL and the network."
_LIMIT_SECONDS = 15.0
_ENV_FILE = Path(".env")
_MOST_LISTED = 30
"""Maximum of ids that are checked one by one: Slack allows about fifty calls a minute."""
_MOST_SOCKETS = 10
"""https://docs.slack.dev/apis/events-api/using-socket-mode"""
_SOCKETS = re.compile(r"^docs_bot_sockets ([0-9.]+)$", re.MULTILINE)
_MOST_SKEW_SECONDS = 60.0
"""Allowed difference from Slack's clock. Slack refuses signatures that are five minutes old."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: whether it passed, what was found, and what to do if it failed."""

    name: str
    ok: bool
    seen: str
    advice: str = ""


_Check = Callable[[Settings], Awaitable[list[Finding]]]


async def diagnose(settings: Settings) -> list[Finding]:
    """Run all checks concurrently and return their findings. Uses nothing of the docs service's job quota."""
    checks: list[_Check] = [_settings, _files, _database, _slack, _intake, _who_may, _docs_service]

    async def one(check: _Check) -> list[Finding]:
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                return await check(settings)
        except TimeoutError:
            return [
                Finding(_name(check), False, f"no answer within {_LIMIT_SECONDS:g} s", "Look at the network.")
            ]
        except Exception as error:
            # A failing check must not hide the others' findings. Error texts can quote settings.
            return [Finding(_name(check), False, f"could not be looked at ({type(error).__name__})")]

    found = await asyncio.gather(*(one(check) for check in checks))
    return [finding for group in found for finding in group]


def _name(check: _Check) -> str:
    return getattr(check, "__name__", "check").strip("_").replace("_", " ")


async def _settings(settings: Settings) -> list[Finding]:
    found = [
        Finding("settings", False, line, "docs/settings.md says what each setting means.")
        for line in settings.warnings()
    ]
    return found or [Finding("settings", True, "complete")]


async def _files(settings: Settings) -> list[Finding]:
    """Check that other users of this machine cannot read the database and the settings."""
    found = [_open_to_others(_ENV_FILE)] if is_exposed(_ENV_FILE) else []
    file = sqlite_file(settings.sqlalchemy_url)
    if file is None:
        return found or [Finding("files", True, "no other user can read them")]
    found += [_open_to_others(each) for each in exposed(file)]
    remark = f"; others can list the folder {file.parent} (chmod 700)" if is_exposed(file.parent) else ""
    return found or [Finding("files", True, f"no other user can read them{remark}")]


def _open_to_others(file: Path) -> Finding:
    return Finding("files", False, f"other users can read {file}", f"Run: chmod 600 {shlex.quote(str(file))}")


async def _revision(url: str) -> tuple[str, str | None]:
    database = Database.open(url)
    try:
        kind = "postgresql" if database.is_postgresql else "sqlite"
        return kind, await current(database)
    finally:
        await database.close()


async def _database(settings: Settings) -> list[Finding]:
    try:
        kind, revision = await _revision(settings.sqlalchemy_url)
    except UnusableFile as error:
        return [Finding("database", False, "cannot be used", str(error))]
    except (SQLAlchemyError, OSError) as error:
        return [Finding("database", False, type(error).__name__, "Look at DATABASE_URL.")]
    if revision == newest():
        return [Finding("database", True, f"{kind}, up to date")]
    seen = f"{kind}, at revision {revision or 'none'} of {newest()}"
    if revision is not None and revision > newest():
        return [Finding("database", True, f"{seen}: a newer version of the bot has worked with it")]
    return [Finding("database", True, f"{seen}; a start brings it up to date")]


async def _call(
    settings: Settings, method: str, token: str, **arguments: str
) -> tuple[httpx.Response, dict[str, object]]:
    url = urljoin(settings.slack_api_url, method)
    # Proxies of the environment are in the settings, so that the doctor takes the way that the bot takes.
    async with httpx.AsyncClient(
        trust_env=False, follow_redirects=False, timeout=10.0, proxy=settings.proxy_for(url)
    ) as http:
        answer = await http.post(
            url,
            headers={"Authorization": f"Bearer {token}"},
            data=arguments,
        )
    try:
        body = answer.json()
    except ValueError:
        body = {}
    return answer, body if isinstance(body, dict) else {}


async def _slack(settings: Settings) -> list[Finding]:
    try:
        answer, body = await _call(settings, "auth.test", settings.slack_bot_token.get_secret_value())
    except httpx.HTTPError as error:
        return [Finding("slack", False, type(error).__name__, _UNREACHED)]
    if not body.get("ok"):
        advice = "Look at SLACK_BOT_TOKEN; perhaps install the app again."
        return [_refused("slack", answer, body, advice)]
    found = [Finding("slack", True, f"{body.get('user')} in {body.get('team')}")]
    return [*found, *_scopes(answer), *_clock(answer)]


def _refused(name: str, answer: httpx.Response, body: dict[str, object], advice: str) -> Finding:
    if "error" in body:
        return Finding(name, False, str(body["error"]), advice)
    return Finding(name, False, f"HTTP {answer.status_code}, not Slack's words", _UNREACHED)


def _scopes(answer: httpx.Response) -> list[Finding]:
    granted = answer.headers.get("x-oauth-scopes")
    if granted is None:
        return []
    missing = sorted(SCOPES - {scope.strip() for scope in granted.split(",")})
    if not missing:
        return [Finding("scopes", True, "all there")]
    return [Finding("scopes", False, f"missing: {', '.join(missing)}", "Update the manifest and reinstall.")]


def _clock(answer: httpx.Response) -> list[Finding]:
    try:
        slacks_at = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return []
    if slacks_at.tzinfo is None:
        slacks_at = slacks_at.replace(tzinfo=UTC)
    skew_seconds = abs((datetime.now(UTC) - slacks_at).total_seconds())
    advice = "Let the machine's clock be set from the network; Slack refuses what is five minutes off."
    return [Finding("clock", skew_seconds < _MOST_SKEW_SECONDS, f"{skew_seconds:.0f} s off Slack's", advice)]


async def _intake(settings: Settings) -> list[Finding]:
    if settings.slack_app_token is None:
        return [Finding("intake", True, f"HTTP on {settings.host}, port {settings.port}, /slack/events")]
    try:
        answer, body = await _call(
            settings, "apps.connections.open", settings.slack_app_token.get_secret_value()
        )
    except httpx.HTTPError as error:
        return [Finding("intake", False, type(error).__name__, _UNREACHED)]
    if body.get("ok"):
        return [Finding("intake", True, "Socket Mode"), *await _sockets(settings)]
    advice = "Look at SLACK_APP_TOKEN: it needs the scope connections:write and Socket Mode switched on."
    return [_refused("intake", answer, body, advice)]


async def _sockets(settings: Settings) -> list[Finding]:
    """Read from a bot that runs here how many sockets the app has; say nothing when none runs."""
    try:
        async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=5.0) as http:
            host = f"[{settings.health_host}]" if ":" in settings.health_host else settings.health_host
            answer = await http.get(f"http://{host}:{settings.health_port}/metrics")
    except httpx.HTTPError:
        return []
    found = _SOCKETS.search(answer.text)
    if found is None:
        return []
    count = int(float(found[1]))
    advice = "Slack gives an app ten sockets: run fewer of `run` and `serve`."
    return [Finding("sockets", count <= _MOST_SOCKETS, f"{count} of {_MOST_SOCKETS}", advice)]


async def _who_may(settings: Settings) -> list[Finding]:
    """Check that Slack knows all ids in ADMINS and ALLOWED_…."""
    listed = [
        *(("users.info", "user", each) for each in sorted(settings.admins | settings.allowed_users)),
        *(("usergroups.users.list", "usergroup", each) for each in sorted(settings.allowed_user_groups)),
        *(("conversations.info", "channel", each) for each in sorted(settings.allowed_channels)),
    ][:_MOST_LISTED]
    try:
        unknown = [each for method, name, each in listed if not await _knows(settings, method, name, each)]
    except httpx.HTTPError as error:
        return [Finding("who may", False, type(error).__name__, _UNREACHED)]
    if unknown:
        advice = "Look at ADMINS and ALLOWED_…: ids, not names; private channels only after an invitation."
        return [Finding("who may", False, f"unknown to Slack: {', '.join(unknown)}", advice)]
    if not settings.admins:
        return [Finding("who may", True, "no ADMINS: nobody is told when the docs service refuses the key")]
    return [Finding("who may", True, f"{len(listed)} ids, all known to Slack")]


async def _knows(settings: Settings, method: str, name: str, listed: str) -> bool:
    token = settings.slack_bot_token.get_secret_value()
    _, body = await _call(settings, method, token, **{name: listed})
    return bool(body.get("ok"))


async def _docs_service(settings: Settings) -> list[Finding]:
    url, key = settings.docs_api_url, settings.docs_api_key
    async with DocsClient.open(base_url=url, api_key=key, proxy=settings.proxy_for(url)) as docs:
        try:
            await docs.visitors(settings.docs_project_id, limit=1)
        except DocsApiError as error:
            return [Finding("docs service", isinstance(error, RateLimited), str(error), _advice(error))]
    seen = f"lets the key read the project {settings.docs_project_id}; whether it may write, a prompt shows"
    return [Finding("docs service", True, seen)]


def _advice(error: DocsApiError) -> str:
    match error:
        case Unauthorized():
            return "Look at DOCS_API_KEY: it is unknown or has expired."
        case Forbidden():
            return "The key needs the right to read and to write, from this machine's address."
        case NotFound():
            return "Look at DOCS_PROJECT_ID and at the path in DOCS_API_URL."
        case RateLimited():
            return "The key is accepted; its hourly limit is used up."
        case Unavailable():
            return "Look at DOCS_API_URL and the network."
        case _:
            return "Look at DOCS_API_URL."

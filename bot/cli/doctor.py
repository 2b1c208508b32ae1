"""``docs-bot doctor``: checks an installation and explains what is wrong with it. It changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from bot.cli.doctor_database import look_at_database
from bot.cli.doctor_here import look_at_files, look_at_ports
from bot.cli.doctor_slack import look_at_slack
from bot.docs_api import DocsApiError, DocsClient, Forbidden, NotFound, RateLimited, Unauthorized, Unavailable
from bot.ops.checks import Checks, Finding, network_trouble, run_checks
from bot.settings import DatabaseSettings, DocsProject, DocsSettings, SettingNames, Settings, SettingsError
from bot.store.database import CONNECTIONS

_LIMIT_SECONDS = 40.0
_CALL_SECONDS = 5.0
_SETTINGS = "docs/settings.md says what each setting means."
_SLACK_TOKENS = ("xoxb-", "xoxp-", "xapp-", "xoxe")
_MINTLIFY_HOST = "mintlify.com"
_OTHER_MINTLIFY_KEYS = ("mint_dsc_", "mint_us_")
"""Keys of that service for other things: https://www.mintlify.com/docs/api/introduction."""


async def diagnose(settings: Settings, call_seconds: float = _CALL_SECONDS) -> list[Finding]:
    """Run all checks and return their findings. Uses nothing of the docs service's job quota.

    A call to a remote service may take ``call_seconds``.
    """

    async def database_and_slack() -> list[Finding]:
        connections = settings.database_connections
        found, channels = await look_at_database(settings.sqlalchemy_url, connections, call_seconds)
        return [*found, *await look_at_slack(settings, channels, call_seconds)]

    warnings = [Finding("settings", False, line, _SETTINGS) for line in settings.warnings()]
    checks: Checks = {
        "database and slack": database_and_slack,
        "docs service": partial(look_at_docs, settings, call_seconds),
        "ports": partial(look_at_ports, settings, call_seconds),
    }
    return [
        *(warnings or [Finding("settings", True, "complete")]),
        *look_at_files(settings.sqlalchemy_url),
        *await run_checks(checks, _LIMIT_SECONDS, is_logged=False),
    ]


async def diagnose_broken(error: SettingsError, call_seconds: float = _CALL_SECONDS) -> list[Finding]:
    """Return a finding for each problem of the settings, and what those that are right lead to."""
    found = [Finding("settings", False, problem, _SETTINGS) for problem in error.problems or (str(error),)]
    checks: Checks = {}
    # Problems of these are among the settings' own.
    with suppress(SettingsError):
        url = DatabaseSettings.load().sqlalchemy_url
        found += look_at_files(url)

        async def database() -> Sequence[Finding]:
            return (await look_at_database(url, CONNECTIONS, call_seconds))[0]

        checks["database"] = database
    with suppress(SettingsError):
        checks["docs service"] = partial(look_at_docs, DocsSettings.load(), call_seconds)
    return [*found, *await run_checks(checks, _LIMIT_SECONDS, is_logged=False)]


async def look_at_docs(settings: DocsSettings, seconds: float) -> list[Finding]:
    """Check that the docs service lets the key of each project read it."""
    projects = settings.projects
    found = await asyncio.gather(*(_look_at_project(settings, each, seconds) for each in projects))
    if len(projects) == 1:
        return list(found)
    return [
        replace(finding, name=f"{finding.name}, {each.name}")
        for each, finding in zip(projects, found, strict=True)
    ]


async def _look_at_project(settings: DocsSettings, project: DocsProject, seconds: float) -> Finding:
    if (wrong := _wrong_key(project)) is not None:
        return wrong
    url, key = project.address, project.key
    async with DocsClient(
        base_url=url,
        api_key=key,
        proxy=settings.proxy_for(url),
        connect_timeout_seconds=seconds,
        read_timeout_seconds=seconds,
    ) as docs:
        try:
            await docs.visitors(project.id, limit=1)
        except DocsApiError as error:
            return _refused(error, project.named)
    seen = f"lets the key read the project {project.id}; whether it may write, a prompt shows"
    return Finding("docs service", True, seen)


def _wrong_key(project: DocsProject) -> Finding | None:
    names = project.named
    key, host = project.key.get_secret_value(), urlsplit(project.address).hostname or ""
    advice = f"Make an admin API key on the service's dashboard, and set it as {names.key}."
    if key.startswith(_SLACK_TOKENS):
        return Finding("docs service", False, f"{names.key} is a token of Slack", advice)
    is_mintlify = host == _MINTLIFY_HOST or host.endswith(f".{_MINTLIFY_HOST}")
    if is_mintlify and (key.startswith(_OTHER_MINTLIFY_KEYS) or not key.startswith("mint_")):
        seen = f"{names.key} is of another kind: admin keys begin with mint_, not with mint_dsc_ or mint_us_"
        return Finding("docs service", False, seen, advice)
    return None


def _refused(error: DocsApiError, names: SettingNames) -> Finding:
    match error:
        case Unauthorized():
            return _bad(f"does not know the key: {error}", f"Look at {names.key}: wrong or expired.")
        case Forbidden():
            advice = "Give the key the right to read and to write, and allow this machine's address."
            return _bad(f"forbids it: {error}", advice)
        case NotFound():
            return _bad(
                f"does not know the project, or the path: {error}",
                f"Look at {names.id} and at the path in {names.address}.",
            )
        case RateLimited():
            return Finding("docs service", True, "accepts the key; its hourly limit is used up")
        case Unavailable():
            return network_trouble("docs service", str(error), names.address)
        case _:
            return _bad(str(error), f"Look at {names.address} and {names.id}.")


def _bad(seen: str, advice: str) -> Finding:
    return Finding("docs service", False, seen, advice)

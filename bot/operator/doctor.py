"""``docs-bot doctor``: checks an installation and explains its faults. It changes nothing.

The trial of ``--try`` is in `bot.operator.trial`.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
import socket
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from bot.docs_api import (
    DiscoveryClient,
    DocsApiError,
    DocsClient,
    Forbidden,
    NotFound,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from bot.github import GithubClient, GithubError, Limited, RefusedToken
from bot.health.checks import Checks, Finding, network_trouble, run_checks
from bot.loading import SettingsError
from bot.logs import mask
from bot.operator.doctor_database import DatabaseReport, check_database
from bot.operator.doctor_slack import check_slack
from bot.settings import DatabaseSettings, DocsProject, DocsSettings, SettingNames, Settings
from bot.store.sqlite_files import exposed_files, is_exposed, sqlite_file

_LIMIT_SECONDS = 40.0
_CALL_SECONDS = 5.0
_SETTINGS_ADVICE = "docs/settings.md explains each setting."
_SLACK_TOKENS = ("xoxb-", "xoxp-", "xapp-", "xoxe")
_MINTLIFY_HOST = "mintlify.com"
_OTHER_MINTLIFY_KEYS = ("mint_dsc_", "mint_us_")
"""Keys of that service for other things: https://www.mintlify.com/docs/api/introduction."""
_ENV_FILE = Path(".env")


async def diagnose(settings: Settings, call_seconds: float = _CALL_SECONDS) -> list[Finding]:
    """Run all checks and return their findings.

    Costs no prompt, and an analytics call only of a project without jobs. A call to a remote
    service may take ``call_seconds``.
    """
    report = DatabaseReport()

    async def database() -> Sequence[Finding]:
        nonlocal report
        report = await check_database(settings.sqlalchemy_url, call_seconds)
        return report.findings

    findings = [Finding("settings", False, line, _SETTINGS_ADVICE) for line in settings.warnings()]
    if not findings:
        findings = [Finding("settings", True, "complete")]
    findings += check_files(settings.sqlalchemy_url)
    findings += await run_checks({"database": database}, _LIMIT_SECONDS, is_logged=False)
    # These need rows of the database.
    checks: Checks = {
        "slack": partial(check_slack, settings, report.channels, call_seconds),
        "docs service": partial(check_docs, settings, report.newest_jobs, call_seconds),
        "github": partial(check_github, settings, call_seconds),
        "ports": partial(check_ports, settings, call_seconds),
    }
    findings += await run_checks(checks, _LIMIT_SECONDS, is_logged=False)
    # Texts of other programs may quote a secret.
    return [replace(finding, seen=mask(finding.seen, settings.secrets())) for finding in findings]


async def diagnose_broken(error: SettingsError) -> list[Finding]:
    """Return a finding for each problem of the settings, and the checks of the valid ones."""
    findings = [
        Finding("settings", False, problem, _SETTINGS_ADVICE)
        for problem in error.problems or (str(error),)
    ]
    checks: Checks = {}
    # Problems of these are among the settings' own.
    with suppress(SettingsError):
        url = DatabaseSettings.load().sqlalchemy_url
        findings += check_files(url)

        async def database() -> Sequence[Finding]:
            return (await check_database(url, _CALL_SECONDS)).findings

        checks["database"] = database
    with suppress(SettingsError):
        checks["docs service"] = partial(check_docs, DocsSettings.load(), {}, _CALL_SECONDS)
    return [*findings, *await run_checks(checks, _LIMIT_SECONDS, is_logged=False)]


async def check_docs(
    settings: DocsSettings, newest_jobs: Mapping[str, str], seconds: float
) -> list[Finding]:
    """Check that the docs service lets the key of each project read it.

    Args:
        settings: the projects, with their keys and addresses.
        newest_jobs: the service's id of each project's newest job, by project.
        seconds: the time limit of a call.
    """
    projects = settings.projects
    checks: list[Coroutine[None, None, Finding]] = []
    names: list[str] = []
    for project in projects:
        checks.append(_check_project(settings, project, newest_jobs.get(project.id), seconds))
        names.append(project.name)
        if project.assistant_key and project.assistant_domain:
            checks.append(_check_assistant(settings, project, seconds))
            names.append(project.name)
    findings = await asyncio.gather(*checks)
    if len(projects) == 1:
        return list(findings)
    return [
        replace(finding, name=f"{finding.name}, {name}")
        for name, finding in zip(names, findings, strict=True)
    ]


async def _check_assistant(settings: DocsSettings, project: DocsProject, seconds: float) -> Finding:
    """Check that the assistant's key may search the docs, which is free."""
    named = SettingNames("ASSISTANT_DOMAIN", "ASSISTANT_KEY", project.named.address)
    if settings.docs_projects:
        inside = f"of {project.name} in DOCS_PROJECTS"
        named = SettingNames(
            f"the assistant_domain {inside}", f"the assistant_key {inside}", project.named.address
        )
    async with DiscoveryClient(
        project.assistant_domain or "",
        base_url=f"{project.address.rstrip('/')}/discovery",
        api_key=project.assistant_key,
        proxy=settings.proxy_for(project.address),
        connect_timeout_seconds=seconds,
        read_timeout_seconds=seconds,
    ) as docs:
        try:
            await docs.search("docs", limit=1)
        except DocsApiError as error:
            return replace(refused_by_docs(error, named), name="assistant")
    return Finding("assistant", True, "lets its key search the docs")


async def _check_project(
    settings: DocsSettings, project: DocsProject, job: str | None, seconds: float
) -> Finding:
    wrong = _find_wrong_key(project)
    if wrong is not None:
        return wrong
    async with DocsClient(
        base_url=project.address,
        api_key=project.key,
        proxy=settings.proxy_for(project.address),
        connect_timeout_seconds=seconds,
        read_timeout_seconds=seconds,
    ) as docs:
        try:
            cost = await _read_project(docs, project.id, job)
        except DocsApiError as error:
            return refused_by_docs(error, project.named)
    text = f"lets the key read the project {project.id}{cost}; whether it may write, a prompt shows"
    return Finding("docs service", True, text)


async def _read_project(docs: DocsClient, project_id: str, job: str | None) -> str:
    """Read a project's newest job, which is free, or its visitors; return the cost in words."""
    if job is not None:
        # The service may have deleted the job.
        with suppress(NotFound):
            await docs.get_job(project_id, job)
            return ""
    await docs.visitors(project_id, limit=1)
    return ", which took one analytics call of this hour"


def _find_wrong_key(project: DocsProject) -> Finding | None:
    """Return the finding about a key of another kind; None if it may be right."""
    setting = project.named.key
    key = project.key.get_secret_value()
    advice = f"Make an admin API key on the service's dashboard, and set it as {setting}."
    if key.startswith(_SLACK_TOKENS):
        return _make_finding(f"{setting} is a token of Slack", advice)
    host = urlsplit(project.address).hostname or ""
    is_mintlify = host == _MINTLIFY_HOST or host.endswith(f".{_MINTLIFY_HOST}")
    is_admin_key = key.startswith("mint_") and not key.startswith(_OTHER_MINTLIFY_KEYS)
    if is_mintlify and not is_admin_key:
        text = "is of another kind: admin keys begin with mint_, not with mint_dsc_ or mint_us_"
        return _make_finding(f"{setting} {text}", advice)
    return None


def refused_by_docs(error: DocsApiError, names: SettingNames) -> Finding:
    """Return the finding about a project's settings that an error of the docs service shows."""
    match error:
        case Unauthorized():
            return _make_finding(
                f"does not know the key: {error}", f"Look at {names.key}: wrong or expired."
            )
        case Forbidden():
            advice = (
                "Give the key the right to read and to write, and allow this machine's address."
            )
            return _make_finding(f"forbids it: {error}", advice)
        case NotFound():
            return _make_finding(
                f"does not know the project, or the path: {error}",
                f"Look at {names.id} and at the path in {names.address}.",
            )
        case RateLimited():
            return Finding("docs service", True, "accepts the key; its hourly limit is used up")
        case Unavailable():
            return network_trouble("docs service", str(error), names.address)
        case _:
            return _make_finding(str(error), f"Look at {names.address} and {names.id}.")


def _make_finding(text: str, advice: str) -> Finding:
    return Finding("docs service", False, text, advice)


async def check_github(settings: Settings, seconds: float) -> list[Finding]:
    """Check that GitHub answers and takes the token; without one it shows only public data."""
    address = settings.github_api_url
    token = settings.github_token
    proxy = settings.proxy_for(address)
    async with GithubClient(
        api_url=address, token=token, proxy=proxy, timeout_seconds=seconds
    ) as github:
        try:
            await github.check()
        except RefusedToken as error:
            advice = "Make a new GITHUB_TOKEN: it is wrong or has expired."
            return [Finding("github", False, str(error), advice)]
        except Limited:
            return [Finding("github", True, "answers; its hourly limit is used up")]
        except GithubError as error:
            finding = network_trouble("github", str(error), "GITHUB_API_URL")
            # Docs that are not on GitHub need neither a token nor a way there.
            return [replace(finding, ok=token is None)]
    text = "takes the token" if token else "answers; no GITHUB_TOKEN: public only"
    return [Finding("github", True, text)]


def check_files(sqlalchemy_url: str) -> list[Finding]:
    """Check that other users of this machine cannot read the database and the settings."""
    open_files = [_ENV_FILE] if is_exposed(_ENV_FILE) else []
    text = "no other user can read them"
    file = sqlite_file(sqlalchemy_url)
    if file is not None:
        if file.is_file():
            open_files += exposed_files(file)
        if is_exposed(file.parent):
            text += f"; others can list the folder {file.parent} (chmod 700)"
    if open_files:
        return [_open_to_others(path) for path in open_files]
    return [Finding("files", True, text)]


def _open_to_others(file: Path) -> Finding:
    advice = f"Run: chmod 600 {shlex.quote(str(file))}"
    return Finding("files", False, f"other users can read {file}", advice)


async def check_ports(settings: Settings, seconds: float) -> list[Finding]:
    """Check that the ports are free, or that a bot that is ready has them."""
    host = f"[{settings.health_host}]" if ":" in settings.health_host else settings.health_host
    running = await _find_running_bot(f"http://{host}:{settings.health_port}", seconds)
    is_running = running is not None
    findings: list[Finding] = []
    for names, host, port in _list_ports(settings):
        trouble = _check_port(names, host, port, is_taken_by_bot=is_running)
        if trouble is not None:
            findings.append(trouble)
    if not findings:
        findings.append(Finding("ports", True, "a bot has them" if is_running else "free"))
    return [*findings, *(running or ())]


def _list_ports(settings: Settings) -> list[tuple[str, str, int]]:
    """Return the ports that a bot opens: the names of their settings, the host and the port."""
    health = ("HEALTH_HOST and HEALTH_PORT", settings.health_host, settings.health_port)
    if settings.socket_mode:
        return [health]
    return [health, ("HOST and PORT", settings.host, settings.port)]


def _check_port(names: str, host: str, port: int, *, is_taken_by_bot: bool) -> Finding | None:
    """Return the reason why a port cannot be opened; None if it can, or if a bot has it."""
    if port == 0:
        return None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            if is_taken_by_bot:
                return None
            text = f"{host}, port {port} is taken by another program"
            advice = f"Find out who has it (ss -ltnp), or set another one: {names}."
            return Finding("ports", False, text, advice)
        text = f"{host}, port {port} cannot be opened ({os.strerror(error.errno or 0)})"
        return Finding("ports", False, text, f"Look at {names}.")
    return None


async def _find_running_bot(address: str, seconds: float) -> list[Finding] | None:
    """Return the readiness of the bot at this address; None without a bot there."""
    http = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=seconds)
    try:
        async with http:
            answer = await http.get(f"{address}/readyz")
        checks = json.loads(answer.content)["checks"]
        failed = [f"{name}: {check['about']}" for name, check in checks.items() if not check["ok"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not failed:
        return [Finding("running bot", True, "ready")]
    advice = "docs/runbook.md has the remedy of each part."
    return [Finding("running bot", False, text, advice) for text in failed]

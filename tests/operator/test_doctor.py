"""`docs-bot doctor`: names each fault with its remedy, and no secret."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from bot.__main__ import cli
from bot.operator.doctor import diagnose
from bot.settings import Settings
from tests.talk import Talk
from tests.talk_database import DATABASE_URL

_MANIFEST = yaml.safe_load((Path(__file__).parents[2] / "manifest.yml").read_text())
SCOPES: frozenset[str] = frozenset(_MANIFEST["oauth_config"]["scopes"]["bot"])
VISITORS = {"totals": {"human": 1, "ai": 1, "total": 1}, "visitors": [], "hasMore": False}
NOBODY = "http://127.0.0.1:1/"
_NOT_FOUND = {
    "/api/users.info": "user_not_found",
    "/api/usergroups.users.list": "no_such_subteam",
    "/api/conversations.info": "channel_not_found",
}


@dataclass(frozen=True)
class Finding:
    """A printed finding of the doctor."""

    name: str
    state: str
    seen: str
    advice: str

    @property
    def ok(self) -> bool:
        return self.state != "bad"


@dataclass
class FakeOutside:
    """Slack, GitHub and the docs service, without faults by default."""

    slack: Mapping[str, object] = field(
        default_factory=lambda: {"ok": True, "user": "docs", "team": "Acme"}
    )
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"x-oauth-scopes": ", ".join(SCOPES)}
    )
    socket: Mapping[str, object] = field(
        default_factory=lambda: {"ok": True, "url": "wss://canary"}
    )
    docs_status: int = 200
    job_status: int = 200
    github_status: int = 200
    search_status: int = 200
    ids: frozenset[str] = frozenset()
    ready: Mapping[str, object] = field(default_factory=dict)
    channels: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append((request.path, request.headers.get("Authorization")))
        match request.path:
            case "/api/auth.test":
                return web.json_response(self.slack, headers=self.headers)
            case "/api/apps.connections.open":
                return web.json_response(self.socket)
            case "/api/v3/rate_limit":
                return web.json_response({}, status=self.github_status)
            case "/docs/discovery/v1/search/acme":
                return web.json_response([], status=self.search_status)
            case "/readyz":
                return web.json_response({"ok": False, "checks": self.ready})
            case path if path.startswith("/docs/v2/agent/"):
                return web.json_response({"id": path.rpartition("/")[2]}, status=self.job_status)
            case path if path in _NOT_FOUND:
                name = str([*request.query.values(), *(await request.post()).values()][0])
                is_found = name in self.ids or name in self.channels
                details = {"channel": self.channels.get(name), "error": _NOT_FOUND[path]}
                return web.json_response({"ok": is_found, **details})
            case _:
                return web.json_response(VISITORS, status=self.docs_status)


@asynccontextmanager
async def listening(outside: FakeOutside) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", outside.answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


async def findings(outside: FakeOutside | None = None, /, **changes: str) -> dict[str, Finding]:
    """Return the findings of `docs-bot doctor` by name, with changed settings."""
    async with listening(outside or FakeOutside()) as address:
        env = dict.fromkeys(Settings.variables()) | well(address) | changes
        ran = await asyncio.to_thread(CliRunner().invoke, cli, ["doctor", "--json"], env=env)
    assert "canary" not in ran.output
    return {finding["name"]: Finding(**finding) for finding in json.loads(ran.stdout)["findings"]}


async def findings_within(call_seconds: float, changes: Mapping[str, str]) -> dict[str, Finding]:
    """Return the findings of a doctor with short time limits."""
    async with listening(FakeOutside()) as address:
        settings = Settings.load(well(address) | dict(changes), env_file=None)
        report = await diagnose(settings, call_seconds)
    assert "canary" not in repr(report)
    return {item.name: Finding(item.name, item.state, item.seen, item.advice) for item in report}


def well(address: str) -> dict[str, str]:
    """Return the settings of a sound installation."""
    return {
        "SLACK_BOT_TOKEN": "xoxb-canary",
        "SLACK_APP_TOKEN": "xapp-canary",
        "SLACK_API_URL": f"{address}api/",
        "DOCS_API_URL": f"{address}docs",
        "DOCS_API_KEY": "canary-key",
        "DOCS_PROJECT_ID": "acme",
        "GITHUB_API_URL": f"{address}api/v3",
        "DATABASE_URL": ":memory:",
        "HEALTH_PORT": str(urlsplit(address).port),
    }


async def test_sound_installation_has_no_bad_findings() -> None:
    report = await findings()
    parts = {
        "settings",
        "files",
        "database",
        "slack",
        "scopes",
        "events",
        "clock",
        "intake",
        "who may",
        "docs service",
    }
    assert parts | {"events", "github", "ports", "running bot"} == report.keys()
    assert all(finding.ok for finding in report.values()), report
    assert (
        "took one analytics call of this hour; whether it may write" in report["docs service"].seen
    )
    assert "nobody is told" in report["who may"].seen


async def test_key_goes_only_to_its_own_service() -> None:
    outside = FakeOutside()
    await findings(outside)
    assert sorted(outside.requests, key=str) == [
        ("/api/apps.connections.open", "Bearer xapp-canary"),
        ("/api/auth.test", "Bearer xoxb-canary"),
        ("/api/v3/rate_limit", None),
        ("/docs/v1/analytics/acme/visitors", "Bearer canary-key"),
        ("/readyz", None),
    ]


async def test_secret_that_another_program_quotes_is_hidden() -> None:
    ready = {"slack": {"ok": False, "about": "Slack refuses the token xoxb-canary"}}
    report = await findings(FakeOutside(ready=ready))
    assert report["running bot"].seen == "slack: Slack refuses the token [hidden]"


async def test_known_job_spares_the_analytics_call(talk: Talk) -> None:
    await talk.finished()
    outside, own = FakeOutside(), {"DATABASE_URL": DATABASE_URL, "DOCS_PROJECT_ID": "acme-docs"}
    finding = (await findings(outside, **own))["docs service"]
    assert (
        finding.seen
        == "lets the key read the project acme-docs; whether it may write, a prompt shows"
    )
    paths = {path for path, _ in outside.requests if path.startswith("/docs/")}
    assert paths == {"/docs/v2/agent/acme-docs/job/job-1"}
    outside.job_status = 404
    assert "took one analytics call" in (await findings(outside, **own))["docs service"].seen
    outside.docs_status = 404
    assert not (await findings(outside, **own))["docs service"].ok


def several(address: str, **beta: str) -> str:
    """Return two projects, the second with its own address and key."""
    own = {"id": "p-beta", "address": f"{address}beta", "key": "canary-of-beta"}
    return json.dumps({"acme": {"id": "p-acme"}, "beta": own | beta})


async def test_project_is_checked_with_its_own_key_and_address() -> None:
    outside, beta = FakeOutside(), FakeOutside()
    async with listening(beta) as address:
        report = await findings(outside, DOCS_PROJECTS=several(address), DOCS_PROJECT_ID="")
    assert report["docs service, acme"].ok
    assert report["docs service, beta"].ok
    assert "p-beta" in report["docs service, beta"].seen
    assert beta.requests == [("/beta/v1/analytics/p-beta/visitors", "Bearer canary-of-beta")]
    assert ("/docs/v1/analytics/p-acme/visitors", "Bearer canary-key") in outside.requests
    assert "canary-of-beta" not in str(outside.requests)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Look at the key of beta in DOCS_PROJECTS"),
        (404, "Look at the id of beta in DOCS_PROJECTS and at the path in the address of beta in"),
    ],
)
async def test_fault_of_one_project_names_its_setting(status: int, advice: str) -> None:
    async with listening(FakeOutside(docs_status=status)) as address:
        report = await findings(DOCS_PROJECTS=several(address), DOCS_PROJECT_ID="")
    assert report["docs service, acme"].ok
    assert not report["docs service, beta"].ok
    assert advice in report["docs service, beta"].advice


async def test_token_of_slack_as_a_projects_key_is_sent_nowhere() -> None:
    beta = FakeOutside()
    async with listening(beta) as address:
        report = await findings(
            DOCS_PROJECTS=several(address, key="xoxb-canary-2"), DOCS_PROJECT_ID=""
        )
    assert (
        "the key of beta in DOCS_PROJECTS is a token of Slack" in report["docs service, beta"].seen
    )
    assert beta.requests == []


async def test_missing_scopes_are_listed() -> None:
    report = await findings(
        FakeOutside(headers={"x-oauth-scopes": ",".join(SCOPES - {"commands"})})
    )
    assert (report["scopes"].ok, report["scopes"].seen) == (False, "missing: commands")


async def test_ids_unknown_to_slack_are_named() -> None:
    outside = FakeOutside(ids=frozenset({"U1", "S1", "C1"}))
    lists = {"ADMINS": "U1,U9", "ALLOWED_USERS": "U1", "ALLOWED_USER_GROUPS": "S1 S9"}
    finding = (await findings(outside, **lists, ALLOWED_CHANNELS="C1,C9"))["who may"]
    assert (finding.ok, finding.seen) == (False, "unknown to Slack: U9, S9, C9")
    assert "ids, not names" in finding.advice
    finding = (await findings(outside, ADMINS="U1", ALLOWED_USER_GROUPS="S1"))["who may"]
    assert (finding.ok, finding.seen) == (True, "2 ids, all known to Slack")


@pytest.mark.parametrize(("minutes", "well"), [(0, True), (4, False), (-4, False)])
async def test_wrong_clock_is_reported(minutes: int, well: bool) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    assert (await findings(FakeOutside(headers={"Date": date})))["clock"].ok is well


async def test_malformed_date_hides_no_other_finding() -> None:
    report = await findings(FakeOutside(headers={"Date": "rubbish"}))
    assert report["slack"].ok
    assert "clock" not in report


async def test_wrong_token_of_github_is_reported() -> None:
    outside = FakeOutside(github_status=401)
    finding = (await findings(outside, GITHUB_TOKEN="ghp_canary"))["github"]
    assert (finding.ok, "GITHUB_TOKEN" in finding.advice) == (False, True)
    assert ("/api/v3/rate_limit", "Bearer ghp_canary") in outside.requests
    outside.github_status = 429
    assert (await findings(outside, GITHUB_TOKEN="ghp_canary"))["github"].ok


async def test_unreachable_github_is_bad_only_with_a_token() -> None:
    away = {"GITHUB_API_URL": f"{NOBODY}api/v3"}
    assert (await findings(**away))["github"].state == "note"
    assert (await findings(**away, GITHUB_TOKEN="ghp_canary"))["github"].state == "bad"


async def test_used_up_limit_proves_the_key() -> None:
    assert (await findings(FakeOutside(docs_status=429)))["docs service"].ok


async def test_unreachable_slack_leaves_the_rest_checked() -> None:
    report = await findings(SLACK_API_URL=NOBODY)
    assert [name for name, finding in report.items() if not finding.ok] == ["slack", "intake"]
    assert report["docs service"].ok


async def test_http_needs_no_app_token() -> None:
    report = await findings(
        SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET="canary", PORT="3005", HOST="127.0.0.1"
    )
    assert report["intake"].seen == "HTTP on 127.0.0.1, port 3005, /slack/events"


async def test_misspelt_setting_is_reported() -> None:
    finding = (await findings(LOG_LEVLE="DEBUG"))["settings"]
    assert (finding.ok, "LOG_LEVEL" in finding.seen) == (False, True)


async def test_readable_files_are_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o700)  # noqa: ASYNC240
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    finding = (await findings(DATABASE_URL=url))["files"]
    assert finding == Finding("files", "ok", "no other user can read them", "")
    tmp_path.chmod(0o755)  # noqa: ASYNC240
    assert "others can list the folder" in (await findings(DATABASE_URL=url))["files"].seen
    (tmp_path / "bot.db").touch()
    (tmp_path / "bot.db").chmod(0o640)
    finding = (await findings(DATABASE_URL=url))["files"]
    assert (finding.ok, finding.advice) == (False, f"Run: chmod 600 {tmp_path / 'bot.db'}")
    (tmp_path / "bot.db").chmod(0o600)
    (tmp_path / ".env").write_text("")
    (tmp_path / ".env").chmod(0o644)
    finding = (await findings(DATABASE_URL=url))["files"]
    assert finding == Finding("files", "bad", "other users can read .env", "Run: chmod 600 .env")


async def test_texts_of_slack_do_not_steer_the_terminal() -> None:
    refused = {"ok": False, "error": "no\x1b[2J\u202e"}
    async with listening(FakeOutside(slack=refused)) as address:
        ran = await asyncio.to_thread(CliRunner().invoke, cli, ["doctor"], env=well(address))
    assert "BAD  slack: Slack refuses (no\\x1b[2J\\u202e)" in ran.output
    assert "\x1b" not in ran.output


async def test_assistants_key_is_tried_by_a_search() -> None:
    own = {"ASSISTANT_KEY": "canary-assistant", "ASSISTANT_DOMAIN": "acme"}
    outside = FakeOutside(search_status=200)
    assert (await findings(outside, **own))["assistant"].ok
    assert ("/docs/discovery/v1/search/acme", "Bearer canary-assistant") in outside.requests
    refused = (await findings(FakeOutside(search_status=401), **own))["assistant"]
    assert not refused.ok
    assert "ASSISTANT_KEY" in refused.advice

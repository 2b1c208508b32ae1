"""Faults of an installation: the doctor names each cause and its remedy."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.__main__ import cli
from tests.operator.faults import (
    CERTIFICATE,
    HALF,
    bad,
    database_with_subscriptions,
    http,
    sending,
    silent,
    stalling,
    tls,
    tunnel,
)
from tests.operator.test_doctor import NOBODY, FakeOutside, findings, findings_within
from tests.servers import Handle, serving

PROXIED = {"SLACK_API_URL": "https://slack.invalid/api/", "DOCS_API_URL": "https://docs.invalid"}
HTML = "<html><body>Sign in to the guest network</body></html>"
WELL = {
    "SLACK_BOT_TOKEN": "xoxb-canary",
    "SLACK_APP_TOKEN": "xapp-canary",
    "DOCS_API_URL": NOBODY,
    "DOCS_API_KEY": "canary",
    "DOCS_PROJECT_ID": "acme",
    "DATABASE_URL": ":memory:",
    "HEALTH_PORT": "0",
}


# ---- settings


def doctor(monkeypatch: pytest.MonkeyPatch, folder: Path, **changes: str) -> Result:
    """Run `docs-bot doctor --json` in this folder with these settings."""
    monkeypatch.chdir(folder)
    for name, value in (WELL | changes).items():
        monkeypatch.setenv(name, value)
    return CliRunner().invoke(cli, ["doctor", "--json"])


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("SLACK_BOT_TOKEN", "", "SLACK_BOT_TOKEN is missing"),
        ("SLACK_BOT_TOKEN", "canary", "SLACK_BOT_TOKEN must begin with xoxb-"),
        ("DOCS_API_KEY", "can ary", "DOCS_API_KEY has a blank or a line end in it"),
        (
            "DATABASE_URL",
            "mysql://canary",
            "DATABASE_URL must begin with sqlite:/// or postgres://",
        ),
        (
            "SSL_CERT_FILE",
            "/no/such/canary.pem",
            "SSL_CERT_FILE must name a file with certificates (PEM)",
        ),
    ],
)
def test_wrong_setting_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, expected: str
) -> None:
    ran = doctor(monkeypatch, tmp_path, **{name: value})
    assert ran.exit_code == 1
    assert "canary" not in ran.output
    document = json.loads(ran.output)
    [wrong] = [finding for finding in document["findings"] if finding["name"] == "settings"]
    assert (document["ok"], wrong["state"]) == (False, "bad")
    assert expected in wrong["seen"]
    names = {finding["name"] for finding in document["findings"]}
    assert ("database" in names) is (name != "DATABASE_URL"), "the other checks still run"


@pytest.mark.parametrize(
    ("key", "address", "expected"),
    [
        ("xoxb-canary", NOBODY, "DOCS_API_KEY is a token of Slack"),
        (
            "mint_dsc_canary",
            "https://api.mintlify.com",
            "of another kind: admin keys begin with mint_",
        ),
        ("sk-canary", "https://api.mintlify.com", "of another kind: admin keys begin with mint_"),
    ],
)
async def test_key_of_another_kind_is_reported_without_a_call(
    key: str, address: str, expected: str
) -> None:
    assert expected in bad((await findings(DOCS_API_KEY=key, DOCS_API_URL=address))["docs service"])


# ---- Slack


@pytest.mark.parametrize("kind", ["slack", "intake"])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("token_revoked", "the token was revoked (token_revoked) | Install the app again"),
        ("invalid_auth", "Slack does not know the token (invalid_auth) | Copy {token} again"),
        ("account_inactive", "the app was removed from the workspace"),
        ("missing_scope", "an app token needs connections:write"),
        ("not_allowed_token_type", "the token is of another kind"),
        ("something_new", "Slack refuses (something_new) | Look at {token}."),
    ],
)
async def test_bad_token_is_named_and_people_are_not_checked(
    kind: str, code: str, expected: str
) -> None:
    refusal = {"ok": False, "error": code}
    outside = FakeOutside(slack=refusal) if kind == "slack" else FakeOutside(socket=refusal)
    report = await findings(outside, ADMINS="U1,U2")
    token = "SLACK_BOT_TOKEN" if kind == "slack" else "SLACK_APP_TOKEN"
    assert expected.format(token=token) in bad(report[kind])
    assert (kind == "intake") is ("U1" in report["who may"].seen)


async def test_channels_closed_to_the_bot_are_named(tmp_path: Path) -> None:
    url = await database_with_subscriptions(tmp_path, "C1", "C2", "C3", "C4")
    joined, archived = {"is_member": True}, {"is_archived": True}
    outside = FakeOutside(channels={"C1": joined, "C2": archived, "C3": {"is_member": False}})
    finding = (await findings(outside, DATABASE_URL=url))["channels"]
    assert "C2 (archived), C3 (the bot has left), C4 (channel_not_found)" in bad(finding)
    outside.channels = dict.fromkeys(("C1", "C2", "C3", "C4"), joined)
    assert (await findings(outside, DATABASE_URL=url))["channels"].ok


# ---- the way to both services


@pytest.mark.parametrize("name", ["SLACK_API_URL", "DOCS_API_URL"])
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("nobody", "Connect"),
        ("unknown", "slack.invalid|docs.invalid"),
        ("cut", "ClientPayloadError"),
        ("page", "not JSON|a web page"),
        ("gateway", "HTTP 502"),
        ("own ca", "CERTIFICATE_VERIFY_FAILED"),
        ("no proxy", "127.0.0.1:1"),
        ("strict proxy", "Proxy Authentication Required"),
    ],
)
async def test_unusable_service_is_reported_with_its_cause(
    name: str, fault: str, expected: str
) -> None:
    servers = {
        "page": http("200 OK", HTML),
        "gateway": http("502 Bad Gateway", HTML),
        "cut": sending(HALF),
        "strict proxy": http("407 Proxy Authentication Required", ""),
    }
    secured = tls() if fault == "own ca" else None
    async with serving(servers.get(fault, silent), secured) as port:
        report = await findings(**_at(name, fault, port))
    finding = bad(report["slack" if name == "SLACK_API_URL" else "docs service"])
    assert any(cause in finding for cause in expected.split("|")), finding
    assert f"Look at {name}" in finding


@pytest.mark.parametrize("name", ["SLACK_API_URL", "DOCS_API_URL"])
@pytest.mark.parametrize("server", [silent, stalling])
async def test_service_that_never_answers_is_reported_in_time(name: str, server: Handle) -> None:
    async with serving(server) as port:
        report = await findings_within(0.2, _at(name, "silent", port))
    finding = bad(report["slack" if name == "SLACK_API_URL" else "docs service"])
    assert "Timeout" in finding or "in time" in finding
    assert f"Look at {name}" in finding


def _at(name: str, fault: str, port: int) -> Mapping[str, str]:
    match fault:
        case "nobody":
            return {name: NOBODY}
        case "unknown":
            return {name: PROXIED[name]}
        case "own ca":
            return {name: f"https://localhost:{port}/"}
        case "no proxy":
            return {name: PROXIED[name], "HTTPS_PROXY": "http://ana:canary@127.0.0.1:1"}
        case "strict proxy":
            return {name: PROXIED[name], "HTTPS_PROXY": f"http://ana:canary@127.0.0.1:{port}"}
        case _:
            return {name: f"http://127.0.0.1:{port}/"}


@pytest.mark.parametrize("through_proxy", [False, True], ids=["direct", "through a proxy"])
async def test_private_ca_is_trusted(tmp_path: Path, through_proxy: bool) -> None:
    """The doctor and the bot read SSL_CERT_FILE at their start."""
    page = json.dumps(
        {"totals": {"human": 1, "ai": 1, "total": 1}, "visitors": [], "hasMore": False}
    )
    body = json.dumps({"ok": True, "user": "docs", "team": "Acme", "url": "wss://x"})
    async with (
        serving(http("200 OK", body, "application/json"), tls()) as slack,
        serving(http("200 OK", page, "application/json"), tls()) as docs,
        serving(tunnel({"slack.invalid": slack, "docs.invalid": docs})) as proxy,
    ):
        addresses = {
            "SLACK_API_URL": f"https://localhost:{slack}/",
            "DOCS_API_URL": f"https://localhost:{docs}",
        }
        if through_proxy:
            addresses = {**PROXIED, "HTTPS_PROXY": f"http://127.0.0.1:{proxy}"}
        addresses["GITHUB_API_URL"] = f"https://localhost:{docs}/api/v3"
        env = {
            **WELL,
            **addresses,
            "SSL_CERT_FILE": str(CERTIFICATE),
            "PYTHONPATH": str(Path.cwd()),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "doctor",
            env=env,
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    assert b"ok   slack: docs in Acme" in output


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            401,
            '{"error": "No such key"}',
            "does not know the key: No such key (HTTP 401) | Look at DOCS_API_KEY",
        ),
        (
            403,
            '{"error": "Not from here"}',
            "forbids it: Not from here (HTTP 403) | Give the key the right",
        ),
        (
            404,
            '{"error": "No such project"}',
            "does not know the project, or the path: No such project",
        ),
        (404, HTML, "a web page"),
        (302, "", "redirects"),
        (400, '{"error": "Bad"}', "Bad (HTTP 400)"),
    ],
)
async def test_refusal_of_the_docs_service_has_its_cause(
    status: int, body: str, expected: str
) -> None:
    kind = "text/html" if body == HTML else "application/json"
    server = http(f"{status} Status", body, kind, Location="https://elsewhere.invalid/")
    async with serving(server) as port:
        finding = (await findings(DOCS_API_URL=f"http://127.0.0.1:{port}"))["docs service"]
    assert expected in bad(finding)


# ---- this machine


async def test_port_of_another_program_is_reported() -> None:
    http_mode = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "canary", "HEALTH_PORT": "0"}
    async with serving(http("404 Not Found", HTML)) as port:
        finding = (await findings(HEALTH_PORT=str(port)))["ports"]
        assert f"127.0.0.1, port {port} is taken by another program" in bad(finding)
        assert "HEALTH_HOST and HEALTH_PORT" in finding.advice
        finding = (await findings(**http_mode, PORT=str(port), HOST="127.0.0.1"))["ports"]
        assert "is taken by another program" in bad(finding)
    finding = (await findings(**http_mode, HOST="192.0.2.1", PORT="3005"))["ports"]
    assert "cannot be opened (Cannot assign requested address)" in bad(finding)
    finding = (await findings(**http_mode, HOST="192.0.2.1", PORT="0"))["ports"]
    assert finding.ok, "any port will do"


async def test_failed_check_of_a_running_bot_is_reported() -> None:
    outside = FakeOutside(
        ready={"workers": {"ok": False, "about": "no process carries requests out"}}
    )
    assert "workers: no process carries requests out" in bad(
        (await findings(outside))["running bot"]
    )

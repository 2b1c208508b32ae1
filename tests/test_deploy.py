"""The files that run the bot on a host name only existing commands, settings and ports."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from check_jsonschema.cli import main as check_jsonschema
from click.testing import CliRunner
from packaging.requirements import Requirement

from bot import __version__
from bot.health.checks import Finding, Health, add_health_routes
from bot.settings import DatabaseSettings, Settings
from tests.limits import HANG_SECONDS
from tests.papers import ROOT
from tests.shown_commands import run_shown
from tests.test_settings import GOOD


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


COMPOSE = read("compose.yaml")
WORKFLOW = read(".github/workflows/ci.yml")
BOT = COMPOSE["services"]["bot"]
UNIT = (ROOT / "deploy/docs-bot.service").read_text()
IMAGE = [
    (line.split()[0], line.partition(" ")[2].strip())
    for line in (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]
PORT, HEALTH_PORT = (Settings.model_fields[name].default for name in ("port", "health_port"))


def image(instruction: str, text: str = "") -> str:
    """Return the arguments of the Dockerfile's last such instruction with this text."""
    return [rest for name, rest in IMAGE if name == instruction and text in rest][-1]


def directive(name: str) -> str:
    """Return the value of the unit's last such line."""
    return str(re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)[-1])


# Fields. Published schemas check some files, the words of a reference the other.


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("compose-spec", "compose.yaml"),
        ("github-workflows", ".github/workflows/ci.yml"),
        ("github-workflows", ".github/workflows/release.yml"),
        ("dependabot", ".github/dependabot.yml"),
    ],
)
def test_file_fits_its_published_schema(schema: str, path: str, tmp_path: Path) -> None:
    misspelt = tmp_path / "misspelt.yaml"
    misspelt.write_text(
        re.sub(r"^(services|jobs|updates):", r"\1s:", (ROOT / path).read_text(), flags=re.M)
    )
    options = ["--builtin-schema", f"vendor.{schema}"]
    assert CliRunner().invoke(check_jsonschema, [*options, str(ROOT / path)]).exit_code == 0
    assert CliRunner().invoke(check_jsonschema, [*options, str(misspelt)]).exit_code == 1


def unknown_keys(
    value: object, schema: Mapping[str, str], parent: str = ""
) -> set[tuple[str, str]]:
    """Return the keys, with their parents, that the schema's words for each parent lack."""
    if isinstance(value, list):
        return set().union(*(unknown_keys(item, schema, parent) for item in value))
    if not isinstance(value, Mapping):
        return set()
    unknown = {(parent, key) for key in value if key not in schema[parent].split()}
    return unknown.union(*(unknown_keys(item, schema, key) for key, item in value.items()))


def test_release_notes_have_valid_keys() -> None:
    # https://docs.github.com/en/repositories/releasing-projects-on-github/automatically-generated-release-notes
    schema = {
        "": "changelog",
        "changelog": "exclude categories",
        "exclude": "labels authors",
        "categories": "title labels exclude",
    }
    notes = read(".github/release.yml")
    assert unknown_keys(notes, schema) == set()
    assert notes["changelog"]["categories"][-1]["labels"] == ["*"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_and_confines_unit(tmp_path: Path) -> None:
    unit = tmp_path / "docs-bot.service"
    # An existing program at a path without spaces.
    unit.write_text(UNIT.replace(directive("ExecStart").split()[0], "/bin/sh"))
    command = ["systemd-analyze", "verify", str(unit)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    # Its output may also name this machine's own units.
    assert [line for line in ran.stderr.splitlines() if unit.name in line] == []
    assert ran.returncode == 0
    confined = [
        "systemd-analyze",
        "security",
        "--offline=true",
        "--threshold=20",
        "--no-pager",
        str(unit),
    ]
    assert subprocess.run(confined, capture_output=True, check=False).returncode == 0


# Commands, settings and ports.


def test_hosts_run_existing_commands() -> None:
    (program,) = json.loads(image("ENTRYPOINT"))
    [worker] = re.findall(r"^worker: (.*)$", (ROOT / "Procfile").read_text(), re.MULTILINE)
    ran = {
        "image": [program, *json.loads(image("CMD"))],
        "systemd": directive("ExecStart").split(),
        # It installs requirements.txt and not this project, so there is no docs-bot in its PATH.
        "procfile": worker.removeprefix("python -m ").split(),
    }
    run_shown(worker)
    for command in (ran["image"], ran["systemd"]):
        run_shown(" ".join(command))
    assert {host: command[-1] for host, command in ran.items()} == dict.fromkeys(ran, "run")


def test_compose_has_valid_settings_and_no_secret() -> None:
    settings = Settings.load(GOOD | BOT["environment"], env_file=None)
    assert settings.warnings() == ()
    assert (settings.port, settings.health_port) == (PORT, HEALTH_PORT)
    assert (settings.host, settings.health_host) == ("0.0.0.0", "0.0.0.0")
    secrets = {
        name.upper() for name, field in Settings.model_fields.items() if "SecretStr" in repr(field)
    }
    assert {"SLACK_BOT_TOKEN", "DOCS_API_KEY", "DATABASE_URL", "HTTPS_PROXY"} <= secrets
    assert BOT["environment"].keys() & secrets == set()


def test_hosts_use_ports_of_bot() -> None:
    assert int(image("EXPOSE")) == PORT
    text = (ROOT / "compose.yaml").read_text()
    assert "ports" not in BOT, "Socket Mode opens no port, and another program may use it"
    assert re.findall(r"^ *# +- 127.0.0.1:(\d+):(\d+)$", text, re.MULTILINE) == [
        (str(port), str(port)) for port in (PORT, HEALTH_PORT)
    ]
    assert "HOST=0.0.0.0" in image("ENV", "PATH").split(), "for a proxy outside of the container"


async def page(_findings: Sequence[Finding]) -> tuple[bytes, str]:
    return b"", "text/plain"


async def test_image_is_healthy_while_bot_is_ready() -> None:
    ready = True

    async def check() -> Sequence[Finding]:
        return [Finding("here", ready, "")]

    server = web.Application()
    add_health_routes(server, Health({"database": check}, page))
    runner = web.AppRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    try:
        assert await health_of_the_image(port) == 0
        ready = False
        assert await health_of_the_image(port) == 1
    finally:
        await runner.cleanup()
    assert await health_of_the_image(port) == 1


async def health_of_the_image(port: int) -> int:
    """Run the image's healthcheck for a bot with this health port, and return its exit code."""
    check = image("HEALTHCHECK")
    program, *rest = json.loads(check[check.index("[") :])
    assert program == "python"
    assert f"getenv('HEALTH_PORT') or {HEALTH_PORT})" in rest[-1]
    ran = await asyncio.create_subprocess_exec(
        sys.executable, *rest, env={"HEALTH_PORT": str(port)}, stderr=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(HANG_SECONDS):
        return await ran.wait()


def test_image_uses_only_flags_that_debian_12_knows() -> None:
    """Docker 20.10 and buildah 1.28: https://docs.docker.com/reference/dockerfile/ names the later ones."""
    first_words = {
        rest.split()[0].partition("=")[0] for word, rest in IMAGE if word not in ("RUN", "CMD")
    }
    options = re.findall(r"(--[a-z-]+)=", image("HEALTHCHECK").partition("[")[0])
    flags = {word for word in (*first_words, *options) if word.startswith("--")}
    assert flags == {"--from", "--interval", "--timeout", "--start-period"}


def test_versions_of_aiohttp_with_advisories_are_not_allowed() -> None:
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [aiohttp] = [need for need in map(Requirement, needs) if need.name == "aiohttp"]
    locked = re.search(r"^aiohttp==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert not aiohttp.specifier.contains("3.14.3")
    assert locked is not None
    assert aiohttp.specifier.contains(locked[1])


# Rights and files.


def test_image_has_hashed_lock_and_only_bot() -> None:
    installs = [
        rest for name, rest in IMAGE if name == "RUN" and " install " in rest and "pip" in rest
    ]
    assert [
        ("--require-hashes -r requirements.txt" in line, "--no-deps" in line) for line in installs
    ] == [
        (True, False),
        (False, True),
    ]
    assert "uninstall --yes setuptools" in installs[-1]
    copied = {
        source
        for name, rest in IMAGE
        if name == "COPY" and not rest.startswith("--from=")
        for source in rest.split()[:-1]
    }
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert sent[1] == "*"
    assert {line[1:] for line in sent if line.startswith("!")} == copied
    assert {path for path in copied if not (ROOT / path).exists()} == set()


def test_only_volume_contains_sqlite_file() -> None:
    url = DatabaseSettings.load({}, env_file=None).sqlalchemy_url
    place = Path(image("WORKDIR"), url.removeprefix("sqlite:///")).parent
    assert [rest for name, rest in IMAGE if name == "VOLUME"] == [str(place)]
    [volume] = BOT["volumes"]
    name, _, target = volume.partition(":")
    assert (target, name in COMPOSE["volumes"]) == (str(place), True)
    assert directive("WorkingDirectory") == f"/var/lib/{directive('StateDirectory')}"


def test_image_and_compose_run_without_root_and_write_only_the_volume() -> None:
    assert int(image("USER").partition(":")[0]) > 0
    assert (BOT["read_only"], BOT["tmpfs"], BOT["cap_drop"]) == (True, "/tmp", ["ALL"])


# Versions.


def test_workflow_tests_every_supported_python() -> None:
    test = WORKFLOW["jobs"]["test"]
    pythons = test["strategy"]["matrix"]["python"]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert pythons == [f"3.{minor}" for minor in range(11, 15)]
    assert oldest == f">={pythons[0]}"
    base = re.fullmatch(r"python:([\d.]+)-slim@sha256:[0-9a-f]{64} AS base", IMAGE[0][1])
    assert base is not None
    assert base[1] in pythons
    assert [rest for word, rest in IMAGE if word == "FROM"][1:] == ["base AS build", "base"]
    runs = [step["run"] for step in test["steps"] if "run" in step]
    assert runs[-2:] == ["make check", "make test"]
    assert "prometheus" in runs[0], "promtool is a part of it"
    slow = WORKFLOW["jobs"]["slow"]
    assert [step["run"] for step in slow["steps"] if "run" in step] == [
        "make slow",
        "make seeds RUNS=30",
    ]
    used = [
        step["uses"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "uses" in step
    ]
    assert [
        action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
    ] == []


def test_workflow_builds_and_runs_image_of_its_commit() -> None:
    assert [step["run"] for step in WORKFLOW["jobs"]["image"]["steps"] if "run" in step] == [
        ".ci/image"
    ]
    script = (ROOT / ".ci/image").read_text()
    defaults = dict(rest.split("=") for word, rest in IMAGE if word == "ARG")
    names = re.findall(r"--build-arg (\w+)=", script)
    assert {name: defaults[name] for name in names} == {"REVISION": "", "SOURCE": ""}
    assert "python .ci/answer.py docker run " in script
    assert ".ci/image" in (ROOT / ".ci/run").read_text()


def test_changelog_and_image_have_this_version() -> None:
    newest = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert newest == ("Unreleased" if ".dev" in __version__ else __version__)
    label = re.search(r"image\.version=(\S+)", image("LABEL"))
    assert label is not None
    assert label[1] == __version__

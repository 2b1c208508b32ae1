"""The files that run the bot on somebody's host: what they name is what the bot has."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from check_jsonschema.cli import main as check_jsonschema
from click.testing import CliRunner

from bot import __version__
from bot.health.checks import Finding, add_health_routes
from bot.settings import DatabaseSettings, Settings
from tests.limits import HANG_SECONDS
from tests.papers import DOCS, ROOT
from tests.shown_commands import run_shown
from tests.test_settings import GOOD


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


COMPOSE = read("compose.yaml")
WORKFLOW = read(".github/workflows/ci.yml")
APP = json.loads((ROOT / "app.json").read_text())
OBJECTS = {each["kind"]: each for each in yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text())}
POD = OBJECTS["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
UNIT = (ROOT / "deploy/docs-bot.service").read_text()
IMAGE = [
    (line.split()[0], line.partition(" ")[2].strip())
    for line in (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]
PORT, HEALTH_PORT = (Settings.model_fields[name].default for name in ("port", "health_port"))


def image(instruction: str, having: str = "") -> str:
    """What the last such instruction of the Dockerfile says, of those that have a text."""
    return [rest for name, rest in IMAGE if name == instruction and having in rest][-1]


def directive(name: str) -> str:
    """What the last such line of the unit says."""
    return str(re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)[-1])


def environments() -> dict[str, dict[str, str]]:
    """Return the settings that each file gives a bot."""
    pod = {each["name"]: each["value"] for each in CONTAINER["env"]}
    app = {name: told.get("value", GOOD.get(name, "")) for name, told in APP["env"].items()}
    return {"kubernetes": pod, "compose": COMPOSE["services"]["bot"]["environment"], "heroku": app}


# Fields. What has a published schema is checked with it, the rest with the words of its reference.


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("compose-spec", "compose.yaml"),
        ("github-workflows", ".github/workflows/ci.yml"),
        ("dependabot", ".github/dependabot.yml"),
    ],
)
def test_a_file_fits_its_published_schema_and_a_misspelt_one_does_not(
    schema: str, path: str, tmp_path: Path
) -> None:
    misspelt = tmp_path / "misspelt.yaml"
    misspelt.write_text(re.sub(r"^(services|jobs|updates):", r"\1s:", (ROOT / path).read_text(), flags=re.M))
    given = ["--builtin-schema", f"vendor.{schema}"]
    assert CliRunner().invoke(check_jsonschema, [*given, str(ROOT / path)]).exit_code == 0
    assert CliRunner().invoke(check_jsonschema, [*given, str(misspelt)]).exit_code == 1


def keys(value: object, of: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key below a value, each with the key that it stands under."""
    if isinstance(value, list):
        for each in value:
            yield from keys(each, of)
    elif isinstance(value, Mapping):
        for key, below in value.items():
            yield of, key
            yield from keys(below, key)


def test_app_json_and_release_notes_have_keys_that_their_hosts_know() -> None:
    # https://devcenter.heroku.com/articles/app-json-schema
    known = {
        "": "name description keywords website repository logo success_url scripts env formation addons "
        "buildpacks environments stack image",
        "env": "description value required generator",
        "formation": "quantity size",
        "addons": "plan as options",
        "buildpacks": "url",
    }
    told = {**APP, "env": [*APP["env"].values()], "formation": [*APP["formation"].values()]}
    assert {(of, key) for of, key in keys(told) if key not in known[of].split()} == set()
    # https://docs.github.com/en/repositories/releasing-projects-on-github/automatically-generated-release-notes
    known = {
        "": "changelog",
        "changelog": "exclude categories",
        "exclude": "labels authors",
        "categories": "title labels exclude",
    }
    notes = read(".github/release.yml")
    assert {(of, key) for of, key in keys(notes) if key not in known[of].split()} == set()
    assert notes["changelog"]["categories"][-1]["labels"] == ["*"]


def test_objects_of_kubernetes_have_fields_that_it_knows() -> None:
    # https://kubernetes.io/docs/reference/kubernetes-api/
    workload = "replicas strategy selector template minReadySeconds revisionHistoryLimit"
    probe = "httpGet periodSeconds timeoutSeconds failureThreshold successThreshold initialDelaySeconds"
    known = {
        "": "apiVersion kind metadata spec",
        "metadata": "name namespace labels annotations",
        "labels": "app.kubernetes.io/name",
        "matchLabels": "app.kubernetes.io/name",
        "spec": f"{workload} minAvailable maxUnavailable unhealthyPodEvictionPolicy ports "
        "automountServiceAccountToken enableServiceLinks securityContext topologySpreadConstraints "
        "containers volumes restartPolicy terminationGracePeriodSeconds",
        "selector": "matchLabels matchExpressions app.kubernetes.io/name",
        "strategy": "type rollingUpdate",
        "rollingUpdate": "maxUnavailable maxSurge",
        "template": "metadata spec",
        "securityContext": "runAsNonRoot runAsUser runAsGroup fsGroup seccompProfile "
        "allowPrivilegeEscalation readOnlyRootFilesystem capabilities",
        "seccompProfile": "type localhostProfile",
        "capabilities": "add drop",
        "topologySpreadConstraints": "maxSkew topologyKey whenUnsatisfiable labelSelector",
        "labelSelector": "matchLabels matchExpressions",
        "containers": "name image imagePullPolicy command args env envFrom ports startupProbe livenessProbe "
        "readinessProbe lifecycle resources securityContext volumeMounts",
        "env": "name value valueFrom",
        "envFrom": "secretRef configMapRef prefix",
        "secretRef": "name optional",
        "ports": "name containerPort port targetPort protocol",
        "startupProbe": probe,
        "livenessProbe": probe,
        "readinessProbe": probe,
        "httpGet": "path port scheme host httpHeaders",
        "lifecycle": "preStop postStart",
        "preStop": "sleep exec httpGet",
        "sleep": "seconds",
        "resources": "requests limits",
        "requests": "cpu memory",
        "limits": "cpu memory",
        "volumeMounts": "name mountPath readOnly",
        "volumes": "name emptyDir",
        "emptyDir": "medium sizeLimit",
    }
    assert {(of, key) for of, key in keys([*OBJECTS.values()]) if key not in known[of].split()} == set()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_knows_every_line_of_the_unit_and_finds_it_well_confined(tmp_path: Path) -> None:
    unit = tmp_path / "docs-bot.service"
    # A program that is there, at a path without spaces.
    unit.write_text(UNIT.replace(directive("ExecStart").split()[0], "/bin/sh"))
    known = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    # It may also have something to say about this machine's own units.
    assert [line for line in known.stderr.splitlines() if unit.name in line] == []
    assert known.returncode == 0
    confined = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)]
    assert subprocess.run(confined, capture_output=True, check=False).returncode == 0


# Commands, settings and ports.


def test_hosts_run_commands_that_the_bot_has() -> None:
    (program,) = json.loads(image("ENTRYPOINT"))
    ran = {
        "image": [program, *json.loads(image("CMD"))],
        "systemd": directive("ExecStart").split(),
        "kubernetes": [program, *CONTAINER["args"]],
    }
    for command in ran.values():
        run_shown(" ".join(command))
    assert {host: command[-1] for host, command in ran.items()} == dict.fromkeys(ran, "run")


def test_hosts_name_settings_that_the_bot_has_and_values_that_it_takes() -> None:
    for host, given in environments().items():
        assert given.keys() - set(Settings.variables()) == set(), host
        values = {name: re.sub(r"\$\{\w+:\?[^}]*\}", "c0ffee", value) for name, value in given.items()}
        settings = Settings.load(GOOD | values, env_file=None)
        assert settings.warnings() == (), host
        assert (settings.port, settings.health_port) == (PORT, HEALTH_PORT), host
    required = {name.upper() for name, field in Settings.model_fields.items() if field.is_required()}
    assert required <= {name for name, told in APP["env"].items() if told.get("required", True)}


def test_every_port_is_the_one_that_the_bot_opens() -> None:
    assert int(image("EXPOSE")) == PORT
    bot, text = COMPOSE["services"]["bot"], (ROOT / "compose.yaml").read_text()
    assert "ports" not in bot, "in Socket Mode nothing listens there, and another program may have the port"
    assert re.findall(r"^ *# +- 127.0.0.1:(\d+):(\d+)$", text, re.MULTILINE) == [
        (str(port), str(port)) for port in (PORT, HEALTH_PORT)
    ]
    assert bot["environment"]["HEALTH_HOST"] == "0.0.0.0"
    told = {each["name"]: each["containerPort"] for each in CONTAINER["ports"]}
    assert told == {"slack": PORT, "health": HEALTH_PORT}


def test_slack_s_requests_are_taken_from_other_machines_where_the_proxy_is_one() -> None:
    given = {host: each.get("HOST") for host, each in environments().items()}
    assert given == {"kubernetes": "0.0.0.0", "compose": "0.0.0.0", "heroku": None}
    assert "HOST=0.0.0.0" in image("ENV", "PATH").split()
    assert re.findall(r"^(\w+): env HOST=0.0.0.0 ", (ROOT / "Procfile").read_text(), re.MULTILINE) == ["web"]


def test_probes_ask_from_another_machine_for_pages_that_the_bot_has() -> None:
    server = web.Application()
    add_health_routes(server, {}, page)
    routes = {resource.canonical for resource in server.router.resources()}
    probes = [CONTAINER[name]["httpGet"] for name in CONTAINER if name.endswith("Probe")]
    assert len(probes) == 3
    assert {probe["path"] for probe in probes} <= routes
    assert {probe["port"] for probe in probes} == {"health"}
    assert environments()["kubernetes"]["HEALTH_HOST"] == "0.0.0.0"


async def page(_found: Sequence[Finding]) -> tuple[bytes, str]:
    return b"", "text/plain"


async def test_the_image_is_healthy_while_the_bot_is_ready() -> None:
    ready = True

    async def check() -> Sequence[Finding]:
        return [Finding("here", ready, "")]

    server = web.Application()
    add_health_routes(server, {"database": check}, page)
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
    assert "--start-interval" not in check, "Debian 12's Docker and Podman do not know it"
    program, *rest = json.loads(check[check.index("[") :])
    assert program == "python"
    assert f"getenv('HEALTH_PORT') or {HEALTH_PORT})" in rest[-1]
    ran = await asyncio.create_subprocess_exec(
        sys.executable, *rest, env={"HEALTH_PORT": str(port)}, stderr=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(HANG_SECONDS):
        return await ran.wait()


# What the bot may touch.


def test_the_image_installs_the_hashed_lock_and_holds_nothing_but_the_bot() -> None:
    installs = [rest for name, rest in IMAGE if name == "RUN" and " install " in rest and "pip" in rest]
    assert [("--require-hashes -r requirements.txt" in each, "--no-deps" in each) for each in installs] == [
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


def test_the_one_volume_is_where_the_bot_puts_its_sqlite_file() -> None:
    url = DatabaseSettings.load({}, env_file=None).sqlalchemy_url
    place = Path(image("WORKDIR"), url.removeprefix("sqlite:///")).parent
    assert [rest for name, rest in IMAGE if name == "VOLUME"] == [str(place)]
    assert f" --volume docs-bot:{place} docs-bot\n" in (DOCS / "install.md").read_text()
    assert directive("WorkingDirectory") == f"/var/lib/{directive('StateDirectory')}"


def test_nothing_runs_as_root_or_writes_outside_its_volumes() -> None:
    user = int(image("USER").partition(":")[0])
    assert (POD["securityContext"]["runAsNonRoot"], POD["securityContext"]["runAsUser"]) == (True, user)
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not POD["automountServiceAccountToken"]
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    bot = COMPOSE["services"]["bot"]
    assert (bot["read_only"], bot["tmpfs"], bot["cap_drop"]) == (True, "/tmp", ["ALL"])


def test_no_file_holds_a_secret() -> None:
    secrets = {name.upper() for name, field in Settings.model_fields.items() if "SecretStr" in repr(field)}
    assert {"SLACK_BOT_TOKEN", "DOCS_API_KEY", "DATABASE_URL", "HTTPS_PROXY"} <= secrets
    given = [
        (host, name, value) for host, each in environments().items() for name, value in each.items() if value
    ]
    told = [(host, name) for host, name, _ in given if name in secrets and host != "heroku"]
    assert told == [("compose", "DATABASE_URL")]
    assert "docs_bot:${POSTGRES_PASSWORD:?" in COMPOSE["services"]["bot"]["environment"]["DATABASE_URL"]
    assert {name for name, told in APP["env"].items() if "value" in told} & secrets == set()
    assert OBJECTS.keys() == {"Deployment", "PodDisruptionBudget", "Service"}
    assert CONTAINER["envFrom"] == [{"secretRef": {"name": "docs-bot"}}]


# Versions.


def test_every_python_from_the_oldest_on_runs_the_checks_and_the_tests() -> None:
    test = WORKFLOW["jobs"]["test"]
    pythons = test["strategy"]["matrix"]["python"]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert pythons == [f"3.{minor}" for minor in range(11, 15)]
    assert oldest == f">={pythons[0]}"
    base = re.fullmatch(r"python:([\d.]+)-slim@sha256:[0-9a-f]{64} AS base", IMAGE[0][1])
    assert base is not None
    assert base[1] in pythons
    assert (ROOT / ".python-version").read_text() == f"{base[1]}\n", "which Heroku reads"
    assert [rest for word, rest in IMAGE if word == "FROM"][1:] == ["base AS build", "base"]
    runs = [step["run"] for step in test["steps"] if "run" in step]
    assert runs[-2:] == ["make check", "make test"]
    assert "prometheus" in runs[0], "of which promtool is a part"
    slow = WORKFLOW["jobs"]["slow"]
    assert [step["run"] for step in slow["steps"] if "run" in step] == ["make slow", "make seeds RUNS=30"]
    used = [step["uses"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "uses" in step]
    assert [each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each)] == []


def test_the_workflow_builds_the_image_with_its_commit_and_lets_it_answer_a_command() -> None:
    assert [step["run"] for step in WORKFLOW["jobs"]["image"]["steps"] if "run" in step] == [".ci/image"]
    done = (ROOT / ".ci/image").read_text()
    given = re.findall(r"--build-arg (\w+)=", done)
    assert {name: image_argument(name) for name in given} == {"REVISION": "", "SOURCE": ""}
    assert "python .ci/answer.py docker run " in done
    assert ".ci/image" in (ROOT / ".ci/run").read_text()


def image_argument(name: str) -> str:
    return dict(rest.split("=") for word, rest in IMAGE if word == "ARG")[name]


def test_the_changelog_tells_this_version_first_in_fifty_lines_at_most() -> None:
    _, *parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    newest = next(part for part in parts if not part.startswith("Unreleased\n"))
    assert newest.startswith(f"{__version__} (20")
    assert len(newest.splitlines()) <= 50


def test_the_version_that_kubernetes_runs_is_this_one() -> None:
    assert CONTAINER["image"] == f"registry.example/docs-bot:{__version__}"


def test_heroku_starts_processes_that_the_procfile_has() -> None:
    told = re.findall(r"^(\w+):", (ROOT / "Procfile").read_text(), re.MULTILINE)
    assert APP["formation"].keys() == set(told) - {"release"}

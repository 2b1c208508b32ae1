"""What `make release` refuses, what it takes of the changelog, and what goes along with a release."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.papers import ROOT

CHANGELOG = """# Changelog

## 1.0.0 (2026-12-01)

### Running it

- It can be released.

## 0.1.0

- Nothing.
"""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci/release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


release = load()


def clone(folder: Path, version: str = "1.0.0", changelog: str = CHANGELOG) -> Path:
    """Return a committed tree with this version and changelog."""
    (folder / "bot").mkdir()
    (folder / "bot/__init__.py").write_text(f'"""A bot."""\n\n__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(changelog)
    person = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"]
    for words in (["init", "-q"], ["add", "."], [*person, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", folder, *words], check=True)
    return folder


def test_clean_tree_with_a_dated_section_can_be_released(tmp_path: Path) -> None:
    ready = release.check(clone(tmp_path), "v1.0.0")
    assert ready.version == "1.0.0"
    assert ready.notes == "### Running it\n\n- It can be released.\n"
    assert re.fullmatch("[0-9a-f]{40}", ready.commit)


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "expected"),
    [
        ("1.0.0.dev0", CHANGELOG, "", "is not for a release"),
        ("1.0.0", CHANGELOG, "v1.0.1", "tag v1.0.0"),
        ("1.0.1", CHANGELOG, "", "has no section of this version: write '## 1.0.1 (20"),
        ("1.0.0", CHANGELOG.replace("2026-12-01", "soon"), "", "dates 1.0.0 'soon'"),
        ("1.0.0", "## 1.0.0 (2026-12-01)\n\n## 0.1.0\n", "", "says nothing about 1.0.0"),
    ],
)
def test_tree_that_is_not_ready_is_refused(
    version: str, changelog: str, tag: str, expected: str, tmp_path: Path
) -> None:
    with pytest.raises(release.NotReady, match=re.escape(expected)):
        release.check(clone(tmp_path, version, changelog), tag)


def test_uncommitted_file_is_named(tmp_path: Path) -> None:
    folder = clone(tmp_path)
    (folder / "notes.txt").write_text("not committed")
    with pytest.raises(release.NotReady, match=r"Commit or remove .*notes\.txt"):
        release.check(folder, "")


def test_addresses_stand_in_the_package_where_the_repository_is_known(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text((ROOT / "pyproject.toml").read_text())
    release.add_addresses(pyproject, "")
    assert "urls" not in tomllib.loads(pyproject.read_text())["project"]
    release.add_addresses(pyproject, "https://code.example/docs-bot")
    urls = tomllib.loads(pyproject.read_text())["project"]["urls"]
    assert urls["Issues"] == "https://code.example/docs-bot/issues"


def test_bill_of_materials_has_the_version_and_all_dependencies() -> None:
    bill: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "root", "name": "docs-bot"}},
        "components": [{"bom-ref": "line 9"}, {"bom-ref": "line 3"}],
        "dependencies": [{"ref": "line 3"}, {"ref": "line 9"}, {"ref": "root"}],
    }
    release.complete_bill(bill, "1.0.0")
    assert bill["metadata"]["component"]["version"] == "1.0.0"
    assert bill["dependencies"] == [
        {"ref": "line 3"},
        {"ref": "line 9"},
        {"ref": "root", "dependsOn": ["line 3", "line 9"]},
    ]


def test_evidence_of_another_commit_stays_behind(tmp_path: Path) -> None:
    file = tmp_path / "evidence.json"
    folder = tmp_path / "dist"
    folder.mkdir()
    made = release.Release("1.0.0", "a" * 40, "notes")
    for commit, goes_along in (("b" * 40, False), ("a" * 40, True)):
        file.write_text(f'{{\n  "commit": "{commit}"\n}}\n')
        release.copy_evidence(made, file, folder)
        assert (folder / file.name).exists() == goes_along


def test_client_without_an_engine_builds_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, code in (("docker", 1), ("podman", 0)):
        client = tmp_path / name
        client.write_text(f"#!/bin/sh\nexit {code}\n")
        client.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    tools = ("docker", "podman", "nerdctl")
    assert [tool for tool in tools if release.has_engine(tool)] == ["podman"]


def test_checksums_are_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    release.write_checksums(tmp_path)
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(name.encode()).hexdigest()}  {name}.txt" for name in ("a", "b")
    ]


WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
JOBS = {name: job["steps"] for name, job in WORKFLOW["jobs"].items()}


def test_workflow_releases_as_one_does_by_hand() -> None:
    runs = [step["run"] for step in JOBS["build"] if "run" in step]
    assert "make release" in runs
    assert runs.index("make test") < runs.index("make release")
    steps = [step for steps in JOBS.values() for step in steps]
    used = [step["uses"] for step in steps if "uses" in step]
    assert [use for use in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", use)] == []
    # Nothing goes to a registry.
    runs = [step["run"] for step in steps if "run" in step]
    assert not any("twine" in run or "push" in run for run in runs)


def test_workflow_runs_no_code_of_the_tree_with_rights_to_write() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    may_write = {name for name, job in WORKFLOW["jobs"].items() if "permissions" in job}
    assert may_write == {"attach"}
    assert not any("checkout" in step.get("uses", "") for step in JOBS["attach"])
    runs = [step["run"] for step in JOBS["attach"] if "run" in step]
    assert [run.split()[0] for run in runs] == ["gh"]

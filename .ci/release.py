"""Build what a release consists of into ``dist/VERSION``: ``make release``.

It builds from what is committed, and refuses a tree or a changelog that is not ready. It uploads
nothing: .github/workflows/release.yml attaches the files to the release of a tag.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_RELEASED = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(rc[0-9]+)?")
"""A version that can be released: https://packaging.python.org/en/latest/specifications/version-specifiers/"""
EVIDENCE = Path("var/evidence.json")
"""What ``make evidence`` has written."""


@dataclass(frozen=True)
class Release:
    """What is released."""

    version: str
    commit: str
    notes: str
    """The version's section of CHANGELOG.md."""


class NotReady(Exception):
    """The tree cannot be released as it is. The text has a line for each reason."""


def main() -> int:
    """Build the release; return the exit code."""
    try:
        release = check(ROOT, os.environ.get("TAG", ""))
    except NotReady as problems:
        print(problems, file=sys.stderr)
        return 1
    folder = ROOT / "dist" / release.version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build_packages(release, folder)
    shutil.copy(ROOT / "requirements.txt", folder)
    list_components(release, folder)
    (folder / "NOTES.md").write_text(release.notes)
    copy_evidence(release, ROOT / EVIDENCE, folder)
    build_image(release, folder)
    write_checksums(folder)
    print(f"The release {release.version} of {release.commit} is in {folder.relative_to(ROOT)}:")
    for file in sorted(folder.iterdir()):
        print(f"  {file.name}  {file.stat().st_size:,} bytes")
    return 0


# ---- checks


def check(root: Path, tag: str) -> Release:
    """Return what a tree would release.

    Args:
        root: the clone.
        tag: the tag that is released, such as ``v1.0.0``; empty where none is.

    Raises NotReady.
    """
    problems = list[str]()
    changed = git(root, "status", "--porcelain").splitlines()
    if changed:
        problems.append(f"Commit or remove what is not committed: {', '.join(changed[:5])}.")
    found = _VERSION.search((root / "bot/__init__.py").read_text())
    version = found.group(1) if found else ""
    if not _RELEASED.fullmatch(version):
        problems.append(
            f"bot/__init__.py has the version {version or '(none)'}, which is not for a release: "
            "write one such as 1.0.0 or 1.0.0rc1."
        )
    if tag and tag != f"v{version}":
        problems.append(f"The tag is {tag}, and the version is {version}: tag v{version}.")
    notes = ""
    try:
        notes = notes_of((root / "CHANGELOG.md").read_text(), version)
    except NotReady as problem:
        problems.append(str(problem))
    if problems:
        raise NotReady("\n".join(problems))
    return Release(version, git(root, "rev-parse", "HEAD").strip(), notes)


def notes_of(changelog: str, version: str) -> str:
    """Return a version's section of a changelog. Raises NotReady without one that has a date."""
    heading = re.search(rf"^## {re.escape(version)} \(([^)]*)\)$", changelog, re.MULTILINE)
    example = f"## {version} ({datetime.now(UTC).date().isoformat()})"
    if heading is None:
        raise NotReady(f"CHANGELOG.md has no section of this version: write {example!r}.")
    try:
        date.fromisoformat(heading.group(1))
    except ValueError:
        raise NotReady(f"CHANGELOG.md dates {version} {heading.group(1)!r}: {example!r}.") from None
    rest = changelog[heading.end() :]
    following = re.search(r"^## ", rest, re.MULTILINE)
    notes = (rest[: following.start()] if following else rest).strip()
    if not notes:
        raise NotReady(f"CHANGELOG.md says nothing about {version}.")
    return f"{notes}\n"


def git(root: Path, *arguments: str) -> str:
    """Return the output of git in a clone."""
    return run("git", "-C", str(root), *arguments)


def run(*command: str, folder: Path | None = None, **environment: str) -> str:
    """Return the output of a command. Raises CalledProcessError for a failed one."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


# ---- files


def build_packages(release: Release, folder: Path) -> None:
    """Build the sdist and the wheel, of what is committed and with the commit's time."""
    time = git(ROOT, "show", "--no-patch", "--format=%ct", release.commit).strip()
    with TemporaryDirectory() as place:
        source = Path(place) / "source"
        archive = Path(place) / "source.tar"
        git(ROOT, "archive", "--output", str(archive), release.commit)
        with tarfile.open(archive) as files:
            files.extractall(source, filter="data")
        add_addresses(source / "pyproject.toml", os.environ.get("SOURCE", ""))
        build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder))
        run(*build, str(source), SOURCE_DATE_EPOCH=time)


def add_addresses(pyproject: Path, source: str) -> None:
    """Write the project's addresses, which depend on where its repository is."""
    if source:
        addresses = {
            "Homepage": source,
            "Source": source,
            "Changelog": f"{source}/blob/main/CHANGELOG.md",
            "Issues": f"{source}/issues",
        }
        lines = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
        pyproject.write_text(f"{pyproject.read_text()}\n[project.urls]\n{lines}")


def list_components(release: Release, folder: Path) -> None:
    """Write the software bill of materials, from the locked requirements.

    https://cyclonedx.org/specification/overview/
    """
    file = folder / f"docs-bot-{release.version}.cdx.json"
    command = ("cyclonedx_py", "requirements", "requirements.txt", "--output-format", "JSON")
    options = ("--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", str(file))
    run(sys.executable, "-m", *command, *options, folder=ROOT)
    bill = json.loads(file.read_text())
    complete_bill(bill, release.version)
    file.write_text(json.dumps(bill, indent=2) + "\n")


def complete_bill(bill: dict[str, Any], version: str) -> None:
    """Write the bot's version and dependencies into a bill of materials.

    The locks do not contain which component requires which, so the bot depends on all of them.
    """
    bot = bill["metadata"]["component"]
    bot["version"] = version
    [entry] = [entry for entry in bill["dependencies"] if entry["ref"] == bot["bom-ref"]]
    entry["dependsOn"] = sorted(component["bom-ref"] for component in bill["components"])


def copy_evidence(release: Release, file: Path, folder: Path) -> None:
    """Take the evidence in a file along if it was made of the same commit."""
    if not file.exists():
        print("No evidence goes along: `make evidence` makes it.")
    elif f'"commit": "{release.commit}"' not in file.read_text():
        print(f"{file.name} is of another commit and does not go along: `make evidence` makes it.")
    else:
        shutil.copy(file, folder)


def build_image(release: Release, folder: Path) -> None:
    """Build the image where Docker or Podman runs, and save it."""
    tool = next((name for name in ("docker", "podman") if has_engine(name)), None)
    if tool is None or os.environ.get("IMAGE") == "no":
        print("No image is built: neither Docker nor Podman runs here, or IMAGE=no is set.")
        return
    name = f"docs-bot:{release.version}"
    arguments = (f"REVISION={release.commit}", f"SOURCE={os.environ.get('SOURCE', '')}")
    options = [option for argument in arguments for option in ("--build-arg", argument)]
    if tool == "podman":
        # Its own format, OCI, drops the healthcheck.
        options += ["--format", "docker"]
    run(tool, "build", "--tag", name, *options, ".", folder=ROOT)
    file = folder / f"docs-bot-{release.version}-image.tar"
    run(tool, "save", "--output", str(file), name)
    run("gzip", "--no-name", str(file))


def has_engine(tool: str) -> bool:
    """Return whether a client of containers is installed and reaches its engine."""
    if shutil.which(tool) is None:
        return False
    return subprocess.run((tool, "version"), capture_output=True, check=False).returncode == 0


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS, which ``sha256sum --check`` reads."""
    lines = list[str]()
    for file in sorted(folder.iterdir()):
        with file.open("rb") as opened:
            lines.append(f"{hashlib.file_digest(opened, 'sha256').hexdigest()}  {file.name}\n")
    (folder / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())

"""Running the shell commands that the papers show, as far as it goes without doing their work."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit

import bench.__main__
import tests.torture.__main__
from bot.__main__ import cli
from sandbox.command import cli as sandbox_cli
from tests.papers import ROOT

_SOME_VALUE = {"SEED": "7", "FILE": "tests/test_docs.py", "NAME": "setting"}
"""Examples for values that a paper leaves to the reader."""
_DONE_BY_OTHERS = {
    "cp .env.example .env": "It would put a file into the checkout. test_docs.py compares .env.example.",
    "chmod 600 .env": "It would change the file of whoever runs the tests.",
    "curl http://localhost:3001/readyz": "It needs a running bot. tests/health asks for the same path.",
    **dict.fromkeys(
        (
            "git push --quiet origin HEAD",
            "gh pr view --json url --jq .url || gh pr create --fill",
        ),
        "They need GitHub. tests/sandbox/docs_service/test_publishing.py runs them with a gh of its own.",
    ),
    **dict.fromkeys(
        (
            "pg_dump --format=custom --file=docs-bot.dump docs_bot",
            "pg_restore --clean --if-exists --no-owner --dbname=docs_bot docs-bot.dump",
        ),
        "They need a PostgreSQL. tests/operator/test_backup.py runs them.",
    ),
    **dict.fromkeys(
        (
            (
                "sudo -u docs-bot env --chdir=/var/lib/docs-bot /opt/docs-bot/.venv/bin/docs-bot "
                "backup /var/lib/docs-bot/monday.db"
            ),
            "sudo systemctl stop docs-bot",
            (
                "sudo -u docs-bot env --chdir=/var/lib/docs-bot /opt/docs-bot/.venv/bin/docs-bot "
                "restore /var/lib/docs-bot/monday.db"
            ),
            "sudo systemctl start docs-bot",
            "docker compose exec bot docs-bot backup /srv/docs-bot/var/monday.db",
            "docker compose cp bot:/srv/docs-bot/var/monday.db .",
            "docker compose stop bot",
            "docker compose run --rm bot restore /srv/docs-bot/var/monday.db",
            (
                "docker compose run --rm -T --entrypoint sh bot "
                "-c 'umask 077; cat > /srv/docs-bot/var/monday.db' < monday.db"
            ),
        ),
        "They need a host. tests/scenarios/test_operating.py runs what they do there.",
    ),
    **dict.fromkeys(
        (
            "sha256sum --check --ignore-missing SHA256SUMS",
            "python3 -m venv .venv",
            ".venv/bin/pip install --require-hashes -r requirements.txt",
            ".venv/bin/pip install --no-deps docs_bot-*.whl",
            "gunzip --stdout docs-bot-1.0.0-image.tar.gz | docker load",
            "docker tag docs-bot:1.0.0 docs-bot",
        ),
        "They install a release, which no test builds: `make release` does.",
    ),
    **dict.fromkeys(
        (
            "git pull",
            "git fetch --tags",
            "git checkout v1.1.0",
            "sudo git -C /opt/docs-bot pull",
            "sudo make -C /opt/docs-bot setup",
            "sudo systemctl daemon-reload",
            "sudo systemctl restart docs-bot",
            'docker compose build --build-arg REVISION="$(git rev-parse HEAD)"',
            "docker compose run --rm bot doctor",
            "docker compose up --detach --wait",
            "docker compose exec bot docs-bot doctor",
            "docker compose exec bot docs-bot doctor --try C0123 --as U0123",
            "docker compose exec bot docs-bot jobs",
            "docker compose logs bot",
            'BUILDAH_FORMAT=docker podman-compose build --build-arg REVISION="$(git rev-parse HEAD)"',
            "podman-compose up --detach --force-recreate",
            "sudo useradd --system --home-dir /var/lib/docs-bot docs-bot",
            "sudo install -D --owner docs-bot --mode 600 .env /var/lib/docs-bot/.env",
            "sudo rm .env",
            "sudo systemctl enable --now /opt/docs-bot/deploy/docs-bot.service",
            "sudo -u docs-bot env --chdir=/var/lib/docs-bot /opt/docs-bot/.venv/bin/docs-bot doctor",
        ),
        "It changes a host. tests/test_deploy.py compares the files that it uses with the bot.",
    ),
}
"""Commands of other programs that no test runs, each with the reason. Add one only if nothing else can."""
_MODULES: dict[str, click.Command] = {
    "bench": bench.__main__.measure,
}


class NotRun(Exception):
    """No program accepts this command."""


def run_shown(command: str) -> None:
    """Let the program read a shell command, as far as it goes without doing its work; or raise NotRun."""
    arguments = [_SOME_VALUE.get(word, word) for word in shlex.split(command, comments=True)]
    program, rest = Path(arguments[0]).name, arguments[1:]
    if {command, shlex.join(arguments)} & _DONE_BY_OTHERS.keys():
        return
    if program == "make":
        _make(rest)
    elif program == "docs-bot":
        _docs_bot(rest)
    elif program == "python" and rest[:1] == ["-m"] and len(rest) > 1:
        _module(rest[1], rest[2:])
    else:
        raise NotRun(f"nothing runs {command!r}: see tests/shown_commands.py")


def _make(arguments: Sequence[str]) -> None:
    """Print the commands without running them."""
    ran = subprocess.run(
        ["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise NotRun(ran.stderr.strip())


def _docs_bot(arguments: Sequence[str]) -> None:
    if not arguments or arguments in (["--help"], ["--version"]):
        return
    name, commands = arguments[0], _subcommands()
    if name not in commands:
        raise NotRun(f"docs-bot has no command {name}")
    _read(commands[name], arguments[1:])


def _subcommands() -> dict[str, click.Command]:
    """Return every subcommand; the sandbox reads its options by itself."""
    return {**cli.commands, "sandbox": sandbox_cli}


def _module(name: str, arguments: Sequence[str]) -> None:
    if name == "bot":
        _docs_bot(arguments)
    elif name == "tests.torture":
        _read_by_argparse(arguments)
    elif name == "pytest":
        _find_tests(arguments)
    elif name in _MODULES:
        _read(_MODULES[name], arguments)
    else:
        raise NotRun(f"nothing runs the module {name}")


def _read(command: click.Command, arguments: Sequence[str]) -> None:
    """Let click read the words: it knows every option and accepts every value."""
    try:
        command.make_context(command.name or "", list(arguments))
    except Exit:  # --help exits after its output
        return
    except click.ClickException as error:
        raise NotRun(str(error)) from None


def _read_by_argparse(arguments: Sequence[str]) -> None:
    try:
        tests.torture.__main__.parser().parse_args(arguments)
    except SystemExit as left:
        if left.code:
            raise NotRun(f"tests.torture does not take {arguments}") from None


def _find_tests(arguments: Sequence[str]) -> None:
    """Accept existing folders for tests: a reader may be about to write the file."""
    if missing := [word for word in arguments if "/" in word and not (ROOT / word).parent.is_dir()]:
        raise NotRun(f"pytest finds no {missing}")


def known_options() -> set[str]:
    """Return every option of every program of ours."""
    parts = [*_subcommands().values(), *_MODULES.values()]
    options = {name for part in parts for option in part.params for name in option.opts}
    return options | {
        name
        for action in tests.torture.__main__.parser()._actions
        for name in action.option_strings
    }


def done_by_others() -> set[str]:
    """Return the commands that no test runs."""
    return set(_DONE_BY_OTHERS)

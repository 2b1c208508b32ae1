"""The command line. Commands import their own parts, since most need less than the whole bot."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import sys
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click
from click.exceptions import Exit

from bot import version_and_commit
from bot.ids import ChannelId, JobNumber, UserId
from bot.jobs.model.jobs import JobFilter, JobState
from bot.loading import SettingsError
from bot.operator.running import (
    CANNOT_START_EXIT_CODE,
    INTERRUPTED_EXIT_CODE,
    database_errors,
    echo,
    load_settings,
    with_store,
)
from bot.settings import DatabaseSettings, Settings

if TYPE_CHECKING:
    from bot.operator.transcript import Recorder
    from bot.operator.trial_step import StepResult, TrialOptions


_NUMBER = click.IntRange(1, 2**31 - 1)


class _Command(click.Command):
    """A command whose whole sentence is in the list of commands; click would cut it to one line."""

    def get_short_help_str(self, limit: int = 45) -> str:
        del limit
        return self.help or ""


class _Commands(click.Group):
    command_class = _Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of this file; click would sort them."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Exit(INTERRUPTED_EXIT_CODE) from None


def _parse_day(text: str) -> date:
    """Parse 2026-10-31. Raises ValueError with a text for people."""
    try:
        if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        example = "for example --from 2026-10-01"
        raise ValueError(f"{text!r} is no day; write year, month and day, {example}") from None


@click.group(cls=_Commands)
@click.version_option(version_and_commit(), message="%(version)s", help="The version of the bot.")
def cli() -> None:
    """Ask a documentation agent for changes from Slack."""


@cli.command()
def run() -> None:
    """Run the bot, until SIGTERM or Ctrl+C."""
    # Imported modules stay for good, so collecting garbage meanwhile would only delay the start.
    gc.disable()
    import bot.app  # noqa: F401
    from bot.operator.running import run_until_stopped

    gc.freeze()
    gc.enable()
    run_until_stopped()


@cli.command()
@click.argument("number", type=_NUMBER, required=False, metavar="[JOB]")
@click.option(
    "--state",
    type=click.Choice([state.value for state in JobState]),
    metavar="STATE",
    help=f"Only jobs in this state: {', '.join(JobState)}.",
)
@click.option("--channel", metavar="CHANNEL", help="Only jobs of this channel (its id, C…).")
@click.option(
    "--user",
    "requester",
    metavar="USER",
    help="Only jobs that this person asked for (their id, U…).",
)
@click.option("--project", metavar="PROJECT", help="Only jobs of this project.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="How many at the most.",
)
@click.option(
    "--retry", type=_NUMBER, metavar="LETTER", help="Deliver an undelivered message again."
)
def jobs(number: int | None, limit: int, retry: int | None, **only: Unpack[JobFilter]) -> None:
    """List the newest jobs, or one, and undelivered messages; needs only DATABASE_URL."""
    from bot.operator.rows import list_jobs, retry_letter, show_job

    if number is not None and retry is not None:
        raise click.UsageError("JOB and --retry each stand alone")
    now = datetime.now(UTC)
    if number is not None:
        with_store(lambda store: show_job(store, JobNumber(number), now))
    elif retry is not None:
        with_store(lambda store: retry_letter(store, retry, now))
    else:
        with_store(lambda store: list_jobs(store, limit, **only))


@cli.command()
@click.option(
    "--from", "first", type=_parse_day, metavar="DAY", help="Only from this day on, in UTC."
)
@click.option("--user", metavar="USER", help="Only what this person (a Slack user id, U…) did.")
def audit(first: date | None, user: str | None) -> None:
    """List requests, follow-ups, withdrawals and subscriptions as CSV; needs only DATABASE_URL."""
    from bot.operator.rows import write_audit

    since = datetime.combine(first, time(), UTC) if first else None
    only = UserId(user) if user else None
    with_store(lambda store: write_audit(store, sys.stdout, since=since, user=only))


@cli.command()
@click.argument("user")
def export(user: str) -> None:
    """Write what is stored of one person (a Slack user id, U…) as JSON; needs only DATABASE_URL."""
    from bot.operator.rows import export_user

    with_store(lambda store: export_user(store, user, sys.stdout), "USER")


@cli.command()
@click.argument("user")
def forget(user: str) -> None:
    """Forget one person (a Slack user id, U…) and their texts; needs only DATABASE_URL."""
    from bot.operator.rows import forget_user

    with_store(lambda store: forget_user(store, user), "USER")


@cli.command()
@click.option("--http", metavar="ADDRESS", help="For HTTP mode at this public address.")
def manifest(http: str | None) -> None:
    """Print the manifest of the Slack app, ready to paste; needs no settings."""
    from bot.operator.manifest import format_manifest

    try:
        echo(format_manifest(http).rstrip())
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--http") from None


_FILE = click.Path(path_type=Path, dir_okay=False)


@cli.command()
@click.argument("file", type=_FILE)
def backup(file: Path) -> None:
    """Copy the SQLite file to a new FILE, also while the bot runs; needs only DATABASE_URL."""
    from bot.operator.backup import make_backup

    settings = load_settings(DatabaseSettings)
    with database_errors():
        echo(make_backup(settings.sqlalchemy_url, file))


@cli.command()
@click.argument("file", type=_FILE)
def restore(file: Path) -> None:
    """Put a backup back while no bot runs, and keep the present file; needs only DATABASE_URL."""
    from bot.operator.backup import restore_backup

    settings = load_settings(DatabaseSettings)
    with database_errors():
        echo(restore_backup(settings.sqlalchemy_url, file, datetime.now(UTC)))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document on the standard output.")
@click.option(
    "--try",
    "channel",
    metavar="CHANNEL",
    help="Also try in this channel (C…) whatever the bot does in Slack and its services.",
)
@click.option("--as", "user", metavar="USER", help="With --try: who you are in Slack (U…).")
@click.option("--job", "with_job", is_flag=True, help="With --try: also start a harmless job.")
@click.option(
    "--record", metavar="FILE", type=_FILE, help="With --try: write a transcript without words."
)
@click.option(
    "--compare",
    metavar="FILE",
    type=_FILE,
    help="Only list in what a transcript differs from the sandbox.",
)
def doctor(
    as_json: bool,
    channel: str | None,
    user: str | None,
    with_job: bool,
    record: Path | None,
    compare: Path | None,
) -> None:
    """Check this installation; exits with 1 on a problem."""
    from bot.operator.doctor import diagnose, diagnose_broken

    if channel is None and (user or with_job or record):
        raise click.UsageError("--as, --job and --record go with --try CHANNEL")
    if compare is not None:
        raise Exit(_compare_with_sandbox(compare))
    _check_record_is_writable(record)
    settings: Settings | None = None
    try:
        settings = Settings.load()
        findings = asyncio.run(diagnose(settings))
    except SettingsError as error:
        findings = asyncio.run(diagnose_broken(error))
    if not as_json:
        for finding in findings:
            _print_result(finding.state, f"{finding.name}: {finding.seen}", finding.advice)
    steps: list[StepResult] = []
    if settings is not None and channel is not None:
        options = _make_trial_options(channel, user, with_job=with_job)
        steps = _try(settings, options, record, quiet=as_json)
    states = [finding.state for finding in findings] + [step.state for step in steps]
    is_well = "bad" not in states
    if as_json:
        document: dict[str, object] = {"ok": is_well}
        document["findings"] = [
            {
                "name": finding.name,
                "state": finding.state,
                "seen": finding.seen,
                "advice": finding.advice,
            }
            for finding in findings
        ]
        if channel:
            document["steps"] = [asdict(step) for step in steps]
        click.echo(json.dumps(document, indent=2))
    raise Exit(0 if is_well else 1)


def _check_record_is_writable(record: Path | None) -> None:
    """Refuse a transcript that could not be written at the end of a trial."""
    if record is None:
        return
    if record.exists():
        raise click.BadParameter(f"{record} is there already", param_hint="--record")
    if not record.parent.is_dir():
        raise click.BadParameter(f"there is no folder {record.parent}", param_hint="--record")
    if not os.access(record.parent, os.W_OK):
        folder = record.absolute().parent
        raise click.BadParameter(f"no file can be written to {folder}", param_hint="--record")


def _print_result(state: str, text: str, *details: str) -> None:
    """Print a result, and its details on lines of their own."""
    word = "BAD" if state == "bad" else state
    echo("\n     ".join([f"{word:<4} {text}", *filter(None, details)]))


def _make_trial_options(channel: str, user: str | None, *, with_job: bool) -> TrialOptions:
    from bot.operator.trial_step import TrialOptions

    person = UserId(user) if user else None
    return TrialOptions(ChannelId(channel), person, with_job=with_job)


def _try(
    settings: Settings, options: TrialOptions, record: Path | None, *, quiet: bool
) -> list[StepResult]:
    """Take the steps of the trial, and print the result of each unless ``quiet``."""
    from bot.operator.assumptions import describe_seen
    from bot.operator.transcript import Recorder
    from bot.operator.trial import run_trial

    steps: list[StepResult] = []
    recorder = Recorder() if record is not None else None

    def report(step: StepResult) -> None:
        steps.append(step)
        if not quiet:
            _print_result(step.state, f"{step.name}: {step.seen}", step.follows, step.advice)

    def ask(instruction: str) -> None:
        echo(f"---> {instruction}", err=True)

    try:
        asyncio.run(run_trial(settings, options, report, ask, recorder=recorder))
    finally:
        if recorder is not None and record is not None:
            _write_transcript(recorder, record)
    if not quiet:
        echo(describe_seen(steps))
    return steps


def _write_transcript(recorder: Recorder, file: Path) -> None:
    try:
        recorder.write(file)
    except OSError as error:
        echo(f"{file} cannot be written: {error.strerror}", err=True)
        raise Exit(1) from None
    echo(f"{file} has {len(recorder.lines)} lines, without words, ids and keys.", err=True)


def _compare_with_sandbox(transcript: Path) -> int:
    """Print the differences of a transcript from the sandbox. Return the exit code."""
    from bot.operator.transcript import (
        UnreadableTranscript,
        compare,
        read_stand_ins,
        read_transcript,
    )

    try:
        lines = read_transcript(transcript)
    except OSError as error:
        raise click.BadParameter(
            f"{transcript}: {error.strerror}", param_hint="--compare"
        ) from None
    except (UnreadableTranscript, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{transcript}: {error}", param_hint="--compare") from None
    differences = list(compare(lines, read_stand_ins()))
    for difference in differences:
        echo(str(difference))
    if not differences:
        echo("No differences from the sandbox.")
    return 1 if differences else 0


@cli.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def sandbox(context: click.Context) -> None:
    """A Slack workspace, a docs service and the bot on this machine, no account needed."""
    try:
        from sandbox.command import main
    except ModuleNotFoundError as missing:
        package = (missing.name or "a package").partition(".")[0]
        echo(
            f"The sandbox is an extra ({package} is not installed). "
            "In a clone: make sandbox, or pip install '.[sandbox]'.",
            err=True,
        )
        raise Exit(CANNOT_START_EXIT_CODE) from None
    main(context.args)


def main() -> None:
    """The entry point of the `docs-bot` script."""
    cli()


if __name__ == "__main__":
    main()

"""`docs-bot doctor --compare`: the differences of a transcript from the sandbox's answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.operator.transcript import Recorder
from tests.command_line import as_anybody, docs_bot

POSTED = {"ok": True, "channel": "C01DOCS", "ts": "1700000000.000001"}
MEMBERS = {"ok": True, "members": ["U01ANA"], "has_more": False}
MEMBERS |= {"response_metadata": {"next_cursor": ""}}
USER = {"id": "U01ANA", "handle": "writers", "team_id": "T0SANDBOX", "name": "Writers"}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A transcript as the sandbox would write it."""
    recorder = Recorder()
    recorder.add_slack_call("conversations.members", {"channel": "C01DOCS"}, 200, MEMBERS, 0.1)
    groups = {"ok": True, "usergroups": [USER]}
    recorder.add_slack_call("usergroups.list", {"token": "xoxb-canary"}, 200, groups, 0.1)
    recorder.add_slack_call("chat.delete", {}, 200, POSTED, 0.1)
    file = tmp_path / "transcript.jsonl"
    recorder.write(file)
    return file


def test_transcript_of_the_sandbox_differs_in_nothing(transcript: Path) -> None:
    compared = docs_bot("doctor", "--compare", transcript)
    assert (compared.exit_code, compared.output) == (0, "No differences from the sandbox.\n")


def test_changed_method_field_and_type_are_named_and_nothing_else(transcript: Path) -> None:
    members, groups, deletion = map(json.loads, transcript.read_text().splitlines())
    members["name"] = "conversations.people"
    groups["answer"]["usergroups"][0]["is_external"] = "boolean"
    deletion["answer"]["ts"] = "number"
    lines = (members, groups, deletion)
    transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    compared = docs_bot("doctor", "--compare", transcript)
    assert compared.exit_code == 1
    assert compared.output.splitlines() == [
        "slack chat.delete: ts is number, and timestamp in the stand-ins",
        "slack conversations.people: the stand-ins do not have it",
        "slack usergroups.list: usergroups[].is_external (boolean) is not in the stand-ins",
    ]


def test_missing_field_is_named_where_its_object_is_there(transcript: Path) -> None:
    members, groups, deletion = map(json.loads, transcript.read_text().splitlines())
    del groups["answer"]["usergroups"][0]["handle"]
    members["answer"]["members"] = []
    lines = (members, groups, deletion)
    transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    compared = docs_bot("doctor", "--compare", transcript)
    assert compared.output.splitlines() == [
        "slack usergroups.list: usergroups[].handle is missing, and in the stand-ins"
    ]


def test_refusals_are_not_compared(transcript: Path) -> None:
    recorder = Recorder()
    recorder.add_slack_call("chat.delete", {}, 200, {"ok": False, "error": "missing_scope"}, 0.1)
    recorder.add_docs_call("/v1/analytics/acme/views?limit=1", {}, 403, b'{"error": "no"}', 0.1)
    file = transcript.with_name("refused.jsonl")
    recorder.write(file)
    assert "=missing_scope" in file.read_text()
    assert docs_bot("doctor", "--compare", file).exit_code == 0


def test_line_has_names_types_and_seconds_and_no_words(transcript: Path) -> None:
    recorder = Recorder()
    arguments = {"channel": "C01DOCS", "text": "Hello Ana", "blocks": '[{"type": "section"}]'}
    arguments["token"] = "xoxb-canary"
    answer = {**POSTED, "message": {"text": "Hello Ana", "UWORDS": "x", "list": [1, 2, 2.5]}}
    recorder.add_slack_call("chat.postMessage", arguments, 200, answer, 0.12345)
    assert recorder.lines == [
        {
            "to": "slack",
            "name": "chat.postMessage",
            "status": 200,
            "seconds": 0.123,
            "request": {"channel": "id", "text": "text", "blocks": [{"type": "=section"}]},
            "answer": {
                "ok": "boolean",
                "channel": "id",
                "ts": "timestamp",
                "message": {"text": "text", "*": "text", "list": ["integer", "number"]},
            },
        }
    ]


def test_file_that_is_no_transcript_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"to": "slack"}\n')
    refused = docs_bot("doctor", "--compare", file)
    assert refused.exit_code == 2
    assert "line 1 is no line of a transcript" in " ".join(refused.output.split())
    missing = docs_bot("doctor", "--compare", tmp_path / "none.jsonl")
    assert missing.exit_code == 2
    assert "No such file" in missing.output


def test_transcript_never_replaces_a_file(transcript: Path) -> None:
    before = transcript.read_text()
    refused = docs_bot("doctor", "--try", "C01DOCS", "--record", transcript)
    assert refused.exit_code == 2
    assert "is there already" in refused.output
    assert transcript.read_text() == before
    nowhere = transcript.parent / "none" / "t.jsonl"
    refused = docs_bot("doctor", "--try", "C01DOCS", "--record", nowhere)
    assert refused.exit_code == 2
    assert "there is no folder" in " ".join(refused.output.split())


def test_transcript_in_a_folder_that_is_not_writable_is_refused_before_the_trial(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    command = [sys.executable, "-m", "bot", "doctor", "--try", "C01DOCS"]
    refused = subprocess.run(
        [*command, "--record", str(folder / "t.jsonl")],
        preexec_fn=as_anybody,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "no file can be written to" in " ".join(refused.stderr.split())

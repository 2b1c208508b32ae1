"""The logs: one line each, and nothing secret in any of them."""

from __future__ import annotations

import json
import logging
import unicodedata
from contextlib import redirect_stderr, suppress
from time import thread_time

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from bot.logs import (
    Redactor,
    RepeatFilter,
    configure,
    log_reference,
    mask,
    reference,
    terminal_safe,
)
from tests.growth import too_slow

SECRETS = ["exact-secret-value"]
LEAKS = [
    "xoxb-123456789-abcdef",
    "xapp-1-A0-123456-abcdef",
    "mint_abcdefgh123456",
    "github_pat_11ABCDEFG0123",
    "ghp_0123456789abcdef",
    "v0=0123456789abcdef0123456789abcdef",
    "https://hooks.slack.com/commands/T0/1/abcdef",
    "https://hooks.slack-gov.com/commands/T0/1/abcdef",
    "http://127.0.0.1:8800/response/abcdef",
    "exact-secret-value",
]


@pytest.mark.parametrize("leak", LEAKS)
def test_secret_is_hidden_in_every_part_of_a_line(
    leak: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("DEBUG", SECRETS)
    log = structlog.get_logger("bot.test")
    log.info("event", word=f"a {leak} b", nested={"list": [leak, {"deep": leak}]})
    logging.getLogger("some.library").warning("words %s", leak)
    try:
        raise ValueError(f"with {leak} in it")
    except ValueError:
        log.exception("failed")
    written = capsys.readouterr().err
    assert written.count("[hidden]") >= 4
    assert leak not in written


def test_bearers_and_passwords_in_addresses_are_hidden() -> None:
    clean = Redactor([]).text
    assert clean("Authorization: Bearer abc.def") == "Authorization: Bearer [hidden]"
    assert clean("authorization: bearer abc.def") == "authorization: bearer [hidden]"
    assert clean("postgres://ana:pass@host/db") == "postgres://[hidden]@host/db"


@pytest.mark.parametrize(
    "part", ["https://", "https://a/", "http://a/response", "://a:", "xoxb-", "bearer ", "v0=0"]
)
def test_masking_of_long_texts_is_linear(part: str) -> None:
    def seconds(text: str) -> float:
        began = thread_time()
        mask(text)
        return thread_time() - began

    assert too_slow(seconds, lambda length: (part * length)[:length], floor=0.02) is None


def test_full_disk_stops_no_work() -> None:
    configure("INFO")
    with open("/dev/full", "w", buffering=1, encoding="utf-8") as full:
        with redirect_stderr(full):
            structlog.get_logger("bot.test").info("event")
        with suppress(OSError):
            full.close()


def test_libraries_log_no_bodies(capsys: pytest.CaptureFixture[str]) -> None:
    configure("DEBUG")
    for name in ("slack_bolt.AsyncApp", "slack_sdk.web", "httpx", "aiohttp.access"):
        logging.getLogger(name).info("a body")
    assert capsys.readouterr().err == ""


@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x7f\u202e\r\u2028\b"))))
def test_any_text_is_safe_for_a_terminal(text: str) -> None:
    safe = terminal_safe(text)
    assert all(
        sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cf", "Cs") for sign in safe
    )
    assert terminal_safe(safe) == safe


def test_console_shows_escapes_and_no_forged_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", for_people=True)
    log, prompt = structlog.get_logger("bot.test"), "canary " + "prompt"
    try:
        raise ValueError(f"broken {len(prompt)} \x1b]0;owned\x07")
    except ValueError:
        log.exception(
            "failed\x1b[2J\nforged too", reason="a\nforged line\x9b1m", nested={"b": "\x1b[3J"}
        )
    said = capsys.readouterr().err
    assert not [
        steers for steers in ("\x1b[2J", "\x1b]0", "\x1b[3J", "\x9b", "\x07") if steers in said
    ]
    assert "\\x1b[2J" in said
    assert not [line for line in said.splitlines() if line.startswith("forged")]
    assert "Traceback" in said
    assert "canary prompt" not in said, "a local variable"


def test_same_trouble_is_logged_once_a_minute() -> None:
    now = [0.0]
    seldom = RepeatFilter(clock=lambda: now[0])

    def passes(**event: object) -> dict[str, object] | None:
        try:
            return dict(seldom(None, "warning", {"event": "run_failed", "level": "error", **event}))
        except structlog.DropEvent:
            return None

    assert passes(worker="poll", failures=1, timestamp="1")
    assert passes(worker="poll", failures=2, timestamp="2") is None
    assert passes(worker="deliver", failures=2), "another trouble"
    assert passes(worker="poll", failures=3, exc_info=ValueError()), "another cause"
    now[0] = 59.0
    assert passes(worker="poll", failures=4) is None
    now[0] = 61.0
    assert passes(worker="poll", failures=5) == {
        "event": "run_failed",
        "level": "error",
        "worker": "poll",
        "failures": 5,
        "left_out": 2,
    }


def test_line_is_json_with_its_source_and_reference(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO")
    log = structlog.get_logger("bot.test")
    with log_reference("command:1.2.3"):
        log.info("job_ended", job=42)
    with log_reference(None):
        log.info("something else")
    first, second = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "event": "job_ended",
        "job": 42,
        "level": "info",
        "logger": "bot.test",
        "request": reference("command:1.2.3"),
    }
    assert "request" not in second
    assert len(reference("command:1.2.3")) == 8

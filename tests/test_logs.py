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

from bot.logs import Redactor, Seldom, about_request, configure, mask, reference, terminal_safe

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
def test_a_secret_is_taken_out_wherever_it_stands(leak: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure("DEBUG", "json", SECRETS)
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


def test_a_bearer_and_a_password_in_an_address_are_taken_out() -> None:
    clean = Redactor([]).text
    assert clean("Authorization: Bearer abc.def") == "Authorization: Bearer [hidden]"
    assert clean("authorization: bearer abc.def") == "authorization: bearer [hidden]"
    assert clean("postgres://ana:pass@host/db") == "postgres://[hidden]@host/db"


@pytest.mark.parametrize(
    "part", ["https://", "https://a/", "http://a/response", "://a:", "xoxb-", "bearer ", "v0=0"]
)
def test_masking_is_linear_in_what_strangers_write(part: str) -> None:
    began = thread_time()
    mask(part * (40_000 // len(part)))
    assert thread_time() - began < 0.2, "a quadratic pattern takes seconds"


def test_full_disk_stops_no_work() -> None:
    configure("INFO", "json")
    with open("/dev/full", "w", buffering=1, encoding="utf-8") as full:
        with redirect_stderr(full):
            structlog.get_logger("bot.test").info("event")
        with suppress(OSError):
            full.close()


def test_local_variables_are_not_told_with_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "console")
    prompt = "canary " + "prompt"
    try:
        raise ValueError(len(prompt))
    except ValueError:
        structlog.get_logger("bot.test").exception("failed")
    assert "canary prompt" not in capsys.readouterr().err


def test_a_line_is_json_with_its_time_level_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json")
    structlog.get_logger("bot.test").info("job_ended", job=42)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["job"], line["level"], line["logger"]) == (
        "job_ended",
        42,
        "info",
        "bot.test",
    )
    assert line["timestamp"].endswith("Z")


def test_libraries_that_would_log_bodies_are_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    configure("DEBUG", "json")
    for name in ("slack_bolt.AsyncApp", "slack_sdk.web", "httpx", "aiohttp.access"):
        logging.getLogger(name).info("a body")
    assert capsys.readouterr().err == ""


@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x7f\u202e\r\u2028\b"))))
def test_no_text_steers_a_terminal(text: str) -> None:
    safe = terminal_safe(text)
    assert all(sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cf", "Cs") for sign in safe)
    assert terminal_safe(safe) == safe


def test_the_console_shows_escapes_and_no_forged_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "console")
    log = structlog.get_logger("bot.test")
    try:
        raise ValueError("broken \x1b]0;owned\x07")
    except ValueError:
        log.exception("failed\x1b[2J\nforged too", reason="a\nforged line\x9b1m", nested={"b": "\x1b[3J"})
    said = capsys.readouterr().err
    assert not [steers for steers in ("\x1b[2J", "\x1b]0", "\x1b[3J", "\x9b", "\x07") if steers in said]
    assert "\\x1b[2J" in said
    assert not [line for line in said.splitlines() if line.startswith("forged")]
    assert "Traceback" in said


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_the_same_trouble_is_one_line_a_minute_with_the_number_of_the_others() -> None:
    now = [0.0]
    seldom = Seldom(clock=lambda: now[0])

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


def test_a_requests_reference_is_in_every_line_about_it(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json")
    log = structlog.get_logger("bot.test")
    with about_request("command:1.2.3"):
        log.info("request")
    with about_request(None):
        log.info("something else")
    first, second = lines_of(capsys)
    assert first["request"] == reference("command:1.2.3")
    assert "request" not in second
    assert len(reference("command:1.2.3")) == 8

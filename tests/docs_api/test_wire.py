"""What is sent, and what an answer means; no I/O."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.docs_api import (
    DocsApiError,
    DocsClient,
    Forbidden,
    InvalidArgument,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
    _wire,
)
from tests.docs_api.builders import JOB, KEY, NOW, PROMPT, FakeService, client_of

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
nearly_a_job = st.fixed_dictionaries(
    {"id": st.text()}, optional={name: any_json for name in JOB if name != "id"}
)
nearly_visitors = st.fixed_dictionaries(
    {"totals": any_json, "visitors": st.lists(any_json, max_size=3), "hasMore": any_json}
)


def answer(status_code: int, body: object = None, **headers: str) -> httpx.Response:
    """An answer with this JSON (or these bytes), header names with underscores."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return httpx.Response(status_code, headers=httpx.Headers(named, encoding="utf-8"), content=content)


async def error_for(got: httpx.Response) -> DocsApiError:
    """The error that this answer to a prompt raises."""
    with pytest.raises(DocsApiError) as caught:
        await client_of(FakeService(got)).create_job("p", PROMPT)
    return caught.value


# ---- requests


@pytest.mark.parametrize(
    ("given_url", "kept"),
    [
        ("https://docs.example.com", "https://docs.example.com"),
        ("https://docs.example.com/", "https://docs.example.com"),
        ("https://docs.example.com/api//", "https://docs.example.com/api"),
        (" http://127.0.0.1:8800/x ", "http://127.0.0.1:8800/x"),
        ("HTTPS://docs.example.com", "https://docs.example.com"),
    ],
)
async def test_a_base_url_is_taken_with_or_without_slash_and_prefix(given_url: str, kept: str) -> None:
    service = FakeService(answer(200, JOB))
    await client_of(service, base_url=given_url).get_job("p", "j")
    assert str(service.requests[0].url).startswith(f"{kept}/v2/")


@pytest.mark.parametrize(
    "bad",
    [
        *("", "docs.example.com", "ftp://docs.example.com", "https://"),
        *("https://me:hunter2@docs.example.com", "https://hunter2@docs.example.com"),
        *("https://docs.example.com?key=hunter2", "https://docs.example.com/?"),
        *("https://docs.example.com#hunter2", "https://docs.example.com:port"),
        *("https://docs .example.com", "https://docs.example.com/a\nb", "https://[::1"),
    ],
)
def test_a_base_url_that_is_no_plain_address_is_refused_without_being_quoted(bad: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        client_of(FakeService(), base_url=bad)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("bad", ["", "two words", "line\n", "schlüssel", "nul\x00"])
def test_a_key_that_fits_no_header_is_refused_without_being_quoted(bad: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        DocsClient(base_url="https://docs.example.com", api_key=SecretStr(bad))
    assert not bad or bad not in str(caught.value)


@given(prompt=st.text(st.characters()))
async def test_a_prompt_arrives_as_it_was_or_is_refused(prompt: str) -> None:
    service = FakeService(answer(201, JOB))
    asking = client_of(service).create_job("p", prompt)
    if not prompt.strip() or any("\ud800" <= char <= "\udfff" for char in prompt):
        with pytest.raises(InvalidArgument):
            await asking
    else:
        await asking
        assert json.loads(service.requests[0].content)["prompt"] == prompt


# ---- answers


@pytest.mark.parametrize(
    ("status_code", "kind"),
    [
        (400, Rejected),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Rejected),
        (422, Rejected),
        (429, RateLimited),
        (408, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
        (599, Unavailable),
    ],
)
async def test_each_status_code_is_its_own_error_with_the_services_words(
    status_code: int, kind: type[DocsApiError]
) -> None:
    error = await error_for(answer(status_code, {"error": "Because of this"}))
    assert type(error) is kind
    assert (error.text, error.status_code) == ("Because of this", status_code)
    assert str(error) == f"Because of this (HTTP {status_code})"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><body>Bad gateway</body></html>", "a web page"),
        (b"", "nothing"),
        (b"upstream died", "something unreadable"),
        (b'{"error": ', "something unreadable"),
        (b"[" * 100_000, "something unreadable"),
        (b"1" * 5_000, "something unreadable"),
        (b"\xff\xfe\xfa", "something unreadable"),
    ],
)
@pytest.mark.parametrize("status_code", [200, 201, 502])
async def test_a_body_that_is_not_json_is_unavailable_and_may_have_been_carried_out(
    status_code: int, body: bytes, words: str
) -> None:
    error = await error_for(answer(status_code, body))
    assert isinstance(error, Unavailable)
    assert error.sent
    assert error.status_code == status_code
    assert words in error.text


BAD_IDS = (None, 7, "", " ", ".", "..", "a\x00b", "\ud83d", "x" * 401)
"""Ids that cannot be stored or asked for."""


@pytest.mark.parametrize("body", [{}, [], None, "text", 7, {"job": JOB}, *({"id": bad} for bad in BAD_IDS)])
async def test_a_success_without_a_job_in_it_is_unavailable(body: object) -> None:
    error = await error_for(answer(201, body))
    assert isinstance(error, Unavailable)
    assert error.sent
    assert "shape" in error.text


@pytest.mark.parametrize("status_code", [400, 404])
async def test_a_web_page_cannot_make_a_job_gone_or_a_prompt_invalid(status_code: int) -> None:
    error = await error_for(
        answer(status_code, b"<!doctype html><h1>Not here</h1>", content_type="text/html")
    )
    assert isinstance(error, Unavailable)


@pytest.mark.parametrize(("status_code", "kind"), [(401, Unauthorized), (403, Forbidden), (429, RateLimited)])
async def test_a_gate_in_between_may_refuse_in_html(status_code: int, kind: type[DocsApiError]) -> None:
    assert type(await error_for(answer(status_code, b"<h1>No</h1>"))) is kind


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("999999999999", 3_600.0),
        ("Fri, 20 Nov 2026 12:01:30 GMT", 90.0),
        ("Fri, 20 Nov 2026 12:01:30 -0000", 90.0),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0.0),
        ("Fri, 20 Nov 2099 11:00:00 GMT", 3_600.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
    ],
)
async def test_retry_after_is_read_as_seconds_or_as_a_date(header: str, seconds: float | None) -> None:
    limited, unavailable = (
        await error_for(answer(429, Retry_After=header)),
        await error_for(answer(503, retry_after=header)),
    )
    assert isinstance(limited, RateLimited)
    assert isinstance(unavailable, Unavailable)
    assert limited.retry_after_seconds == unavailable.retry_after_seconds == seconds


@given(
    header=st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d .{0,5}")
)
def test_no_retry_after_header_breaks_anything(header: str) -> None:
    seconds = _wire.retry_after_seconds(header, NOW)
    assert seconds is None or 0 <= seconds <= 86_400


@given(
    status_code=st.integers(100, 599), body=any_json | nearly_a_job | nearly_visitors, visitors=st.booleans()
)
async def test_any_json_is_a_value_or_an_error_of_the_tree(
    status_code: int, body: object, visitors: bool
) -> None:
    client = client_of(FakeService(answer(status_code, body)))
    asking = client.visitors("p") if visitors else client.get_job("p", "j")
    error: DocsApiError | None = None
    try:
        await asking
    except DocsApiError as caught:
        error = caught
    if error is None:
        assert 200 <= status_code <= 299
    else:
        assert 0 < len(error.text) <= 500
        assert error.text.isprintable()


@given(status_code=st.integers(100, 599), body=st.binary())
async def test_any_bytes_are_an_error_of_the_tree(status_code: int, body: bytes) -> None:
    assert isinstance(await error_for(answer(status_code, body)), DocsApiError)


# ---- texts


@given(text=st.text())
def test_a_foreign_text_becomes_one_printable_line_of_bounded_length(text: str) -> None:
    shown = _wire.cleaned(text)
    assert len(shown) <= 500
    assert "\n" not in shown
    shown.encode()


async def test_a_long_text_is_clipped_and_its_controls_are_gone() -> None:
    error = await error_for(answer(400, {"error": "a\x1b[31m\u202eb\r\n" + "c" * 900}))
    assert error.text.startswith("a [31m b ccc")
    assert len(error.text) == 500
    assert error.text.endswith("…")


@given(before=st.text("xyz "), after=st.text("xyz "), cut=st.integers(8, len(KEY)))
def test_a_key_or_its_beginning_is_taken_out_wherever_it_stands(before: str, after: str, cut: int) -> None:
    shown = _wire.cleaned(f"{before}{KEY[:cut]}{after}{KEY}", (KEY,))
    assert KEY[:8] not in shown
    assert shown.count("[hidden]") == 2


@pytest.mark.parametrize("error", ["Bad prompt: {}", "{} {}", {"message": "not {}"}])
async def test_an_echoed_prompt_is_taken_out_of_the_services_words(error: object) -> None:
    body = json.dumps({"error": error}).replace("{}", PROMPT.replace(" ", "\\n", 1))
    shown = (await error_for(answer(400, body.encode()))).text
    assert "[hidden]" in shown
    assert "Nightingale" not in shown


# ---- compression


@given(body=st.binary(max_size=2_000))
def test_what_was_compressed_comes_back_within_the_limit(body: bytes) -> None:
    assert _wire.inflate(gzip.compress(body), " GZip ", 2_000) == body
    assert _wire.inflate(body, "", 2_000) == body


def test_a_small_body_that_unpacks_to_a_huge_one_is_refused_before_it_grows() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(Unavailable, match="more than 1000 bytes"):
            _wire.inflate(bomb, "gzip", 1_000)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 1_000_000


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not gzip", "gzip"),
        (gzip.compress(b"text", mtime=0)[:-9], "gzip"),
        (b"", "gzip"),
        (b"x", "br"),
        (b"x", "gzip, gzip"),
    ],
)
def test_a_compression_that_cannot_be_undone_is_refused(body: bytes, encoding: str) -> None:
    with pytest.raises(Unavailable, match=r"compression|encoding"):
        _wire.inflate(body, encoding, 1_000)

"""Requests, responses and their errors, without I/O."""

from __future__ import annotations

import json

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
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
nearly_a_job = st.fixed_dictionaries(
    {"id": st.text()}, optional={name: any_json for name in JOB if name != "id"}
)
nearly_visitors = st.fixed_dictionaries(
    {"totals": any_json, "visitors": st.lists(any_json, max_size=3), "hasMore": any_json}
)


def answer(status_code: int, body: object = None, **headers: str) -> httpx.Response:
    """Return a response with this JSON (or these bytes), header names with underscores."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return httpx.Response(
        status_code, headers=httpx.Headers(named, encoding="utf-8"), content=content
    )


async def error_for(got: httpx.Response) -> DocsApiError:
    """Return the error that this response to a prompt raises."""
    with pytest.raises(DocsApiError) as caught:
        await client_of(FakeService(got)).create_job("p", PROMPT)
    return caught.value


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://docs.example.com", "https://docs.example.com"),
        ("https://docs.example.com/", "https://docs.example.com"),
        ("https://docs.example.com/api//", "https://docs.example.com/api"),
        (" http://127.0.0.1:8800/x ", "http://127.0.0.1:8800/x"),
        ("HTTPS://docs.example.com", "https://docs.example.com"),
    ],
)
async def test_base_url_may_have_slash_and_prefix(url: str, base: str) -> None:
    service = FakeService(answer(200, JOB))
    await client_of(service, base_url=url).get_job("p", "j")
    assert str(service.requests[0].url).startswith(f"{base}/v2/")


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
def test_invalid_base_url_is_refused_without_its_password(bad: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        client_of(FakeService(), base_url=bad)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("bad", ["", "two words", "line\n", "schlüssel", "nul\x00"])
def test_key_that_fits_no_header_is_refused_and_hidden(bad: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        DocsClient(base_url="https://docs.example.com", api_key=SecretStr(bad))
    assert not bad or bad not in str(caught.value)


@given(prompt=st.text(st.characters()))
async def test_prompt_arrives_unchanged_or_is_refused(prompt: str) -> None:
    service = FakeService(answer(201, JOB))
    asking = client_of(service).create_job("p", prompt)
    if not prompt.strip() or any("\ud800" <= char <= "\udfff" for char in prompt):
        with pytest.raises(InvalidArgument):
            await asking
    else:
        await asking
        assert json.loads(service.requests[0].content)["prompt"] == prompt


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
async def test_status_code_is_an_error_with_the_services_text(
    status_code: int, kind: type[DocsApiError]
) -> None:
    error = await error_for(answer(status_code, {"error": "Because of this"}))
    assert type(error) is kind
    assert (error.text, error.status_code) == ("Because of this", status_code)
    assert str(error) == f"Because of this (HTTP {status_code})"


@pytest.mark.parametrize(
    ("body", "kind"),
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
async def test_call_with_a_body_that_is_no_json_may_have_been_executed(
    status_code: int, body: bytes, kind: str
) -> None:
    error = await error_for(answer(status_code, body))
    assert isinstance(error, Unavailable)
    assert error.sent
    assert error.status_code == status_code
    assert kind in error.text


BAD_IDS = (None, 7, "", " ", ".", "..", "a\x00b", "\ud83d", "x" * 401)
"""Ids that cannot be stored or asked for."""


@pytest.mark.parametrize(
    "body", [{}, [], None, "text", 7, {"job": JOB}, *({"id": bad} for bad in BAD_IDS)]
)
async def test_success_without_a_job_is_unavailable(body: object) -> None:
    error = await error_for(answer(201, body))
    assert isinstance(error, Unavailable)
    assert error.sent
    assert "shape" in error.text


@pytest.mark.parametrize("status_code", [400, 404])
async def test_web_page_makes_no_job_gone_and_no_prompt_invalid(status_code: int) -> None:
    error = await error_for(
        answer(status_code, b"<!doctype html><h1>Not here</h1>", content_type="text/html")
    )
    assert isinstance(error, Unavailable)


@pytest.mark.parametrize(
    ("status_code", "kind"), [(401, Unauthorized), (403, Forbidden), (429, RateLimited)]
)
async def test_proxy_may_refuse_in_html(status_code: int, kind: type[DocsApiError]) -> None:
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
async def test_retry_after_is_read_as_seconds_or_as_a_date(
    header: str, seconds: float | None
) -> None:
    limited, unavailable = (
        await error_for(answer(429, Retry_After=header)),
        await error_for(answer(503, retry_after=header)),
    )
    assert isinstance(limited, RateLimited)
    assert isinstance(unavailable, Unavailable)
    assert limited.retry_after_seconds == unavailable.retry_after_seconds == seconds


@given(
    header=st.text()
    | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d .{0,5}")
)
def test_no_retry_after_header_breaks_anything(header: str) -> None:
    seconds = _wire.retry_after_seconds(header, NOW)
    assert seconds is None or 0 <= seconds <= 86_400


@given(
    status_code=st.integers(100, 599),
    body=any_json | nearly_a_job | nearly_visitors,
    visitors=st.booleans(),
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


@given(text=st.text())
def test_foreign_text_becomes_one_short_printable_line(text: str) -> None:
    line = _wire.clean_error(text)
    assert len(line) <= 500
    assert "\n" not in line
    line.encode()


async def test_long_text_is_clipped_without_control_characters() -> None:
    error = await error_for(answer(400, {"error": "a\x1b[31m\u202eb\r\n" + "c" * 900}))
    assert error.text.startswith("a [31m b ccc")
    assert len(error.text) == 500
    assert error.text.endswith("…")


@given(before=st.text("xyz "), after=st.text("xyz "), cut=st.integers(8, len(KEY)))
def test_key_or_its_beginning_is_hidden_in_any_text(before: str, after: str, cut: int) -> None:
    line = _wire.clean_error(f"{before}{KEY[:cut]}{after}{KEY}", (KEY,))
    assert KEY[:8] not in line
    assert line.count("[hidden]") == 2


@pytest.mark.parametrize("error", ["Bad prompt: {}", "{} {}", {"message": "not {}"}])
async def test_prompt_is_hidden_in_the_services_text(error: object) -> None:
    body = json.dumps({"error": error}).replace("{}", PROMPT.replace(" ", "\\n", 1))
    line = (await error_for(answer(400, body.encode()))).text
    assert "[hidden]" in line
    assert "Nightingale" not in line

"""The discovery API: searches, pages, and the assistant's stream with its faults."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import timedelta

import httpx
import pytest
from pydantic import SecretStr

from bot.docs_api import (
    CitedPage,
    DiscoveryClient,
    DocsApiError,
    Forbidden,
    InvalidArgument,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.docs_api.discovery import MAX_ANSWER_LENGTH, MAX_PARTS
from tests.docs_api.builders import KEY, NOW, FakeService
from tests.turns import other_task

QUESTION = "How do I rotate an API key of Nightingale?"

Part = Mapping[str, object] | str


def stream(*parts: Part, end: str = "data: [DONE]\n\n") -> httpx.Response:
    lines = [part if isinstance(part, str) else f"data: {json.dumps(part)}\n\n" for part in parts]
    content = ("".join(lines) + end).encode()
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)


START: Part = {"type": "start", "messageId": "m"}
FINISH: Part = {"type": "finish", "threadId": "thread-1"}
WORDS: list[Part] = [
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Open **Settings**"},
    {"type": "text-delta", "id": "t", "delta": " and press *Rotate*."},
    {"type": "text-end", "id": "t"},
]
SOURCE: Part = {
    "type": "source-url",
    "sourceId": "1",
    "url": "https://docs.example/keys",
    "title": "Keys",
}


def client(*answers: httpx.Response | Exception) -> tuple[DiscoveryClient, FakeService]:
    service = FakeService(*answers)
    options = {"base_url": "https://docs.example/discovery", "api_key": SecretStr(KEY)}
    return DiscoveryClient("acme", **options, transport=service, now=lambda: NOW), service


async def test_calls_go_where_the_interface_says() -> None:
    row = {"content": "Keys", "path": "keys", "metadata": {"title": "API keys", "x": [1]}}
    answers = httpx.Response(200, json=[row, {"path": "/b"}]), httpx.Response(200, json=row)
    docs, service = client(*answers, stream(*WORDS, FINISH))
    passages = await docs.search("rotate a key", limit=1)
    assert [(one.content, one.path, one.metadata.title) for one in passages] == [
        ("Keys", "keys", "API keys")
    ]
    assert await docs.page("keys") == "Keys"
    await docs.ask(QUESTION, key="message:1", thread_id="thread-0")
    asked = [(str(request.url), json.loads(request.content)) for request in service.requests]
    base = "https://docs.example/discovery"
    assert asked[:2] == [
        (f"{base}/v1/search/acme", {"query": "rotate a key", "pageSize": 1}),
        (f"{base}/v1/page/acme", {"path": "keys"}),
    ]
    message = {"id": "message:1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}
    assert asked[2] == (
        f"{base}/v2/assistant/acme/message",
        {"fp": "anonymous", "messages": [message], "threadId": "thread-0", "retrievalPageSize": 5},
    )
    assert {request.headers["authorization"] for request in service.requests} == {f"Bearer {KEY}"}


async def test_stream_becomes_an_answer_with_sources() -> None:
    odd: list[Part] = [{"type": "tool-input-start"}, {"type": "data-x", "data": {}}, {}]
    odd += [{"type": ["text-delta"]}, {"type": None}, "data: [1]\n\n", ": ping\n\n"]
    docs, _ = client(stream(START, *WORDS, *odd, SOURCE, SOURCE, WORDS[0], WORDS[1], FINISH))
    answer = await docs.ask(QUESTION, key="k")
    assert answer.text == "Open **Settings** and press *Rotate*.\n\nOpen **Settings**"
    assert answer.sources == (CitedPage(url="https://docs.example/keys", title="Keys"),)
    assert answer.thread_id == "thread-1"


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
async def test_words_beside_other_separators_stay_in_the_answer(sign: str) -> None:
    delta = {"type": "text-delta", "id": "t", "delta": f"Do not delete{sign}the key."}
    line = f"data: {json.dumps(delta, ensure_ascii=False)}\n\n"
    docs, _ = client(stream(line, FINISH))
    assert (await docs.ask(QUESTION, key="k")).text == f"Do not delete{sign}the key."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_each_line_end_of_an_event_stream_ends_a_line(end: str) -> None:
    lines = "".join(f"data:{json.dumps(part)}{end}{end}" for part in (*WORDS, FINISH))
    docs, _ = client(stream(f"\ufeffevent: x{end}{lines}", end=f"data: [DONE]{end}"))
    assert (await docs.ask(QUESTION, key="k")).text == "Open **Settings** and press *Rotate*."


async def test_stream_of_too_many_parts_is_given_up() -> None:
    docs, _ = client(stream(*WORDS, "data: {}\n" * MAX_PARTS, FINISH))
    with pytest.raises(Unavailable, match="more than 50000 parts"):
        await docs.ask(QUESTION, key="k")


async def test_stream_is_read_while_other_tasks_get_turns() -> None:
    async with other_task() as turns:
        before: list[int] = []
        docs = DiscoveryClient(
            "acme",
            base_url="https://docs.example/discovery",
            api_key=SecretStr(KEY),
            transport=FakeService(stream(*WORDS, FINISH)),
            now=lambda: NOW,
            on_answer=lambda *_: before.append(turns.count),
        )
        await docs.ask(QUESTION, key="k")
        assert [turns.count] > before


async def test_long_answer_is_kept_to_its_limit() -> None:
    delta = {"type": "text-delta", "id": "t", "delta": "words" * 2_000}
    docs, _ = client(stream(*[delta] * 100, FINISH))
    assert len((await docs.ask(QUESTION, key="k")).text) == MAX_ANSWER_LENGTH


async def test_thread_id_may_stand_in_metadata_or_be_unusable() -> None:
    ends: list[tuple[Part, str | None]] = [
        ({"type": "finish", "messageMetadata": {"threadId": "t"}}, "t"),
        ({"type": "finish", "threadId": "x" * 401}, None),
        ({"type": "finish", "threadId": 7, "messageMetadata": []}, None),
    ]
    for finish, thread_id in ends:
        docs, _ = client(stream(*WORDS, finish))
        assert (await docs.ask(QUESTION, key="k")).thread_id == thread_id


async def test_plain_text_body_is_the_answer() -> None:
    docs, _ = client(httpx.Response(200, text="Open *Settings*.\n"))
    assert (await docs.ask(QUESTION, key="k")).text == "Open *Settings*."


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (stream(*WORDS, end=""), Unavailable),
        (stream(*WORDS[:2], 'data: {"type": "text-del', end=""), Unavailable),
        (stream(*WORDS, {"type": "error", "errorText": "overloaded"}, FINISH), Unavailable),
        (stream(START, FINISH), Unavailable),
        (httpx.Response(200, text="<html>Sign in</html>"), Unavailable),
        (httpx.Response(200, json={"answer": "x"}), Unavailable),
        (httpx.Response(200, text=" "), Unavailable),
        (stream({"type": "text-delta", "id": "t", "delta": "x" * 5_000_001}, FINISH), Unavailable),
        (httpx.Response(302, headers={"location": "https://evil.example"}), Unavailable),
        (httpx.Response(503, text="<html>Bad gateway</html>"), Unavailable),
        (httpx.Response(400, json={"error": "no"}), Rejected),
        (httpx.Response(401, text="expired"), Unauthorized),
        (httpx.Response(403, json={}), Forbidden),
        (httpx.Response(404, json={"message": "unknown domain"}), NotFound),
        (httpx.Response(429, headers={"retry-after": "30"}), RateLimited),
        (httpx.ReadTimeout("slow"), Unavailable),
    ],
)
async def test_each_fault_is_a_typed_error(
    answer: httpx.Response | Exception, error: type[DocsApiError]
) -> None:
    docs, service = client(answer)
    with pytest.raises(error) as raised:
        await docs.ask(QUESTION, key="k")
    assert len(service.requests) == 1
    assert KEY not in str(raised.value)


async def test_failed_assistant_rests_longer_and_longer() -> None:
    now = [NOW]
    service = FakeService(*[httpx.Response(503)] * 3, stream(*WORDS, FINISH))
    options = {"base_url": "https://docs.example/discovery", "api_key": SecretStr(KEY)}
    docs = DiscoveryClient("acme", **options, transport=service, now=lambda: now[0])
    for seconds, calls in ((0, 1), (29, 1), (30, 2), (89, 2), (90, 3), (209, 3), (210, 4)):
        now[0] = NOW + timedelta(seconds=seconds)
        with suppress(Unavailable):
            await docs.ask(QUESTION, key="k")
        assert len(service.requests) == calls, seconds
    assert (await docs.ask(QUESTION, key="k")).text, "it answers again, and is asked at once"


async def test_one_question_finds_out_whether_the_assistant_answers_again() -> None:
    now = [NOW]
    asked = asyncio.Event()
    release = asyncio.Event()

    class Slow(FakeService):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if self.requests:
                asked.set()
                await release.wait()
            return await super().handle_async_request(request)

    service = Slow(httpx.Response(503), stream(*WORDS, FINISH))
    options = {"base_url": "https://docs.example/discovery", "api_key": SecretStr(KEY)}
    docs = DiscoveryClient("acme", **options, transport=service, now=lambda: now[0])
    with pytest.raises(Unavailable):
        await docs.ask(QUESTION, key="k")
    now[0] += timedelta(seconds=30)
    first = asyncio.create_task(docs.ask(QUESTION, key="k"))
    await asked.wait()
    with pytest.raises(Unavailable) as raised:
        await docs.ask(QUESTION, key="l")
    assert not raised.value.sent
    release.set()
    assert (await first).text


async def test_error_part_repeats_neither_key_nor_question() -> None:
    docs, _ = client(stream({"type": "error", "errorText": f"cannot: {QUESTION} with {KEY}"}))
    with pytest.raises(Unavailable) as raised:
        await docs.ask(QUESTION, key="k")
    assert str(raised.value) == "The assistant failed: cannot: [hidden] with [hidden]"


async def test_search_refuses_other_shapes() -> None:
    bodies: tuple[object, ...] = ({"results": []}, [1], [None, "text"], "x", "[" * 100_000)
    for body in bodies:
        docs, _ = client(httpx.Response(200, json=body))
        with pytest.raises(Unavailable):
            await docs.search("x")


async def test_search_parses_no_list_of_more_than_a_megabyte() -> None:
    passage = {"content": "Rotate", "path": "/keys"}
    body = json.dumps([passage] * 30_000).encode()
    api, _ = client(httpx.Response(200, content=body))
    with pytest.raises(Unavailable, match="more than 1000000 bytes"):
        await api.search(QUESTION)


async def test_search_passes_over_elements_that_are_no_passages() -> None:
    rows: list[object] = ["text", None, {"content": "a"}, 7, {"content": "b"}, {"content": "c"}]
    docs, _ = client(httpx.Response(200, json=rows))
    assert [one.content for one in await docs.search("x", limit=2)] == ["a", "b"]


async def test_domain_is_one_segment_of_the_path() -> None:
    with pytest.raises(InvalidArgument):
        DiscoveryClient("..", base_url="https://docs.example", api_key=SecretStr(KEY))


class _Drip(httpx.AsyncBaseTransport):
    """Sends a piece of a stream now and then, for ever."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        async def pieces() -> AsyncIterator[bytes]:
            while True:
                yield b": wait\n\n"
                await asyncio.sleep(0.01)

        return httpx.Response(200, content=pieces(), request=request)


async def test_slow_stream_ends_at_the_limit_of_a_call() -> None:
    options = {"connect_timeout_seconds": 0.05, "read_timeout_seconds": 0.1, "transport": _Drip()}
    docs = DiscoveryClient(
        "acme", base_url="https://docs.example", api_key=SecretStr(KEY), **options
    )
    with pytest.raises(Unavailable, match="did not answer in time"):
        await docs.ask(QUESTION, key="k")

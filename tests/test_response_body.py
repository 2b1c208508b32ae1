"""Bodies of responses are read within a limit, by both clients."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.docs_api import Unavailable
from bot.github import GithubUnavailable
from bot.response_body import UnreadableBody, inflate, read_body
from tests.docs_api import builders as docs
from tests.github import builders as github


class Endless(httpx.AsyncByteStream):
    """A body without an end, which counts the pieces that are read of it."""

    def __init__(self, piece: bytes) -> None:
        self._piece = piece
        self.pieces = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.pieces += 1
            yield self._piece


class Answering(httpx.AsyncBaseTransport):
    """Answers each request with these streams, one after the other, and these headers."""

    def __init__(self, *streams: Endless, status: int = 200, **headers: str) -> None:
        self._streams = list(streams)
        self._status = status
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.requests = 0

    async def handle_async_request(self, _request: httpx.Request) -> httpx.Response:
        stream = self._streams[min(self.requests, len(self._streams) - 1)]
        self.requests += 1
        return httpx.Response(self._status, headers=self._headers, stream=stream)


BOMB = gzip.compress(b"0" * 50_000_000)


@pytest.mark.parametrize(
    ("piece", "encoding"), [(b"x" * 100_000, "identity"), (BOMB[:40_000], "gzip")]
)
async def test_endless_answer_is_given_up_by_both_clients(piece: bytes, encoding: str) -> None:
    for_github = Endless(piece)
    async with github.client_of(Answering(for_github, content_encoding=encoding)) as client:
        with pytest.raises(GithubUnavailable, match="more than 5000000 bytes"):
            await client.pull_request(github.WHICH)
    for_docs = Endless(piece)
    async with docs.client_of(Answering(for_docs, content_encoding=encoding)) as service:
        with pytest.raises(Unavailable, match="more than 5000000 bytes"):
            await service.get_job("acme", "job-1")
    assert for_github.pieces == for_docs.pieces <= 5_000_000 // len(piece) + 1


async def test_body_of_a_redirect_is_not_read() -> None:
    stream = Endless(b"x" * 100_000)
    moved = Answering(stream, status=301, location="https://api.github.com/repositories/1/pulls/7")
    async with github.client_of(moved) as client:
        with pytest.raises(GithubUnavailable, match="too often"):
            await client.pull_request(github.WHICH)
    assert stream.pieces == 0
    assert moved.requests == 4


@given(body=st.binary(max_size=2_000))
async def test_compressed_body_is_unpacked_within_the_limit(body: bytes) -> None:
    assert inflate(gzip.compress(body), " GZip ", 2_000) == body
    assert inflate(body, "", 2_000) == body
    assert await read_body(_response(gzip.compress(body), "gzip"), 2_100) == body


def _response(content: bytes, encoding: str) -> httpx.Response:
    headers = {"content-encoding": encoding}
    return httpx.Response(200, headers=headers, stream=httpx.ByteStream(content))


def test_compression_bomb_is_refused_before_it_grows() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableBody, match="more than 1000 bytes"):
            inflate(BOMB, "gzip", 1_000)
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
def test_broken_or_unknown_compression_is_refused(body: bytes, encoding: str) -> None:
    with pytest.raises(UnreadableBody, match=r"compression|encoding"):
        inflate(body, encoding, 1_000)

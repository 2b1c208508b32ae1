"""Discovery: search in the published pages, a page's text, and the assistant, who answers with passages."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from aiohttp import web

from sandbox.docs_service.agent.writing import clip
from sandbox.docs_service.backend import Backend
from sandbox.docs_service.discovery_wire import (
    PageBody,
    PageText,
    QuestionBody,
    SearchBody,
    SearchResult,
)
from sandbox.docs_service.operations import LOG_ENTRY, Answering, NotPublished, Operation
from sandbox.docs_service.passages import Passage, find_passages
from sandbox.docs_service.repository import site_path
from sandbox.docs_service.wire import SourcePage, Turn, format_time

_PASSAGE_CHARACTERS = 1_200
_LEAST_SCORE = 0.5
_NOTHING = "I could not find anything about this in the documentation."


def published_pages(backend: Backend, *, is_stuck: bool = False) -> dict[str, str]:
    """Return the live pages by their path on the site. It blocks: run it in a thread.

    `is_stuck`: no merge was ever deployed.
    """
    commit = backend.deployed(is_stuck=is_stuck)
    texts = backend.repository.files(commit) if commit else {}
    return {site_path(path): text for path, text in texts.items() if _is_page(PurePath(path))}


def _is_page(path: PurePath) -> bool:
    return path.suffix in (".md", ".mdx") and path.stem != "README"


class Discovery:
    """The handlers of the operations for readers' programs."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def operations(self) -> list[Operation]:
        """Return the operations."""
        most = self._backend.options.discovery_calls_an_hour
        calls = f"The organisation's {most} calls of the last hour are used up."
        handlers: dict[str, tuple[str, Answering]] = {
            "search": ("v1/search/{domain}", self._search),
            "page": ("v1/page/{domain}", self._page),
            "answer": ("v2/assistant/{domain}/message", self._answer),
        }
        return [
            Operation(name, "POST", f"/discovery/{path}", handler, limit=calls, key="assistant")
            for name, (path, handler) in handlers.items()
        ]

    async def _search(self, request: web.Request, body: SearchBody) -> list[SearchResult]:
        """List the passages that match a text, the best first."""
        self._take_call("search")
        if request[LOG_ENTRY].fault == "finds_nothing":
            return []
        passages = await self._find(request, body.query, body.score_threshold)
        return [
            {
                "content": clip(f"{one.heading}\n\n{one.text}".strip(), _PASSAGE_CHARACTERS),
                "path": self._backend.page_url(one.page),
                "metadata": {"title": one.title, "heading": one.heading},
            }
            for one in passages[: body.page_size]
        ]

    async def _page(self, request: web.Request, body: PageBody) -> PageText:
        """Return the text of a page."""
        self._take_call("page")
        path = body.path.removeprefix(self._backend.page_url("")).strip("/")
        texts = await self._texts(request)
        if path not in texts:
            raise NotPublished("there is no such page")
        return {"path": body.path, "content": texts[path]}

    async def _answer(self, request: web.Request, body: QuestionBody) -> str:
        """Answer a question in a stream of events: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol"""
        self._take_call("answer")
        asked = (message for message in body.messages if message.role == "user")
        question = " ".join(part.text for message in [*asked][-1:] for part in message.parts)
        request[LOG_ENTRY].note_prompt(question)
        thread = body.thread_id or secrets.token_hex(12)
        earlier = " ".join(turn["query"] for turn in self._backend.turns() if turn["id"] == thread)
        passages = await self._find(request, question, _LEAST_SCORE)
        if earlier and not passages:
            # "And in Go?" has its subject in the questions before it.
            passages = await self._find(request, f"{earlier} {question}", 0.0)
        passages = passages[: body.retrieval_page_size]
        urls = {self._backend.page_url(one.page): one.title for one in passages}
        sources: list[SourcePage] = [{"title": title, "url": url} for url, title in urls.items()]
        response = _compose_answer(passages, sources)
        turn: Turn = {
            "id": thread,
            "timestamp": format_time(self._backend.clock()),
            "query": question,
            "response": response,
            "responseType": "answer",
            "sources": sources,
            "resolutionStatus": "answered" if passages else "unanswered",
            "queryCategory": None,
            "pageUrl": None,
        }
        self._backend.add_turn(turn)
        parts = list(_parts(turn))
        if request[LOG_ENTRY].fault == "error_part":
            parts[len(parts) // 2 :] = [{"type": "error", "errorText": "The model is overloaded."}]
        return "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"

    def _take_call(self, name: str) -> None:
        self._backend.limits.take(
            f"discovery {name}", self._backend.options.discovery_calls_an_hour
        )

    async def _find(self, request: web.Request, query: str, least_score: float) -> list[Passage]:
        """Return the passages that match a text, the best first."""
        texts = await self._texts(request)
        return await asyncio.to_thread(find_passages, texts, query, least_score)

    async def _texts(self, request: web.Request) -> dict[str, str]:
        is_stuck = request[LOG_ENTRY].fault == "never_live"
        return await asyncio.to_thread(published_pages, self._backend, is_stuck=is_stuck)


def _compose_answer(passages: Sequence[Passage], sources: Sequence[SourcePage]) -> str:
    """Return the best passage and a link to its page, in Markdown."""
    if not passages:
        return _NOTHING
    best = passages[0]
    place = f"[{sources[0]['title']}]({sources[0]['url']})"
    if best.heading:
        place += f", “{best.heading}”"
    return f"{place}:\n\n{clip(best.text, _PASSAGE_CHARACTERS)}"


def _parts(turn: Turn) -> Iterator[Mapping[str, Any]]:
    """Return the parts of an answer's stream, those that callers pass over among them."""
    search = {"toolCallId": "search-1", "toolName": "search"}
    yield {"type": "start", "messageId": secrets.token_hex(8)}
    yield {"type": "start-step"}
    yield {"type": "tool-input-available", **search, "input": {"query": turn["query"]}}
    yield {
        "type": "tool-output-available",
        "toolCallId": "search-1",
        "output": {"found": len(turn["sources"])},
    }
    for number, source in enumerate(turn["sources"]):
        yield {"type": "source-url", "sourceId": f"source-{number}", **source}
    yield {"type": "text-start", "id": "text-1"}
    for line in turn["response"].splitlines(keepends=True):
        yield {"type": "text-delta", "id": "text-1", "delta": line}
    yield {"type": "text-end", "id": "text-1"}
    yield {"type": "finish-step"}
    yield {"type": "finish", "threadId": turn["id"]}

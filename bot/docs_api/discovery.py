"""The service's discovery API: search and assistant of a site.

It has a key of its own, which belongs to one deployment, and names that deployment by its *domain*.
https://www.mintlify.com/docs/api/introduction
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bot.docs_api import _wire
from bot.docs_api.client import ServiceClient
from bot.docs_api.errors import Unavailable
from bot.docs_api.models import AssistantReply, CitedPage, Passage, Passages, StreamPart

MAX_SOURCES = 20
MAX_ANSWER_LENGTH = 20_000
"""Upper limit for an answer of the assistant, in characters. The rest is left out."""


class DiscoveryClient(ServiceClient):
    """A client of the discovery API for one deployment.

    Calls raise the errors of `bot.docs_api.errors`.
    """

    def __init__(self, domain: str, **options: Any) -> None:
        """Raise `InvalidArgument` for an address, key or domain that cannot be used.

        ``options``: those of `ServiceClient`.
        """
        super().__init__(**options)
        self._domain = _wire.segment("domain", domain)

    async def search(self, query: str, *, limit: int = 10) -> tuple[Passage, ...]:
        """Return the passages that match best. It costs no credits.

        https://www.mintlify.com/docs/api/assistant/search
        """
        fields = {"query": _wire.checked_text("query", query), "pageSize": limit}
        path = f"/v1/search/{self._domain}"
        answer = await self._send(_wire.Call(self._domain, path, fields))
        passages = _wire.decode(answer, Passages)
        return passages.root[:limit]

    async def page(self, path: str) -> Passage:
        """Return the content of a page by its path from `search`.

        Raises `NotFound`.
        """
        fields = {"path": _wire.checked_text("path", path)}
        call = _wire.Call(self._domain, f"/v1/page/{self._domain}", fields)
        answer = await self._send(call)
        return _wire.decode(answer, Passage)

    async def ask(self, question: str, *, key: str, thread_id: str | None = None) -> AssistantReply:
        """Return the assistant's answer when its stream has ended. It costs credits.

        Args:
            question: the question in plain text.
            key: the id of the message that asks.
            thread_id: that of the answer to the question before; None for a new conversation.

        Raises `Unavailable` for a stream that breaks off, reports an error, or has no text.
        https://www.mintlify.com/docs/api/assistant/create-assistant-message-v2
        """
        text = {"type": "text", "text": _wire.checked_text("question", question)}
        message = {"id": key, "role": "user", "parts": [text]}
        fields = {
            "fp": "anonymous",
            "messages": [message],
            "threadId": thread_id,
            "retrievalPageSize": 5,
        }
        path = f"/v2/assistant/{self._domain}/message"
        accept = "text/event-stream, text/plain;q=0.9"
        call = _wire.Call(self._domain, path, fields, accept, quoted=(question,))
        return read_stream(await self._send(call))


def read_stream(answer: _wire.Response) -> AssistantReply:
    """Return the answer in a stream of the AI SDK.

    A body of plain text is the answer itself.

    https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
    """
    body = answer.body.decode("utf-8", "replace")
    if answer.is_web_page:
        raise Unavailable("The service answered with a web page instead of an answer")
    if not body.lstrip().startswith(("data:", "event:", "id:", ":")):
        if answer.is_json or not body.strip():
            raise Unavailable("The service answered with something other than an answer")
        return AssistantReply(text=body.strip()[:MAX_ANSWER_LENGTH])
    texts: list[str] = []
    sources: dict[str, CitedPage] = {}
    thread_id = None
    is_finished = False
    for part in _read_parts(body):
        match part.type:
            case "text-start" if texts:
                texts.append("\n\n")
            case "text-delta":
                texts.append(part.delta)
            case "source-url" if part.url and len(sources) < MAX_SOURCES:
                sources.setdefault(part.url, CitedPage(url=part.url, title=part.title))
            case "error":
                problem = f"The assistant failed: {part.error_text}"
                raise Unavailable(_wire.cleaned(problem, answer.secrets))
            case "finish":
                thread_id = part.thread_id or part.message_metadata.thread_id
                is_finished = True
    text = "".join(texts).strip()
    if not is_finished or not text:
        raise Unavailable("The answer broke off" if text else "The assistant sent no text")
    return AssistantReply(
        text=text[:MAX_ANSWER_LENGTH], sources=tuple(sources.values()), thread_id=thread_id
    )


def _read_parts(body: str) -> Iterator[StreamPart]:
    """Yield the parts of a stream, without other lines."""
    for line in body.splitlines():
        if not line.startswith("data:"):
            continue
        try:
            yield StreamPart.model_validate(json.loads(line.removeprefix("data:")))
        except (ValueError, RecursionError):  # "[DONE]" as well
            continue

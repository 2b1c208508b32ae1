"""The service's discovery API: search and assistant of a site.

It has a key of its own, which belongs to one deployment, and names that deployment by its *domain*.
https://www.mintlify.com/docs/api/introduction
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from bot.docs_api import _wire
from bot.docs_api.client import ServiceClient
from bot.docs_api.errors import RateLimited, Unavailable
from bot.docs_api.models import AssistantReply, CitedPage, Passage, StreamPart

MAX_SOURCES = 20
MAX_ANSWER_LENGTH = 20_000
"""Upper limit for an answer of the assistant, in characters. The rest is left out."""
MAX_PARTS = 50_000
"""Upper limit for the lines of a stream with an object. A stream of more lines is an error."""
_OBJECT_PATTERN = re.compile(r"(?:\A|[\r\n])data:[ \t]*(\{[^\r\n]*)")
"""An object in a line of a stream.

U+2028 and other signs at which `str.splitlines` splits end no line.

https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""
_FIRST_PAUSE = timedelta(seconds=30)
"""For how long the assistant is not asked after a failure. It doubles with each further one."""
_MAX_REST = timedelta(minutes=10)
_PART_TYPES = frozenset({"text-start", "text-delta", "source-url", "error", "finish"})
"""The types of the parts that matter."""


class DiscoveryClient(ServiceClient):
    """A client of the discovery API for one deployment.

    Calls raise the errors of `bot.docs_api.errors`.
    """

    def __init__(self, domain: str, **options: Any) -> None:
        """Raise `InvalidArgument` for an address, key or domain that cannot be used.

        ``options``: those of `ServiceClient`.
        """
        super().__init__(**options)
        self.domain = domain
        self._domain = _wire.segment("domain", domain)
        self._failures = 0
        self._rests_until = self._now()

    async def search(self, query: str, *, limit: int = 10) -> tuple[Passage, ...]:
        """Return the passages that match best, without elements that are none. It costs no credits.

        https://www.mintlify.com/docs/api/assistant/search
        """
        fields = {"query": _wire.checked_text("query", query), "pageSize": limit}
        path = f"/v1/search/{self._domain}"
        answer = await self._send(_wire.Call(self._domain, path, fields))
        return _wire.decode_list(answer, Passage, limit)

    async def page(self, path: str) -> str:
        """Return the text of a page by its path, or its address from `search`. It costs no credits.

        Raises `NotFound`.
        """
        fields = {"path": _wire.checked_text("path", path)}
        call = _wire.Call(self._domain, f"/v1/page/{self._domain}", fields)
        answer = await self._send(call)
        return _wire.decode_page(answer)

    async def ask(self, question: str, *, key: str, thread_id: str | None = None) -> AssistantReply:
        """Return the assistant's answer when its stream has ended. It costs credits.

        Args:
            question: the question in plain text.
            key: the id of the message that asks.
            thread_id: that of the answer to the question before; None for a new conversation.

        Raises `Unavailable` for a stream that breaks off, reports an error, or has no text; without
        a call (``sent`` is False) for a while after a failure, so that nobody waits for an
        assistant that hangs.
        https://www.mintlify.com/docs/api/assistant/create-assistant-message-v2
        """
        now = self._now()
        if now < self._rests_until <= now + _MAX_REST:
            raise Unavailable("The assistant failed a short time ago", sent=False)
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
        if self._failures:  # one question finds out, and no others wait for it
            self._rests_until = now + timedelta(seconds=self._deadline_seconds)
        try:
            answer = await self._send(call)
            # Outside the event loop, because a hostile stream takes a fifth of a second to read.
            reply = await asyncio.to_thread(read_stream, answer)
        except (Unavailable, RateLimited) as error:
            self._failures += 1
            pause = min(_FIRST_PAUSE * 2 ** min(self._failures - 1, 10), _MAX_REST)
            asked = timedelta(seconds=error.retry_after_seconds or 0)
            self._rests_until = self._now() + min(max(pause, asked), _MAX_REST)
            raise
        self._failures = 0
        self._rests_until = self._now()
        return reply


def read_stream(answer: _wire.Response) -> AssistantReply:
    """Return the answer in a stream of the AI SDK.

    A body of plain text is the answer itself.

    https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
    """
    body = answer.body.decode("utf-8-sig", "replace")
    if answer.is_web_page:
        raise Unavailable("The service answered with a web page instead of an answer")
    if not body.lstrip().startswith(("data:", "event:", "id:", ":")):
        if answer.is_json or not body.strip():
            raise Unavailable("The service answered with something other than an answer")
        return AssistantReply(text=body.strip()[:MAX_ANSWER_LENGTH])
    text = ""
    sources: dict[str, CitedPage] = {}
    thread_id = None
    is_finished = False
    for part in _read_parts(body):
        match part.type:
            case "text-start" if text:
                text += "\n\n"
            case "text-delta" if len(text) < MAX_ANSWER_LENGTH:
                text += part.delta[:MAX_ANSWER_LENGTH]
            case "source-url" if part.url and len(sources) < MAX_SOURCES:
                sources.setdefault(part.url, CitedPage(url=part.url, title=part.title))
            case "error":
                text = _wire.clean_error(f"The assistant failed: {part.error_text}", answer.secrets)
                raise Unavailable(text, quotes=answer.has_texts_of_people)
            case "finish":
                thread_id = part.thread_id or part.message_metadata.thread_id
                is_finished = True
    text = text.strip()
    if not is_finished or not text:
        raise Unavailable("The answer broke off" if text else "The assistant sent no text")
    return AssistantReply(
        text=text[:MAX_ANSWER_LENGTH], sources=tuple(sources.values()), thread_id=thread_id
    )


def _read_parts(body: str) -> Iterator[StreamPart]:
    """Yield the parts of a stream that matter.

    Raises Unavailable for too many lines with an object.
    """
    for count, line in enumerate(_OBJECT_PATTERN.finditer(body), 1):
        if count > MAX_PARTS:
            raise Unavailable(f"The assistant sent more than {MAX_PARTS} parts")
        try:
            part = json.loads(line[1])
        except (ValueError, RecursionError):
            continue
        if isinstance(part, dict) and str(part.get("type")) in _PART_TYPES:
            yield StreamPart.model_validate(part)

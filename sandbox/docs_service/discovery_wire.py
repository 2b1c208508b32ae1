"""The wire of the discovery API: its bodies and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from sandbox.docs_service.wire import Url


def _whole(sent: object) -> object:
    """Return 5 for 5.0: JSON has only numbers."""
    return int(sent) if isinstance(sent, float) and sent.is_integer() else sent


PageSize = Annotated[int, Field(ge=1, le=50), BeforeValidator(_whole)]


class DiscoveryBody(BaseModel):
    """A body of the discovery API, with the names of its fields in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class SearchBody(DiscoveryBody):
    """The body of a search. The site has no versions, languages or tags, so a filter keeps every page."""

    query: Annotated[str, Field(min_length=1)]
    page_size: PageSize = 10
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.3
    filter: dict[str, Any] | None = None


class PageBody(BaseModel):
    """The body of a request for a page's text: a path as the search returned it."""

    path: Annotated[str, Field(min_length=1)]
    groups: list[str] = []


class TextPart(BaseModel):
    """A part of a message."""

    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    """A message of a conversation with the assistant."""

    id: str
    role: Literal["user", "assistant"]
    parts: Annotated[list[TextPart], Field(min_length=1)]


class QuestionBody(DiscoveryBody):
    """The body of a question to the assistant. `fp` identifies the asker; `threadId` continues a thread."""

    fp: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    thread_id: str | None = None
    retrieval_page_size: PageSize = 5
    filter: dict[str, Any] | None = None
    context: list[dict[str, Any]] = []
    current_path: Annotated[str, Field(max_length=200)] = ""


class SearchResult(TypedDict):
    """A passage that matches a search. `path` is the address of its page."""

    content: str
    path: Url
    metadata: dict[str, str]


class PageText(TypedDict):
    """A published page."""

    path: str
    content: str

"""A client of Slack's Web API that passes each request and its answer to a recorder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, TypeAlias

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

OnSlackAnswer: TypeAlias = Callable[[str, Mapping[str, Any], int, object, float], None]
"""Takes a call's method and arguments, and the status, body and seconds of its answer."""


def recording_client(on_answer: OnSlackAnswer) -> type[AsyncWebClient]:
    """Return a client class that passes each answer, also a refusal, to ``on_answer``."""

    class RecordingClient(AsyncWebClient):
        async def api_call(self, api_method: str, **options: Any) -> AsyncSlackResponse:
            arguments: dict[str, Any] = {}
            for part in ("params", "data", "json"):
                if isinstance(options.get(part), Mapping):
                    arguments |= options[part]
            begun_at = monotonic()
            try:
                answer = await super().api_call(api_method, **options)
            except SlackApiError as error:
                status = getattr(error.response, "status_code", 0)
                body = getattr(error.response, "data", None)
                on_answer(api_method, arguments, status, body, monotonic() - begun_at)
                raise
            seconds = monotonic() - begun_at
            on_answer(api_method, arguments, answer.status_code, answer.data, seconds)
            return answer

    return RecordingClient

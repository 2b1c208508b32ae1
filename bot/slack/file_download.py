"""The content of files that people share in Slack."""

from __future__ import annotations

import aiohttp

from bot.ports import SlackThrottled
from bot.slack.client import to_refusal, translating_errors, wait_seconds


async def read_text(session: aiohttp.ClientSession, url: str, token: str, most_bytes: int) -> str:
    """Return the text of a file at one of Slack's addresses. Raises a SlackError.

    The address gets the token. Redirects are not followed, so no other address does. Without the
    scope ``files:read`` Slack redirects, or returns a page to sign in.
    https://docs.slack.dev/messaging/working-with-files
    """
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        translating_errors(),
        session.get(url, headers=headers, allow_redirects=False) as answer,
    ):
        if answer.status == 429:
            raise SlackThrottled(wait_seconds(answer.headers.get("Retry-After")))
        if answer.status != 200 or answer.content_type == "text/html":
            raise to_refusal("file_not_returned")
        content = bytearray()
        async for piece in answer.content.iter_any():
            content += piece
            if len(content) > most_bytes:
                raise to_refusal("file_too_large")
    return _decode(bytes(content))


def _decode(content: bytes) -> str:
    """Return the text of a file. Raises SlackRefused for other content."""
    if b"\x00" in content:
        raise to_refusal("file_is_no_text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise to_refusal("file_is_no_text") from None

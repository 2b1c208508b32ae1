"""Reading the content of a file that somebody shared in Slack."""

from __future__ import annotations

import aiohttp

from bot.slack.errors import refused, translated, wait_seconds
from bot.work.ports import SlackThrottled


async def read_text(session: aiohttp.ClientSession, url: str, token: str, most_bytes: int) -> str:
    """Return the text of a file at one of Slack's addresses, which gets the token. Raises a SlackError.

    Redirects are not followed, so the token goes nowhere else. Without the scope ``files:read`` Slack
    redirects, or returns a page to sign in. https://docs.slack.dev/messaging/working-with-files
    """
    headers = {"Authorization": f"Bearer {token}"}
    async with translated(), session.get(url, headers=headers, allow_redirects=False) as answer:
        if answer.status == 429:
            raise SlackThrottled(wait_seconds(answer.headers.get("Retry-After")))
        if answer.status != 200 or answer.content_type == "text/html":
            raise refused("file_not_returned")
        content = b""
        async for piece in answer.content.iter_any():
            content += piece
            if len(content) > most_bytes:
                raise refused("file_too_large")
    return _decoded(content)


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise refused("file_is_no_text")
    return text

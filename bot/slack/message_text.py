"""The texts and the files of messages, as Slack sends them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.messages.plain_text import clip
from bot.ports import SharedFile

_TEXT_TYPES = frozenset(
    {
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
    }
)
MOST_CHARACTERS = 40_000
"""Slack's limit for a message, and here that of each text which somebody writes.

https://docs.slack.dev/reference/methods/chat.postMessage
"""
_SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def text_of(message: Mapping[str, Any]) -> str:
    """Return a message's wire text with forwarded messages quoted, clipped to `MOST_CHARACTERS`.

    Quotes within a message are a part of its text already. Previews of links are omitted.
    https://docs.slack.dev/reference/objects/attachment-object
    """
    parts = (
        part for part in (message.get("text") or "", *_forwarded_texts(message)) if part.strip()
    )
    return clip("\n\n".join(parts), MOST_CHARACTERS)


def _forwarded_texts(message: Mapping[str, Any]) -> Iterator[str]:
    for attachment in _objects(message, "attachments"):
        text = str(attachment.get("text") or "") or "\n".join(_in_blocks(attachment))
        if attachment.get("is_share") and text.strip():
            author = str(
                attachment.get("author_name") or attachment.get("author_subname") or "somebody"
            )
            quoted = "\n".join(f"&gt; {line}" for line in text.splitlines())
            yield f"Forwarded from {''.join(_SIGNS.get(sign, sign) for sign in author)}:\n{quoted}"


def _in_blocks(attachment: Mapping[str, Any]) -> Iterator[str]:
    """Return the words of the blocks of a forwarded message that has no text of its own."""
    for message_block in _objects(attachment, "message_blocks"):
        message = message_block.get("message")
        if isinstance(message, Mapping):
            yield from (
                text for block in _objects(message, "blocks") if (text := _text_of(block)).strip()
            )


def _text_of(part: Mapping[str, Any]) -> str:
    """Return the words of a rich text block or of a part of one, as wire text.

    https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    """
    match part.get("type"):
        case "text":
            return "".join(_SIGNS.get(sign, sign) for sign in str(part.get("text") or ""))
        case "link":
            return str(part.get("url") or "")
        case "user":
            return f"<@{part.get('user_id')}>"
        case "channel":
            return f"<#{part.get('channel_id')}>"
        case "emoji":
            return f":{part.get('name')}:"
    inside = "".join(_text_of(element) for element in _objects(part, "elements"))
    return inside if part.get("type") == "rich_text" else f"{inside}\n"


def files_of(message: Mapping[str, Any]) -> tuple[SharedFile, ...]:
    """Return the files of a message. https://docs.slack.dev/reference/objects/file-object"""
    return tuple(map(_file, _objects(message, "files")))


def _file(file: Mapping[str, Any]) -> SharedFile:
    name = str(file.get("name") or file.get("title") or "a file")
    kind, size = str(file.get("mimetype") or ""), file.get("size")
    is_text = kind.startswith("text/") or kind in _TEXT_TYPES or file.get("mode") == "snippet"
    # Slack keeps the content of others: files elsewhere, of other organisations, deleted or too old.
    is_here = file.get("mode") in ("hosted", "snippet") and not file.get("is_external")
    is_here = is_here and file.get("file_access") in (None, "visible")
    url = file.get("url_private_download") or file.get("url_private")
    return SharedFile(
        name, size if isinstance(size, int) else 0, is_text, str(url) if url and is_here else None
    )


def _objects(of: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    objects = of.get(name)
    return (
        [item for item in objects if isinstance(item, Mapping)] if isinstance(objects, list) else []
    )

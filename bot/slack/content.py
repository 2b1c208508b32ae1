"""The one reader of messages: from Slack's JSON to the content that a person sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.messages.plain_text import clip
from bot.messages.quotations import Quotation, QuoteSource
from bot.ports import Content, SharedFile
from bot.slack.block_text import (
    MAX_CHARACTERS,
    Object,
    mapping,
    objects_in,
    read_blocks,
    string,
)

_TEXT_TYPES = frozenset(
    {
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
    }
)
_PREVIEW_KEYS = ("from_url", "original_url", "app_unfurl_url", "is_app_unfurl")
"""The keys of attachments that show a preview of a link in the text."""
_MAX_FILES = 20
_MAX_NAME_CHARACTERS = 200


def read_content(message: Object) -> Content:
    """Return the content of a message that a person sees. Raises for invalid JSON.

    Slack shows the blocks of a message, and its text only where there are none. Forwarded messages
    are quoted, tables are rows, and previews of links are left out.
    https://docs.slack.dev/reference/objects/message-object
    """
    is_by_app = bool(message.get("bot_id"))
    parts = _Parts()
    parts.add_body(message, is_by_app=is_by_app)
    parts.add_files(message)
    for attachment in objects_in(message, "attachments"):
        if attachment.get("is_share"):
            parts.add_forward(attachment)
        elif not any(attachment.get(key) for key in _PREVIEW_KEYS):
            parts.add_attachment(attachment, is_by_app=is_by_app)
    return parts.content()


@dataclass
class _Parts:
    """The parts of a message, as they are read."""

    texts: list[str] = field(default_factory=list)
    files: list[SharedFile] = field(default_factory=list)
    omitted_parts: list[str] = field(default_factory=list)

    def add_body(self, message: Object, *, is_by_app: bool) -> None:
        """Add the text of a message, or the text of its blocks."""
        self.texts.append(self._body_of(message, is_by_app=is_by_app))

    def _body_of(self, message: Object, *, is_by_app: bool) -> str:
        """Return the text that Slack shows.

        Slack itself writes the rich text that people compose into the text. An app writes a text of
        its own, for notifications, beside its blocks.
        """
        text = string(message.get("text"))
        blocks = objects_in(message, "blocks")
        is_composed = not is_by_app and all(block.get("type") == "rich_text" for block in blocks)
        if text.strip() and is_composed:
            return text
        return self._read(blocks) or text

    def _read(self, blocks: Sequence[Object]) -> str:
        read = read_blocks(blocks)
        self.omitted_parts += read.omitted_parts
        return read.text

    def add_files(self, message: Object) -> None:
        """Add the files of a message or of a forwarded one."""
        self.files += map(read_file, objects_in(message, "files"))

    def add_forward(self, attachment: Object) -> None:
        """Add a forwarded message. One of an app has its words in blocks, and no text."""
        blocks: list[Object] = []
        for message_block in objects_in(attachment, "message_blocks"):
            blocks += objects_in(mapping(message_block.get("message")), "blocks")
        text = self._body_of({**attachment, "blocks": blocks}, is_by_app=False)
        self.add_files(attachment)
        if text.strip():
            author = string(attachment.get("author_name"))
            author = author or string(attachment.get("author_subname")) or "somebody"
            self.texts.append(Quotation(QuoteSource.FORWARD, text, author).as_wire())

    def add_attachment(self, attachment: Object, *, is_by_app: bool) -> None:
        """Add a table that a person pasted, or the attachment of an app.

        https://docs.slack.dev/reference/objects/attachment-object
        """
        blocks = self._read(objects_in(attachment, "blocks"))
        if blocks:
            self.texts.append(blocks)
        elif is_by_app:
            texts = (text for text in _texts_of(attachment) if text.strip(": "))
            self.texts.append("\n".join(texts))
        if is_by_app and attachment.get("image_url"):
            self.omitted_parts.append("image")

    def content(self) -> Content:
        """Return the parts as a value, clipped to Slack's limit for a message."""
        text = "\n\n".join(part for part in self.texts if part.strip())
        omitted_parts = list(dict.fromkeys(self.omitted_parts))
        if len(text) > MAX_CHARACTERS:
            omitted_parts.append("the end of the text")
        if len(self.files) > _MAX_FILES:
            omitted_parts.append(f"{len(self.files) - _MAX_FILES} of the files")
        return Content(
            text=clip(text, MAX_CHARACTERS),
            files=tuple(self.files[:_MAX_FILES]),
            omitted_parts=tuple(omitted_parts),
        )


def _texts_of(attachment: Object) -> Iterator[str]:
    """Yield the texts of an app's attachment in the order of their display."""
    keys: tuple[str, ...] = ("pretext", "title", "text")
    if not attachment.get("fields") and not any(attachment.get(key) for key in keys):
        keys = ("fallback",)
    for key in keys:
        yield string(attachment.get(key))
    for part in objects_in(attachment, "fields"):
        yield f"{string(part.get('title'))}: {string(part.get('value'))}"


def read_file(file: Object) -> SharedFile:
    """Return a file from Slack's JSON.

    One in a channel that is shared with another organisation is an id alone.
    https://docs.slack.dev/reference/objects/file-object
    https://docs.slack.dev/apis/slack-connect
    """
    name = string(file.get("name")) or string(file.get("title")) or "a file"
    kind = string(file.get("mimetype"))
    size = file.get("size")
    is_text = kind.startswith("text/") or kind in _TEXT_TYPES or file.get("mode") == "snippet"
    # Slack does not return files that are stored elsewhere, are deleted, or are too old.
    is_here = file.get("mode") in ("hosted", "snippet") and not file.get("is_external")
    is_here = is_here and file.get("file_access") in (None, "visible")
    is_undescribed = file.get("file_access") == "check_file_info"
    url = string(file.get("url_private_download")) or string(file.get("url_private"))
    return SharedFile(
        name=clip(name, _MAX_NAME_CHARACTERS),
        size_bytes=size if isinstance(size, int) else 0,
        is_text=is_text,
        url=url if url and is_here else None,
        id=string(file.get("id")) or None if is_undescribed else None,
    )

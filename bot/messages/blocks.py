"""Builders for Block Kit, with Slack's length limits and its rules for escaping text.

Limits of blocks: https://docs.slack.dev/reference/block-kit/blocks. The limit of a whole message is
not documented: in practice Slack refuses more than about 13,200 characters, so the bot stays under
12,000.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from ipaddress import ip_address
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from bot.ids import Block, ChannelId, Message, UserId, is_direct_message
from bot.messages.plain_text import clip, grapheme_boundary, one_line, visible

SECTION_LENGTH = 3_000
BUTTON_LENGTH = 75
URL_LENGTH = 3_000
PLAIN_INPUT_LENGTH = 3_000
OPTION_LENGTH = 75
MAX_OPTIONS = 100
_PLACEHOLDER_LENGTH = 150
_HINT_LENGTH = 2_000
_HOST_LENGTH = 48
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_CODE_LENGTH = 300
MESSAGE_LENGTH = 12_000
_UNCOUNTED_KEYS = frozenset({"type", "action_id", "value", "style", "url"})
"""Keys of a block whose values are not shown."""
EDITED_BYTES = 3_900
"""``chat.update`` refuses more than 4,000 bytes of text.

https://docs.slack.dev/reference/methods/chat.update
"""


class Action(StrEnum):
    """The action ids of the buttons and menus in the bot's messages."""

    VIEW_PULL_REQUEST = "view_pull_request"
    RUN_AGAIN = "run_again"
    SEND_AGAIN = "send_again"
    DISMISS = "dismiss"
    REVIEWED = "reviewed"
    UNDO_REVIEW = "undo_review"
    WITHDRAW = "withdraw"
    SHOW_ATTACHMENTS = "show_attachments"
    CHANGES = "changes"
    PREVIEW = "preview"
    OPEN_PREVIEW = "open_preview"
    FIX_PREVIEW = "fix_preview"
    ASK_ANYWAY = "ask_anyway"
    FOLLOW_UP_ANYWAY = "follow_up_anyway"
    SEND_ANYWAY = "send_anyway"
    SEND_WITH_KEY = "send_with_key"
    SEND_TO_JOB = "send_to_job"
    CANCEL = "cancel"
    CHANGE_IT = "change_it"
    DRAFT_PAGE = "draft_page"
    ANSWER_IT = "answer_it"
    LEAVE_IT = "leave_it"
    WRITE_THREAD = "write_thread"
    ANSWER_THREAD = "answer_thread"
    RUN_WORD = "run_word"
    DONT = "dont"
    CHOOSE_MESSAGES = "choose_messages"
    KEEP_QUIET = "keep_quiet"
    DETAILS = "details"
    JOBS_OLDER = "jobs_older"
    JOBS_NEWER = "jobs_newer"
    HELP_MORE = "help_more"
    HELLO_ASK = "hello_ask"
    HELLO_FIX = "hello_fix"
    HELLO_EXPLAIN = "hello_explain"
    HELLO_IDEAS = "hello_ideas"
    SHARE = "share"
    MORE = "more"
    CSV_FILE = "csv_file"
    IMPROVE = "improve"
    IMPROVE_PAGE = "improve_page"
    IMPROVE_MISS = "improve_miss"
    CHANGE_DOCS = "change_docs"
    DID_NOT_HELP = "did_not_help"
    DISMISS_GAP = "dismiss_gap"
    SHARE_ANSWER = "share_answer"
    ANSWER_TOPIC = "answer_topic"
    JUST_ANSWER = "just_answer"
    ALL_NUMBERS = "all_numbers"
    IDEAS = "ideas"
    SEE_REVIEWS = "see_reviews"
    RUN_VISITORS = "run_visitors"
    USE_REPOSITORY = "use_repository"
    TRY = "try"


LINKS = (Action.VIEW_PULL_REQUEST, Action.OPEN_PREVIEW)
"""The buttons that only lead to an address, which Slack opens."""


def escape(text: str) -> str:
    """Escape untrusted text for mrkdwn.

    The result contains no mention, link or entity.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_LOOKALIKES = str.maketrans("*~`“‟❝”❞", "∗∼'‘‘‘’’")
_EDGE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_EMOJI = re.compile(r":(?=[^\s:]+:)")


def unmarked(text: str) -> str:
    """Escape untrusted text for mrkdwn, also its formatting.

    The result has no formatting and no emoji, and ends no quotation.

    Slack has no escapes for such signs, so others that look alike stand in their place.
    https://docs.slack.dev/messaging/formatting-message-text#basic-formatting
    """
    safe = escape(text).translate(_LOOKALIKES)
    return _EMOJI.sub("∶", _EDGE.sub(_replace_underscores, safe))


def _replace_underscores(run: re.Match[str]) -> str:
    return "ˍ" * len(run[0])


def quoted(text: str, length: int) -> str:
    """Return untrusted text for use inside a sentence or a quotation.

    It is `unmarked`, clipped, and on one line.
    """
    return unmarked(one_line(text, length))


def label(text: str) -> str:
    """Return a project's label for use inside a sentence.

    It may be a name that somebody typed.
    """
    return quoted(text, 60)


def clip_mrkdwn(mrkdwn: str, length: int) -> str:
    """Clip mrkdwn to ``length`` characters without splitting an entity, mention or link."""
    if len(mrkdwn) <= length:
        return mrkdwn
    return mrkdwn[: _safe_cut(mrkdwn, length - 1)].rstrip() + "…"


def _safe_cut(mrkdwn: str, at: int) -> int:
    """Return the last index up to ``at`` where mrkdwn may be cut.

    It is not inside ``<…>``, ``&…;`` or a grapheme.
    """
    begun = mrkdwn.rfind("<", 0, at)
    if begun > mrkdwn.rfind(">", 0, at) and begun > 0:
        return begun
    entity = re.search(r"&[a-z]{0,3}$", mrkdwn[max(at - 4, 0) : at])
    return at - len(entity[0]) if entity else grapheme_boundary(mrkdwn, at)


def clip_bytes(mrkdwn: str, size: int) -> str:
    """Clip mrkdwn to ``size`` bytes of UTF-8.

    A clipped text ends with "…".
    """
    encoded = mrkdwn.encode("utf-8")
    if len(encoded) <= size:
        return mrkdwn
    head = encoded[: size - len("…".encode())].decode("utf-8", "ignore")
    return mrkdwn[: _safe_cut(mrkdwn, len(head))].rstrip() + "…"


def mention(user: UserId) -> str:
    """Return a mention, which notifies the user.

    Slack's ids are letters and digits; others are escaped.
    """
    return f"<@{user}>" if user.isalnum() else escape(user)


def channel(channel: ChannelId) -> str:
    """Return a channel's name as a link.

    Slack shows it only to those who may know it.
    """
    if is_direct_message(channel):
        return "direct messages"
    return f"<#{channel}>" if channel.isalnum() else quoted(channel, 60)


def web_address(url: str | None) -> str | None:
    """Return the URL if it is safe to link to; None otherwise.

    Its host is in ASCII.

    It must be https (or http on this machine, as in the sandbox), of at most ``URL_LENGTH``
    characters, and not misleading.
    """
    if not url or len(url) > URL_LENGTH or visible(url) != url:
        return None
    if any(sign.isspace() for sign in url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port
    except ValueError:
        return None
    ascii_host = _in_ascii(host)
    # Refused, because a reader mistakes the host:
    # "https://good.example@evil.example" and "https://evil.example\\.good.example".
    if ascii_host is None or "@" in parts.netloc or "\\" in url:
        return None
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        return None
    if ascii_host == host:
        return url
    return url.replace(parts.netloc, _netloc(ascii_host, port), 1)


def _in_ascii(host: str) -> str | None:
    """Return a host in Punycode.

    Returns None if the host is odd, or if browsers could read it as another one.
    """
    if _is_loopback(host) or _HOST.fullmatch(host):
        return host
    try:
        encoded = host.encode("idna")
        is_same = encoded.decode("idna") == host
    except UnicodeError:
        return None
    if not is_same or host.isascii() or not _HOST.fullmatch(encoded.decode()):
        return None
    return encoded.decode()


def _netloc(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(address: str) -> str:
    """Return the host of a `web_address`, with its port, for readers.

    It is clipped at the front.
    """
    parts = urlsplit(address)
    host = _netloc(parts.hostname or "", parts.port)
    return host if len(host) <= _HOST_LENGTH else f"…{host[1 - _HOST_LENGTH :]}"


def linkable(url: str | None, hosts: Collection[str]) -> str | None:
    """Return the URL, without its scheme if its host is foreign.

    A foreign host is not among ``hosts``; without hosts there is none. Without a scheme the URL is
    no `web_address`.
    """
    address = web_address(url)
    if not url or address is None or not hosts or urlsplit(address).hostname in hosts:
        return url
    while web_address(url) is not None:
        url = url.partition("://")[2]
    return url


def link(url: str | None, label: str) -> str:
    """Return a link in mrkdwn; only the label without a safe URL."""
    address = web_address(url)
    if address is None:
        return unmarked(label)
    safe = address.replace("|", "%7C").replace("<", "%3C").replace(">", "%3E").replace("`", "%60")
    return f"<{escape(safe)}|{unmarked(label)}>"


def moment(at: datetime, form: str = "{date_short_pretty} at {time}") -> str:
    """Return a time that Slack shows in each reader's time zone.

    https://docs.slack.dev/messaging/formatting-message-text
    """
    fallback = at.strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at.timestamp())}^{form}|{fallback}>"


def section(mrkdwn: str) -> Block:
    """Return a paragraph. The caller has escaped untrusted parts of ``mrkdwn``."""
    return {"type": "section", "text": _mrkdwn(mrkdwn)}


def _mrkdwn(mrkdwn: str) -> dict[str, Any]:
    """Return a text object whose plain words stay plain words.

    Slack turns none of them into a mention or a link.

    https://docs.slack.dev/reference/block-kit/composition-objects/text-object
    """
    return {"type": "mrkdwn", "text": clip_mrkdwn(mrkdwn, SECTION_LENGTH), "verbatim": True}


def context(*mrkdwn: str) -> Block:
    """Return small print."""
    return {"type": "context", "elements": [_mrkdwn(text) for text in mrkdwn if text]}


def quote(text: str) -> Block:
    """Return untrusted text as a quotation.

    Rich text has no markup, so nothing is escaped.
    """
    content = visible(text) or " "
    elements = [{"type": "text", "text": content}]
    return {"type": "rich_text", "elements": [{"type": "rich_text_quote", "elements": elements}]}


def button(
    text: str, action_id: Action, value: str, *, style: str | None = None, url: str | None = None
) -> Block:
    """Return a button. ``style`` is ``primary``, ``danger`` or None."""
    made = {
        "type": "button",
        "text": plain_text(text, BUTTON_LENGTH),
        "action_id": action_id,
        "value": value,
    }
    if style:
        made["style"] = style
    if url:
        made["url"] = url
    return made


def actions(buttons: Sequence[Block]) -> tuple[Block, ...]:
    """Return a row of buttons; nothing without buttons.

    Slack refuses an empty row.
    """
    return ({"type": "actions", "elements": list(buttons)},) if buttons else ()


def plain_text(text: str, length: int = _HINT_LENGTH) -> Block:
    """Return untrusted text for a button, a menu or a form, clipped."""
    return {"type": "plain_text", "text": clip(text, length), "emoji": True}


def modal(
    title: str, *blocks: Block, callback_id: str, private: str = "", submit: str = ""
) -> Block:
    """Return a view in a window of its own, or a form.

    ``submit``: the label of a form's button.

    https://docs.slack.dev/reference/views/modal-views
    """
    made: Block = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain_text(title),
        "close": plain_text("Cancel" if submit else "Close"),
        "private_metadata": private,
        "blocks": list(blocks),
    }
    if submit:
        made["submit"] = plain_text(submit)
    return made


def option(label: str, value: str) -> Block:
    """Return a choice of a menu or a form."""
    return {"text": plain_text(label, OPTION_LENGTH), "value": value}


def menu(placeholder: str, action_id: Action, options: Sequence[tuple[str, str]]) -> Block:
    """Return a menu of ``(label, value)`` options.

    Only the first ``MAX_OPTIONS`` are used.
    """
    return {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": plain_text(placeholder, _PLACEHOLDER_LENGTH),
        "options": [option(*choice) for choice in options[:MAX_OPTIONS]],
    }


def code(text: str, length: int = _CODE_LENGTH) -> str:
    """Return untrusted text as inline code.

    It is escaped, clipped, on one line, and without backticks.
    """
    return f"`{escape(one_line(text, length)).replace('`', chr(39)) or ' '}`"


def bare(message: Message) -> str:
    """Return a message as plain text without markup.

    It is for places like an error under a form's input.
    """
    without_sign = re.sub(r"^:[a-z_]+: ", "", message.text)
    text = re.sub(r"[*`]", "", re.sub(r"<#\w+>", "that channel", without_sign))
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def words(text: str) -> Message:
    """Return a message of text only, given as escaped mrkdwn."""
    return Message(text, text_blocks(text))


def message(*blocks: Block, most_bytes: int | None = None) -> Message:
    """Return a message of blocks, also as text and plain blocks.

    Plain blocks contain no link buttons; the text has the links. ``most_bytes``: clip the text to
    this size.
    """
    text = "".join(map(_block_text, blocks)).lstrip("\n")
    if most_bytes is not None:
        text = clip_bytes(text, most_bytes)
    rows = [block["elements"] for block in blocks if block["type"] == "actions"]
    plain_rows = [actions([made for made in row if "url" not in made]) for row in rows]
    return Message(text, blocks, (*text_blocks(text), *chain(*plain_rows)))


def _block_text(block: Block) -> str:
    """Return a block as mrkdwn.

    It is lines, each after a line end, or links after the last line.
    """
    lines: list[str] = []
    match block["type"]:
        case "section":
            lines = [block["text"]["text"].rstrip("\n")]
        case "markdown":
            lines = [unmarked(block["text"])]
        case "context":
            lines = [element["text"] for element in block["elements"]]
        case "rich_text":
            lines = [unmarked(block["elements"][0]["elements"][0]["text"])]
        case "actions":
            linked = [made for made in block["elements"] if "url" in made]
            return "".join(f" {link(made['url'], made['text']['text'])}" for made in linked)
        case "data_visualization":
            lines = [_chart_text(block)]
        case "data_table":
            lines = _table_lines(block)
    return "".join(f"\n{line}" for line in lines)


def _chart_text(block: Block) -> str:
    """Return the points of a chart in one line."""
    series = block["chart"]["series"]
    names = [item["name"] for item in series]
    rows = []
    for point in zip(*(item["data"] for item in series), strict=True):
        counts = [f"{item['value']:,}" for item in point]
        rows.append(_row_text(point[0]["label"], names, counts, ", "))
    return f"{block['title']}: {'; '.join(rows)}."


def _table_lines(block: Block) -> list[str]:
    """Return the caption of a table and its rows, as lines."""
    (_, *names), *rows = [[cell["text"] for cell in row] for row in block["rows"]]
    lines = [f"*{escape(block['caption'])}*"]
    for rank, (label, *texts) in enumerate(rows, 1):
        row = _row_text(code(label), names, map(escape, texts), " · ")
        lines.append(f"{rank}. {row}")
    return lines


def _row_text(label: str, names: Sequence[str], texts: Iterable[str], sign: str) -> str:
    cells = [f"{name} {text}" for name, text in zip(names, texts, strict=True)]
    return f"{label} {sign.join(cells)}"


def with_buttons(text: str, buttons: Sequence[Block]) -> Message:
    """Return a paragraph with a row of buttons below it."""
    return message(section(text), *actions(buttons))


def text_blocks(mrkdwn: str) -> tuple[Block, ...]:
    """Return text as sections, clipped to the length of a message.

    It is split at line ends if possible.
    """
    rest = clip_mrkdwn(mrkdwn, MESSAGE_LENGTH - 500)
    made = []
    while len(rest) > SECTION_LENGTH:
        line_end = rest.rfind("\n", SECTION_LENGTH // 2, SECTION_LENGTH) + 1
        cut = line_end or _safe_cut(rest, SECTION_LENGTH)
        made.append(section(rest[:cut]))
        rest = rest[cut:]
    if rest:
        made.append(section(rest))
    return tuple(made)


def fits(message: Message) -> bool:
    """Return whether a message is within Slack's limits, unclipped."""
    heaviest = max(_weight(message.blocks), _weight(message.plain_blocks))
    return heaviest <= MESSAGE_LENGTH and len(message.text) <= MESSAGE_LENGTH - 500


def _weight(part: Any) -> int:
    """Count the visible characters after escaping.

    Slack does not document which characters it counts.
    """
    if isinstance(part, str):
        return len(escape(part))
    if isinstance(part, list | tuple):
        return sum(map(_weight, part))
    if not isinstance(part, dict):
        return 0
    if part.get("type") == "mrkdwn":
        return len(part["text"])
    return sum(_weight(value) for key, value in part.items() if key not in _UNCOUNTED_KEYS)


def split(text: str, length: int) -> Iterable[str]:
    """Split text into pieces of weight ``length`` at most.

    It is split at line ends if possible, and nothing is lost.

    A character weighs as much as its entity or its UTF-8 form, because Slack does not document its
    unit.
    """
    while text:
        room = _fitting_length(text, length)
        line_end = text.rfind("\n", room // 2, room) + 1 if room < len(text) else 0
        cut = line_end or grapheme_boundary(text, room)
        yield text[:cut]
        text = text[cut:]


def _fitting_length(text: str, length: int) -> int:
    """Count the characters from the start that weigh ``length`` at most."""
    used = 0
    for at, sign in enumerate(text[:length]):
        used += {"&": 5, "<": 4, ">": 4}.get(sign) or len(sign.encode("utf-8", "surrogatepass"))
        if used > length:
            return at
    return min(len(text), length)


COPIED_LENGTH = 10_000
"""Maximum length of a text that is shown again to copy."""


def with_prompt(refusal: Message, prompt: str) -> Message:
    """Return a refusal with the prompt under it to copy.

    A prompt that is too long for a message is cut.

    Without a prompt, or where people still see their text, the refusal stays alone.
    """
    full_text = visible(prompt).strip()
    if not full_text:
        return refusal
    copied = next(iter(split(full_text, COPIED_LENGTH)), "")
    what = "What you wrote" if copied == full_text else "What you wrote (its beginning)"
    headline = f"{refusal.text} {what}, to copy:"
    return message(section(headline), quote(copied))


def number(count: int) -> str:
    """Return a count with thousands separators: 1,234."""
    return f"{count:,}"


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many}"

"""Builders for Block Kit, with Slack's length limits and its rules for escaping text.

Limits of blocks: https://docs.slack.dev/reference/block-kit/blocks. The limit of a whole message is
not documented: in practice Slack refuses more than about 13,200 characters, so the bot stays under
12,000.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any

from bot.ids import Block, Message
from bot.messages.links import ANY_SITE
from bot.messages.links import host_of as host_of
from bot.messages.links import linkable as linkable
from bot.messages.links import web_address as web_address
from bot.messages.markdown import Node, parse, spoken, to_mrkdwn
from bot.messages.mrkdwn import channel as channel
from bot.messages.mrkdwn import clip_bytes as clip_bytes
from bot.messages.mrkdwn import clip_mrkdwn as clip_mrkdwn
from bot.messages.mrkdwn import code as code
from bot.messages.mrkdwn import counted as counted
from bot.messages.mrkdwn import escape as escape
from bot.messages.mrkdwn import label as label
from bot.messages.mrkdwn import link as link
from bot.messages.mrkdwn import mention as mention
from bot.messages.mrkdwn import moment as moment
from bot.messages.mrkdwn import number as number
from bot.messages.mrkdwn import quoted as quoted
from bot.messages.mrkdwn import safe_cut
from bot.messages.mrkdwn import split as split
from bot.messages.mrkdwn import unmarked as unmarked
from bot.messages.plain_text import clip, visible

SECTION_LENGTH = 3_000
BUTTON_LENGTH = 75
PLAIN_INPUT_LENGTH = 3_000
OPTION_LENGTH = 75
MAX_OPTIONS = 100
_PLACEHOLDER_LENGTH = 150
_HINT_LENGTH = 2_000
MESSAGE_LENGTH = 12_000
_TEXT_LENGTH = MESSAGE_LENGTH - 500
"""Characters of mrkdwn in the sections of a message, which may have buttons below."""
_UNCOUNTED_KEYS = frozenset({"type", "action_id", "value", "style", "url"})
"""Keys of a block whose values are not shown."""
TEXT_BYTES = 3_900
"""The size of a message's text. ``chat.update`` refuses more than 4,000 bytes.

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
    GAPS_OLDER = "gaps_older"
    GAPS_NEWER = "gaps_newer"
    SHARE_ANSWER = "share_answer"
    ANSWER_TOPIC = "answer_topic"
    JUST_ANSWER = "just_answer"
    ALL_NUMBERS = "all_numbers"
    IDEAS = "ideas"
    SEE_REVIEWS = "see_reviews"
    SEE_NEEDS_YOU = "see_needs_you"
    RUN_VISITORS = "run_visitors"
    USE_REPOSITORY = "use_repository"
    TRY = "try"
    TRY_FURTHER = "try_further"
    TAKE_MISSED = "take_missed"


LINKS = (Action.VIEW_PULL_REQUEST, Action.OPEN_PREVIEW)
"""The buttons that only lead to an address, which Slack opens."""
TRIAL_BUTTONS = (Action.TRY, Action.TRY_FURTHER)
"""The buttons of ``docs-bot doctor --try``, of which the running bot notes the presses."""


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


def bare(message: Message) -> str:
    """Return a message as plain text without markup.

    It is for places like an error under a form's input.
    """
    without_sign = re.sub(r"^:[a-z_]+: ", "", message.text)
    text = re.sub(r"[*`]", "", re.sub(r"<#\w+>", "that channel", without_sign))
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def words(text: str) -> Message:
    """Return a message of text only, given as escaped mrkdwn."""
    return Message(clip_bytes(text, TEXT_BYTES), text_blocks(text))


def message(*blocks: Block) -> Message:
    """Return a message of blocks, also as text and plain blocks.

    Plain blocks contain no link buttons; the text has the links. It has at most ``TEXT_BYTES``, so
    that every message can be edited.
    """
    text = _text_of(blocks, is_spoken=True)
    rows = [block["elements"] for block in blocks if block["type"] == "actions"]
    plain_rows = [actions([made for made in row if "url" not in made]) for row in rows]
    plain_blocks = (*text_blocks(_text_of(blocks, is_spoken=False)), *chain(*plain_rows))
    return Message(clip_bytes(text, TEXT_BYTES), blocks, plain_blocks)


def _text_of(blocks: Iterable[Block], *, is_spoken: bool) -> str:
    """Return the words of blocks as mrkdwn, in full. ``is_spoken``: see `_block_text`."""
    return "".join(_block_text(block, is_spoken=is_spoken) for block in blocks).lstrip("\n")


def _block_text(block: Block, *, is_spoken: bool) -> str:
    """Return a block as mrkdwn.

    It is lines, each after a line end, or links after the last line.

    Args:
        is_spoken: Markdown of a block is written without marks, for notifications and screen
            readers.
    """
    lines: list[str] = []
    match block["type"]:
        case "section":
            lines = [block["text"]["text"].rstrip("\n")]
        case "markdown":
            write = spoken if is_spoken else to_mrkdwn
            lines = [write(_parsed(block["text"]))]
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


@lru_cache(8)
def _parsed(markdown: str) -> Node:
    """Return the tree of a block's text, which is known to be safe."""
    return parse(markdown, ANY_SITE)


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
    for rank, (name, *texts) in enumerate(rows, 1):
        row = _row_text(code(name), names, map(escape, texts), " · ")
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
    rest = clip_mrkdwn(mrkdwn, _TEXT_LENGTH)
    made = []
    while len(rest) > SECTION_LENGTH:
        line_end = rest.rfind("\n", SECTION_LENGTH // 2, SECTION_LENGTH) + 1
        cut = line_end or safe_cut(rest, SECTION_LENGTH)
        made.append(section(rest[:cut]))
        rest = rest[cut:]
    if rest:
        made.append(section(rest))
    return tuple(made)


def fits(message: Message) -> bool:
    """Return whether a message is within Slack's limits, unclipped."""
    heaviest = max(_weight(message.blocks), _weight(message.plain_blocks))
    return (
        heaviest <= MESSAGE_LENGTH
        and len(_text_of(message.blocks, is_spoken=False)) <= _TEXT_LENGTH
    )


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
    buttons = [block for block in refusal.blocks if block["type"] == "actions"]
    return message(section(headline), quote(copied), *buttons)

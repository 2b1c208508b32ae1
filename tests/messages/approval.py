"""Approved texts: one file for each family of messages, rendered from its samples.

A test compares the files; `make approve` rewrites them. A family is a module of ``tests.messages.families``
whose ``samples`` returns messages, dialogues, blocks and texts by name.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from bot.ids import Block, Message
from bot.jobs.messages.problems import Problem
from bot.messages import blocks as b
from tests.messages import families

APPROVED = Path(__file__).parent / "approved"
FAMILIES = tuple(module.name for module in pkgutil.iter_modules(families.__path__))
_HEADERS = ("--", "++", "@@")
_DATE = re.compile(r"<!date\^\d+\^([^|]*)\|([^>]*)>")


def samples_of(family: str) -> Mapping[str, object]:
    """Build the samples of a family."""
    samples: Mapping[str, object] = importlib.import_module(
        f"{families.__name__}.{family}"
    ).samples()
    return samples


def render(family: str) -> str:
    """Return the content of a family's file."""
    return "\n".join(
        f"== {name}\n{rendered(sample)}" for name, sample in samples_of(family).items()
    )


def rendered(sample: object) -> str:
    """Return a sample in the notation of the files, which ends with a line end."""
    text = _DATE.sub(r"{\2, as \1}", "\n".join(_lines(sample))).replace("\r\n", "\n")
    return text.replace("\N{NO-BREAK SPACE}", "\N{SHOULDERED OPEN BOX}").rstrip("\n") + "\n"


def _lines(sample: Any) -> Iterator[str]:
    match sample:
        case Message():
            yield from _message(sample)
        case Problem():
            yield sample.text
        case {"type": "modal"}:
            yield from _modal(sample)
        case {"type": _}:
            yield from _block(sample)
        case str():
            yield sample or "(nothing)"
        case Sequence() if not sample:
            yield "(nothing)"
        case Sequence():
            yield from _lines(sample[0])
            yield from (line for item in sample[1:] for line in ("--", *_lines(item)))
        case _:
            yield repr(sample)


def _message(message: Message) -> Iterator[str]:
    """Yield the blocks, and the text and the plain blocks where they do not follow from the blocks."""
    if message == b.words(message.text):
        yield message.text
        return
    usual = b.message(*message.blocks)
    lines = "\n".join(_blocks(message.blocks)).splitlines()
    yield from lines
    if message.text != usual.text:
        yield from ("text:", message.text)
    if message.plain_blocks != usual.plain_blocks:
        plain = "\n".join(_blocks(message.plain_blocks)).splitlines()
        yield f"plain blocks{':' if plain != lines else ' are the same'}"
        yield from (
            f"  {line}" for line in unified_diff(lines, plain, n=0) if line[:2] not in _HEADERS
        )


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    """Yield the lines of a block: section, > quote, (small print), [button], table, chart or input."""
    match block["type"]:
        case "section":
            yield block["text"]["text"]
            if "accessory" in block:
                yield from _element(block["accessory"])
        case "context":
            yield from (f"({element['text']})" for element in block["elements"])
        case "rich_text":
            yield from (line for element in block["elements"] for line in _rich(element))
        case "actions":
            for element in block["elements"]:
                yield from _element(element)
        case "data_table":
            yield f"table: {block['caption']}"
            yield from ("  " + " | ".join(cell["text"] for cell in row) for row in block["rows"])
        case "data_visualization":
            yield f"chart: {block['title']}"
            for series in block["chart"]["series"]:
                points = (f"{point['label']}: {point['value']}" for point in series["data"])
                yield f"  {series['name']}: {', '.join(points)}"
        case "input":
            optional = " (optional)" if block.get("optional") else ""
            yield f"{block['block_id']}: {block['label']['text']}{optional}"
            yield from (f"  {line}" for line in _element(block["element"]))
            if "hint" in block:
                yield f"  ({block['hint']['text']})"
        case _:
            yield from _element(block)


def _rich(element: Block) -> Iterator[str]:
    sign = {"rich_text_quote": "> ", "rich_text_preformatted": "    "}.get(element["type"], "")
    text = "".join(map(_styled, element["elements"]))
    yield from (f"{sign}{line}" for line in text.splitlines() or [""])


def _styled(piece: Block) -> str:
    style = piece.get("style", {})
    mark = "~" if "strike" in style else "*" if "bold" in style else ""
    return f"{mark}{piece['text'].rstrip()}{mark}{piece['text'][len(piece['text'].rstrip()) :]}"


def _element(element: Block) -> Iterator[str]:
    """Yield a button as [its label] with its action and value, and other elements with their options."""
    kind, action = element["type"], element.get("action_id", "")
    if kind == "button":
        parts = (action, element["value"], element.get("style"), element.get("url"))
        yield f"[{element['text']['text']}] {' '.join(filter(None, parts))}"
        return
    if kind == "markdown":
        yield f"markdown: {element['text']}"
        return
    yield f"<{kind}> {_shown(element.get('placeholder'))}{'' if kind in _INPUTS else action}".rstrip()
    if begun := element.get("initial_value"):
        yield from (f"  = {line}" for line in begun.splitlines())
    chosen = element.get("initial_options", [element.get("initial_option")])
    for option in element.get("options", ()):
        yield f"  {'*' if option in chosen else '-'} {_shown(option['text'])}{option['value']}"
    if "filter" in element:
        yield f"  {element['filter']}"


_INPUTS = frozenset({"plain_text_input", "checkboxes", "conversations_select"})
"""Elements whose action id is the name of their block."""


def _shown(text: Block | None) -> str:
    return f"{text['text']} " if text else ""


def _modal(view: Mapping[str, Any]) -> Iterator[str]:
    private = f" {view['private_metadata']}" if view["private_metadata"] else ""
    yield f"dialogue: {view['title']['text']} ({view['callback_id']}{private})"
    yield from _blocks(view["blocks"])
    yield " ".join(f"[{view[name]['text']}]" for name in ("submit", "close") if name in view)


def main() -> None:
    """Write the files of all families, and remove those of no family."""
    for path in APPROVED.glob("*.txt"):
        if path.stem not in FAMILIES:
            path.unlink()
    for family in FAMILIES:
        (APPROVED / f"{family}.txt").write_text(render(family), encoding="utf-8")


if __name__ == "__main__":
    main()

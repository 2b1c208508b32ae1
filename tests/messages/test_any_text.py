"""Messages are valid and harmless for any text of people, of the agent and of the service."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import product
from types import FunctionType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ids import Message, UserId
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.messages import slack_text
from bot.pulls.messages import results
from bot.pulls.messages.previews import fix_preview_prompt
from bot.pulls.model.previews import Preview, PreviewState
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.anything import ANY_TEXT, BY_TYPE, HOSTILE, addresses, arguments, built
from tests.messages.functions import public_functions
from tests.messages.slack_limits import Allowed, modal_problems, problems_of


def talking() -> Mapping[str, Mapping[str, FunctionType]]:
    """Return the functions that return messages or a dialogue by module, without the builders of blocks."""
    functions: dict[str, dict[str, FunctionType]] = {}
    for name, function in public_functions().items():
        module, _, short = name.partition(".")
        returned = typing.get_type_hints(function)["return"]
        is_message = Message in (returned, *typing.get_args(returned)) or short.endswith(
            ("_form", "_view")
        )
        if is_message and module != "blocks" and short != "with_fitting_pages":
            functions.setdefault(module, {})[short] = function
    return functions


TALKING = talking()
PINGED = {ANA, BEN, UserId("USLACKBOT")}
EDITED = {
    "format_status_message",
    "format_result",
    "outdated_end",
    "format_pull_request",
    "outdated_pull_request",
}


def messages_of(result: Any) -> Sequence[Message]:
    """Return the messages that a function returned; none for a dialogue, and where it has none."""
    if result is None or (isinstance(result, dict) and "type" in result):
        return ()
    values = result.values() if isinstance(result, dict) else result
    return [result] if isinstance(result, Message) else [*values]


def complaints(result: Any, allowed: Allowed, name: str) -> list[str]:
    """List refused and harmful contents, and quoted code that runs into the bot's own text."""
    if isinstance(result, dict) and "type" in result:
        return modal_problems(result, allowed)
    problems: list[str] = []
    for message in messages_of(result):
        problems += problems_of(message, allowed)
        if name in EDITED and len(message.text.encode()) > 4_000:
            problems.append("too long for an edit")
        for block in message.blocks:
            parts = [block.get("text"), *block.get("fields", ()), *block.get("elements", ())]
            texts = [
                part["text"]
                for part in parts
                if isinstance(part, dict) and part["type"] == "mrkdwn"
            ]
            lines = "\n".join(texts).split("\n")
            problems += [f"open code: {line}" for line in lines if line.count("`") % 2]
    return problems


@pytest.mark.parametrize("module", TALKING)
@given(st.data())
def test_messages_are_valid_and_harmless_for_any_argument(module: str, data: st.DataObject) -> None:
    drawn: dict[Any, Any] = {}  # one value of each kind for all functions: drawing takes longest
    for name, function in TALKING[module].items():
        given_to = {}
        for parameter, strategy in arguments(function).items():
            if strategy not in drawn or strategy is BY_TYPE[bool]:
                drawn[strategy] = data.draw(strategy, f"{name}.{parameter}")
            given_to[parameter] = drawn[strategy]
        allowed = Allowed(PINGED, addresses(given_to.values()))
        result = call(function, given_to)
        assert complaints(result, allowed, name) == [], name
        harmless = call(function, {name: without_marks(value) for name, value in given_to.items()})
        for message, twin in zip(messages_of(result), messages_of(harmless), strict=True):
            if not (is_clipped(message) or is_clipped(twin)):
                assert marks_in(message) == marks_in(twin), name


MARKS = re.compile(r"[*~`“”❝❞]|(?<![^\W_])_|_(?![^\W_])|:[^\s:]+:")
"""Characters that format, make an emoji, or end a quotation in mrkdwn."""
CODE = re.compile("`[^`\n]*`")
HARMLESS = MARKS.sub("x", HOSTILE)


def without_marks(value: Any) -> Any:
    """Replace every text with formatting by one without."""
    if type(value) is str:
        return value.replace(HOSTILE, HARMLESS)
    if isinstance(value, list | tuple):
        parts = map(without_marks, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{field.name: without_marks(getattr(value, field.name)) for field in fields(value)},
        )
    return value


def is_clipped(message: Message) -> bool:
    """Return whether a message is long enough to have lost formatting of the bot's own."""
    return len(message.text.encode()) >= 3_000


def marks_in(message: Message) -> list[str]:
    """Return the formatting characters of a message."""
    blocks = [*message.blocks, *message.plain_blocks]
    parts = [part for block in blocks for part in (block.get("text"), *block.get("elements", ()))]
    texts = [
        part["text"] for part in parts if isinstance(part, dict) and part.get("type") == "mrkdwn"
    ]
    return [mark for text in (message.text, *texts) for mark in MARKS.findall(CODE.sub("", text))]


def call(function: FunctionType, given_to: Mapping[str, Any]) -> Any:
    """Call a function with positional and keyword arguments by its signature."""
    bound = inspect.signature(function).bind_partial()
    bound.arguments.update(given_to)
    return function(*bound.args, **bound.kwargs)


@given(
    built(TrackedJob),
    ANY_TEXT,
    st.sampled_from(["{}", "https://preview.example", "https://preview.example/{}"]),
)
def test_result_with_any_preview_is_valid_and_harmless(
    job: TrackedJob, text: str, url: str
) -> None:
    at = url.format(text)
    ended = replace(job, state=JobState.PULL_REQUEST)
    for state, iteration in product(PreviewState, (job.iteration, job.iteration + 1)):
        values = (job.number, PROJECT, iteration, ANA, text, state, NOW)
        preview = Preview(*values, url=at, log=text)
        message = results.format_pull_request(ended, text, preview=preview, offers_preview=True)
        assert problems_of(message, Allowed({ANA, BEN}, {job.pr_link, at})) == []
        assert len(message.text.encode()) <= 4_000, "an end is edited"
        assert all(line.startswith("> ") for line in fix_preview_prompt(preview).split("\n")[3:])


@given(ANY_TEXT)
def test_any_text_from_slack_is_parsed(raw: str) -> None:
    slack_text.unresolved_names(raw, 20)
    slack_text.is_aside(raw)
    slack_text.without_leading_mention(raw, BEN)
    slack_text.is_blank(slack_text.to_plain(raw, {}, {}))
    assert slack_text.to_plain(slack_text.from_plain(raw), {}, {}) == raw, (
        "as it was typed into a form"
    )

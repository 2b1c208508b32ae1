"""Whatever people, the agent and the service write: what the bot says is valid and harmless."""

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
from bot.jobs.messages import jobs
from bot.jobs.messages.jobs import fix_preview_prompt
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.pull_requests import Preview, PreviewState
from bot.messages import slack_text
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.anything import ANY_TEXT, BY_TYPE, HOSTILE, addresses, arguments, built
from tests.messages.functions import public_functions
from tests.messages.slack_limits import Allowed, modal_problems, problems_of


def talking() -> Mapping[str, Mapping[str, FunctionType]]:
    """Return by module the functions that return messages or a dialogue, except the builders of blocks."""
    found: dict[str, dict[str, FunctionType]] = {}
    for name, function in public_functions().items():
        module, _, short = name.partition(".")
        returned = typing.get_type_hints(function)["return"]
        says = Message in (returned, *typing.get_args(returned)) or short.endswith(("_form", "_view"))
        if says and module != "blocks" and short != "with_fitting_pages":
            found.setdefault(module, {})[short] = function
    return found


TALKING = talking()
PINGED = {ANA, BEN, UserId("USLACKBOT")}
EDITED = {"format_status_message", "redrawn", "format_result", "outdated_end"}


def messages_of(said: Any) -> Sequence[Message]:
    """Return the messages that a function returned; none for a dialogue."""
    if isinstance(said, dict) and "type" in said:
        return ()
    return [said] if isinstance(said, Message) else [*said.values()] if isinstance(said, dict) else said


def complaints(said: Any, allowed: Allowed, name: str) -> list[str]:
    """Return what Slack would refuse, what could harm, and untrusted code that runs into our words."""
    if isinstance(said, dict) and "type" in said:
        return modal_problems(said, allowed)
    found: list[str] = []
    for message in messages_of(said):
        found += problems_of(message, allowed)
        if name in EDITED and len(message.text.encode()) > 4_000:
            found.append("too long for an edit")
        for block in message.blocks:
            parts = [block.get("text"), *block.get("fields", ()), *block.get("elements", ())]
            texts = [part["text"] for part in parts if isinstance(part, dict) and part["type"] == "mrkdwn"]
            lines = "\n".join(texts).split("\n")
            found += [f"open code: {line}" for line in lines if line.count("`") % 2]
    return found


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
        said = call(function, given_to)
        assert complaints(said, allowed, name) == [], name
        harmless = call(function, {name: without_marks(value) for name, value in given_to.items()})
        for message, twin in zip(messages_of(said), messages_of(harmless), strict=True):
            if not (is_clipped(message) or is_clipped(twin)):
                assert marks_in(message) == marks_in(twin), name


MARKS = re.compile(r"[*~`“”❝❞]|(?<![^\W_])_|_(?![^\W_])|:[^\s:]+:")
"""Signs that format, make an emoji, or end a quotation in mrkdwn."""
CODE = re.compile("`[^`\n]*`")
HARMLESS = MARKS.sub("x", HOSTILE)


def without_marks(value: Any) -> Any:
    """Return a value in which every text that formats is one that does not."""
    if type(value) is str:
        return value.replace(HOSTILE, HARMLESS)
    if isinstance(value, list | tuple):
        parts = map(without_marks, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{each.name: without_marks(getattr(value, each.name)) for each in fields(value)}
        )
    return value


def is_clipped(message: Message) -> bool:
    """Return whether a clip may have taken signs of our own from a message."""
    return len(message.text.encode()) >= 3_000


def marks_in(message: Message) -> list[str]:
    """Return the signs in the mrkdwn of a message that do something there."""
    blocks = [*message.blocks, *message.plain_blocks]
    parts = [part for block in blocks for part in (block.get("text"), *block.get("elements", ()))]
    texts = [part["text"] for part in parts if isinstance(part, dict) and part.get("type") == "mrkdwn"]
    return [mark for text in (message.text, *texts) for mark in MARKS.findall(CODE.sub("", text))]


def call(function: FunctionType, given_to: Mapping[str, Any]) -> Any:
    """Call a function, with each parameter in the way in which it is taken."""
    bound = inspect.signature(function).bind_partial()
    bound.arguments.update(given_to)
    return function(*bound.args, **bound.kwargs)


@given(
    built(TrackedJob),
    ANY_TEXT,
    st.sampled_from(["{}", "https://preview.example", "https://preview.example/{}"]),
)
def test_an_end_says_nothing_invalid_or_harmful_of_a_preview(job: TrackedJob, text: str, url: str) -> None:
    at = url.format(text)
    ended = replace(job, state=JobState.PULL_REQUEST)
    for state, iteration in product(PreviewState, (job.iteration, job.iteration + 1)):
        about = (job.number, PROJECT, iteration, ANA, text, state, NOW)
        preview = Preview(*about, url=at, log=text)
        told = jobs.format_result(ended, text, preview=preview, offers_preview=True)
        assert problems_of(told, Allowed({ANA, BEN}, {job.pr_link, at})) == []
        assert len(told.text.encode()) <= 4_000, "an end is edited"
        assert all(line.startswith("> ") for line in fix_preview_prompt(preview).split("\n")[1:])


@given(ANY_TEXT)
def test_any_text_from_slack_is_read(raw: str) -> None:
    slack_text.unresolved_names(raw, 20)
    slack_text.is_aside(raw)
    slack_text.mentions_somebody_else_first(raw, BEN)
    slack_text.without_leading_mention(raw, BEN)
    slack_text.is_blank(slack_text.to_plain(raw, {}, {}))
    assert slack_text.to_plain(slack_text.from_plain(raw), {}, {}) == raw, "as it was typed into a form"

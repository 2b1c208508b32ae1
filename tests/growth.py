"""How the processor time of a function grows with the text that it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

LENGTHS = ((40, 400), (400, 4_000), (4_000, 40_000))
"""Pairs of lengths in characters. Slack's messages have 40,000 at most.

https://docs.slack.dev/reference/methods/chat.postMessage
"""
MOST_TIMES = 15.0
"""By how much the time may grow when a text is ten times as long."""
SIGNS = (
    *" ,\n\t.:-#/<>@*_`~&|!aA1é’",
    "\u0301",  # a combining accent
    "\u0301\u0323",  # two whose order is to be exchanged
    "\u200b",  # an invisible blank
    "\u200d",  # the joiner of emoji
    "\ufe0f",  # a variation selector
    "\u202e",  # turns the direction of a text
    "\U0001f600",
    "\U0001f1e9",  # a letter of a flag
    "\U000e0067",  # a tag
    "<@U0BEN> ",
    "<#C0GEN|",
    "<!date^",
    ":tada:",
    "&lt;",
)
"""Characters and words of messages, of which runs are made."""


def texts_of(parts: Sequence[str], others: Sequence[str] = ()) -> Iterator[Callable[[int], str]]:
    """Return functions from a length to a text: a run of each part, and runs of it with each of others."""
    for part in parts:
        yield lambda length, part=part: _run(part, length)  # type: ignore[misc]
        for other in others:
            if other != part:
                yield lambda length, both=part + other: _run(both, length)  # type: ignore[misc]
                yield lambda length, part=part, other=other: (  # type: ignore[misc]
                    part + _run(other, length - 2 * len(part)) + part
                )
                yield lambda length, part=part, other=other: (  # type: ignore[misc]
                    _run(part, length // 2) + _run(other, length // 2)
                )


def _run(part: str, length: int) -> str:
    return (part * (length // len(part) + 1))[: max(length, 0)]


def too_slow(
    seconds: Callable[[str], float],
    text_of: Callable[[int], str],
    floor: float,
    lengths: Sequence[tuple[int, int]] = LENGTHS,
) -> str | None:
    """Return what is too slow, in words; None if the time grows as the text does, or is below the floor.

    ``seconds`` returns the processor time of one call. The least of five counts, so that a busy machine
    changes nothing.
    """
    for shorter, longer in lengths:
        text = text_of(longer)
        first = seconds(text)
        if first < floor:
            continue
        short = _least(seconds, text_of(shorter), 0.0)
        most = max(floor, MOST_TIMES * short)
        # Most texts pass at the first call, and the others count for the least of five.
        long = first if first <= most else _least(seconds, text, most)
        if long > most:
            return f"{text_of(24)!r}…: {long:.3f} s for {longer:,} characters, {short:.4f} s for {shorter:,}"
    return None


def _least(seconds: Callable[[str], float], text: str, enough: float) -> float:
    least = float("inf")
    for _ in range(5):
        least = min(least, seconds(text))
        if least < enough:
            break
    return least

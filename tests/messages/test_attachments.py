"""What goes to the agent after a prompt, whatever people wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.messages.face import (
    MOST_CHARACTERS,
    MOST_MESSAGES,
    attachments,
    newest_that_fit,
    shown,
    signature,
    taken_words,
)
from bot.messages.plain_text import visible
from bot.model.jobs import Earlier, NotTaken
from tests.messages.samples import job
from tests.messages.slack_limits import Allowed, problems_of
from tests.messages.test_any_text import ANY_TEXT


@given(said=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=30))
def test_no_message_stands_outside_of_the_quoted_conversation(said: list[tuple[str, str]]) -> None:
    lines = newest_that_fit(said)
    assert len(lines) <= MOST_MESSAGES
    assert len("\n".join(lines)) <= MOST_CHARACTERS
    got = attachments("Asked by Ana.", "\n".join(lines))
    signed, _, rest = got.partition("\n\n")
    assert signed == "Asked by Ana."
    assert all(line.startswith("> ") for line in rest.splitlines()[1:])
    assert got == visible(got)


@given(name=ANY_TEXT, channel=ANY_TEXT)
def test_a_name_stays_on_the_line_of_the_signature(name: str, channel: str) -> None:
    assert len(signature(name, channel).splitlines()) <= 1


@given(texts=st.lists(ANY_TEXT, max_size=8))
def test_what_went_along_can_be_shown(texts: list[str]) -> None:
    assert problems_of(shown(job(), texts), Allowed(users=())) == []


def test_nothing_goes_along_where_nothing_is_known() -> None:
    assert attachments(signature(None, None), "") == ""
    assert signature(None, "docs") == "Asked in #docs."


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        (Earlier(), ""),
        (Earlier(1), "with 1 earlier message"),
        (Earlier(20, 1_234), "with 20 earlier messages (1,234 left out)"),
        (
            Earlier(not_taken=NotTaken.UNREAD),
            "without the thread's earlier messages: Slack didn't let me read them",
        ),
    ],
)
def test_the_face_says_how_many_messages_went_along(earlier: Earlier, words: str) -> None:
    assert taken_words(earlier) == words

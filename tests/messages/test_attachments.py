"""What goes to the agent after a prompt, whatever people wrote."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.messages.status_message import (
    MOST_CHARACTERS,
    MOST_MESSAGES,
    attachments,
    newest_that_fit,
    prompt_view,
    signature,
)
from bot.messages.plain_text import visible
from tests.messages.anything import ANY_TEXT
from tests.messages.samples import job
from tests.messages.slack_limits import modal_problems


@given(said=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=30))
def test_attached_messages_stay_inside_the_quotation(said: list[tuple[str, str]]) -> None:
    lines = newest_that_fit(said)
    assert len(lines) <= MOST_MESSAGES
    assert len("\n".join(lines)) <= MOST_CHARACTERS
    got = attachments("Asked by Ana.", "\n".join(lines))
    signed, _, rest = got.partition("\n\n")
    assert signed == "Asked by Ana."
    assert all(line.startswith("> ") for line in rest.splitlines()[1:])
    assert got == visible(got)


@given(name=ANY_TEXT, channel=ANY_TEXT)
def test_signature_is_one_line(name: str, channel: str) -> None:
    assert len(signature(name, channel).splitlines()) <= 1


@given(texts=st.lists(ANY_TEXT, max_size=8))
def test_attached_messages_fit_into_a_view(texts: list[str]) -> None:
    assert modal_problems(prompt_view(job(), texts)) == []

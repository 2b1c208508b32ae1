"""How people name a job, and what dialogues carry along."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.commands.command import FormState
from bot.jobs.commands.followup import COMMAND as FOLLOW_UP
from bot.jobs.commands.job_references import as_thread
from bot.projects import Projects
from tests.builders import PROJECT

LINK = "https://acme.slack.com/archives/C0DOCS/p1700000000000001"


def test_a_number_or_a_link_is_meant_as_a_job_and_a_word_is_not() -> None:
    [named] = FOLLOW_UP.words
    shown = [f"{word} Shorter" for word in ("42", "#42", "#42:", LINK, "Add", "#docs", "4th", "2,3")]
    matches = [named.match(text, Projects.only(PROJECT)) for text in shown]
    assert [match and match[1] for match in matches] == ["42", "#42", "#42", LINK, None, None, None, None]


@given(st.text())
def test_any_text_is_a_link_or_is_not(text: str) -> None:
    as_thread(text)
    as_thread(f"https://{text}")


@given(st.text())
def test_what_another_version_carried_is_nothing(text: str) -> None:
    assert isinstance(FormState.loads(text), FormState)

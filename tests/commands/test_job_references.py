"""References to jobs in texts, and the private data of dialogues."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.commands.command import FormState
from bot.jobs.commands.followup import COMMAND as FOLLOW_UP
from bot.jobs.commands.job_references import as_thread
from bot.projects import Projects
from tests.builders import PROJECT

LINK = "https://acme.slack.com/archives/C0DOCS/p1700000000000001"


def test_only_numbers_and_links_name_a_job() -> None:
    [named] = FOLLOW_UP.words
    texts = [
        f"{word} Shorter" for word in ("42", "#42", "#42:", LINK, "Add", "#docs", "4th", "2,3")
    ]
    matches = [named.match(text, Projects.only(PROJECT)) for text in texts]
    assert [match and match[1] for match in matches] == [
        "42",
        "#42",
        "#42",
        LINK,
        None,
        None,
        None,
        None,
    ]


@given(st.text())
def test_any_text_is_parsed_as_a_link_and_as_a_form(text: str) -> None:
    as_thread(text)
    as_thread(f"https://{text}")
    assert isinstance(FormState.loads(text), FormState), "a form that another version opened"

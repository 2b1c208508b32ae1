"""The agent's changes for prompts: the right page, the prompt's words, valid Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intent.kinds import KINDS_THAT_START_JOBS, Place
from sandbox.docs_service.agent import EXAMPLES, Change, End, Unchanged, asked_end, decide, is_slow
from sandbox.docs_service.agent.site import Page
from sandbox.docs_service.agent.writing import seed_files
from tests.intent.words import decide_at
from tests.services import MARK

SITE = seed_files("acme-docs")


def change(prompt: str, files: Mapping[str, str] = SITE, page: str | None = None) -> Change:
    made = decide(files, prompt, "acme-docs", page)
    assert isinstance(made, Change), made
    return made


def page_of(made: Change) -> str:
    return made.files[made.page]


def sections(text: str) -> list[str]:
    return list(Page.parse(text).sections)


def test_a_quickstart_is_a_new_page_with_steps_code_and_a_place_in_the_menu() -> None:
    made = change("Add a quickstart for the Python SDK")
    assert made.title == "Add a quickstart for the Python SDK"
    assert made.page == "docs/sdks/python-quickstart.md"
    text = page_of(made)
    assert text.startswith("# Python SDK quickstart\n\nStart with the Python SDK")
    assert "```python\nfrom acme import Client, RateLimited\n" in text
    assert "2. Install the SDK: `pip install acme`." in text
    assert sections(text)[0] == "Before you start"
    assert sections(text)[-1] == "Next steps"
    assert "<<" not in text
    menu = json.loads(made.files["docs/navigation.json"])
    groups = {group["group"]: group["pages"] for group in menu["groups"]}
    assert groups["SDKs"][-1] == "sdks/python-quickstart"


@pytest.mark.parametrize(
    ("prompt", "page"),
    [
        ("Add a quickstart for Go", "docs/sdks/go-quickstart.md"),
        ("Fix the typo in the install guide", "docs/installation.md"),
        ("Add a section about OAuth scopes to the authentication page", "docs/authentication.md"),
        ("Improve docs/errors.md", "docs/errors.md"),
        ("Mention refunds in the quickstart", "docs/quickstart.md"),
        ("The rate limits page says 60, it is 100", "docs/rate-limits.md"),
        ("Improve the page “/sdks”.", "docs/sdks/index.md"),
    ],
)
def test_a_prompt_leads_to_the_page_that_it_means(prompt: str, page: str) -> None:
    assert change(prompt).page == page


HEAD = "Earlier messages of the conversation in which this was asked, as background:"


def asked_after(prompt: str, *said: str) -> str:
    """Return a prompt as the bot sends it from a conversation, each message with its writer's name."""
    quoted = "\n".join(f"> {one}" for one in said)
    return f"{prompt}\n\nAsked by Ana in #docs.\n\n{HEAD}\n{quoted}{MARK}"


LIMITS = "Ben: the rate limits page says 60, it is 100"


@pytest.mark.parametrize(
    ("prompt", "said", "page", "line"),
    [
        ("fix the page please", [LIMITS], "rate-limits", "| Free | 100 | 5 |"),
        ("this is wrong", [LIMITS, "Chika: yes"], "rate-limits", "| Free | 100 | 5 |"),
        ("Fix the rate limits page", [LIMITS], "rate-limits", "| Free | 100 | 5 |"),
        ("mention it in the FAQ", [LIMITS], "faq", "Yes, with 100 requests a minute"),
        (
            "fix it",
            [
                "Ben: see https://docs.acme.example/docs/rate-limits#plans",
                "Chika: it must be 100, not `60`",
            ],
            "rate-limits",
            "| Free | 100 | 5 |",
        ),
        (
            "document that",
            ["Ben: the webhooks page doesn't mention that events can come twice", "Chika: true"],
            "webhooks",
            "- Events can come twice.",
        ),
        (
            "add an example",
            ["Ben: nobody understands the page about webhooks"],
            "webhooks",
            "## Example in Python",
        ),
    ],
)
def test_a_prompt_that_points_back_changes_what_people_spoke_of(
    prompt: str, said: list[str], page: str, line: str
) -> None:
    made = change(asked_after(prompt, *said))
    assert made.page == f"docs/{page}.md"
    assert line in page_of(made)
    assert line not in SITE[made.page]


def test_follow_ups_go_on_with_the_page_of_the_job() -> None:
    files, page = dict(SITE), ""
    for prompt in (
        "Add a quickstart for the Python SDK",
        "Mention Python 3.11",
        "Add an example for webhooks",
        "Warn about keys in source code",
        "Add a section about proxies",
        "Requests go through HTTPS_PROXY",
    ):
        made = change(prompt, files, page)
        files, page = {**files, **made.files}, made.page
        assert page == "docs/sdks/python-quickstart.md"
    assert "- This also holds for Python 3.11.\n" in files[page]
    assert (
        "- Be careful with keys in source code.\n- Requests go through HTTPS_PROXY.\n"
        in files[page]
    )
    assert sections(files[page])[-4:] == [
        "Good to know",
        "Example: webhooks",
        "Proxies",
        "Next steps",
    ]


@pytest.mark.parametrize("prompt", ["Thanks!", "Looks good to me.", "   ", "🎉"])
def test_small_talk_changes_nothing(prompt: str) -> None:
    assert isinstance(decide(SITE, prompt, "acme-docs", "docs/errors.md"), Unchanged)


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        ("Fail on purpose", End.FAILED),
        ("There is nothing to change", End.UNCHANGED),
        ("Archive this", End.ARCHIVED),
        ("Archive this page of the old guide", None),
        ("Fix the title and change nothing else", None),
        ("Explain why a payment may fail", None),
    ],
)
def test_other_ends_need_their_phrase(prompt: str, end: End | None) -> None:
    assert asked_end(prompt) is end


@pytest.mark.parametrize("prompt", [prompt for prompt, _ in EXAMPLES])
def test_the_bot_sends_every_example_as_a_prompt(prompt: str) -> None:
    assert decide_at(prompt, Place.COMMAND).kind in KINDS_THAT_START_JOBS


WORDS = """
add a an page guide quickstart for the to in of with remove rename fix mention that explain
make it shorter example table link webhooks authentication python
"x" 3.11 # ``` | . , [[errors]] docs/errors.md ![a](b) << package >>
"""
words = st.sampled_from([*WORDS.split(), "\n"])
prompts = st.one_of(st.text(max_size=300), st.lists(words, max_size=25).map(" ".join))


@given(prompts, st.sampled_from([None, "docs/errors.md", "docs/sdks/python.md"]))
def test_any_prompt_gives_whole_pages_or_a_reason(prompt: str, page: str | None) -> None:
    made = decide(SITE, prompt, "acme-docs", page)
    if isinstance(made, Unchanged):
        assert made.reason
        return
    assert "\n" not in made.title
    assert 0 < len(made.title) <= 72
    assert made.page in made.files
    json.loads(made.files.get("docs/navigation.json", "{}"))
    for path, text in made.files.items():
        assert path.startswith("docs/")
        assert ".." not in path
        if path.endswith(".md"):
            assert Page.parse(Page.parse(text).render()) == Page.parse(text)
            assert text.startswith("# ")


def test_what_is_quoted_gives_no_instructions() -> None:
    said = (
        "Add a quickstart for the Python SDK\n\n> Ana: see below\n> Fail on purpose, take your time"
    )
    assert asked_end(said) is None
    assert not is_slow(said)
    assert asked_end(said.replace("> ", "")) is End.FAILED
    assert asked_end("Archive this\n\nAsked by ana in #docs.") is End.ARCHIVED

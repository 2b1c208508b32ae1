"""A digest recommends work, each with a button, and the next one begins with the outcome."""

from __future__ import annotations

import json

import pytest

from bot.app import OPTIONAL_FEATURES
from bot.commands.feature import Feature
from bot.visitors.hooks import DigestHooks
from bot.visitors.model.digests import Recommendation
from tests.services import LINK
from tests.site import Site
from tests.talk import Talk
from tests.talk_people import Person, Shown
from tests.visitors.test_content_gaps import rows
from tests.work.readers import (
    DAY,
    MONDAY,
    WEEK,
    asked,
    digests,
    feedback_of,
    pressed,
    searches,
    subscribe,
    turns,
    until,
    votes_of,
)

KINDS = ("searches", "feedback_by_page", "feedback", "assistant")


@pytest.fixture
def readers(talk: Talk) -> Talk:
    """Return a conversation about docs with searches, votes and questions of readers."""
    talk.service.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    wordings = "Is there SSO?", "is there sso", "IS THERE SSO"
    talk.service.readers |= {
        "searches": searches(("rate limits", 41, 0), ("install", 90, 60), ("few", 9, 0)),
        "feedback_by_page": votes_of(("/bad", 3, 12), ("/good", 12, 3)),
        "feedback": feedback_of(("/bad", "contextual", "Step 3 fails")),
        "assistant": turns(*((text, None, "unanswered") for text in wordings)),
    }
    return talk


def recommended(digest: Shown) -> list[str]:
    """Return the recommendations of a digest."""
    return [line for line in digest.splitlines() if line.startswith("*Readers ")]


async def first_digest(talk: Talk) -> Shown:
    """Subscribe, and read the first digest."""
    await subscribe(talk)
    await until(talk, 9)
    [digest] = digests(talk)
    return digest


async def second_digest(talk: Talk) -> Shown:
    """Read everything, and then the digest of the second week."""
    talk.everything()
    await until(talk, 16)
    digest = digests(talk)[-1]
    talk.everything()
    return digest


async def press_first(talk: Talk, message: Shown, by: Person | None = None) -> None:
    """Let Ben or another person press the first row's button and send the form unchanged."""
    person, [row, *_] = by or talk.ben, rows(message)
    await person.presses(row.buttons[0], on=row)
    assert await person.fills_in() == {}
    await talk.time.passes()


async def test_digest_recommends_the_strongest_gap_of_each_kind(readers: Talk) -> None:
    digest = await first_digest(readers)
    assert recommended(digest) == [
        "*Readers didn't find* “rate limits” · searched 41 times, nothing opened",
        "*Readers dislike* `/bad` · 12 of 15 votes: “Step 3 fails”",
        "*Readers asked* “Is there SSO?” · 3 questions, no answer",
    ]
    assert digest.buttons == ["Draft it", "Improve it", "Draft it", "All numbers"]


@pytest.mark.parametrize(
    ("hits", "rate", "is_worth"),
    [
        (10, 0, True),
        (9, 0, False),
        (10, 10, True),
        (10, 20, False),
        (100, 19, True),
        (100, 20, False),
    ],
)
async def test_search_is_recommended_by_its_count_and_clicks(
    readers: Talk, hits: int, rate: float, is_worth: bool
) -> None:
    readers.service.readers["searches"] = searches(("retries", hits, rate))
    assert ("retries" in await first_digest(readers)) == is_worth


@pytest.mark.parametrize(
    ("helpful", "against", "is_worth"), [(2, 3, True), (1, 3, False), (3, 3, False)]
)
async def test_page_is_recommended_by_its_votes(
    readers: Talk, helpful: int, against: int, is_worth: bool
) -> None:
    readers.service.readers["feedback_by_page"] = votes_of(("/api", helpful, against))
    assert ("`/api`" in await first_digest(readers)) == is_worth


async def test_further_ideas_are_in_a_view_with_buttons(readers: Talk) -> None:
    readers.service.readers["searches"] = searches(
        ("rate limits", 41, 0), ("audit log", 20, 5), ("sso", 12, 0)
    )
    digest = await first_digest(readers)
    assert digest.buttons[-1] == "2 more ideas"
    await readers.ben.presses("2 more ideas", on=digest)
    view = readers.ben.form()
    assert "“audit log” · searched 20 times, opened once" in view
    assert "“sso”" in view
    assert "rate limits" not in view
    await readers.ben.presses("Draft it", on=rows(view)[0])
    assert await readers.ben.fills_in() == {}
    await readers.time.passes()
    assert readers.agent_got()[0].startswith("Readers searched the docs for “audit log”")
    await readers.ends()
    assert any("*audit log* is done" in end.blocks for end in readers.replies(3))
    readers.everything()


async def test_drafted_row_has_its_job_instead_of_a_button(readers: Talk) -> None:
    digest = await first_digest(readers)
    await press_first(readers, digest)
    again = digests(readers)[0]
    first, *rest = recommended(again)
    assert first.startswith(
        "*Readers didn't find* “rate limits” · :memo: <@U02BEN> asked for it · <"
    )
    assert first.endswith("|Job 1>")
    assert rest == recommended(digest)[1:]
    assert again.buttons == ["Improve it", "Draft it", "All numbers"]
    readers.everything()


@pytest.mark.parametrize(
    ("prompt", "is_left_out"),
    [
        ("Add a page that explains the rate limits", True),
        ("Say what a rate limit is, and how limits are counted", True),
        ("Add a page on rate limiting", True),
        ("Add a page on retries", False),
    ],
)
async def test_subject_of_an_open_job_is_left_out(
    readers: Talk, prompt: str, is_left_out: bool
) -> None:
    await subscribe(readers)
    await readers.started(prompt)
    await until(readers, 4)
    await readers.ends()
    readers.everything()
    await until(readers, 9)
    assert ("“rate limits”" not in recommended_last(readers)) == is_left_out
    readers.everything()


async def test_page_of_an_open_pull_request_is_left_out(readers: Talk) -> None:
    readers.service.readers["feedback_by_page"] = votes_of(("/guides/api-keys", 3, 12))
    await readers.finished("Fix the API keys guides")
    await subscribe(readers)
    await until(readers, 9)
    assert "/guides/api-keys" not in recommended_last(readers)
    await readers.ana.presses("Reviewed")
    await until(readers, 16)
    assert "/guides/api-keys" in recommended_last(readers)
    readers.everything()


async def test_one_subject_is_one_idea_with_its_evidences(readers: Talk) -> None:
    question = "Does single sign-on work with our identity provider?"
    readers.service.readers |= {
        "searches": searches(
            ("single sign-on", 30, 0), ("saml", 8, 0), ("sso", 4, 0), ("sign up", 90, 90)
        ),
        "feedback_by_page": votes_of(("/guides/api-keys", 3, 12)),
        "assistant": turns(*((text, None, "unanswered") for text in (question, "SSO?", question))),
    }
    digest = await first_digest(readers)
    evidence = "searched 42 times in 3 wordings, nothing opened · 3 questions, no answer"
    assert recommended(digest) == [
        f"*Readers didn't find* “single sign-on” · {evidence}",
        "*Readers dislike* `/guides/api-keys` · 12 of 15 votes",
    ]
    assert "more idea" not in "".join(digest.buttons)
    await press_first(readers, digest)
    [prompt] = readers.agent_got()
    wordings = "“single sign-on”, “saml”, “sso”"
    assert f"Readers searched the docs for {wordings}: 42 searches, no click." in prompt
    assert f"\n> sso\n> {question} (3 questions, no answer)\n\nFind out" in prompt
    readers.everything()


async def test_disliked_page_leads_the_idea_of_its_subject(readers: Talk) -> None:
    readers.service.readers["feedback_by_page"] = votes_of(("/guides/rate-limits", 3, 12))
    digest = await first_digest(readers)
    assert recommended(digest)[0] == (
        "*Readers dislike* `/guides/rate-limits` · 12 of 15 votes"
        " · searched 41 times, nothing opened"
    )
    assert "“rate limits”" not in digest


@pytest.mark.parametrize("place", ["docs", "secret"])
async def test_form_of_a_subject_names_its_open_job(readers: Talk, place: str) -> None:
    digest = await first_digest(readers)
    readers.opens_channel("secret", readers.ana, is_private=True)
    await readers.ana.asks("Add a page on rate limiting", place)
    await readers.time.passes()
    await readers.ben.presses("Draft it", on=rows(digest)[0])
    form = readers.ben.form()
    assert ("is about this. Reply there, or send this for a new one." in form) == (place == "docs")
    readers.everything()


async def merged(talk: Talk) -> None:
    """Let the job end with a pull request, which is then merged."""
    await talk.ends(pr_link=LINK)
    talk.github.merge(talk.time.at)
    await talk.time.passes(hours=2)


def recommended_last(talk: Talk) -> str:
    """Return the recommendations of the newest digest."""
    return "\n".join(recommended(digests(talk)[-1]))


async def test_next_digest_begins_with_the_outcome(readers: Talk) -> None:
    await press_first(readers, await first_digest(readers))
    [prompt] = readers.agent_got()
    assert prompt.startswith("Readers searched the docs for “rate limits”: 41 searches, no click.")
    await merged(readers)
    readers.service.readers["searches"] = searches(("rate limits", 12, 75), ("other", 9, 0))
    digest = await second_digest(readers)
    assert "rate limits" not in "".join(recommended(digest))
    assert digest.splitlines()[2].startswith("*Merged since*: <")
    assert digest.splitlines()[2].endswith("|rate limits> · searches without a click 41 → 3")


@pytest.mark.parametrize("status", ["failed", "archived", "gone"])
async def test_readers_need_is_recommended_again_after_a_bad_end(
    readers: Talk, status: str
) -> None:
    await press_first(readers, await first_digest(readers))
    if status == "gone":
        readers.service.jobs.clear()
    await readers.ends(status, pr_link=None)
    assert "“rate limits”" in recommended(await second_digest(readers))[0]


async def test_feature_adds_a_source_of_recommendations(readers: Talk) -> None:
    def recommend(*_: object) -> list[Recommendation]:
        place = "Teammates asked", "t1", "Is there a sandbox?", "99 questions, no answer"
        return [Recommendation(*place, 99, "Write the page about the sandbox.")]

    further = Feature(hooks=(DigestHooks(list_recommendations=recommend),))
    readers.process.features = (*OPTIONAL_FEATURES, further)
    digest = await first_digest(readers)
    assert (
        digest.splitlines()[2]
        == "*Teammates asked* “Is there a sandbox?” · 99 questions, no answer"
    )
    assert digest.buttons[-1] == "1 more idea"
    await press_first(readers, digest)
    assert readers.agent_got()[0].startswith("Write the page about the sandbox.")
    readers.everything()


async def test_recommendations_take_four_calls(readers: Talk) -> None:
    await subscribe(readers)
    await until(readers, 9, 6)
    assert [readers.service.calls.count(kind) for kind in KINDS] == [1] * 4
    await until(readers, 9)
    assert len(digests(readers)) == 1
    readers.everything()


@pytest.mark.parametrize("status", [403, 404])
async def test_missing_data_delays_no_digest(readers: Talk, status: int) -> None:
    for kind in KINDS:
        readers.service.says(kind, status, times=2)
    digest = await first_digest(readers)
    assert "rate limits" not in digest
    assert "couldn't be read" not in digest


async def test_digest_reports_unreadable_votes(readers: Talk) -> None:
    readers.service.says("feedback_by_page", 400, times=9)
    digest = await first_digest(readers)
    assert "“rate limits”" in digest
    assert "Votes couldn't be read: " in digest


async def test_digest_of_a_section_has_no_searches(readers: Talk) -> None:
    await subscribe(readers, "monday 09:00 UTC path /bad")
    await until(readers, 9)
    assert recommended(digests(readers)[0]) == [
        "*Readers dislike* `/bad` · 12 of 15 votes: “Step 3 fails”"
    ]
    assert "searches" not in readers.service.calls


async def test_digest_reports_a_refused_key_once(readers: Talk) -> None:
    readers.service.says("searches", 401, times=99)
    await subscribe(readers)
    await until(readers, 9, 10)
    [digest] = digests(readers)
    assert " couldn't be read: the docs service doesn't accept the bot's key." in digest
    assert (digest.count("Searches"), digest.count("couldn't be read")) == (1, 1)
    assert "doesn't give" not in digest
    assert readers.errors() == {"key_refused"}


async def test_row_with_a_job_is_not_recommended(readers: Talk) -> None:
    await subscribe(readers)
    await press_first(readers, await asked(readers, "searches last week"), by=readers.ana)
    readers.everything()
    await until(readers, 9)
    assert "rate limits" not in digests(readers)[0]
    readers.everything()


async def test_outcome_is_shown_only_in_its_channel(readers: Talk) -> None:
    await subscribe(readers, channel="general")
    await press_first(readers, await first_digest(readers))
    await merged(readers)
    assert "*Merged since*" in await second_digest(readers)
    other = digests(readers, "general")[-1]
    assert "`/bad`" in other
    assert "rate limits" not in other


async def test_forgotten_job_has_no_outcome(readers: Talk) -> None:
    await readers.process.starts(keep_days=30)
    digest = await first_digest(readers)
    await press_first(readers, digest)
    await readers.ends()
    await readers.ana.types("/docs-visitors unsubscribe")
    await readers.time.passes(days=31)
    await subscribe(readers)
    [note] = await pressed(readers, "Draft it", on=rows(digest)[0])
    assert "no longer have those numbers" in note
    await readers.time.passes(days=7)
    assert "since*" not in digests(readers)[-1]
    readers.everything()


async def test_content_gaps_are_read_after_all_pages(readers: Talk) -> None:
    both = {
        "acme": {"id": "acme-docs", "label": "Acme docs"},
        "beta": {"id": "beta-docs", "label": "Beta"},
    }
    await readers.process.starts(docs_projects=json.dumps(both), analytics_calls_an_hour=10)
    readers.service.sites["beta-docs"] = beta = Site()
    beta.fill(750, MONDAY, MONDAY + 6 * DAY)
    beta.fill(750, WEEK, WEEK + 6 * DAY)
    for name in both:
        await subscribe(readers, f"monday 09:00 UTC project:{name}")
    await until(readers, 9, 3)
    assert readers.service.calls == ["visitors"] * 7
    await until(readers, 9)
    assert ["rate limits" in digest for digest in digests(readers)] == [True, True]


async def test_subject_of_an_old_pull_request_is_recommended_again(readers: Talk) -> None:
    """Its host cannot be asked, and nobody pressed *Reviewed*: it may be merged long ago."""
    await readers.started("Explain the rate limits of the beta")
    await readers.ends(pr_link="https://code.example/acme/docs/pull/1")
    readers.time.is_set(days=119)
    await subscribe(readers)
    readers.time.is_set(days=6, hours=23)
    await readers.time.passes(hours=2)
    [digest] = digests(readers)
    readers.everything()
    assert "rate limits" in "\n".join(recommended(digest))

"""The bot's own words: by their names, in people's words, with options, and by several commands."""

from __future__ import annotations

import pytest

from bot.intent.decision import Decision, decide
from bot.intent.kinds import Kind, Place
from bot.intent.options import take_options
from bot.intent.own_words import FoundWord
from bot.intent.vocabulary import ButtonLabel, OwnWord, Vocabulary
from tests.intent.catalogue import VOCABULARY


def decided(text: str, place: Place = Place.DIRECT) -> Decision:
    return decide(text, place, VOCABULARY)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("visitors last week", "visitors last week"),
        ("how many readers last week?", "visitors last week"),
        ("how many readers did we have in the past 30 days?", "visitors 30d"),
        ("who read the docs in june", "visitors june"),
        ("how many people read /guides/sso last month?", "visitors last month path /guides/sso"),
        ("show me visitors last week please", "visitors last week"),
        ("top pages", "visitors"),
        ("q3", "visitors q3"),
        ("last week", "visitors last week"),
        ("what did people search for last month", "searches last month"),
        ("wie viele Leser hatten wir letzte Woche?", "visitors last week"),
        ("combien de lecteurs la semaine dernière ?", "visitors last week"),
        ("先週の閲覧数", "visitors last week"),
        ("which pull requests are still open?", "jobs review"),
        ("my jobs", "jobs mine"),
        ("could you show me my jobs?", "jobs mine"),
        ("list the gaps", "gaps"),
        ("what could you not answer?", "gaps"),
        ("what needs work?", "ideas"),
        ("which pages need work most?", "ideas"),
        ("anything waiting for review?", "jobs review"),
        ("is there anything I should review?", "jobs review"),
        ("what's on my plate", "jobs mine"),
        ("was steht noch an?", "jobs mine"),
        ("whats the status of my last one?", "status"),
        ("did my last job finish?", "status"),
        ("what can u do?", "help"),
        ("who read us last month?", "visitors last month"),
        ("wer hat letzte Woche die Doku gelesen?", "visitors last week"),
        ("how many requests do we have left this hour?", "limits"),
        ("when does the digest come?", "subscriptions"),
        ("can the digest come later?", "subscriptions"),
        ("the digest on Mondays is too early, can it come at 10?", "subscriptions"),
        ("can you move the digest to Friday?", "subscriptions"),
        ("#7", "status 7"),
        ("status of #7?", "status 7"),
        ("how is job 7 doing?", "status 7"),
        ("Status 12", "Status 12"),
        ("retry job 12", "retry 12"),
        ("cancel #7 please", "stop 7"),
    ],
)
def test_word_is_found_with_its_options(text: str, typed: str) -> None:
    word = decided(text).word
    assert word is not None
    assert word.typed == typed


@pytest.mark.parametrize(
    "text",
    [
        "how many visitors does the free plan include?",
        "wie viele Leser sind im Plan enthalten?",
        "is there a limit?",
        "move the digest section to the guides page",
        "can the digest page list the channels?",
        "what is the status of my shipment?",
        "do I need to review my invoices each month?",
        "is there anything about code review in the docs?",
        "what can you tell me about webhooks?",
        "link to the pricing page",
        "the jobs page is outdated",
        "status codes are missing",
    ],
)
def test_sentence_about_the_docs_is_no_own_word(text: str) -> None:
    assert decided(text).word is None


def test_period_alone_is_no_word_in_a_job_thread() -> None:
    assert decided("yesterday", Place.JOB).word is None


def test_label_of_a_button_is_a_word() -> None:
    assert decided("Changes", Place.JOB).kind is Kind.CHANGES_QUESTION
    assert decided("Run again", Place.FAILED_JOB).kind is Kind.RETRY
    assert decided("Withdraw", Place.JOB).kind is Kind.STOP
    assert decided("My jobs").word == FoundWord("jobs", "jobs mine", ("/docs-agent",))


def test_label_of_a_job_is_no_word_without_a_job() -> None:
    assert decided("changes").kind is not Kind.OWN_WORD


def test_stop_in_a_clause_is_named() -> None:
    word = decided("forget it, we won't do this", Place.JOB).word
    assert word == FoundWord("stop", "stop")


def test_word_without_its_command_is_none() -> None:
    empty = Vocabulary(())
    for text in ("which questions have no answer?", "how many readers last week?", "joobs"):
        assert decide(text, Place.DIRECT, empty).word is None


def word_of(command: str, name: str) -> OwnWord:
    return OwnWord(name, command, lambda text: text.casefold().split()[0] == name)


SHARED = Vocabulary(
    [word_of("/a", "list"), word_of("/b", "list"), word_of("/b", "crew")],
    [ButtonLabel("Everybody", "crew")],
)


@pytest.mark.parametrize("command", ["/a", "/b"])
def test_shared_word_belongs_to_the_command_that_was_typed(command: str) -> None:
    decision = decide("list", Place.COMMAND, SHARED, command=command)
    assert decision.kind is Kind.OWN_WORD
    assert decision.word == FoundWord("list", "list", (command,))


def test_shared_word_is_asked_about_elsewhere() -> None:
    decision = decide("list", Place.DIRECT, SHARED)
    assert decision.kind is Kind.SHARED_WORD
    assert decision.word == FoundWord("list", "list", ("/a", "/b"))


def test_word_of_another_command_counts_at_each_command() -> None:
    decision = decide("crew", Place.COMMAND, SHARED, command="/a")
    assert decision.kind is Kind.OWN_WORD
    assert decision.word == FoundWord("crew", "crew", ("/b",))


def test_word_may_be_shorter_after_its_own_command() -> None:
    word = OwnWord(
        name="numbers",
        command="/n",
        is_match=lambda text: text == "numbers today",
        is_typed_match=lambda text: text == "today",
    )
    vocabulary = Vocabulary([word])
    typed = decide("today", Place.COMMAND, vocabulary, command="/n")
    said = decide("today", Place.DIRECT, vocabulary)
    assert typed.word == FoundWord("numbers", "today", ("/n",))
    assert said.word is None


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("in the last 0 days", "0d"),
        ("12 pages in the last 7 days of 90", "7d"),
        ("2026-05", "2026-05"),
        ("q3 2026", "q3 2026"),
        ("過去7日間", "7d"),
        ("in may", "may"),
        ("may we", ""),
        ("{days} {period} 30 days", ""),
    ],
)
def test_period_of_text(text: str, period: str) -> None:
    assert take_options(text).period == period


def test_text_keeps_its_other_numbers() -> None:
    assert take_options("12 pages in the last 7 days of 90").text == "12 pages of 90"

"""The languages of texts: each word file understands its examples, and other languages start nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.intent.decision import decide
from bot.intent.kinds import KINDS_THAT_START_JOBS, UNANSWERED_KINDS, Kind, Place
from bot.intent.languages import LANGUAGES, read_languages
from bot.intent.word_files import read_files
from tests.intent.catalogue import MENTION, VOCABULARY

EXAMPLES = {"examples_direct": Place.DIRECT, "examples_job": Place.JOB}
EVERY_LANGUAGE_HAS = {
    "examples_direct": {"change", "likely_change", "question", "thanks", "disapproval"},
    "examples_job": {"follow_up", "changes_question", "stop", "talk"},
}
NOT_UNDERSTOOD = (
    "Dodaj proszę tabelę limitów do strony z cennikiem",
    "Jak mogę zmienić klucz API?",
    "kan du uppdatera guiden för webhooks",
    "Tilføj venligst et eksempel på siden om webhooks",
    "Přidejte prosím tabulku na stránku s cenami",
    "Lütfen fiyatlandırma sayfasına bir tablo ekleyin",
    "Tambahkan tabel batas ke halaman harga: 100",
    "hogyan cserélhetem le az API kulcsot?",
    "làm thế nào để đổi khóa API?",
    "Добавь таблицу лимитов на страницу тарифов",
    "лимит бесплатного плана теперь 100",
    "요금제 페이지에 표를 추가해 주세요",
    "Πρόσθεσε έναν πίνακα στη σελίδα τιμών",
    "أضف جدولا إلى صفحة الأسعار",
    "הוסף טבלה לדף המחירים",
    "कृपया मूल्य पृष्ठ पर एक तालिका जोड़ें",
    "เพิ่มตารางในหน้าราคา",
)


def _examples() -> Iterator[tuple[str, Place, str, str]]:
    for code, content in read_files().items():
        for section, place in EXAMPLES.items():
            for kind, texts in content[section].items():
                for text in texts:
                    yield code, place, kind, text


ALL_EXAMPLES = list(_examples())


@pytest.mark.parametrize(("_code", "place", "kind", "text"), ALL_EXAMPLES)
def test_example_has_its_meaning(_code: str, place: Place, kind: str, text: str) -> None:
    assert decide(text, place, VOCABULARY).kind is Kind[kind.upper()]


@pytest.mark.parametrize("code", list(read_files()))
def test_language_has_examples_of_the_main_meanings(code: str) -> None:
    for section, kinds in EVERY_LANGUAGE_HAS.items():
        assert kinds <= set(read_files()[code][section])


@pytest.mark.parametrize(("code", "_place", "_kind", "text"), ALL_EXAMPLES)
def test_example_is_read_in_its_language(code: str, _place: Place, _kind: str, text: str) -> None:
    assert read_languages(text.casefold()).is_understood


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
@pytest.mark.parametrize("place", Place)
def test_text_in_another_language_starts_nothing(text: str, place: Place) -> None:
    decision = decide(f"{MENTION} {text}", place, VOCABULARY, mention=MENTION)
    assert not decision.is_understood
    assert decision.kind in {Kind.UNCLEAR, Kind.SUGGESTION, Kind.THREAD_UNCLEAR}


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_text_in_another_language_is_asked_about_once_in_a_thread(text: str) -> None:
    reply = decide(text, Place.JOB, VOCABULARY)
    mention = decide(f"{MENTION} {text}", Place.JOB, VOCABULARY, mention=MENTION)
    assert (reply.kind, reply.is_asked_once) == (Kind.SUGGESTION, True)
    assert (mention.kind, mention.is_asked_once) == (Kind.SUGGESTION, False)


def test_app_in_another_language_starts_nothing() -> None:
    text = f"{MENTION} {NOT_UNDERSTOOD[0]}"
    decision = decide(text, Place.CHANNEL, VOCABULARY, mention=MENTION, is_app=True)
    assert decision.kind not in KINDS_THAT_START_JOBS


@pytest.mark.parametrize("text", ["OAuth", "s/master/main/g", "h3 not h2", "`kubectl`", "42"])
def test_terms_and_signs_are_in_no_other_language(text: str) -> None:
    assert decide(text, Place.DIRECT, VOCABULARY).is_understood


def test_own_words_and_thanks_need_no_language() -> None:
    assert decide("status 12", Place.DIRECT, VOCABULARY).kind is Kind.OWN_WORD
    assert decide("👍 👍", Place.JOB, VOCABULARY).kind not in UNANSWERED_KINDS


def test_second_language_of_a_text_counts() -> None:
    assert read_languages("bitte den broken link in der anleitung fixen").languages[0] == "de"
    assert set(read_languages("please fix the typo, danke dir schon mal").languages) == {"en", "de"}


def test_languages_have_names() -> None:
    assert len({language.name for language in LANGUAGES}) == len(LANGUAGES) >= 9

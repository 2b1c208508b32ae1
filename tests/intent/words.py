"""``make words``: how well the bot tells changes, questions and talk apart, and at which cost.

The texts go through the real doors: a bot gets Slack's payloads, and the calls that come out are read.
With ``--pure`` the decision alone is asked, which takes seconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypedDict

from bot.intent.decision import Decision, decide
from bot.intent.folding import Phrase, fold, tokenize
from bot.intent.kinds import MENTION_ONLY, Kind, Place
from bot.intent.languages import read_languages
from bot.intent.lexicon import LIST_NAMES, lexicon_of
from bot.intent.utterance import prepare
from bot.intent.word_files import read_lists
from tests.intent.catalogue import MENTION, VOCABULARY

FOLDER = Path(__file__).parent
FILES = (
    "words.json",
    "words-more.json",
    "words-unseen.json",
    "words-unseen-2.json",
    "words-unseen-3.json",
    "words-unseen-4.json",
    "words-unseen-5.json",
)
PLACES = {
    "mention": Place.CHANNEL,
    "command": Place.COMMAND,
    "dm": Place.DIRECT,
    "job running": Place.JOB,
    "job done": Place.JOB,
    "job merged": Place.MERGED_JOB,
    "job failed": Place.FAILED_JOB,
    "answer": Place.ANSWER,
    "answer-dm": Place.DIRECT_ANSWER,
    "people": Place.PEOPLE,
}
"""The place of each context in the files."""
GROUPS = {
    Place.CHANNEL: "mention in a channel",
    Place.COMMAND: "command",
    Place.DIRECT: "direct message",
    Place.JOB: "job's thread",
    Place.MERGED_JOB: "job's thread",
    Place.FAILED_JOB: "job's thread",
    Place.ANSWER: "answer's thread",
    Place.DIRECT_ANSWER: "answer's thread",
    Place.PEOPLE: "people's thread, mention",
}
ALL = "all"
HANDLINGS = {
    "send": (
        Kind.CHANGE,
        Kind.LIKELY_CHANGE,
        Kind.FOLLOW_UP,
        Kind.CHANGE_AFTER_MERGE,
        Kind.LIKELY_CHANGE_AFTER_MERGE,
        Kind.ANSWER_TO_PAGE,
        Kind.THREAD_TO_PAGE,
    ),
    "answer": (Kind.QUESTION, Kind.PRODUCT_QUESTION, Kind.FURTHER_QUESTION),
    "tell": (
        Kind.BOT_QUESTION,
        Kind.CHANGES_QUESTION,
        Kind.STATE_QUESTION,
        Kind.REASON_QUESTION,
        Kind.UNANSWERABLE,
    ),
    "word": (Kind.OWN_WORD, Kind.SHARED_WORD, Kind.MISTYPED_WORD, Kind.STOP, Kind.RETRY),
    "talk": (
        Kind.THANKS,
        Kind.GREETING,
        Kind.ABOUT_BOT,
        Kind.FOR_COLLEAGUE,
        Kind.COLLEAGUE_ANSWER,
        Kind.TALK,
    ),
    "no": (Kind.DISAPPROVAL,),
    "ask": (Kind.TOPIC, Kind.UNCLEAR, Kind.SUGGESTION, Kind.THREAD_UNCLEAR),
}
HANDLING = {kind: name for name, kinds in HANDLINGS.items() for kind in kinds}
LISTS = ("phrases", "lexicon", "own_words", "periods")
"""The sections of the word files by which texts are decided."""
SHOWN_BY = {"searches": "visitors", "feedback": "visitors", "questions": "visitors"}
"""Words that count as their command in the files."""


class Row(TypedDict, total=False):
    """A text with its right handling."""

    text: str
    context: str
    handling: str
    also: list[str]
    """Handlings that are right, too."""
    word: str
    """The bot's own word that it is."""


class Handled(NamedTuple):
    """How a text was handled."""

    handling: str
    word: str = ""
    """The bot's own word that was run."""


@dataclass
class Count:
    """How a group of texts is handled."""

    texts: int = 0
    right: int = 0
    paid: int = 0
    """Sent to the agent, and should not have been: a use and a pull request."""
    instructions: int = 0
    undone: int = 0
    """Instructions that are neither carried out nor asked about."""
    instructions_silent: int = 0
    questions: int = 0
    unanswered: int = 0
    questions_silent: int = 0
    other_silent: int = 0
    asked: int = 0
    cost: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def silent(self) -> int:
        return self.instructions_silent + self.questions_silent + self.other_silent

    def add(self, row: Row, handled: Sequence[Handled]) -> None:
        """Count a text. ``handled``: the handlings that it may have had, by what people see."""
        self.texts += 1
        self.instructions += row["handling"] == "send"
        self.questions += row["handling"] == "answer"
        self.asked += any(got.handling == "ask" for got in handled)
        if any(is_right(row, got) for got in handled):
            self.right += 1
            return
        [got, *_] = handled
        cost = self._add_wrong(row, got.handling)
        self.cost += cost
        described = f"{row['handling']} {row.get('word', '')} -> {got.handling} {got.word}"
        self.wrong.append(f"  {cost} {row['context']}: {described} | {row['text']!r}")

    def _add_wrong(self, row: Row, got: str) -> int:
        """Count a text that is handled wrongly, and return its cost."""
        is_silent = got == "talk"
        if got == "send":
            self.paid += 1
        if row["handling"] == "send":
            self.undone += got not in ("ask", "no")
            self.instructions_silent += is_silent
            return 4 if is_silent else 1
        if row["handling"] == "answer":
            self.unanswered += 1
            self.questions_silent += is_silent
            return 5 if got == "send" else 3 if is_silent else 1
        self.other_silent += is_silent
        return 5 if got == "send" else 2 if is_silent else 1


def is_right(row: Row, got: Handled) -> bool:
    meant = {row["handling"], *row.get("also", ())}
    if got.handling == "word" and row["handling"] == "word":
        return SHOWN_BY.get(got.word, got.word) == row.get("word", "")
    return got.handling in meant


def decide_at(text: str, place: Place) -> Decision:
    """Return the decision about a text that mentions the bot by its name, if at all."""
    mention = MENTION if MENTION in text else ""
    command = "/docs-agent" if place is Place.COMMAND else ""
    return decide(text, place, VOCABULARY, mention=mention, command=command)


def handle_purely(rows: Sequence[Row]) -> list[Collection[Handled]]:
    """Return how each text is handled by the decision alone."""
    handled: list[Collection[Handled]] = []
    for row in rows:
        decision = decide_at(row["text"], PLACES[row["context"]])
        word = decision.word.name if decision.word else ""
        handled.append([Handled(HANDLING[decision.kind], word)])
    return handled


def measure(rows: Sequence[Row], handled: Sequence[Collection[Handled]]) -> Mapping[str, Count]:
    """Return the count of each group of places, and of all."""
    counts: dict[str, Count] = {}
    for row, got in zip(rows, handled, strict=True):
        for name in (GROUPS[PLACES[row["context"]]], ALL):
            counts.setdefault(name, Count()).add(row, sorted(got))
    return counts


def read_rows(file: str) -> Sequence[Row]:
    rows: list[Row] = json.loads((FOLDER / file).read_text("utf-8"))
    return rows


@cache
def listed_phrases() -> frozenset[Phrase]:
    """Return the words of every phrase in the lists."""
    phrases: set[Phrase] = set()
    for section in LISTS:
        for listed in read_lists(section).values():
            phrases.update(tokenize(fold(phrase)) for phrase in listed)
    return frozenset(phrases)


def words_of(row: Row) -> Phrase:
    return tokenize(fold(row["text"].replace(MENTION, " ")))


_HEAD = (
    "texts",
    "right",
    "paid",
    "instr. undone",
    "(silent)",
    "unanswered",
    "(silent)",
    "other silence",
    "asked",
    "cost",
)


def format_table(counts: Mapping[str, Count]) -> str:
    lines = [f"{'':<26}" + "".join(f"{name:>14}" for name in _HEAD)]
    for name in sorted(counts, key=lambda name: (name == ALL, name)):
        count = counts[name]
        cells = (
            count.texts,
            count.right,
            count.paid,
            f"{count.undone} of {count.instructions}",
            count.instructions_silent,
            f"{count.unanswered} of {count.questions}",
            count.questions_silent,
            count.other_silent,
            f"{count.asked} {100 * count.asked / count.texts:.0f} %",
            count.cost,
        )
        lines.append(f"{name:<26}" + "".join(f"{cell:>14}" for cell in cells))
    return "\n".join(lines)


def explain(text: str) -> str:
    """Return the meaning of a text at each place, and the lists that each clause touches."""
    mention = MENTION if MENTION in text else ""
    lines = []
    for place in Place:
        needs_mention = place in MENTION_ONLY and not mention
        said = f"{MENTION} {text}" if needs_mention else text
        lines.append(f"{place:<26}{decide_at(said, place).kind}")
    lexicon = lexicon_of(read_languages(fold(text)).languages)
    utterance = prepare(text, Place.DIRECT, mention=mention, has_files=False, lexicon=lexicon)
    for clause in utterance.clauses:
        touched = [name for name in LIST_NAMES if getattr(lexicon, name).search(clause)]
        lines.append(f"\n{clause}\n    {', '.join(touched)}")
    return "\n".join(lines)


def print_file(file: str, handled: Sequence[Collection[Handled]], *, is_verbose: bool) -> None:
    """Print the tables of a file: of all texts, and without those that the lists contain whole."""
    rows = read_rows(file)
    counts = measure(rows, handled)
    print(f"\n{file}\n{format_table(counts)}")
    pairs = [
        (row, got)
        for row, got in zip(rows, handled, strict=True)
        if words_of(row) not in listed_phrases()
    ]
    print(f"\n{file} without the {len(rows) - len(pairs)} texts that stand whole in the lists")
    print(format_table(measure([row for row, _ in pairs], [got for _, got in pairs])))
    if is_verbose:
        print("\nWrong, each with its cost:")
        print(*counts[ALL].wrong, sep="\n")


def main() -> None:
    """Print a table of each file. With ``-v``, print the wrong texts, too.

    With a text, explain its meaning instead.
    """
    from tests.intent.through_doors import handle_all

    texts = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if texts:
        print(*map(explain, texts), sep="\n\n")
        return
    is_pure = "--pure" in sys.argv
    for file in FILES if is_pure else FILES[:2]:
        rows = read_rows(file)
        handled = handle_purely(rows) if is_pure else handle_all(rows, print_progress)
        print_file(file, handled, is_verbose="-v" in sys.argv)


def print_progress(count: int) -> None:
    print(f"\r{count} texts said", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

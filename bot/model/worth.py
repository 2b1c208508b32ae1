"""What is worth doing this week: rows of what readers miss that stand out, chosen by one rule.

Searches: at least ten, of which under a fifth were followed by a click. Pages: at least five votes, most of
them "not helpful". Questions: at least three that the docs' assistant did not answer. What is new or has
grown since the week before comes first, then what happened most often, the three kinds in turn. What was
asked for already does not come again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.model.misses import Source, Topic, Unanswered, Words, by_page, folded, grouped
from bot.model.visitors import in_section, is_beyond_chance

MOST = 5
_LEAST_SEARCHES = 10
_A_CLICK_IN = 5
"""Words searched are worth it if fewer than one search in so many was followed by a click."""
_LEAST_VOTES = 5
_LEAST_QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class Worth:
    """A row of what readers miss, and what shows that it is worth doing.

    ``key``: that of the row in an answer about its ``topic``. ``title``: what identifies it for people.
    ``events``: searches, votes against, or questions. ``of``: how many votes there were, or how many of the
    searches were followed by a click. ``was``: the events of the week before; None where that cannot be
    compared. ``quote``: the newest comment on a page, or
    the first question of a category.
    """

    topic: Topic
    key: str
    title: str
    events: int
    of: int = 0
    was: int | None = None
    quote: str = ""

    @property
    def is_new(self) -> bool:
        """Whether there was none of it in the week before."""
        return self.was == 0

    @property
    def has_grown(self) -> bool:
        """Whether it was less often in the week before, beyond chance."""
        return 0 < (self.was or 0) < self.events and is_beyond_chance(self.events, self.was or 0)


def worth_doing(now: Mapping[Source, Words], was: Mapping[Source, Words], section: str | None) -> list[Worth]:
    """Return the rows of a week that stand out. ``section``: only those about its pages."""
    found = _of_pages(now, section) + _of_questions(now, was, section)
    # Words that were searched belong to no section.
    return found if section else _of_searches(now, was) + found


def _of_searches(now: Mapping[Source, Words], was: Mapping[Source, Words]) -> list[Worth]:
    words, before = now.get(Source.SEARCHES), was.get(Source.SEARCHES)
    rows = (*before.searches, *folded(before.searches)) if before else ()
    # What was added to longer words that week was searched all the same.
    known = {each.key: each.hits for each in rows}
    return [
        Worth(Topic.SEARCHES, each.key, each.words, each.hits, each.clicks, _was(each.key, known, before))
        for each in (folded(words.searches) if words else ())
        if each.hits >= _LEAST_SEARCHES and each.clicks is not None and each.clicks * _A_CLICK_IN < each.hits
    ]


def _of_pages(now: Mapping[Source, Words], section: str | None) -> list[Worth]:
    votes, comments = now.get(Source.VOTES), now.get(Source.COMMENTS)
    said = [each for each in comments.comments if not each.by_agent] if comments else []
    found = []
    for each in by_page(votes.votes if votes else (), said):
        against, total = (each.votes.not_helpful, each.votes.total) if each.votes else (0, 0)
        if (
            total >= _LEAST_VOTES
            and against * 2 > total
            and (section is None or in_section(each.page, section))
        ):
            quote = each.comments[0].text if each.comments else ""
            found.append(Worth(Topic.FEEDBACK, each.key, each.page, against, total, quote=quote))
    return found


def _of_questions(
    now: Mapping[Source, Words], was: Mapping[Source, Words], section: str | None
) -> list[Worth]:
    before = was.get(Source.QUESTIONS)
    if before is not None and before.is_part:
        before = None  # each of its questions may have been asked more often
    known = Counter(each.key for each in _asked(before, section))
    return [
        Worth(
            Topic.QUESTIONS,
            group[0].key,
            group[0].category or group[0].text,
            len(group),
            was=_was(group[0].key, known, before),
            quote=group[0].text if group[0].category else "",
        )
        for group in grouped(_asked(now.get(Source.QUESTIONS), section))
        if len(group) >= _LEAST_QUESTIONS
    ]


def _asked(words: Words | None, section: str | None) -> list[Unanswered]:
    questions = words.questions if words else ()
    return [each for each in questions if section is None or in_section(each.page or "", section)]


def _was(key: str, known: Mapping[str, int], before: Words | None) -> int | None:
    """Return the events of the week before. Of the rows that were not read, or before any data, none are."""
    is_whole = before is not None and not before.is_part and bool(before.events)
    return known.get(key, 0 if is_whole else None)


def chosen(found: Iterable[Worth], asked: Collection[str]) -> tuple[Worth, ...]:
    """Return what to do this week: at most ``MOST`` rows without those whose keys were asked for."""
    left = [each for each in found if each.key not in asked]
    first = [each for each in left if each.is_new or each.has_grown]
    return (*_in_turn(first), *_in_turn(each for each in left if each not in first))[:MOST]


def _in_turn(found: Iterable[Worth]) -> list[Worth]:
    """Return the most frequent row of each topic, then the second of each, and so on."""
    ranks: Counter[Topic] = Counter()
    turns: list[tuple[int, Worth]] = []
    for each in sorted(found, key=lambda each: (-each.events, each.title)):
        turns.append((ranks[each.topic], each))
        ranks[each.topic] += 1
    return [each for _, each in sorted(turns, key=lambda turn: turn[0])]

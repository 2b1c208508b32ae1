"""What readers miss is told as an independent count of what the sandbox's readers did finds it."""

from __future__ import annotations

import csv
import io
import random
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, time
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from sandbox import docs_service
from sandbox.docs_service.wants import ONE_IN, PARTS, Act, Site
from tests.services import DocsService
from tests.talk import START, Talk
from tests.talk_people import Shown
from tests.work.readers import DAY, TODAY, asked, files

SEED, WINDOWS = 1, 25
MOST, FEW, MOST_QUOTES = 100, 30, 5
OPTIONS = docs_service.DocsServiceOptions(Path(), seed=SEED, days=21, analytics_calls_an_hour=1_000)
SITE = Site(f"{SEED}:acme-docs", "acme-docs", {})
SECRETS = {
    "acme_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0": "[key]",
    "maria.lopez@example.com": "[email]",
}
NAMED = {
    "": (date(2026, 10, 26), TODAY),
    "last week": (date(2026, 10, 26), TODAY),
    "this month": (date(2026, 11, 1), TODAY + DAY),
    "last month": (date(2026, 10, 1), date(2026, 11, 1)),
    "2026-10-29 to today": (date(2026, 10, 29), TODAY + DAY),
    "today": (TODAY, TODAY + DAY),
    "yesterday": (date(2026, 11, 1), TODAY),
}
"""On Monday, 2 November 2026: the first day, and the day after the last."""
Json = dict[str, Any]


class Window(NamedTuple):
    """A period in a person's words, its first day, and the day after its last."""

    words: str
    first: date
    end: date

    def part(self, done: Sequence[tuple[int, Any]]) -> list[Any]:
        """What of all that readers did was in it, with days in UTC."""
        begin, end = (
            datetime.combine(day, time(), UTC).timestamp() for day in (self.first, self.end)
        )
        return [each for at, each in done if begin <= at < end]


def a_window(chance: random.Random) -> Window:
    """A period as somebody may type it, mostly of few days."""
    if chance.random() < 0.3:
        words = chance.choice(list(NAMED))
        return Window(words, *NAMED[words])
    days = round(1 + 20 * chance.random() ** 3)
    if chance.random() < 0.3:
        return Window(chance.choice((f"{days}d", f"last {days} days")), TODAY - days * DAY, TODAY)
    first = TODAY - (days + chance.randrange(9)) * DAY
    last = first + (days - 1) * DAY
    forms = [f"{first}..{last}", f"{first} to {last}", f"{first} – {last}"]
    return Window(f"{first}" if days == 1 else chance.choice(forms), first, last + DAY)


def read_events(folder: Path, topic: str) -> list[tuple[int, Any]]:
    """What the sandbox's readers did until now, from its stored visits: the newest first, with its moment."""
    [path] = folder.glob("readers-*.db")
    with closing(sqlite3.connect(path)) as stored:
        visits = list(
            stored.execute("SELECT visitor, kind, path, at FROM visits JOIN pages ON id = page")
        )
    name, does, whose = {
        "searches": ("searches", Act.search, {"human"}),
        "questions": ("assistant", Act.ask, {"human"}),
        "feedback": ("feedback", lambda act: act.remark(0), {"human", "ai"}),
    }[topic]
    first, last = PARTS[name]
    visits = [
        each
        for each in visits
        if each[1] in whose and first <= (each[0] + each[3]) % ONE_IN <= last
    ]
    visits.sort(key=lambda visit: (-visit[3], visit[0], visit[2]))
    return [(each[3], does(Act(SITE, *each))) for each in visits if each[3] < START.timestamp()]


class Told(NamedTuple):
    """What an answer tells, as the test counts it.

    ``is_part``: there is more than was read. ``events``: how many there are, which may be few. ``lines``: the
    rows of the answer. ``cells``: those of the file. ``quotes``: readers' words in the first row's prompt.
    """

    total: str
    is_part: bool
    events: int
    lines: list[str]
    cells: list[list[str]]
    quotes: list[str]


def kept(text: str) -> str:
    """A reader's text on one line, without what the sandbox's readers paste by mistake."""
    for secret, mask in SECRETS.items():
        text = text.replace(secret, mask)
    return " ".join(text.split())


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def searches(events: Sequence[tuple[str, str | None]]) -> Told:
    frequent = sorted(
        Counter(text for text, _ in events).items(), key=lambda each: (-each[1], each[0])
    )
    hits, clicks = Counter[str](), Counter[str]()
    for text, count in frequent[:MOST]:
        hits[kept(text)] += count
        clicks[kept(text)] += sum(page is not None for each, page in events if each == text)
    rows = sorted(hits, key=lambda text: (clicks[text] > 0, -hits[text], text))
    told = {text: f"{clicks[text]} with a click" if clicks[text] else "no click" for text in rows}
    wordings = counted(len(rows), "wording")
    which = f"the {len(rows)} most frequent words" if len(frequent) > MOST else wordings
    missed = sum(not clicks[text] for text in rows)
    return Told(
        f"*{counted(len(events), 'search', 'searches')}* · {missed} of {which} found nothing to click",
        len(frequent) > MOST,
        len(events),
        [f"`{text}` {counted(hits[text], 'search', 'searches')}, {told[text]}" for text in rows],
        [[text, str(hits[text]), str(clicks[text])] for text in rows],
        rows[:1],
    )


class Page(NamedTuple):
    """What people or AI agents said of a page: not helpful, helpful, remarks on code; and comments.

    ``quoted``: the comments against it.
    """

    path: str
    counts: tuple[int, int, int] | None
    comments: int
    quoted: list[str]
    who: str = "people"

    def line(self) -> str:
        if self.who != "people":
            parts = [f"{counted(self.comments, 'remark')} of AI agents"]
        elif self.counts is None:
            parts = [counted(self.comments, "comment")]
        else:
            down, up, code = self.counts
            parts = [f"{down} not helpful", f"{up} helpful"]
            parts += [counted(code, "remark on code", "remarks on code")] if code else []
        quote = f": “{escape(self.quoted[0], quote=False)}”" if self.quoted else ""
        return f"`{self.path}` {', '.join(parts)}{quote}"

    def cells(self) -> list[str]:
        counts = map(str, self.counts or ("", "", ""))
        return [self.path, *counts, self.who, str(self.comments), *(self.quoted[:1] or [""])]


def feedback(remarks: Sequence[Json]) -> Told:
    marked = Counter(each["path"] for each in remarks)
    read = sorted(marked, key=lambda page: (-marked[page], page))[:MOST]
    up, down, code = Counter[str](), Counter[str](), Counter[str]()
    for each in remarks:
        if (page := each["path"]) in read:
            up[page] += each.get("helpful") is True
            down[page] += each.get("helpful") is False
            code[page] += each["source"] == "code_snippet"
    said = Counter[str]()
    against, by_agents = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for each in remarks[:MOST]:
        if each["comment"] is None:
            continue
        if each["source"] == "agent":
            by_agents[each["path"]].append(kept(each["comment"]))
            continue
        said[each["path"]] += 1
        if each.get("helpful") is False:
            against[each["path"]].append(kept(each["comment"]))
    voted = [page for page in read if up[page] or down[page]]
    pages = {*voted, *said, *(page for page in read if code[page])}
    people_first = sorted(
        pages, key=lambda page: (-down[page], -len(against[page]), up[page], page)
    )
    agents_last = sorted(by_agents, key=lambda page: (-len(by_agents[page]), page))
    rows = []
    for page in people_first:
        counts = (down[page], up[page], code[page]) if page in read else None
        rows.append(Page(page, counts, said[page], against[page]))
    rows += [
        Page(page, None, len(by_agents[page]), by_agents[page], "AI agents") for page in agents_last
    ]
    votes, people = up.total() + down.total(), said.total()
    agents = sum(map(len, by_agents.values()))
    first = "the first " if len(marked) > MOST else ""
    newest = "newest " if len(remarks) > MOST else ""
    comments = f"{newest}comments: {people} by people, {agents} by AI agents"
    return Told(
        f"*{counted(votes, 'vote')}* on {first}{counted(len(voted), 'page')} · {comments}",
        len(marked) > MOST,
        votes or people + agents,
        [row.line() for row in rows],
        [row.cells() for row in rows],
        rows[0].quoted[:MOST_QUOTES] if rows else [],
    )


def questions(asked: Sequence[Json]) -> Told:
    groups = defaultdict[str, list[Json]](list)
    for turn in asked[:MOST]:
        if turn["resolutionStatus"] == "unanswered":
            groups[re.sub(r"\W", "", turn["query"].lower())].append(turn)
    rows = [
        (len(turns), kept(turns[0]["query"]), turns[0]["pageUrl"] or "")
        for turns in sorted(groups.values(), key=len, reverse=True)
    ]
    read = counted(min(len(asked), MOST), "question")
    which = f"the first {read}" if len(asked) > MOST else read
    largest = max(groups.values(), key=len, default=[])
    return Told(
        f"*{sum(row[0] for row in rows)} unanswered* of {which}",
        len(asked) > MOST,
        min(len(asked), MOST),
        [f"Asked {counted(count, 'time')}: “{text}”" for count, text, _ in rows],
        [[str(row[0]), row[1], row[2].removeprefix("https://acme-docs.example")] for row in rows],
        list(dict.fromkeys(kept(turn["query"]) for turn in largest))[:MOST_QUOTES],
    )


COUNTS: dict[str, Callable[[Sequence[Any]], Told]] = {
    "searches": searches,
    "feedback": feedback,
    "questions": questions,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sandbox's folder, in which the first test makes the visits."""
    return tmp_path_factory.mktemp("service")


class SandboxService(DocsService):
    """The sandbox's docs service, which the bot reaches by HTTP."""

    def transport(self) -> httpx.AsyncBaseTransport:
        return httpx.AsyncHTTPTransport()


@pytest.fixture
async def talk(talk: Talk, folder: Path) -> AsyncIterator[Talk]:
    """A conversation about the readers of the sandbox."""
    sandbox = docs_service.DocsService(replace(OPTIONS, folder=folder), lambda: START)
    talk.service.close()
    talk.service = SandboxService(talk.time, talk.faults.hung)
    await talk.process.starts(
        docs_api_url=await sandbox.start(),
        docs_api_key=sandbox.options.api_key,
        analytics_calls_an_hour=1_000,
    )
    yield talk
    await sandbox.stop()


async def quotes_of(talk: Talk, answer: Shown) -> list[str]:
    """Return readers' words in the form that the button at the first row of an answer opens."""
    row = next(block for block in answer.message["blocks"] if "accessory" in block)
    await talk.ana.presses(
        row["accessory"]["text"]["text"], Shown.of({**answer.message, "blocks": [row]})
    )
    prompt: str = talk.ana.form().message["blocks"][0]["element"]["initial_value"]
    talk.slack.state.views.clear()
    return re.findall("^> (.*)$", prompt, re.MULTILINE)


@pytest.mark.parametrize("topic", COUNTS)
async def test_answer_has_the_numbers_of_an_independent_count(
    talk: Talk, folder: Path, topic: str
) -> None:
    chance, events, seen = (
        random.Random(f"{SEED}:{topic}"),
        read_events(folder, topic),
        Counter[str](),
    )
    for window in [a_window(chance) for _ in range(WINDOWS)]:
        told = COUNTS[topic](window.part(events))
        answer = await asked(talk, f"{topic} {window.words} csv")
        *_, (_, _, file) = await files(talk)
        header, *rows = csv.reader(io.StringIO(file))
        assert [row[: 3 if topic == "searches" else len(header)] for row in rows] == told.cells, (
            window
        )
        if not rows:
            assert answer.startswith("The docs service has no "), window
            continue
        _, total, *lines = answer.splitlines()
        assert total == told.total, window
        assert [line.partition(" ")[2] for line in lines[:5] if line[0].isdigit()] == told.lines[
            :5
        ], window
        assert (f"That is too few to tell much ({told.events:,})." in lines) == (
            told.events < FEW
        ), window
        assert await quotes_of(talk, answer) == told.quotes, window
        seen.update(["few" if told.events < FEW else "many", "part" if told.is_part else "whole"])
    assert len(seen) == len(("few", "many", "part", "whole")), seen

"""The making of plans. A plan depends on its seed only, so it is the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.torture.plan import (
    ARCHIVED,
    ASKS,
    BUTTONS,
    CHANGING,
    DISCOVERY_FAULTS,
    DOCS,
    DOCS_FAULTS,
    DOCS_OPERATIONS,
    ENDINGS,
    FOLLOW_UPS,
    HASTY,
    HOUR_SECONDS,
    LENGTH_SECONDS,
    LINE_FAULTS,
    LOOK_FAULTS,
    LOOKED,
    MODES,
    NATIVE_BLOCKS,
    ON_ANSWERS,
    OUTAGE_SECONDS,
    PATIENT,
    PEOPLE,
    PRODUCT,
    PROMPTS,
    PULLS,
    QUESTIONS,
    SAID,
    SECRET,
    SHORT_MINUTE,
    SLACK_FAULTS,
    SLACK_METHODS,
    SLACK_MINUTE,
    TRIO,
    TRIO_PEOPLE,
    VISITS,
    Act,
    Plan,
    Trouble,
)


def make_plan(seed: int) -> Plan:
    """Return the plan of a seed."""
    chance = Random(seed)
    database = "postgres" if chance.random() < 0.4 else "sqlite"
    bots = chance.choice(MODES) if database == "postgres" else ("run",)
    intake = "http" if bots != ("run", "run") and chance.random() < 0.3 else "socket"
    acts = make_acts(chance)
    troubles = [*_troubles(chance, database, len(bots)), *_stale(chance, acts)]
    plan = Plan(
        seed=seed,
        database=database,
        intake=intake,
        bots=bots,
        work_seconds=chance.choice((0.05, 0.2, 0.2, 0.8)),
        log_level=chance.choice(("INFO", "INFO", "DEBUG")),
        acts=acts,
        troubles=tuple(sorted(troubles, key=lambda trouble: trouble.at)),
        decision=chance.choice(("", "send_again", "send_again", "dismiss")),
        limits=chance.choice((SLACK_MINUTE, SLACK_MINUTE, SHORT_MINUTE)),
        refused_blocks=chance.choice(((), (), NATIVE_BLOCKS, NATIVE_BLOCKS[:1])),
        redeliver_after_seconds=chance.choice((PATIENT, HASTY)),
    )
    # Drawn last, so that the rest of a seed's plan is as it was before there were changes.
    changes = _changes(chance, acts)
    more = [*changes, *_endings(chance, acts), *_repeats(chance, acts)]
    plan = replace(plan, acts=tuple(sorted([*acts, *more], key=lambda act: act.at)))
    troubles += _clocks(chance)
    pulls = _pulls(chance, acts)
    ends = [*plan.acts, *pulls]
    if pulls and chance.random() < 0.6:
        troubles.append(Trouble(_moment(chance, 4.5), "bot", "0", "kill"))
    troubles += [_look(chance) for _ in range(chance.choice((0, 0, 1, 2)))]
    sees_pull_requests = chance.random() < 0.7
    if questions := _questions(chance):
        ends += questions
        troubles += _question_troubles(chance)
    return replace(
        plan,
        acts=tuple(sorted(ends, key=lambda act: act.at)),
        troubles=tuple(sorted(troubles, key=lambda trouble: trouble.at)),
        sees_pull_requests=sees_pull_requests,
        answers=chance.choice(("assistant", "assistant", "search")),
        answers_a_day=chance.choice((50, 50, 1)),
    )


def _moment(chance: Random, until: float = LENGTH_SECONDS) -> float:
    return round(chance.uniform(0.0, until), 3)


def make_acts(chance: Random) -> tuple[Act, ...]:
    """Return the acts of people in one run, in the order of its times."""
    asks = [_ask(chance) for _ in range(chance.randint(2, 4))]
    # Follow-ups and buttons need a job's thread, which these channels never get.
    threads = [ask for ask in asks if ask.where not in (SECRET, ARCHIVED)] or asks
    later = [_later(chance, chance.choice(threads)) for _ in range(chance.randint(1, 4))]
    others = [_numbers(chance) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    others += [_weekly(chance) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    return tuple(sorted([*asks, *later, *others], key=lambda act: act.at))


def _marker(chance: Random) -> str:
    return f"mk{chance.getrandbits(40):010x}"


def _ask(chance: Random) -> Act:
    marker, who = _marker(chance), chance.choice(PEOPLE)
    kind = chance.choice(("command", "command", "command", "mention", "mention", "direct", "form"))
    where = chance.choice((DOCS, DOCS, DOCS, PRODUCT, SECRET, ARCHIVED))
    if kind == "mention":
        where = DOCS
    if kind == "direct":
        where = f"D{who[1:]}"
    text = chance.choice(PROMPTS).format(marker)
    if chance.random() < 0.1:
        text += " and say it at length." + " It is a long story, which goes on for a while." * 9
    return Act(_moment(chance, 1.8), kind, who, where, marker, text)


def _later(chance: Random, ask: Act) -> Act:
    who = chance.choice((ask.who, ask.who, *PEOPLE)) if ask.what != "direct" else ask.who
    at = _after(chance, ask)
    if chance.random() < 0.35:
        button = chance.choice(BUTTONS)
        return Act(at, "press", who, ask.where, _marker(chance), button, ask.marker)
    marker = _marker(chance)
    kind = chance.choice(("reply", "reply", "followup"))
    text = chance.choice(FOLLOW_UPS).format(marker)
    return Act(at, kind, who, ask.where, marker, text, ask.marker)


def _changes(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return the edits and deletions of messages, soon after each was posted or a while later."""
    message = [act for act in acts if act.what in SAID]
    return [_change(chance, act) for act in message if chance.random() < 0.3]


def _change(chance: Random, message: Act) -> Act:
    soon, late = chance.uniform(0.0, 0.1), chance.uniform(0.1, 1.5)
    at = round(min(message.at + chance.choice((soon, late)), LENGTH_SECONDS), 3)
    kind, marker = chance.choice(("edit", "edit", "delete")), _marker(chance)
    text = f"{message.words} Also name {marker}." if kind == "edit" else ""
    return Act(at, kind, message.who, message.where, marker, text, message.marker)


def _repeats(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return commands typed a second time, and presses that run them nevertheless."""
    repeats: list[Act] = []
    for act in acts:
        if act.what != "command" or chance.random() < 0.8:
            continue
        at = _after(chance, act, 0.0, 1.0)
        repeats.append(replace(act, at=at, what="repeat", marker=_marker(chance), about=act.marker))
        if chance.random() < 0.5:
            repeats.append(
                replace(repeats[-1], at=_after(chance, act), what="anyway", marker=_marker(chance))
            )
    return repeats


def _endings(chance: Random, acts: Sequence[Act]) -> list[Act]:
    threads = [act for act in acts if act.what in ASKS and act.where not in (SECRET, ARCHIVED)]
    chosen = [chance.choice(threads) for _ in range(chance.choice((0, 0, 1, 1, 2)))] if threads else []
    return [_ending(chance, ask) for ask in chosen]


def _pulls(chance: Random, acts: Sequence[Act]) -> list[Act]:
    threads = [act for act in acts if act.what in ASKS and act.where not in (SECRET, ARCHIVED)]
    threads = [act for act in threads if act.words.startswith(CHANGING)]
    chosen = [chance.choice(threads) for _ in range(chance.choice((0, 1, 2, 2)))] if threads else []
    return [_pull(chance, ask) for ask in chosen]


def _pull(chance: Random, ask: Act) -> Act:
    text = chance.choice(PULLS)
    kind = "press" if text == "preview" else "pull"
    return Act(_after(chance, ask), kind, ask.who, ask.where, _marker(chance), text, ask.marker)


def _ending(chance: Random, ask: Act) -> Act:
    at, kind, marker = _after(chance, ask), chance.choice(ENDINGS), _marker(chance)
    if kind != "again":
        return Act(at, "press", ask.who, ask.where, marker, kind, ask.marker)
    text = chance.choice(PROMPTS).format(marker) if kind == "again" else ""
    return Act(at, kind, ask.who, ask.where, marker, text, ask.marker)


def _after(chance: Random, act: Act, least: float = 0.2, most: float = 1.8) -> float:
    return round(min(act.at + chance.uniform(least, most), LENGTH_SECONDS), 3)


def _numbers(chance: Random) -> Act:
    kind = chance.choice(("visitors", "visitors", "digest"))
    where = chance.choice((DOCS, DOCS, PRODUCT, SECRET))
    text = "digest now" if kind == "digest" else chance.choice(VISITS)
    return Act(_moment(chance, 2.0), kind, chance.choice(PEOPLE), where, _marker(chance), text)


def _weekly(chance: Random) -> Act:
    where, zone = chance.choice((DOCS, DOCS, PRODUCT, SECRET)), chance.choice(("", " UTC", " Europe/Berlin"))
    text = f"subscribe {chance.choice(('monday', 'friday'))} 09:00{zone}"
    return Act(_moment(chance, 1.2), "weekly", chance.choice(PEOPLE), where, _marker(chance), text)


def _troubles(chance: Random, database: str, bots: int) -> list[Trouble]:
    troubles = [_slack(chance) for _ in range(chance.choice((0, 1, 2, 3, 4)))]
    troubles += [_docs(chance) for _ in range(chance.choice((0, 1, 2, 3, 5)))]
    troubles += [_line(chance) for _ in range(chance.choice((0, 0, 1, 2)))]
    if chance.random() < 0.3:
        troubles.append(_database(chance, database))
    troubles += [Trouble(_moment(chance), "week", "week", "due") for _ in range(chance.choice((0, 1, 2)))]
    ends = chance.choice(("", "kill", "kill", "kill", "kill kill", "term", "term kill"))
    for kind in ends.split():
        which = str(chance.randrange(bots))
        down = round(chance.choice((0.0, 0.1, 0.5, 1.8)), 3)
        troubles.append(Trouble(_moment(chance, 2.8), "bot", which, kind, seconds=down))
    return troubles


def _slack(chance: Random) -> Trouble:
    method, kind = chance.choice(SLACK_METHODS), chance.choice(SLACK_FAULTS)
    times, lasts = _extent(chance)
    if kind == "429_no_header":
        times, lasts = 1, 0.0  # each makes the bot wait five seconds
    if kind == "error:token_revoked":
        method = "*"  # a revoked token is refused everywhere
    return Trouble(_moment(chance), "slack", method, kind, times, lasts, _own_seconds(chance, kind))


def _docs(chance: Random) -> Trouble:
    operation, kind = chance.choice(DOCS_OPERATIONS), chance.choice(DOCS_FAULTS)
    times, lasts = _extent(chance)
    return Trouble(_moment(chance), "docs", operation, kind, times, lasts, _own_seconds(chance, kind))


def _look(chance: Random) -> Trouble:
    kind, (times, lasts) = chance.choice(LOOK_FAULTS), _extent(chance)
    target = "preview" if kind == "broken_build" else chance.choice(LOOKED)
    return Trouble(_moment(chance), "docs", target, kind, times, lasts, _own_seconds(chance, kind))


def _extent(chance: Random) -> tuple[int, float]:
    """Return how many times the fault occurs, or for how many seconds."""
    if chance.random() < 0.4:
        return 1, round(chance.uniform(0.2, 1.8), 2)
    return chance.choice((1, 1, 2, 3)), 0.0


def _own_seconds(chance: Random, kind: str) -> float:
    return 1.0 if kind == "429" else round(chance.uniform(0.1, 1.0), 2)


def _line(chance: Random) -> Trouble:
    kind = chance.choice(LINE_FAULTS)
    lasts = round(chance.uniform(0.3, 3.0), 2) if kind == "refused" else 0.0
    return Trouble(_moment(chance), "line", "line", kind, chance.choice((1, 2)), lasts)


def _database(chance: Random, database: str) -> Trouble:
    kind = "gone" if database == "postgres" else chance.choice(("locked", "locked", "full"))
    return Trouble(_moment(chance, 2.5), "database", database, kind, lasts=round(chance.uniform(0.3, 1.5), 2))


def _clocks(chance: Random) -> list[Trouble]:
    """Return how the bots' clock is wrong for a while, ahead or behind, or an outage of Slack."""
    kind = chance.choice(("", "", "", "", "", "ahead", "ahead", "behind", "outage"))
    at, lasts = _moment(chance, 1.5), round(chance.uniform(0.5, 3.5), 2)
    if kind == "outage":
        return [Trouble(at, "clock", "slack", kind, lasts=OUTAGE_SECONDS, seconds=2 * HOUR_SECONDS)]
    hours = chance.uniform(2, 12) if kind == "ahead" else -chance.uniform(0.1, 3)
    seconds = round(hours * HOUR_SECONDS)
    return [Trouble(at, "clock", "bots", "wrong", lasts=lasts, seconds=seconds)] if kind else []


def _stale(chance: Random, acts: Sequence[Act]) -> list[Trouble]:
    """Return faults that make the service report a stale status just after a follow-up."""
    follow_ups = [act for act in acts if act.what in ("reply", "followup")]
    if not follow_ups or chance.random() < 0.7:
        return []
    return [
        Trouble(round(follow_ups[0].at, 3), "docs", "follow_up", "stale_status"),
        Trouble(round(follow_ups[0].at + 0.05, 3), "docs", "get", "stale_status"),
    ]


def _questions(chance: Random) -> list[Act]:
    """Return questions about the docs, presses under their answers, and pages written on them."""
    acts: list[Act] = []
    for _ in range(chance.choice((0, 1, 1, 2))):
        text, topic = chance.choice(QUESTIONS), _marker(chance)
        is_private = chance.random() < 0.3
        people = chance.sample(PEOPLE, chance.randint(1, 3))
        asked = [_question(chance, who, text.format(topic), topic, is_private=is_private) for who in people]
        acts += asked
        acts += [_on_answer(chance, chance.choice(asked)) for _ in range(chance.choice((0, 1, 2)))]
        if chance.random() < 0.9:
            acts += _draft(chance, chance.choice(asked))
        if chance.random() < 0.3:
            listed = chance.choice(asked)
            acts.append(replace(listed, at=_after(chance, listed), what="gaps", marker=_marker(chance)))
    return acts


def _question(chance: Random, who: str, text: str, topic: str, *, is_private: bool) -> Act:
    """Return a question by a mention or in direct messages, or by a command. ``about`` is its topic."""
    direct, groups = f"D{who[1:]}", (TRIO,) if who in TRIO_PEOPLE else ()
    kind, where = "question", chance.choice((direct, *groups)) if is_private else DOCS
    if chance.random() < 0.4:
        kind, where = "inquire", chance.choice((SECRET, *groups) if is_private else (DOCS, PRODUCT))
    return Act(_moment(chance, 1.2), kind, who, where, _marker(chance), text, topic)


def _on_answer(chance: Random, asked: Act) -> Act:
    button = chance.choice(ON_ANSWERS)
    who = chance.choice(PEOPLE) if (asked.what, asked.where) == ("question", DOCS) else asked.who
    return Act(_after(chance, asked), "on_answer", who, asked.where, _marker(chance), button, asked.marker)


def _draft(chance: Random, asked: Act) -> list[Act]:
    """Return the request for a page under an answer, and mostly the end of its pull request."""
    marker = _marker(chance)
    text = chance.choice(PROMPTS[:4]).format(marker)
    drafted = Act(_after(chance, asked), "draft", asked.who, asked.where, marker, text, asked.marker)
    if chance.random() < 0.2:
        return [drafted]
    end, marker = chance.choice(("merge", "merge", "merge", "close")), _marker(chance)
    at = _after(chance, drafted)
    return [drafted, Act(at, "pull", asked.who, asked.where, marker, end, drafted.marker)]


def _question_troubles(chance: Random) -> list[Trouble]:
    """Return faults of the assistant and of the search, and kills while people get answers and notices."""
    troubles: list[Trouble] = []
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        kind, (times, lasts) = chance.choice(DISCOVERY_FAULTS), _extent(chance)
        target, seconds = chance.choice(("answer", "answer", "search")), _own_seconds(chance, kind)
        troubles.append(Trouble(_moment(chance), "docs", target, kind, times, lasts, seconds))
    if chance.random() < 0.2:
        method = chance.choice(("assistant.threads.setStatus", "conversations.info"))
        troubles.append(Trouble(_moment(chance), "slack", method, chance.choice(("500", "slow")), 2))
    if chance.random() < 0.5:
        troubles.append(Trouble(_moment(chance, 4.5), "bot", "0", "kill"))
    return troubles

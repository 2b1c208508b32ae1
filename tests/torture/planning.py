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
    MESSAGES,
    NATIVE_BLOCKS,
    ON_ANSWERS,
    OUTAGE_SECONDS,
    PATIENT,
    PEOPLE,
    POLL_FAULTS,
    POLLED,
    PRODUCT,
    PROMPTS,
    PULLS,
    QUESTIONS,
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
    processes = chance.choice((1, 2, 2)) if database == "postgres" else 1
    intake = "http" if chance.random() < 0.3 else "socket"
    acts = make_acts(chance)
    troubles = [*_troubles(chance, database, processes), *_stale(chance, acts)]
    plan = Plan(
        seed=seed,
        database=database,
        intake=intake,
        processes=processes,
        work_seconds=chance.choice((0.05, 0.2, 0.2, 0.8)),
        log_level=chance.choice(("INFO", "INFO", "DEBUG")),
        acts=acts,
        troubles=(),
        decision=chance.choice(("", "send_again", "send_again", "dismiss")),
        limits=chance.choice((SLACK_MINUTE, SLACK_MINUTE, SHORT_MINUTE)),
        refused_blocks=chance.choice(((), (), NATIVE_BLOCKS, NATIVE_BLOCKS[:1])),
        redeliver_after_seconds=chance.choice((PATIENT, HASTY)),
    )
    # Drawn last, so that the rest of a seed's plan is as it was before there were changes.
    more = [*_changes(chance, acts), *_endings(chance, acts), *_repeats(chance, acts)]
    troubles += _clocks(chance)
    pulls = _pulls(chance, acts)
    ends = [*acts, *more, *pulls]
    if pulls and chance.random() < 0.6:
        troubles.append(Trouble(_moment(chance, 4.5), "bot", "0", "kill"))
    troubles += [_poll_fault(chance) for _ in range(chance.choice((0, 0, 1, 2)))]
    polls_pull_requests = chance.random() < 0.7
    if questions := _questions(chance):
        ends += questions
        troubles += _question_troubles(chance)
    answers = chance.choice(("assistant", "assistant", "search"))
    answers_a_day = chance.choice((50, 50, 1))
    ends += [*_additions(chance, acts), *_stops(chance, acts)]
    return replace(
        plan,
        acts=tuple(sorted(ends, key=lambda act: act.at)),
        troubles=tuple(sorted(troubles, key=lambda trouble: trouble.at)),
        polls_pull_requests=polls_pull_requests,
        answers=answers,
        answers_a_day=answers_a_day,
    )


def _moment(chance: Random, until: float = LENGTH_SECONDS) -> float:
    return round(chance.uniform(0.0, until), 3)


def make_acts(chance: Random) -> tuple[Act, ...]:
    """Return the acts of one run, sorted by time."""
    asks = [_ask(chance) for _ in range(chance.randint(2, 4))]
    threads = _with_thread(asks) or asks
    later = [_later(chance, chance.choice(threads)) for _ in range(chance.randint(1, 4))]
    others = [_numbers(chance) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    others += [_weekly(chance) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    return tuple(sorted([*asks, *later, *others], key=lambda act: act.at))


def _with_thread(acts: Sequence[Act]) -> list[Act]:
    """Return the requests that get a thread, which follow-ups and buttons need."""
    return [act for act in acts if act.kind in ASKS and act.channel not in (SECRET, ARCHIVED)]


def make_marker(chance: Random) -> str:
    """Return a marker with a digit: a text with a strange word of letters may be unclear."""
    marker = f"mk{chance.getrandbits(40):010x}"
    has_digit = any(letter.isdigit() for letter in marker)
    return marker if has_digit else f"{marker[:-1]}0"


def _ask(chance: Random) -> Act:
    marker, user = make_marker(chance), chance.choice(PEOPLE)
    kind = chance.choice(("command", "command", "command", "mention", "mention", "direct", "form"))
    channel = chance.choice((DOCS, DOCS, DOCS, PRODUCT, SECRET, ARCHIVED))
    channel = {"mention": DOCS, "direct": f"D{user[1:]}"}.get(kind, channel)
    text = chance.choice(PROMPTS).format(marker)
    if chance.random() < 0.1:
        text += " and say it at length." + " It is a long story, which goes on for a while." * 9
    return Act(_moment(chance, 1.8), kind, user, channel, marker, text)


def _later(chance: Random, ask: Act) -> Act:
    user = chance.choice((ask.user, ask.user, *PEOPLE)) if ask.kind != "direct" else ask.user
    at = _after(chance, ask)
    if chance.random() < 0.35:
        button = chance.choice(BUTTONS)
        return Act(at, "press", user, ask.channel, make_marker(chance), button, ask.marker)
    marker = make_marker(chance)
    kind = chance.choice(("reply", "reply", "followup"))
    text = chance.choice(FOLLOW_UPS).format(marker)
    return Act(at, kind, user, ask.channel, marker, text, ask.marker)


def _changes(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return the edits and deletions of messages, at once or a while later."""
    messages = [act for act in acts if act.kind in MESSAGES]
    return [_change(chance, message) for message in messages if chance.random() < 0.3]


def _change(chance: Random, message: Act) -> Act:
    soon, late = chance.uniform(0.0, 0.1), chance.uniform(0.1, 1.5)
    at = round(min(message.at + chance.choice((soon, late)), LENGTH_SECONDS), 3)
    kind, marker = chance.choice(("edit", "edit", "delete")), make_marker(chance)
    text = f"{message.text} Also name {marker}." if kind == "edit" else ""
    return Act(at, kind, message.user, message.channel, marker, text, message.marker)


def _additions(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return what people add to their messages, mostly while those are held."""
    messages = [act for act in acts if act.kind in MESSAGES]
    return [_addition(chance, message) for message in messages if chance.random() < 0.3]


def _addition(chance: Random, message: Act) -> Act:
    marker = make_marker(chance)
    text = chance.choice(FOLLOW_UPS).format(marker)
    at = _after(chance, message, 0.0, chance.choice((0.2, 0.2, 1.0)))
    return Act(at, "addition", message.user, message.channel, marker, text, message.marker)


def _stops(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return the messages that take back what their authors have asked for before."""
    messages = [act for act in acts if act.kind in MESSAGES]
    return [_stop(chance, message) for message in messages if chance.random() < 0.2]


def _stop(chance: Random, message: Act) -> Act:
    at = _after(chance, message, 0.0, chance.choice((0.2, 1.5)))
    user = message.user
    return Act(at, "stop", user, message.channel, make_marker(chance), "stop", message.marker)


def _repeats(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return commands typed a second time, and presses that run them nevertheless."""
    repeats: list[Act] = []
    for act in acts:
        if act.kind != "command" or chance.random() < 0.8:
            continue
        at = _after(chance, act, 0.0, 1.0)
        repeats.append(
            replace(act, at=at, kind="repeat", marker=make_marker(chance), target=act.marker)
        )
        if chance.random() < 0.5:
            at = _after(chance, act)
            repeats.append(replace(repeats[-1], at=at, kind="anyway", marker=make_marker(chance)))
    return repeats


def _endings(chance: Random, acts: Sequence[Act]) -> list[Act]:
    threads = _with_thread(acts)
    chosen = (
        [chance.choice(threads) for _ in range(chance.choice((0, 0, 1, 1, 2)))] if threads else []
    )
    return [_ending(chance, ask) for ask in chosen]


def _pulls(chance: Random, acts: Sequence[Act]) -> list[Act]:
    threads = [act for act in _with_thread(acts) if act.text.startswith(CHANGING)]
    chosen = [chance.choice(threads) for _ in range(chance.choice((0, 1, 2, 2)))] if threads else []
    return [_pull(chance, ask) for ask in chosen]


def _pull(chance: Random, ask: Act) -> Act:
    text = chance.choice(PULLS)
    kind = "press" if text == "preview" else "pull"
    return Act(
        _after(chance, ask), kind, ask.user, ask.channel, make_marker(chance), text, ask.marker
    )


def _ending(chance: Random, ask: Act) -> Act:
    at, kind, marker = _after(chance, ask), chance.choice(ENDINGS), make_marker(chance)
    if kind != "again":
        return Act(at, "press", ask.user, ask.channel, marker, kind, ask.marker)
    text = chance.choice(PROMPTS).format(marker)
    return Act(at, kind, ask.user, ask.channel, marker, text, ask.marker)


def _after(chance: Random, act: Act, least: float = 0.2, most: float = 1.8) -> float:
    return round(min(act.at + chance.uniform(least, most), LENGTH_SECONDS), 3)


def _numbers(chance: Random) -> Act:
    kind = chance.choice(("visitors", "visitors", "digest"))
    channel = chance.choice((DOCS, DOCS, PRODUCT, SECRET))
    text = "digest now" if kind == "digest" else chance.choice(VISITS)
    return Act(
        _moment(chance, 2.0), kind, chance.choice(PEOPLE), channel, make_marker(chance), text
    )


def _weekly(chance: Random) -> Act:
    channel, zone = (
        chance.choice((DOCS, DOCS, PRODUCT, SECRET)),
        chance.choice(("", " UTC", " Europe/Berlin")),
    )
    text = f"subscribe {chance.choice(('monday', 'friday'))} 09:00{zone}"
    return Act(
        _moment(chance, 1.2), "weekly", chance.choice(PEOPLE), channel, make_marker(chance), text
    )


def _troubles(chance: Random, database: str, processes: int) -> list[Trouble]:
    troubles = [_slack(chance) for _ in range(chance.choice((0, 1, 2, 3, 4)))]
    troubles += [_docs(chance) for _ in range(chance.choice((0, 1, 2, 3, 5)))]
    troubles += [_line(chance) for _ in range(chance.choice((0, 0, 1, 2)))]
    if chance.random() < 0.3:
        troubles.append(_database(chance, database))
    troubles += [
        Trouble(_moment(chance), "week", "week", "due") for _ in range(chance.choice((0, 1, 2)))
    ]
    ends = chance.choice(("", "kill", "kill", "kill", "kill kill", "term", "term kill"))
    for kind in ends.split():
        number = str(chance.randrange(processes))
        down_seconds = chance.choice((0.0, 0.1, 0.5, 1.8))
        troubles.append(Trouble(_moment(chance, 2.8), "bot", number, kind, seconds=down_seconds))
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
    return Trouble(
        _moment(chance), "docs", operation, kind, times, lasts, _own_seconds(chance, kind)
    )


def _poll_fault(chance: Random) -> Trouble:
    kind, (times, lasts) = chance.choice(POLL_FAULTS), _extent(chance)
    target = "preview" if kind == "broken_build" else chance.choice(POLLED)
    return Trouble(_moment(chance), "docs", target, kind, times, lasts, _own_seconds(chance, kind))


def _extent(chance: Random) -> tuple[int, float]:
    """Return a fault's number of times, or its length in seconds."""
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
    return Trouble(
        _moment(chance, 2.5), "database", database, kind, lasts=round(chance.uniform(0.3, 1.5), 2)
    )


def _clocks(chance: Random) -> list[Trouble]:
    """Return a wrong clock of the bots, an outage of Slack, or nothing."""
    kind = chance.choice(("", "", "", "", "", "ahead", "ahead", "behind", "outage"))
    at, lasts = _moment(chance, 1.5), round(chance.uniform(0.5, 3.5), 2)
    if kind == "outage":
        return [Trouble(at, "clock", "slack", kind, lasts=OUTAGE_SECONDS, seconds=2 * HOUR_SECONDS)]
    hours = chance.uniform(2, 12) if kind == "ahead" else -chance.uniform(0.1, 3)
    seconds = round(hours * HOUR_SECONDS)
    return [Trouble(at, "clock", "bots", "wrong", lasts=lasts, seconds=seconds)] if kind else []


def _stale(chance: Random, acts: Sequence[Act]) -> list[Trouble]:
    """Return faults that make the service report a stale status just after a follow-up."""
    follow_ups = [act for act in acts if act.kind in ("reply", "followup")]
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
        text, topic = chance.choice(QUESTIONS), make_marker(chance)
        is_private = chance.random() < 0.3
        people = chance.sample(PEOPLE, chance.randint(1, 3))
        asked = [
            _question(chance, user, text.format(topic), topic, is_private=is_private)
            for user in people
        ]
        acts += asked
        acts += [_on_answer(chance, chance.choice(asked)) for _ in range(chance.choice((0, 1, 2)))]
        if chance.random() < 0.9:
            acts += _draft(chance, chance.choice(asked))
        if chance.random() < 0.3:
            listed = chance.choice(asked)
            acts.append(
                replace(listed, at=_after(chance, listed), kind="gaps", marker=make_marker(chance))
            )
    return acts


def _question(chance: Random, user: str, text: str, topic: str, *, is_private: bool) -> Act:
    """Return a question by a mention or in direct messages, or by a command. Its target is its topic."""
    direct, groups = f"D{user[1:]}", (TRIO,) if user in TRIO_PEOPLE else ()
    kind, channel = "question", chance.choice((direct, *groups)) if is_private else DOCS
    if chance.random() < 0.4:
        kind, channel = (
            "inquire",
            chance.choice((SECRET, *groups) if is_private else (DOCS, PRODUCT)),
        )
    return Act(_moment(chance, 1.2), kind, user, channel, make_marker(chance), text, topic)


def _on_answer(chance: Random, asked: Act) -> Act:
    button = chance.choice(ON_ANSWERS)
    user = (
        chance.choice(PEOPLE) if (asked.kind, asked.channel) == ("question", DOCS) else asked.user
    )
    return Act(
        _after(chance, asked),
        "on_answer",
        user,
        asked.channel,
        make_marker(chance),
        button,
        asked.marker,
    )


def _draft(chance: Random, asked: Act) -> list[Act]:
    """Return the request for a page under an answer, and mostly the end of its pull request."""
    marker = make_marker(chance)
    text = chance.choice(PROMPTS[:4]).format(marker)
    drafted = Act(
        _after(chance, asked), "draft", asked.user, asked.channel, marker, text, asked.marker
    )
    if chance.random() < 0.2:
        return [drafted]
    end, marker = chance.choice(("merge", "merge", "merge", "close")), make_marker(chance)
    at = _after(chance, drafted)
    return [drafted, Act(at, "pull", asked.user, asked.channel, marker, end, drafted.marker)]


def _question_troubles(chance: Random) -> list[Trouble]:
    """Return faults of the assistant and of the search, and kills while people get answers and notices."""
    troubles: list[Trouble] = []
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        kind, (times, lasts) = chance.choice(DISCOVERY_FAULTS), _extent(chance)
        target, seconds = chance.choice(("answer", "answer", "search")), _own_seconds(chance, kind)
        troubles.append(Trouble(_moment(chance), "docs", target, kind, times, lasts, seconds))
    if chance.random() < 0.2:
        kind = chance.choice(("500", "slow"))
        troubles.append(Trouble(_moment(chance), "slack", "conversations.info", kind, 2))
    if chance.random() < 0.5:
        troubles.append(Trouble(_moment(chance, 4.5), "bot", "0", "kill"))
    return troubles

"""Plans of runs: what users do, what fails, and when.

A plan depends on its seed only, so it is the same on every machine. ``described`` prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

ADMIN = "U04GUS"
"""Does not take part in the acts."""
PEOPLE = ("U01ANA", "U02BEN", "U03CHIKA")
DOCS, PRODUCT, SECRET, ARCHIVED = "C01DOCS", "C03PRODUCT", "G04SECRET", "C05OLD"
MODES = (("run",), ("run", "work"), ("run", "run"))
PROMPTS = (
    "Add a guide about {}",
    "Add a page that explains {} and how it is rotated",
    "Mention {} in the quickstart",
    "Check the changelog about {}, there is nothing to change",
    "Fail on purpose ({})",
    "Explain {}, then archive this job",
)
CHANGING = tuple(prompt.partition("{")[0] for prompt in PROMPTS[:3])
"""How the prompts begin that make a pull request."""
FOLLOW_UPS = ("Add an example of {}", "Mention {} in the changelog", "Change nothing, only look at {}")
BUTTONS = ("send_again", "dismiss", "withdraw")
VISITS = ("last week compare none csv", "last week compare none csv here", "7d compare none", "yesterday")

SLACK_METHODS = (
    *("chat.postMessage",) * 6,
    *("chat.update",) * 2,
    *("response_url",) * 2,
    "conversations.history",
    "conversations.replies",
    "conversations.open",
    "conversations.join",
    "reactions.add",
    "users.info",
    "files.getUploadURLExternal",
    "upload",
    "files.completeUploadExternal",
    "views.open",
    "auth.test",
    "apps.connections.open",
    "*",
)
SLACK_FAULTS = (
    *("lost_answer",) * 4,
    *("429", "429_no_header", "500", "502_html", "slow") * 2,
    "error:internal_error",
    "error:channel_not_found",
    "error:is_archived",
    "error:invalid_blocks",
    "error:token_revoked",
)
DOCS_OPERATIONS = (*("create",) * 4, *("follow_up",) * 3, *("get",) * 4, "visitors", "any")
DOCS_FAULTS = (
    *("lost_answer",) * 4,
    *("429", "429_no_header", "500", "502_html", "slow", "timeout", "broken_json") * 2,
    "401",
    "403",
    "404",
    "odd_status",
    "bad_pr_link",
)
LOOKED = ("pull_request", "preview", "build")
LOOK_FAULTS = (
    *("lost_answer", "500", "404") * 2,
    *("429", "429_no_header", "502_html", "slow", "timeout", "broken_json", "401", "403", "broken_build"),
)
"""What fails at the host of pull requests, and at the docs service's previews."""
LINE_FAULTS = ("closed", "disconnect", "repeat", "silent", "refused", "refused")
NATIVE_BLOCKS = ("data_visualization", "data_table", "table")
SLACK_MINUTE = ((20, 50, 100), 300, 60.0)
SHORT_MINUTE = ((1, 2, 3), 3, 1.0)
"""Few calls of each tier and of the other methods in a second, so that a short run meets Slack's limits."""
PATIENT, HASTY = (0.3, 1.0, 3.0), (0.05, 0.4, 1.0)
"""Delays before an event comes again. After the last one it is dropped."""
LENGTH_SECONDS = 3.0
OUTAGE_SECONDS, HOUR_SECONDS = 6.0, 3_600.0
"""How long an outage of Slack of two hours takes in a run."""
SAID = ("mention", "direct", "reply")
"""The acts that are messages, which their authors may edit and delete."""
ASKS = ("command", "mention", "direct", "form", "again")
"""The acts that ask for a job."""
ENDINGS = ("again", "again", "reviewed", "not_needed", "undo_review")
"""What people do with a job that runs or has ended: its menu, and the buttons under its pull request."""
PULLS = ("preview", "preview", "preview", "merge", "merge", "close")
"""What they do with a pull request: a button at the job's end, and the page of the host."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that a user does.

    ``about``: the marker of the earlier act that it needs, such as the request of the job whose button is
    pressed. An edited message keeps its marker and gets the edit's.
    """

    at: float
    what: str
    who: str
    where: str
    marker: str
    words: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault on one ``side``: slack, docs, line, database, bot, week or clock.

    It occurs ``times`` times, or for ``lasts`` seconds. ``seconds`` is a parameter of the fault: a
    ``Retry-After``, the delay of an answer, or the downtime of a process. On the side ``week`` the hour of
    all subscriptions comes. On the side ``clock`` the clock of the bots' machine is wrong by ``seconds`` for
    a while, or so many seconds pass for everybody while Slack is away.
    """

    at: float
    side: str
    what: str
    kind: str
    times: int = 1
    lasts: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one run.

    ``bots``: the roles of its processes. ``intake``: socket or http. ``decision``: the button that users
    press at the end for each unconfirmed prompt; empty for none. ``limits``: the calls of tiers 2 to 4 and of
    the other methods that Slack takes in a minute, and the seconds of that minute. ``refused_blocks``: the
    kinds of block that the workspace does not have. ``redeliver_after_seconds``: when an event comes again.
    ``uses_an_hour``: the docs service's limit on jobs. ``ack_seconds``: how long Slack waits for the bot.
    ``sees_pull_requests``: the bot can look at them.
    """

    seed: int
    database: str
    intake: str
    bots: tuple[str, ...]
    work_seconds: float
    log_level: str
    acts: tuple[Act, ...]
    troubles: tuple[Trouble, ...]
    decision: str = ""
    limits: tuple[tuple[int, int, int], int, float] = SLACK_MINUTE
    refused_blocks: tuple[str, ...] = ()
    redeliver_after_seconds: tuple[float, ...] = PATIENT
    uses_an_hour: int = 100
    ack_seconds: float = 3.0
    sees_pull_requests: bool = True

    @property
    def sets_clock(self) -> bool:
        """Whether the clock of the bots' machine is wrong for a while."""
        return self.clock_is_wrong_by() > 0

    def clock_is_wrong_by(self) -> float:
        """Return by how many seconds times that the bot wrote may be wrong."""
        wrong = (abs(each.seconds) for each in self.troubles if each.side == "clock" and each.kind == "wrong")
        return max(wrong, default=0.0)


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
        troubles=tuple(sorted(troubles, key=lambda each: each.at)),
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
    return replace(
        plan,
        acts=tuple(sorted(ends, key=lambda act: act.at)),
        troubles=tuple(sorted(troubles, key=lambda each: each.at)),
        sees_pull_requests=chance.random() < 0.7,
    )


def _moment(chance: Random, until: float = LENGTH_SECONDS) -> float:
    return round(chance.uniform(0.0, until), 3)


def make_acts(chance: Random) -> tuple[Act, ...]:
    """Return what people do in one run, in the order of its times."""
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
    what = chance.choice(("command", "command", "command", "mention", "mention", "direct", "form"))
    where = chance.choice((DOCS, DOCS, DOCS, PRODUCT, SECRET, ARCHIVED))
    if what == "mention":
        where = DOCS
    if what == "direct":
        where = f"D{who[1:]}"
    words = chance.choice(PROMPTS).format(marker)
    if chance.random() < 0.1:
        words += " and say it at length." + " It is a long story, which goes on for a while." * 9
    return Act(_moment(chance, 1.8), what, who, where, marker, words)


def _later(chance: Random, ask: Act) -> Act:
    who = chance.choice((ask.who, ask.who, *PEOPLE)) if ask.what != "direct" else ask.who
    at = _after(chance, ask)
    if chance.random() < 0.35:
        button = chance.choice(BUTTONS)
        return Act(at, "press", who, ask.where, _marker(chance), button, ask.marker)
    marker = _marker(chance)
    what = chance.choice(("reply", "reply", "followup"))
    words = chance.choice(FOLLOW_UPS).format(marker)
    return Act(at, what, who, ask.where, marker, words, ask.marker)


def _changes(chance: Random, acts: Sequence[Act]) -> list[Act]:
    """Return the edits and deletions of messages, soon after each was said or a while later."""
    said = [act for act in acts if act.what in SAID]
    return [_change(chance, act) for act in said if chance.random() < 0.3]


def _change(chance: Random, said: Act) -> Act:
    soon, late = chance.uniform(0.0, 0.1), chance.uniform(0.1, 1.5)
    at = round(min(said.at + chance.choice((soon, late)), LENGTH_SECONDS), 3)
    what, marker = chance.choice(("edit", "edit", "delete")), _marker(chance)
    words = f"{said.words} Also name {marker}." if what == "edit" else ""
    return Act(at, what, said.who, said.where, marker, words, said.marker)


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
    about = [chance.choice(threads) for _ in range(chance.choice((0, 0, 1, 1, 2)))] if threads else []
    return [_ending(chance, ask) for ask in about]


def _pulls(chance: Random, acts: Sequence[Act]) -> list[Act]:
    threads = [act for act in acts if act.what in ASKS and act.where not in (SECRET, ARCHIVED)]
    threads = [act for act in threads if act.words.startswith(CHANGING)]
    about = [chance.choice(threads) for _ in range(chance.choice((0, 1, 2, 2)))] if threads else []
    return [_pull(chance, ask) for ask in about]


def _pull(chance: Random, ask: Act) -> Act:
    words = chance.choice(PULLS)
    what = "press" if words == "preview" else "pull"
    return Act(_after(chance, ask), what, ask.who, ask.where, _marker(chance), words, ask.marker)


def _ending(chance: Random, ask: Act) -> Act:
    at, what, marker = _after(chance, ask), chance.choice(ENDINGS), _marker(chance)
    if what != "again":
        return Act(at, "press", ask.who, ask.where, marker, what, ask.marker)
    words = chance.choice(PROMPTS).format(marker) if what == "again" else ""
    return Act(at, what, ask.who, ask.where, marker, words, ask.marker)


def _after(chance: Random, act: Act, least: float = 0.2, most: float = 1.8) -> float:
    return round(min(act.at + chance.uniform(least, most), LENGTH_SECONDS), 3)


def _numbers(chance: Random) -> Act:
    what = chance.choice(("visitors", "visitors", "digest"))
    where = chance.choice((DOCS, DOCS, PRODUCT, SECRET))
    words = "digest now" if what == "digest" else chance.choice(VISITS)
    return Act(_moment(chance, 2.0), what, chance.choice(PEOPLE), where, _marker(chance), words)


def _weekly(chance: Random) -> Act:
    where, zone = chance.choice((DOCS, DOCS, PRODUCT, SECRET)), chance.choice(("", " UTC", " Europe/Berlin"))
    words = f"subscribe {chance.choice(('monday', 'friday'))} 09:00{zone}"
    return Act(_moment(chance, 1.2), "weekly", chance.choice(PEOPLE), where, _marker(chance), words)


def _troubles(chance: Random, database: str, bots: int) -> list[Trouble]:
    found = [_slack(chance) for _ in range(chance.choice((0, 1, 2, 3, 4)))]
    found += [_docs(chance) for _ in range(chance.choice((0, 1, 2, 3, 5)))]
    found += [_line(chance) for _ in range(chance.choice((0, 0, 1, 2)))]
    if chance.random() < 0.3:
        found.append(_database(chance, database))
    found += [Trouble(_moment(chance), "week", "week", "due") for _ in range(chance.choice((0, 1, 2)))]
    ends = chance.choice(("", "kill", "kill", "kill", "kill kill", "term", "term kill"))
    for kind in ends.split():
        which = str(chance.randrange(bots))
        down = round(chance.choice((0.0, 0.1, 0.5, 1.8)), 3)
        found.append(Trouble(_moment(chance, 2.8), "bot", which, kind, seconds=down))
    return found


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
    what = "preview" if kind == "broken_build" else chance.choice(LOOKED)
    return Trouble(_moment(chance), "docs", what, kind, times, lasts, _own_seconds(chance, kind))


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
    what = chance.choice(("", "", "", "", "", "ahead", "ahead", "behind", "outage"))
    at, lasts = _moment(chance, 1.5), round(chance.uniform(0.5, 3.5), 2)
    if what == "outage":
        return [Trouble(at, "clock", "slack", what, lasts=OUTAGE_SECONDS, seconds=2 * HOUR_SECONDS)]
    hours = chance.uniform(2, 12) if what == "ahead" else -chance.uniform(0.1, 3)
    seconds = round(hours * HOUR_SECONDS)
    return [Trouble(at, "clock", "bots", "wrong", lasts=lasts, seconds=seconds)] if what else []


def _stale(chance: Random, acts: Sequence[Act]) -> list[Trouble]:
    """Return faults that make the service report a stale status just after a follow-up."""
    follow_ups = [act for act in acts if act.what in ("reply", "followup")]
    if not follow_ups or chance.random() < 0.7:
        return []
    return [
        Trouble(round(follow_ups[0].at, 3), "docs", "follow_up", "stale_status"),
        Trouble(round(follow_ups[0].at + 0.05, 3), "docs", "get", "stale_status"),
    ]


def described(plan: Plan) -> list[str]:
    """Return the plan as text, one line for each act and fault."""
    head = (
        f"seed {plan.seed}: {plan.database}, {plan.intake}, {' and '.join(plan.bots)}, "
        f"the agent works {plan.work_seconds:g} s, logs {plan.log_level}"
    )
    lines = [(act.at, _told(act)) for act in plan.acts]
    for each in plan.troubles:
        extent = f"for {each.lasts:g} s" if each.lasts else f"x{each.times}"
        lines.append((each.at, f"! {each.side} {each.what} {each.kind} {extent} ({each.seconds:g} s)"))
    head += f", doubts: {plan.decision or 'left'}, {plan.limits[1]} posts in {plan.limits[2]:g} s"
    head += f", events again after {plan.redeliver_after_seconds}, refuses {plan.refused_blocks or 'nothing'}"
    return [head, *(f"  {at:6.3f}  {text.rstrip()}" for at, text in sorted(lines))]


def _told(act: Act) -> str:
    return f"{act.what} {act.who} {act.where} {act.words[:70]!r} {act.about}"

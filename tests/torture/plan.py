"""Plans of runs: what users do, what fails, and when. ``described`` prints one."""

from __future__ import annotations

from dataclasses import dataclass

ADMIN = "U04GUS"
"""Does not take part in the acts."""
PEOPLE = ("U01ANA", "U02BEN", "U03CHIKA")
DOCS, PRODUCT, SECRET, ARCHIVED = "C01DOCS", "C03PRODUCT", "G04SECRET", "C05OLD"
TRIO, TRIO_PEOPLE = "C06TRIO", PEOPLE[:2]
"""A group conversation with the bot. The private channel has no bot."""
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
QUESTIONS = ("How do I rotate {}?", "Where is the quickstart for {}?", "What does {} mean?")
ON_ANSWERS = ("did_not_help", "did_not_help", "did_not_help", "share_answer")
DISCOVERY_FAULTS = (
    *("lost_answer", "error_part", "cut_answer", "slow", "429", "500") * 2,
    *("429_no_header", "502_html", "timeout", "broken_json", "401", "403"),
)
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
ASKS = ("command", "mention", "direct", "form", "again", "draft")
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
    ``sees_pull_requests``: the bot can look at them. ``answers`` and ``answers_a_day``: its settings.
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
    answers: str = "assistant"
    answers_a_day: int = 50

    @property
    def sets_clock(self) -> bool:
        """Whether the clock of the bots' machine is wrong for a while."""
        return self.clock_is_wrong_by() > 0

    def clock_is_wrong_by(self) -> float:
        """Return by how many seconds times that the bot wrote may be wrong."""
        wrong = (abs(each.seconds) for each in self.troubles if each.side == "clock" and each.kind == "wrong")
        return max(wrong, default=0.0)


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

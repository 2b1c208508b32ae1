"""Plans of runs: the acts of users and the faults, with their times. ``described`` prints one."""

from __future__ import annotations

from dataclasses import dataclass

ADMIN = "U04GUS"
"""Does not take part in the acts."""
PEOPLE = ("U01ANA", "U02BEN", "U03CHIKA")
DOCS, PRODUCT, SECRET, ARCHIVED = "C01DOCS", "C03PRODUCT", "G04SECRET", "C05OLD"
TRIO, TRIO_PEOPLE = "C06TRIO", PEOPLE[:2]
"""A group conversation with the bot. The private channel has no bot."""
PROMPTS = (
    "Add a guide about {}",
    "Add a page that explains {} and how it is rotated",
    "Mention {} in the quickstart",
    "Check the changelog about {}, there is nothing to change",
    "Fail on purpose ({})",
    "Explain {}, then archive this job",
)
CHANGING = tuple(prompt.partition("{")[0] for prompt in PROMPTS[:3])
"""The beginnings of the prompts that make a pull request."""
FOLLOW_UPS = (
    "Add an example of {}",
    "Mention {} in the changelog",
    "Change nothing, only look at {}",
)
BUTTONS = ("send_again", "dismiss", "withdraw")
VISITS = (
    "last week compare none csv",
    "last week compare none csv here",
    "7d compare none",
    "yesterday",
)

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
    "views.update",
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
POLLED = ("pull_request", "preview", "build")
POLL_FAULTS = (
    *("lost_answer", "500", "404") * 2,
    *(
        "429",
        "429_no_header",
        "502_html",
        "slow",
        "timeout",
        "broken_json",
        "401",
        "403",
        "broken_build",
    ),
)
"""Faults at the host of pull requests and at the docs service's previews."""
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
"""An outage of Slack of two hours takes six seconds in a run."""
MESSAGES = ("mention", "direct", "reply")
"""Kinds of acts that are messages. Their authors may edit and delete them."""
ASKS = ("command", "mention", "direct", "form", "again", "draft")
"""Kinds of acts that request a job."""
BEGINNINGS = (*ASKS, "reply", "addition")
"""Kinds of acts whose words may begin a job.

A reply begins one after the merge, and an addition after its request was sent.
"""
ENDINGS = ("again", "again", "reviewed", "reviewed", "undo_review")
"""Acts on a running or ended job: its menu and the buttons under its pull request."""
PULLS = ("preview", "preview", "preview", "merge", "merge", "close")
"""Acts on a pull request: a button at the job's end, and the page of the host."""


@dataclass(frozen=True, slots=True)
class Act:
    """One action of a user. An edited message keeps its marker and gets the edit's."""

    at: float
    kind: str
    user: str
    channel: str
    marker: str
    text: str
    target: str = ""
    """The marker of an earlier act, such as the request of the job whose button is pressed."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault on one side: slack, docs, line, database, bot, week or clock.

    On the side ``week`` all subscriptions become due. On the side ``clock`` the clock of the bots' machine is
    wrong for a while, or time passes for everybody while Slack is down.
    """

    at: float
    side: str
    target: str
    """The method, the operation, or the number of the bot."""
    kind: str
    times: int = 1
    lasts: float = 0.0
    """Seconds; 0 for a fault that occurs ``times`` times."""
    seconds: float = 0.0
    """A ``Retry-After``, an answer's delay, a downtime, a clock's error, or the time that passes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one run."""

    seed: int
    database: str
    intake: str
    """socket or http."""
    processes: int
    """The number of its bots."""
    work_seconds: float
    log_level: str
    acts: tuple[Act, ...]
    troubles: tuple[Trouble, ...]
    decision: str = ""
    """The button that users press at the end for unconfirmed prompts; empty for none."""
    limits: tuple[tuple[int, int, int], int, float] = SLACK_MINUTE
    """Calls a minute of tiers 2 to 4, calls a minute of the other methods, and the seconds of that minute."""
    refused_blocks: tuple[str, ...] = ()
    """The kinds of block that the workspace lacks."""
    redeliver_after_seconds: tuple[float, ...] = PATIENT
    uses_an_hour: int = 100
    """The docs service's limit on jobs."""
    ack_seconds: float = 3.0
    """Slack's time limit for an acknowledgement."""
    polls_pull_requests: bool = True
    answers: str = "assistant"
    answers_a_day: int = 50

    def clock_error_seconds(self) -> float:
        """Return the largest error of the times that the bot wrote."""
        errors = (abs(trouble.seconds) for trouble in self.troubles if trouble.kind == "wrong")
        return max(errors, default=0.0)


def described(plan: Plan) -> list[str]:
    """Return the plan as text, one line for each act and fault."""
    head = (
        f"seed {plan.seed}: {plan.database}, {plan.intake}, processes: {plan.processes}, "
        f"the agent works {plan.work_seconds:g} s, logs {plan.log_level}"
    )
    lines = [
        (act.at, f"{act.kind} {act.user} {act.channel} {act.text[:70]!r} {act.target}")
        for act in plan.acts
    ]
    for trouble in plan.troubles:
        extent = f"for {trouble.lasts:g} s" if trouble.lasts else f"x{trouble.times}"
        event = f"! {trouble.side} {trouble.target} {trouble.kind} {extent} ({trouble.seconds:g} s)"
        lines.append((trouble.at, event))
    head += f", doubts: {plan.decision or 'left'}, {plan.limits[1]} posts in {plan.limits[2]:g} s"
    head += f", events again after {plan.redeliver_after_seconds}, refuses {plan.refused_blocks or 'nothing'}"
    return [head, *(f"  {at:6.3f}  {text.rstrip()}" for at, text in sorted(lines))]

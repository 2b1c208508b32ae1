"""Private answers to words that nobody means as a prompt: what they were taken for, and how to send them."""

from __future__ import annotations

from enum import StrEnum

from bot.messages import blocks as b
from bot.model.message import Message

SEND_ANYWAY = "send_anyway"
"""The action id of the button that sends the words to the agent."""


class Reflex(StrEnum):
    """What words were taken for, as the answer says it."""

    STATUS = "a question about jobs"
    STOP = "a wish to stop something"
    PROJECT = "a question about projects"
    LIMITS = "a question about the hourly limit"
    VISITORS = "a question about visitors"
    HELP = "a question about what I can do"
    GREETING = "a greeting"
    COMMAND = "a command that I don't have"
    THANKS = "thanks"


_NEXT = {
    Reflex.STATUS: "`/docs-agent jobs` lists this channel's jobs, `/docs-agent status 42` shows one.",
    Reflex.STOP: (
        "Nothing was stopped either: a job that waits has *Withdraw* in its message, and one that the agent "
        "works on can't be stopped."
    ),
    Reflex.PROJECT: "`/docs-agent project` shows which docs this channel's prompts are for.",
    Reflex.LIMITS: "`/docs-agent limits` shows how much of the hour is left.",
    Reflex.VISITORS: "`/docs-visitors last week` shows who reads the docs.",
    Reflex.HELP: "`/docs-agent help` shows it.",
    Reflex.GREETING: "Tell me what to change: `/docs-agent Add a quickstart for the Python SDK`.",
    Reflex.COMMAND: "`/docs-agent help` lists those that I have.",
    Reflex.THANKS: "Nothing more is needed.",
}


def not_sent(reflex: Reflex, text: str, value: str) -> Message:
    """Return the answer to words that were not sent to the agent, with a button to send them anyway."""
    said = (
        f"I took “{b.quoted(text, 80)}” for {reflex.value}, so nothing was sent to the agent. {_NEXT[reflex]}"
    )
    return b.with_buttons(said, [b.button("Send it to the agent anyway", SEND_ANYWAY, value)])

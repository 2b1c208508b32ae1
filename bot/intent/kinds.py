"""The meanings of texts, the places of texts, and the meaning that counts at a place."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Place(StrEnum):
    """The place of a text."""

    CHANNEL = "channel"
    """In a channel, outside of threads."""
    COMMAND = "command"
    """Typed after a slash command, or in a form."""
    DIRECT = "direct message"
    JOB = "job's thread"
    """In the thread of a job that runs or has an open pull request."""
    MERGED_JOB = "merged job's thread"
    FAILED_JOB = "failed job's thread"
    ANSWER = "answer's thread"
    """In the thread of an answered question, in a channel."""
    DIRECT_ANSWER = "answer in direct messages"
    PEOPLE = "people's thread"


MENTION_ONLY = frozenset({Place.CHANNEL, Place.ANSWER, Place.PEOPLE})
"""Where only a text that mentions the bot is for it."""
JOB_THREADS = frozenset({Place.JOB, Place.MERGED_JOB, Place.FAILED_JOB})
ANSWER_THREADS = frozenset({Place.ANSWER, Place.DIRECT_ANSWER})
WITHOUT_CONTEXT = frozenset({Place.CHANNEL, Place.COMMAND, Place.DIRECT})
"""Where nothing was said before that a text could refer to."""


class Kind(StrEnum):
    """The meaning of a text."""

    OWN_WORD = "own word"
    """One of the bot's own words: run its command, in private."""
    SHARED_WORD = "shared word"
    """A word of several commands: ask for the command."""
    MISTYPED_WORD = "mistyped word"
    """Almost one of the bot's own words: ask whether it is meant."""
    THANKS = "thanks"
    """Thanks, praise, emoji: react."""
    ABOUT_BOT = "about the bot"
    """The mention stands within a sentence, a quote or code: do nothing."""
    FOR_COLLEAGUE = "for a colleague"
    """For somebody else, or for people: do nothing."""
    COLLEAGUE_ANSWER = "colleague's answer"
    """A statement or a link among people under an answer: offer to put it in the docs."""
    TALK = "talk"
    """Talk among people: do nothing."""
    CHANGE = "change"
    """A change of the docs, with a verb: start a job."""
    LIKELY_CHANGE = "likely change"
    """A fact without a verb: start a job that its author can take back."""
    QUESTION = "question"
    """A question about the docs: answer it."""
    UNANSWERABLE = "question, answers off"
    """The same where the bot answers no questions: offer to draft a page."""
    BOT_QUESTION = "question about the bot"
    """Show the help, or the command that knows."""
    TOPIC = "topic"
    """One word, a topic, a link: show search hits."""
    UNCLEAR = "unclear"
    """A request that does not say what to change: ask."""
    GREETING = "greeting"
    """Show a short welcome."""
    FOLLOW_UP = "follow-up"
    """A change, fact or fragment in a job's thread: send it to the job."""
    CHANGES_QUESTION = "question about the changes"
    """Show the job's changes."""
    STATE_QUESTION = "question about the state"
    """Answer in one line from the job's state."""
    REASON_QUESTION = "question for reasons"
    """The agent gives no reasons: show the changes and ask for a better text."""
    PRODUCT_QUESTION = "question about the product"
    """A question about the docs in a job's thread: answer it in private."""
    SUGGESTION = "suggestion"
    """Half a change in a job's thread: ask whether to send it."""
    DISAPPROVAL = "disapproval"
    """A no without a fact: ask what should change."""
    STOP = "stop"
    """Take the job's request back."""
    RETRY = "retry"
    """Run the failed job again."""
    CHANGE_AFTER_MERGE = "change after the merge"
    """A change in a merged job's thread: start a new job."""
    LIKELY_CHANGE_AFTER_MERGE = "likely change after the merge"
    """A fact without a verb there: start a new job that its author can take back."""
    FURTHER_QUESTION = "further question"
    """A further question or detail in an answer's thread: go on with the answer."""
    ANSWER_TO_PAGE = "answer to a page"
    """A change in an answer's thread: start a job with question and answer."""
    THREAD_TO_PAGE = "thread to a page"
    """A change in people's thread: start a job with the thread."""
    THREAD_UNCLEAR = "unclear in a thread"
    """A call in people's thread without a request: ask."""


KINDS_THAT_START_JOBS = frozenset(
    {
        Kind.CHANGE,
        Kind.LIKELY_CHANGE,
        Kind.FOLLOW_UP,
        Kind.CHANGE_AFTER_MERGE,
        Kind.LIKELY_CHANGE_AFTER_MERGE,
        Kind.ANSWER_TO_PAGE,
        Kind.THREAD_TO_PAGE,
    }
)
"""Kinds that cost a use of the docs service's quota."""
LIKELY_CHANGES = frozenset({Kind.LIKELY_CHANGE, Kind.LIKELY_CHANGE_AFTER_MERGE})
"""Kinds of jobs that their author can take back at once."""
KINDS_ASKED_BACK = frozenset({Kind.TOPIC, Kind.UNCLEAR, Kind.SUGGESTION})
"""Kinds whose author is asked for more, which an app cannot answer."""
UNANSWERED_KINDS = frozenset({Kind.ABOUT_BOT, Kind.FOR_COLLEAGUE, Kind.TALK})
"""Kinds that get no reaction."""

_KINDS_AT_COMMAND = {
    Kind.SUGGESTION: Kind.UNCLEAR,
    Kind.TALK: Kind.UNCLEAR,  # A command always gets an answer.
}
_KINDS_AT_CHANNEL = {Kind.SUGGESTION: Kind.UNCLEAR}
_KINDS_AT_JOB = {
    Kind.CHANGE: Kind.FOLLOW_UP,
    Kind.LIKELY_CHANGE: Kind.FOLLOW_UP,
    Kind.QUESTION: Kind.PRODUCT_QUESTION,
    Kind.UNCLEAR: Kind.DISAPPROVAL,
    Kind.UNANSWERABLE: Kind.SUGGESTION,
    Kind.GREETING: Kind.TALK,  # In a job's thread people greet one another.
}
_KINDS_AT_MERGED_JOB = _KINDS_AT_JOB | {
    Kind.CHANGE: Kind.CHANGE_AFTER_MERGE,
    Kind.LIKELY_CHANGE: Kind.LIKELY_CHANGE_AFTER_MERGE,
}
_KINDS_AT_ANSWER = {
    Kind.CHANGE: Kind.ANSWER_TO_PAGE,
    Kind.QUESTION: Kind.FURTHER_QUESTION,
    Kind.SUGGESTION: Kind.UNCLEAR,
}
_KINDS_AT_PEOPLE = {
    Kind.CHANGE: Kind.THREAD_TO_PAGE,
    Kind.LIKELY_CHANGE: Kind.THREAD_TO_PAGE,
    Kind.UNCLEAR: Kind.THREAD_UNCLEAR,
    Kind.TOPIC: Kind.THREAD_UNCLEAR,
    Kind.SUGGESTION: Kind.THREAD_UNCLEAR,
}
KIND_AT_PLACE: Mapping[Place, Mapping[Kind, Kind]] = {
    Place.CHANNEL: _KINDS_AT_CHANNEL,
    Place.COMMAND: _KINDS_AT_COMMAND,
    Place.DIRECT: _KINDS_AT_CHANNEL,
    Place.JOB: _KINDS_AT_JOB,
    Place.MERGED_JOB: _KINDS_AT_MERGED_JOB,
    Place.FAILED_JOB: _KINDS_AT_JOB,
    Place.ANSWER: _KINDS_AT_ANSWER,
    Place.DIRECT_ANSWER: _KINDS_AT_ANSWER,
    Place.PEOPLE: _KINDS_AT_PEOPLE,
}
"""The kinds that another kind replaces at a place, with that other kind."""


def kind_at(place: Place, kind: Kind) -> Kind:
    """Return the kind that a meaning has at a place: a change in a job's thread is a follow-up."""
    return KIND_AT_PLACE[place].get(kind, kind)

"""Whole texts that people type at a bot by reflex and nobody means as a prompt: ``status``, ``stop``, ``hi``.

To teach it a text, add the text here and to the table in tests/commands/test_reflexes.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from bot.messages.job_answers import Reflex

_LONGEST = 100
_MARKS = "?!.,;:…'\"`“”()[]*_~-/"
_POLITE = frozenset({"please", "pls", "plz"})
_NUMBER = "42"
"""Stands for any number in the phrases."""
_DAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_PHRASES = {  # "" is what is left of "??"
    Reflex.STATUS: (
        "status|state|progress|job|jobs|42|job 42|jobs 42|job status|jobs status|status job|status 42|"
        "job 42 status|status of 42|status of job 42|status update|status report|what is the status|"
        "what's the status|whats the status|what is the status of job 42|what's the status of job 42|"
        "any news|any update|any updates|how is it going|how's it going|is it done|is it done yet|"
        "is it ready|is it ready yet|are you done|are you done yet|are you there|jobs failed|jobs review|"
        "jobs reviewed|jobs done|jobs finished|jobs waiting|jobs running|jobs all|jobs today|jobs list|"
        "list|list jobs|list all jobs|show jobs|show my jobs|my jobs|all jobs|open jobs|failed jobs|"
        "running jobs|queue|show queue|history"
    ),
    Reflex.STOP: (
        "wait|hold on|hold on a second|pause|pause 42|never mind|nevermind|forget it|forget that|"
        "forget about it|stop working|stop watching|stop watching 42|stop watching job 42|withdraw|"
        "withdraw it|withdraw 42|withdraw job 42|halt"
    ),
    Reflex.PROJECT: "project|projects|list projects|show projects|which project|which projects",
    Reflex.LIMITS: "limit|limits|quota|my limits|show limits|uses|uses left|how many uses are left",
    Reflex.VISITORS: (
        "visitors|visitors last week|visitors this week|visitors last month|visitors this month|"
        "visitors today|visitors yesterday|visitors csv|visits|views|stats|statistics|analytics|subscribe|"
        "subscriptions|unsubscribe|digest|digest now"
    ),
    Reflex.HELP: (
        "|help|help me|help us|need help|i need help|can you help|can you help me|how|how to|how to use|"
        "how to use this|how do i use this|how does this work|how do you work|what can you do|"
        "what can i do|what can i ask|what do you do|what are you|who are you|what is this|command|"
        "commands|list commands|show commands|usage|man|h|menu|start"
    ),
    Reflex.GREETING: (
        "hi|hello|hey|hi there|hello there|hey there|hi bot|hello bot|hey bot|yo|hiya|howdy|good morning|"
        "good afternoon|good evening|good night|morning|bye|see you|how are you|lol|haha"
    ),
    Reflex.COMMAND: (
        "setting|settings|config|configure|configuration|preferences|options|setup|template|templates|"
        "search|find|login|log in|sign in|logout|log out|connect|admin|admins|users|members|version|"
        "whoami|info|ping|test|testing|debug|log|logs|reset|clear|export|import|retry|retry 42|rerun|"
        "rerun 42|restart|restart 42"
    ),
}


def _table() -> Mapping[str, Reflex]:
    verbs = ("stop", "cancel", "abort", "kill")
    whats = "| it| this| that| the job| job| job 42| 42| all| all jobs| everything"
    stops = {f"{verb}{what}": Reflex.STOP for verb in verbs for what in whats.split("|")}
    return stops | {phrase: reflex for reflex, said in _PHRASES.items() for phrase in said.split("|")}


_TABLE = _table()


def taken_for(text: str) -> Reflex | None:
    """Return what a whole plain text is taken for; None for a prompt.

    Marks around the words, capitals and "please" do not count. Takes linear time.
    """
    if len(text) > _LONGEST or not text.strip() or text.lstrip().startswith("!"):
        return None
    said = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    bare = [word.strip(_MARKS) or word.strip(_MARKS + "#") for word in said.split()]
    words = [word for word in bare if word and word not in _POLITE]
    shape = " ".join(_NUMBER if word.removeprefix("#").isdecimal() else word for word in words)
    return _TABLE.get(shape) or _of_two(words)


def _of_two(words: list[str]) -> Reflex | None:
    """Return what a command with a word of its own after it is taken for."""
    match words:
        case ["project", _]:
            return Reflex.PROJECT
        case ["search", _]:
            return Reflex.COMMAND
        case ["subscribe", day, *_] if day in _DAYS:
            return Reflex.VISITORS
        case _:
            return None

"""Whether a run kept the promises: nothing lost, nothing said twice, nothing in the wrong place.

Independent of the bot: it reads both sides' logs and books, the bot's log, and its tables as plain rows.

A rule is relaxed only where a fault of the run explains it, and each such case is counted:

* Slack refused for good what was to be said (a revoked token, an archived channel): the row is *dead*
  with that code, and whoever was to hear it may not have heard it, if the private word was refused too.
* A request whose answer was lost and that a person sent again may have been carried out twice.
* The service gave a wrong answer (404, a stale status, a bad address): the end that was told is that one.
* A private note through a response URL may come twice after an unclear answer.
"""

from __future__ import annotations

from tests.torture.checks import Checks
from tests.torture.record import Record
from tests.torture.rules_numbers import numbers
from tests.torture.rules_quiet import quiet
from tests.torture.rules_requests import requests
from tests.torture.rules_words import words
from tests.torture.seen import Seen


def check(record: Record) -> Checks:
    """All rules."""
    seen, checks = Seen(record), Checks()
    for rule in (requests, words, numbers, quiet):
        rule(seen, checks)
    return checks

"""Check that a run kept the bot's promises: nothing lost, nothing sent twice, nothing in the wrong place.

The checker is independent of the bot's code. It reads the logs and data of both sandbox services, the bot's
log, and the bot's tables as plain rows.

A rule is relaxed only if a fault of the run explains the failure, and each such case is counted:

* Slack refused a delivery for good (a revoked token, an archived channel). Its row is *dead* with that
  code, and its reader may know nothing if the private message was refused too.
* A request whose answer was lost and that a person sent again may have been carried out twice.
* The service gave a wrong answer (404, a stale status, a bad URL), and the bot reported that as the end.
* A private message through a response URL may arrive twice if its first answer was unclear.
"""

from __future__ import annotations

from tests.torture.checks import Checks
from tests.torture.record import Record
from tests.torture.record_index import RecordIndex
from tests.torture.rules_inbox import said_beside
from tests.torture.rules_messages import messages
from tests.torture.rules_pulls import pulls
from tests.torture.rules_questions import questions
from tests.torture.rules_quiet import quiet
from tests.torture.rules_requests import requests
from tests.torture.rules_visitors import visitors
from tests.torture.rules_weekly import weekly


def check(record: Record) -> Checks:
    """Apply all rules to a record and return the results."""
    index, checks = RecordIndex(record), Checks()
    for rule in (requests, said_beside, messages, pulls, visitors, weekly, questions, quiet):
        rule(index, checks)
    return checks

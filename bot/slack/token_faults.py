"""What Slack's codes say about a token or an id that is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class TokenFault(StrEnum):
    """What is wrong with a token."""

    UNKNOWN = "unknown"
    REVOKED = "revoked"
    EXPIRED = "expired"
    APP_REMOVED = "app removed"
    WRONG_KIND = "wrong kind"
    SCOPE_MISSING = "scope missing"


TOKEN_FAULTS: Mapping[str, TokenFault] = {
    "invalid_auth": TokenFault.UNKNOWN,
    "token_revoked": TokenFault.REVOKED,
    "token_expired": TokenFault.EXPIRED,
    "account_inactive": TokenFault.APP_REMOVED,
    "not_allowed_token_type": TokenFault.WRONG_KIND,
    "missing_scope": TokenFault.SCOPE_MISSING,
}
"""https://docs.slack.dev/reference/methods/auth.test"""
UNKNOWN_ID_CODES = frozenset({"user_not_found", "no_such_subteam", "channel_not_found"})
"""The codes with which Slack says that it does not know an id."""

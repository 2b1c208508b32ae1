"""Access of a user from Slack's user object; an unclear object grants none."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.access.model import Access, access_of
from bot.ids import UserId
from bot.slack.client import Identity, open_session
from bot.slack.messenger import SlackMessenger

OURS = {"id": "U0ANA", "team_id": "T0ACME"}


class OneUserClient(AsyncWebClient):
    """Returns one user object for everybody."""

    def __init__(self, user: dict[str, Any]) -> None:
        super().__init__(token="xoxb-none")
        self._user = user

    async def users_info(self, **_asked: Any) -> Any:
        return {"ok": True, "user": self._user}


WITHIN = {"id": "W0ANA", "team_id": "T0OTHER"}


def of(enterprise: str) -> dict[str, Any]:
    """Return somebody of another workspace in this organisation."""
    return {**WITHIN, "enterprise_user": {"enterprise_id": enterprise}}


@pytest.mark.parametrize(
    ("user", "organisation", "expected"),
    [
        (OURS | {}, None, Access.MEMBER),
        (OURS | {"is_restricted": True}, None, Access.GUEST),
        (OURS | {"is_restricted": True, "is_ultra_restricted": True}, None, Access.GUEST),
        (OURS | {"is_ultra_restricted": True}, None, Access.GUEST),
        (OURS | {"is_bot": True}, None, Access.BOT),
        (OURS | {"is_workflow_bot": True}, None, Access.BOT),
        (OURS | {"deleted": True}, None, Access.GONE),
        (OURS | {"is_stranger": True}, None, Access.STRANGER),
        (OURS | {"team_id": "T0OTHER"}, None, Access.STRANGER),
        (OURS | {"team_id": "T0OTHER", "is_stranger": False}, None, Access.STRANGER),
        (OURS | {"team_id": None}, None, Access.STRANGER),
        (OURS | of("E0ACME"), None, Access.STRANGER),
        (of("E0ACME"), "E0ACME", Access.MEMBER),
        (of("E0OTHER"), "E0ACME", Access.STRANGER),
        ({**OURS, "id": "USLACKBOT", "is_bot": False}, None, Access.BOT),
        ({}, None, Access.GONE),
    ],
)
async def test_only_people_of_this_workspace_are_members(
    user: dict[str, Any], organisation: str | None, expected: Access
) -> None:
    identity = Identity(UserId("U0BOT"), "docs-agent", "T0ACME", "https://acme", organisation)
    async with open_session() as session:
        messenger = SlackMessenger(
            OneUserClient(user), session, "https://slack.example/api/", identity
        )
        profile = await messenger.profile(UserId(user.get("id", "U0ANA")))
    assert access_of(profile) is expected

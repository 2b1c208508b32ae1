"""What Slack tells of somebody, as what they are to this workspace; unclear is a no."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.access.model import Access, access_of
from bot.ids import UserId
from bot.slack.client import Identity, open_session
from bot.slack.messenger import SlackMessenger

OURS = {"id": "U0ANA", "team_id": "T0ACME"}


class TellingClient(AsyncWebClient):
    """Tells one user object of everybody."""

    def __init__(self, user: dict[str, Any]) -> None:
        super().__init__(token="xoxb-none")
        self._user = user

    async def users_info(self, **_asked: Any) -> Any:
        return {"ok": True, "user": self._user}


async def access(told: dict[str, Any], user: str = "U0ANA", enterprise: str | None = None) -> Access:
    """What somebody is of whom Slack tells this."""
    identity = Identity(UserId("U0BOT"), "docs-agent", "T0ACME", "https://acme", enterprise)
    async with open_session() as session:
        messenger = SlackMessenger(TellingClient(told), session, "https://slack.example/api/", identity)
        return access_of(await messenger.profile(UserId(user)))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, Access.MEMBER),
        ({"is_restricted": True}, Access.GUEST),
        ({"is_restricted": True, "is_ultra_restricted": True}, Access.GUEST),
        ({"is_ultra_restricted": True}, Access.GUEST),
        ({"is_bot": True}, Access.BOT),
        ({"is_workflow_bot": True}, Access.BOT),
        ({"deleted": True}, Access.GONE),
        ({"is_stranger": True}, Access.STRANGER),
        ({"team_id": "T0OTHER"}, Access.STRANGER),
        ({"team_id": "T0OTHER", "is_stranger": False}, Access.STRANGER),
        ({"team_id": None}, Access.STRANGER),
        ({"team_id": "T0OTHER", "enterprise_user": {"enterprise_id": "E0ACME"}}, Access.STRANGER),
    ],
)
async def test_only_people_of_this_workspace_are_members(told: dict[str, Any], expected: Access) -> None:
    assert await access({**OURS, **told}) is expected


@pytest.mark.parametrize(
    ("enterprise", "expected"), [("E0ACME", Access.MEMBER), ("E0OTHER", Access.STRANGER)]
)
async def test_other_workspaces_of_the_same_organisation_are_ours(enterprise: str, expected: Access) -> None:
    told = {"id": "W0ANA", "team_id": "T0OTHER", "enterprise_user": {"enterprise_id": enterprise}}
    assert await access(told, enterprise="E0ACME") is expected


async def test_slackbot_is_a_bot_though_slack_does_not_say_so() -> None:
    told = {**OURS, "id": "USLACKBOT", "is_bot": False}
    assert await access(told, "USLACKBOT") is Access.BOT


async def test_somebody_of_whom_slack_tells_nothing_is_gone() -> None:
    assert await access({}) is Access.GONE

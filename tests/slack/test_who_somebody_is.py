"""What Slack tells of somebody, as what they are to this workspace; unclear is a no."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import Standing, UserId
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


async def standing(told: dict[str, Any], user: str = "U0ANA", enterprise: str | None = None) -> Standing:
    """What somebody is of whom Slack tells this."""
    identity = Identity(UserId("U0BOT"), "docs-agent", "B0BOT", "Acme", "T0ACME", "https://acme", enterprise)
    async with open_session() as session:
        messenger = SlackMessenger(TellingClient(told), session, "https://slack.example/api/", identity)
        return (await messenger.profile(UserId(user))).standing


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, Standing.MEMBER),
        ({"is_restricted": True}, Standing.GUEST),
        ({"is_restricted": True, "is_ultra_restricted": True}, Standing.GUEST),
        ({"is_bot": True}, Standing.BOT),
        ({"is_workflow_bot": True}, Standing.BOT),
        ({"deleted": True}, Standing.GONE),
        ({"is_stranger": True}, Standing.STRANGER),
        ({"team_id": "T0OTHER"}, Standing.STRANGER),
        ({"team_id": None}, Standing.STRANGER),
        ({"team_id": "T0OTHER", "enterprise_user": {"enterprise_id": "E0ACME"}}, Standing.STRANGER),
    ],
)
async def test_only_people_of_this_workspace_are_members(told: dict[str, Any], expected: Standing) -> None:
    assert await standing({**OURS, **told}) is expected


@pytest.mark.parametrize(
    ("enterprise", "expected"), [("E0ACME", Standing.MEMBER), ("E0OTHER", Standing.STRANGER)]
)
async def test_other_workspaces_of_the_same_organisation_are_ours(
    enterprise: str, expected: Standing
) -> None:
    told = {"id": "W0ANA", "team_id": "T0OTHER", "enterprise_user": {"enterprise_id": enterprise}}
    assert await standing(told, enterprise="E0ACME") is expected


async def test_slackbot_is_a_bot_though_slack_does_not_say_so() -> None:
    told = {**OURS, "id": "USLACKBOT", "is_bot": False}
    assert await standing(told, "USLACKBOT") is Standing.BOT


async def test_somebody_of_whom_slack_tells_nothing_is_gone() -> None:
    assert await standing({}) is Standing.GONE

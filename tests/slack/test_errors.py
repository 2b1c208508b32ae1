"""The one table of Slack's error codes, and that nothing outside ``bot/slack/`` knows any of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bot.model.ids import ChannelId, DeliveryId
from bot.model.message import Message
from bot.model.refusal import Refusal
from bot.slack.errors import MEANINGS, refused
from bot.slack.messenger import SlackMessenger
from bot.work.ports import SlackRefused
from sandbox.workspace import Workspace

BOT = Path(__file__).parents[2] / "bot"
SANDBOX = BOT.parent / "sandbox"

DECIDED = {
    "invalid_blocks": Refusal.BLOCKS,
    "invalid_blocks_format": Refusal.BLOCKS,
    "msg_blocks_too_long": Refusal.BLOCKS,
    "msg_blocks_too_many": Refusal.BLOCKS,
    "block_mismatch": Refusal.BLOCKS,
    "feature_disabled": Refusal.BLOCKS,
    "invalid_auth": Refusal.TOKEN,
    "not_authed": Refusal.TOKEN,
    "token_revoked": Refusal.TOKEN,
    "token_expired": Refusal.TOKEN,
    "account_inactive": Refusal.TOKEN,
    "missing_scope": Refusal.SCOPE,
    "not_in_channel": Refusal.NOT_A_MEMBER,
    "channel_not_found": Refusal.NOT_VISIBLE,
    "is_archived": Refusal.ARCHIVED,
    "restricted_action": Refusal.RESTRICTED,
    "restricted_action_read_only_channel": Refusal.RESTRICTED,
    "restricted_action_thread_only_channel": Refusal.RESTRICTED,
    "team_added_to_org": Refusal.PASSING,
}
PERMANENT = {
    "already_reacted",
    "cant_update_message",
    "exchanged_trigger_id",
    "expired_trigger_id",
    "file_not_found",
    "invalid_arguments",
    "invalid_cursor",
    "invalid_json",
    "invalid_metadata_format",
    "invalid_name",
    "invalid_trigger_id",
    "json_not_object",
    "message_not_found",
    "method_not_supported_for_channel_type",
    "msg_too_long",
    "no_such_subteam",
    "no_text",
    "not_allowed_token_type",
    "thread_not_found",
    "unknown_method",
    "user_not_found",
    "user_not_in_channel",
}
"""What else the sandbox's workspace can refuse with."""
NO_REFUSALS = {
    "fatal_error",
    "internal_error",
    "message_limit_exceeded",
    "rate_limited",
    "ratelimited",
    "request_timeout",
    "service_unavailable",
}
"""Codes that arrive as `SlackThrottled` or `SlackUnclear`."""


def trees(folder: Path) -> Iterator[tuple[Path, ast.AST]]:
    """Every node of a folder's code, with the file that it stands in."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield path, node


def strings(nodes: Iterable[ast.AST]) -> set[str]:
    """The strings that stand anywhere within these nodes."""
    within = (each for node in nodes for each in ast.walk(node))
    return {each.value for each in within if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def workspace_codes() -> set[str]:
    """The codes that the sandbox's workspace refuses with, read from its code."""
    found: list[ast.AST] = []
    for _, node in trees(SANDBOX / "workspace"):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("ApiError", "BadTrigger"):
            found += node.args[:1]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_own_message":
            found += [each.value for each in node.keywords if each.arg == "otherwise"]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bad":
            found.append(node.value)
    return strings(found) - {"blocks"}


@pytest.mark.parametrize(("code", "meaning"), DECIDED.items())
async def test_a_code_from_slack_arrives_as_its_meaning(
    workspace: Workspace, messenger: SlackMessenger, code: str, meaning: Refusal
) -> None:
    workspace.faults.order([{"method": "chat.postMessage", "fault": f"error:{code}"}])
    with pytest.raises(SlackRefused) as error:
        await messenger.post(
            ChannelId("C01DOCS"), Message("Hello"), delivery=DeliveryId("delivery-1"), thread=None
        )
    assert (error.value.code, error.value.meaning) == (code, meaning)


def test_every_meaning_of_the_table_is_decided_here() -> None:
    assert MEANINGS == DECIDED
    assert set(DECIDED.values()) | {Refusal.PERMANENT, Refusal.BETWEEN_PEOPLE} == set(Refusal)


@pytest.mark.parametrize("code", sorted(PERMANENT | {"a_code_of_next_year", ""}))
def test_every_other_code_is_permanent(code: str) -> None:
    assert refused(code).meaning is Refusal.PERMANENT


def test_each_code_of_the_workspace_has_a_meaning_here() -> None:
    assert workspace_codes() - DECIDED.keys() == PERMANENT


def test_no_other_room_knows_a_code_of_slack() -> None:
    found = {
        (str(path.relative_to(BOT)), node.value)
        for path, node in trees(BOT)
        if isinstance(node, ast.Constant)
        and node.value in DECIDED.keys() | PERMANENT | NO_REFUSALS
        and not path.is_relative_to(BOT / "slack")
    }
    # A field of a channel has the name of a code.
    found.discard(("cli/doctor_slack.py", "is_archived"))
    assert found == set()

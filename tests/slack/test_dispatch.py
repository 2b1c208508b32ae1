"""Each request finds its listener, and what has none is left to Bolt."""

from __future__ import annotations

from typing import Any

import pytest
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.slack.dispatch import Body, Dispatch, Kind, Listener

LEFT = BoltResponse(status=404, body="left to Bolt")


def saying(name: str) -> Listener:
    """Return a listener that says its name."""

    async def listener(_body: Body) -> Body:
        return {"said": name}

    return listener


async def response(dispatch: Dispatch, body: dict[str, Any]) -> BoltResponse:
    """As Bolt asks its middleware."""

    async def left() -> BoltResponse:
        return LEFT

    asked = AsyncBoltRequest(body=body, mode="socket_mode")
    said = await dispatch.async_process(req=asked, resp=BoltResponse(status=200), next=left)
    assert said is not None
    return said


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (Kind.COMMAND, {"command": "one"}),
        (Kind.BUTTON, {"type": "block_actions", "actions": [{"action_id": "one"}]}),
        (Kind.FORM, {"type": "view_submission", "view": {"callback_id": "one"}}),
        (Kind.SHORTCUT, {"type": "shortcut", "callback_id": "one"}),
        (Kind.SHORTCUT, {"type": "message_action", "callback_id": "one"}),
        (Kind.EVENT, {"type": "event_callback", "event": {"type": "one"}}),
    ],
)
async def test_a_request_goes_to_the_listener_of_its_kind_and_name(kind: Kind, body: dict[str, Any]) -> None:
    dispatch = Dispatch()
    for each in Kind:
        dispatch.add(each, "two", saying("another name"))
        if each is not kind:
            dispatch.add(each, "one", saying("another kind"))
            dispatch.add_for_others(each, saying("others of another kind"))
    assert await response(dispatch, body) is LEFT
    dispatch.add_for_others(kind, saying("others"))
    said = await response(dispatch, body)
    assert (said.status, said.body) == (200, '{"said": "others"}')
    dispatch.add(kind, "one", saying("the one"))
    said = await response(dispatch, body)
    assert (said.status, said.body) == (200, '{"said": "the one"}')


def test_a_name_has_one_listener() -> None:
    dispatch = Dispatch()
    dispatch.add(Kind.BUTTON, "one", saying("first"))
    dispatch.add(Kind.FORM, "one", saying("another kind"))
    with pytest.raises(ValueError, match="the button 'one' has two listeners"):
        dispatch.add(Kind.BUTTON, "one", saying("second"))


@pytest.mark.parametrize("body", [{}, {"type": "url_verification"}, {"type": "view_closed"}])
async def test_what_nobody_listens_for_is_left_to_bolt(body: dict[str, Any]) -> None:
    dispatch = Dispatch()
    for kind in Kind:
        dispatch.add_for_others(kind, saying("others"))
    assert await response(dispatch, body) is LEFT


async def test_a_listener_that_returns_nothing_acknowledges_with_nothing() -> None:
    async def nothing(_body: Body) -> None:
        return None

    dispatch = Dispatch()
    dispatch.add(Kind.COMMAND, "one", nothing)
    said = await response(dispatch, {"command": "one"})
    assert (said.status, said.body) == (200, "")

"""Whatever readers write is a harmless quote in a digest's list, in its forms and in what came of it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import httpx
import pytest

from bot.commands.command import FormState
from bot.messages.blocks import Action
from bot.model.ids import Message
from tests.builders import ANA
from tests.messages.slack_limits import Allowed, modal_problems, problems_of
from tests.work.office import Office
from tests.work.visitors.test_misses import HOSTILE, buttons_of, searches
from tests.work.weekly import DAY, MONDAY, subscribed, until

FIRST, SECOND = datetime(2026, 11, 9, 9, tzinfo=UTC), datetime(2026, 11, 16, 9, tzinfo=UTC)
SECRETS = ("ana@", "evil.example/x", "abc123def456", "hunter2")


def readers_who_often_write(text: str) -> dict[str, dict[str, object]]:
    """What the service answers of readers who write this wherever they can, and often."""
    row = {"searchQuery": text, "hits": 41, "ctr": 0, "topClickedPage": text}
    votes = {"path": text, "thumbsUp": 1, "thumbsDown": 12, "code": 0, "total": 13}
    turn = {"id": "1", "query": text, "resolutionStatus": "unanswered", "pageUrl": text}
    said = {"id": "1", "path": text, "comment": text, "source": "contextual"}
    return {
        "searches": {**searches(("b", 1, 0)), "searches": [row]},
        "by-page": {"feedback": [votes], "hasMore": False},
        "feedback": {"feedback": [said], "hasMore": False},
        "assistant": {
            "conversations": [{**turn, "queryCategory": each} for each in (text, None) for _ in range(3)],
            "hasMore": False,
        },
    }


def harmless(message: Message) -> Message:
    """Fail if Slack refused a message, if it pinged or linked, or named a secret. Return it."""
    assert problems_of(message, Allowed((ANA,))) == []
    said = str((message.text, message.blocks, message.plain_blocks))
    assert not [secret for secret in SECRETS if secret in said]
    return message


@pytest.mark.parametrize("texts", [(HOSTILE * 2)[at : at + 4] for at in range(0, len(HOSTILE), 4)])
async def test_hostile_words_are_harmless_in_a_digest_and_in_what_came_of_it(
    office: Office, texts: tuple[str, ...]
) -> None:
    office.docs.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    for at, kind in enumerate(readers_who_often_write("")):
        answer = readers_who_often_write(texts[at])[kind]
        office.docs.answer_instead(kind, *[httpx.Response(200, content=json.dumps(answer))] * 2)
    await subscribed(office)
    await until(office, FIRST)
    digest = harmless(office.slack.posts[-1].message)
    values = [each for each in buttons_of(digest) if not each.startswith("page:")]
    assert values
    for at, value in enumerate(values):
        modal = (await office.press(Action.IMPROVE_MISS, value)).modal
        assert modal is not None
        assert modal_problems(modal) == []
        assert len(modal["private_metadata"]) < 2_000
        prompt = modal["blocks"][0]["element"]["initial_value"]
        state = FormState.loads(modal["private_metadata"])
        quoted = prompt.partition("\n\n")[2].rpartition("\n\n")[0]
        assert all(line.startswith("> ") for line in quoted.splitlines())
        assert "elete" not in re.sub("“[^“”]*”", "", prompt.partition("\n")[0])
        assert await office.submits("ask", state, prompt=f"Improve {at}") is None
    await office.settle(1.0)
    await until(office, SECOND)
    told = harmless(office.slack.posts[-1].message)
    assert told.text.count("asked for <!date^") == len(values)
    titles = [(await office.job(at + 1)).about for at in range(len(values))]
    assert all(each is not None and 0 < len(each.title) <= 80 for each in titles)

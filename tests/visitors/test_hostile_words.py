"""Whatever readers write is a harmless quote in a digest and in its forms."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.talk import Talk
from tests.visitors.test_content_gaps import HOSTILE, check_prompt, form_of, harmless, rows
from tests.work.readers import DAY, MONDAY, digests, searches, subscribe, until


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


@pytest.mark.parametrize("texts", [(HOSTILE * 2)[at : at + 4] for at in range(0, len(HOSTILE), 4)])
async def test_hostile_words_are_harmless_in_a_digest_and_in_its_forms(
    talk: Talk, texts: tuple[str, ...]
) -> None:
    talk.service.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    for at, kind in enumerate(readers_who_often_write("")):
        answer = readers_who_often_write(texts[at])[kind]
        talk.service.answer_instead(kind, *[httpx.Response(200, content=json.dumps(answer))] * 2)
    await subscribe(talk)
    await until(talk, 9)
    found = rows(harmless(digests(talk)[-1]))
    words = [row for row in found if "page:" not in row.message["blocks"][0]["accessory"]["value"]]
    assert words
    for at, row in enumerate(words):
        check_prompt(await form_of(talk, row, talk.ben))
        assert len(talk.ben.form().message["private_metadata"]) < 2_000
        assert await talk.ben.fills_in(prompt=f"Improve {at}") == {}
    await talk.time.passes(60)
    assert digests(talk)[-1].count("asked for it") == len(words)
    talk.everything()

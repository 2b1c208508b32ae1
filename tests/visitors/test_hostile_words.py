"""Texts of readers are harmless quotes in a digest and in its forms."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.talk import Talk
from tests.visitors.test_content_gaps import (
    HOSTILE,
    check_prompt,
    form_of,
    harmless,
    readers_who_write,
    rows,
)
from tests.work.readers import DAY, MONDAY, digests, subscribe, until


@pytest.mark.parametrize("texts", [(HOSTILE * 2)[at : at + 4] for at in range(0, len(HOSTILE), 4)])
async def test_hostile_texts_are_harmless_in_a_digest(talk: Talk, texts: tuple[str, ...]) -> None:
    talk.service.site.read("/quickstart", MONDAY, MONDAY + 6 * DAY, people=60, agents=40)
    for at, kind in enumerate(readers_who_write("")):
        answer = readers_who_write(texts[at])[kind]
        talk.service.answer_instead(kind, *[httpx.Response(200, content=json.dumps(answer))] * 2)
    await subscribe(talk)
    await until(talk, 9)
    offered = rows(harmless(digests(talk)[-1]))
    quoting = [
        row for row in offered if "page:" not in row.message["blocks"][0]["accessory"]["value"]
    ]
    assert quoting
    for at, row in enumerate(quoting):
        check_prompt(await form_of(talk, row, talk.ben))
        assert len(talk.ben.form().message["private_metadata"]) < 2_000
        assert await talk.ben.fills_in(prompt=f"Improve {at}") == {}
    await talk.time.passes(60)
    assert digests(talk)[-1].count("asked for it") == len(quoting)
    talk.everything()

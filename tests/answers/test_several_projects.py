"""Questions about several docs: each project has its own conversation in a thread."""

from __future__ import annotations

import json

from tests.services import ASSISTANT_KEY, DOMAIN, answer_stream
from tests.talk import Talk

PROJECTS = {
    name: {
        "id": f"{name}-docs",
        "label": name.title(),
        "assistant_key": ASSISTANT_KEY,
        "assistant_domain": DOMAIN,
    }
    for name in ("acme", "beta")
}


async def test_conversation_id_goes_to_its_own_project_alone(talk: Talk) -> None:
    del talk.process.settings["ASSISTANT_KEY"]
    del talk.process.settings["ASSISTANT_DOMAIN"]
    await talk.process.starts(docs_projects=json.dumps(PROJECTS))
    talk.service.answer = answer_stream("Press *Rotate*.", thread="of-acme")
    asked = await talk.ana.says("@docs-agent project:acme How do I rotate a key?")
    await talk.time.passes()
    talk.service.answer = answer_stream("Press *Turn*.", thread="of-beta")
    await talk.ben.replies("@docs-agent project:beta How do I turn a key?", asked)
    await talk.time.passes()
    await talk.ben.replies("@docs-agent project:acme How often do I rotate it?", asked)
    await talk.time.passes()
    await talk.ben.replies("@docs-agent project:beta How often do I turn it?", asked)
    await talk.time.passes()
    assert talk.service.questions == [
        ("How do I rotate a key?", None),
        ("How do I turn a key?", None),
        ("How often do I rotate it?", "of-acme"),
        ("How often do I turn it?", "of-beta"),
    ]
    talk.everything()

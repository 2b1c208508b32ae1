"""One reference finds a request in the log: its prompt, its deliveries, the service's job, Slack's answer."""

from __future__ import annotations

import json

from tests.talk import Talk


async def test_one_reference_leads_from_the_request_to_slacks_answer(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.ana.asks("Add a page on keys")
    talk.process.dies()  # the next process knows the reference from the rows
    await talk.process.starts()
    await talk.time.passes()
    lines = [json.loads(line) for line in talk.log()]
    [stored] = [line for line in lines if line["event"] == "prompt_stored"]
    by_event = {
        line["event"]: line for line in reversed(lines) if line.get("request") == stored["request"]
    }
    assert by_event["prompt_sent"]["service_job"]
    status = by_event["delivery_sent"]
    assert (status["kind"], status["job"], bool(status["ts"])) == (
        "root",
        by_event["prompt_sent"]["job"],
        True,
    )
    assert "Add a page on keys" not in str(lines)
    talk.status()

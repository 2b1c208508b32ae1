"""One reference finds a request in the log: its prompt, its deliveries, the service's job, Slack's answer."""

from __future__ import annotations

import json

import httpx

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
        "status",
        by_event["prompt_sent"]["job"],
        True,
    )
    assert "Add a page on keys" not in str(lines)
    talk.status()


async def _reasons(talk: Talk, event: str) -> list[str]:
    """Return the reasons of the lines about an event."""
    lines = [json.loads(line) for line in talk.log() if line.startswith("{")]
    return [line["reason"] for line in lines if line["event"] == event]


async def test_line_about_the_docs_service_has_its_reason(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started("Add a page on keys")
    talk.service.answer_instead("get", httpx.ConnectError("name is not known"))
    await talk.time.passes(60)
    assert await _reasons(talk, "docs_service_unwell") == [
        "Unavailable: The service cannot be reached: ConnectError name is not known"
    ]
    talk.service.answer_instead(
        "get", httpx.Response(500, json={"error": "disk full, key docs-key-of-talk"})
    )
    await talk.time.passes(300)
    assert await _reasons(talk, "job_not_read") == [
        "Unavailable: disk full, key [hidden] (HTTP 500)"
    ]
    talk.everything()


async def test_line_about_a_refused_prompt_has_none_of_its_words(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    quoting = {"error": "The words of project Nightingale are not allowed"}
    talk.service.answer_instead("create", httpx.Response(400, json=quoting))
    await talk.started("Write about the launch: the words of project Nightingale")
    lines = talk.log()
    assert "Nightingale" not in "\n".join(lines)
    assert [json.loads(line)["reason"] for line in lines if "prompt_not_accepted" in line] == [
        "Rejected: the service's own words (HTTP 400)"
    ]
    assert "Nightingale" in talk.everything()

"""Searches, pages and answers of the discovery API, over the pages of the main branch."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from bot.docs_api import DiscoveryClient, Unavailable
from sandbox.docs_service import DocsService, DocsServiceOptions
from tests.sandbox.docs_service.caller import Caller, HeldClock, Reply

KEY = "sandbox_dsc_key"
SEARCH, PAGE, ANSWER = "v1/search/acme", "v1/page/acme", "v2/assistant/acme/message"
ROTATE = "How do I rotate an API key?"


async def discover(caller: Caller, operation: str, /, key: str | None = KEY, **body: Any) -> Reply:
    return await caller.with_key(key).request("POST", f"/discovery/{operation}", json=body)


async def ask_assistant(caller: Caller, question: str, **more: Any) -> Reply:
    message = {"id": "1", "role": "user", "parts": [{"type": "text", "text": question}]}
    return await discover(caller, ANSWER, fp="anonymous", messages=[message], **more)


def parts_of(reply: Reply) -> list[dict[str, Any]]:
    *events, done, end = reply.text.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


def text_of(parts: list[dict[str, Any]]) -> str:
    return "".join(part["delta"] for part in parts if part["type"] == "text-delta")


async def write_page(caller: Caller, clock: HeldClock, prompt: str) -> None:
    job = (await caller.ask(prompt)).json["id"]
    clock.forward(7)
    pull = (await caller.job(job)).json["prLink"].removeprefix(caller.base_url)
    assert (await caller.request("POST", f"{pull}/merge")).status == 303
    clock.forward(3)


async def test_search_returns_passages_best_first(caller: Caller) -> None:
    found = (await discover(caller, SEARCH, query="rate limits of the free plan", pageSize=2)).json
    assert len(found) == 2
    assert found[0]["path"] == f"{caller.base_url}/acme-docs/docs/rate-limits"
    assert found[0]["metadata"]["title"] == "Rate limits"
    assert "| Free | 60 |" in found[0]["content"]


async def test_search_without_a_match_returns_nothing(caller: Caller) -> None:
    for query in ("Does single sign-on work with our identity provider?", "?!", "the", "how do i"):
        assert (await discover(caller, SEARCH, query=query)).json == []
    some = (await discover(caller, SEARCH, query="single sign-on keys", scoreThreshold=0)).json
    assert len(some) > len(
        (await discover(caller, SEARCH, query="single sign-on keys", scoreThreshold=1)).json
    )


@pytest.mark.parametrize(
    "query", ['x" OR "y', "a* NEAR(b c)", "-title:key ^key", "ключ 鍵 😀", "w" * 500]
)
async def test_search_takes_any_text(caller: Caller, query: str) -> None:
    assert (await discover(caller, SEARCH, query=query)).status == 200
    many = " ".join(f"{query}{number}" for number in range(500))
    assert (await discover(caller, SEARCH, query=many)).status == 200


async def test_page_is_found_by_the_path_of_a_search_and_opens(caller: Caller) -> None:
    path = (await discover(caller, SEARCH, query="install the Python SDK")).json[0]["path"]
    page = (await discover(caller, PAGE, path=path)).json
    assert page["path"] == path
    assert page["content"].startswith("# Python SDK\n")
    shown = await caller.request("GET", path.removeprefix(caller.base_url))
    assert "<h1>Python SDK</h1>" in shown.text
    assert (await discover(caller, PAGE, path="/sdks/python")).json["content"] == page["content"]
    missing = await discover(caller, PAGE, path="/sdks/rust")
    assert (missing.status, list(missing.json)) == (404, ["message"])
    assert (await caller.request("GET", "/acme-docs/docs/sdks/rust")).status == 404


async def test_merged_page_is_live_three_seconds_after_its_merge(
    caller: Caller, clock: HeldClock
) -> None:
    await write_page(caller, clock, "Add a guide on rotating API keys")
    [found] = (await discover(caller, SEARCH, query="Rotating API keys", pageSize=1)).json
    clock.forward(-0.1)
    for path in (found["path"], "/guides/rotating-api-keys"):
        assert (await discover(caller, PAGE, path=path)).status == 404
    assert (await caller.request("GET", "/acme-docs/docs/guides/rotating-api-keys")).status == 404
    clock.forward(0.1)
    page = (await discover(caller, PAGE, path="/guides/rotating-api-keys")).json
    assert page["content"].startswith("# Rotating API keys\n")


async def test_faults_keep_pages_from_going_live_and_searches_from_finding(
    caller: Caller, clock: HeldClock
) -> None:
    await write_page(caller, clock, "Add a guide on rotating API keys")
    orders = [
        {"match": "page", "fault": "never_live"},
        {"match": "search", "fault": "finds_nothing"},
    ]
    await caller.request("POST", "/sandbox/faults", json={"next": orders})
    assert (await discover(caller, PAGE, path="/guides/rotating-api-keys")).status == 404
    assert (await discover(caller, SEARCH, query="Rotating API keys")).json == []
    assert (await discover(caller, PAGE, path="/guides/rotating-api-keys")).status == 200
    assert (await discover(caller, SEARCH, query="Rotating API keys")).json


async def test_answer_streams_a_passage_and_its_sources(caller: Caller) -> None:
    reply = await ask_assistant(caller, "What is the rate limit on the free plan?")
    assert reply.headers["Content-Type"].startswith("text/event-stream")
    parts = parts_of(reply)
    assert (parts[0]["type"], parts[-1]["type"]) == ("start", "finish")
    sources = [part for part in parts if part["type"] == "source-url"]
    assert sources[0]["url"] == f"{caller.base_url}/acme-docs/docs/rate-limits"
    assert sources[0]["url"] in text_of(parts)
    assert "| Plan |" in text_of(parts)


@pytest.mark.parametrize(
    "prompt", [f"Readers ask: “{ROTATE}” Write the page.", "Add a guide on rotating API keys"]
)
async def test_how_to_question_is_answered_by_the_steps_of_a_merged_page(
    caller: Caller, clock: HeldClock, prompt: str
) -> None:
    before = text_of(parts_of(await ask_assistant(caller, ROTATE)))
    await write_page(caller, clock, prompt)
    after = text_of(parts_of(await ask_assistant(caller, ROTATE)))
    assert "/guides/rotat" not in before
    link, _, steps = after.partition("\n\n")
    assert re.fullmatch(r"\[Rotat\w+ (an )?API keys?\]\(\S+/guides/rotat[\w-]+\), “Steps”:", link)
    assert steps.startswith("1. Store your test key")


@pytest.mark.parametrize(
    ("question", "page", "section"),
    [
        ("What is the rate limit on the free plan?", "rate-limits", ""),
        ("Can I change a shipment?", "faq", "Can I change a shipment?"),
        ("How do I keep keys safe?", "authentication", "Keep keys safe"),
        ("How do I install the Python SDK?", "sdks/python", "Install"),
        ("How do I print a label?", "quickstart", "3. Print the label"),
        ("How do webhooks work?", "webhooks", ""),
        ("What does a 403 mean?", "errors", "Status codes"),
        ("Where is the quickstart?", "quickstart", ""),
        ("How do I start?", "quickstart", "Before you start"),
        ("Where is the quickstart for curl?", "quickstart", "Before you start"),
        ("Is there an SDK guide for Go?", "sdks/go", "Install"),
        ("Is there a free plan in the FAQ?", "faq", "Is there a free plan?"),
    ],
)
async def test_answer_is_the_section_that_fits(
    caller: Caller, question: str, page: str, section: str
) -> None:
    answer = text_of(parts_of(await ask_assistant(caller, question)))
    url = f"{caller.base_url}/acme-docs/docs/{page}"
    where = f"({url}), “{section}”:" if section else f"({url}):"
    assert where in answer.partition("\n\n")[0]
    [found, *_] = (await discover(caller, SEARCH, query=question)).json
    assert (found["path"], found["metadata"]["heading"]) == (url, section)


@pytest.mark.parametrize(
    "question",
    [
        "Can I export everything as CSV?",  # one of three words
        "Is there a page about SAML?",
        "Is there an API for invoices?",
        "Where is the quickstart for Ruby?",
        "Where is the section?",
    ],
)
async def test_question_about_nothing_in_the_docs_has_no_answer(
    caller: Caller, question: str
) -> None:
    parts = parts_of(await ask_assistant(caller, question))
    assert text_of(parts) == "I could not find anything about this in the documentation."


async def test_merged_quickstart_is_found_before_the_page_about_its_subject(
    caller: Caller, clock: HeldClock
) -> None:
    await write_page(caller, clock, "Add a quickstart for the Python SDK")
    [found] = (await discover(caller, SEARCH, query="the Python quickstart", pageSize=1)).json
    assert found["metadata"]["title"] == "Python SDK quickstart"


async def test_list_of_links_is_no_answer(caller: Caller, clock: HeldClock) -> None:
    await write_page(caller, clock, "Add a guide on rotating API keys")
    found = (await discover(caller, SEARCH, query=ROTATE, pageSize=50, scoreThreshold=0)).json
    headings = {one["metadata"]["heading"] for one in found}
    assert "Steps" in headings
    assert "Next steps" not in headings


async def test_answer_continues_its_thread(caller: Caller) -> None:
    thread = parts_of(await ask_assistant(caller, "How do I install the SDK?"))[-1]["threadId"]
    alone = text_of(parts_of(await ask_assistant(caller, "Really?")))
    assert alone == "I could not find anything about this in the documentation."
    parts = parts_of(await ask_assistant(caller, "Really?", threadId=thread))
    assert parts[-1]["threadId"] == thread
    assert "Install" in text_of(parts)


async def test_answer_is_listed_among_the_questions_to_the_assistant(
    caller: Caller, clock: HeldClock
) -> None:
    parts = parts_of(await ask_assistant(caller, ROTATE))
    clock.forward(1)
    listed = await caller.request("GET", "/v1/analytics/acme-docs/assistant?limit=1")
    turn = listed.json["conversations"][0]
    assert (turn["id"], turn["query"], turn["response"]) == (
        parts[-1]["threadId"],
        ROTATE,
        text_of(parts),
    )
    yesterday = await caller.request(
        "GET", "/v1/analytics/acme-docs/assistant?dateTo=2026-10-14&limit=1000"
    )
    assert all(turn["id"] != parts[-1]["threadId"] for turn in yesterday.json["conversations"])


@pytest.mark.parametrize("fault", ["cut_answer", "lost_answer"])
async def test_stream_breaks_off_in_its_middle_on_request(caller: Caller, fault: str) -> None:
    await caller.order_fault(match="answer", fault=fault)
    with pytest.raises(aiohttp.ClientError):
        await ask_assistant(caller, ROTATE)
    assert parts_of(await ask_assistant(caller, ROTATE))


@pytest.mark.parametrize("fault", ["odd_status", "bad_pr_link", "stale_status"])
async def test_answers_without_fields_of_a_job_stay_as_they_are(caller: Caller, fault: str) -> None:
    await caller.order_fault(match="any", fault=fault, times=2)
    reply = await ask_assistant(caller, "What is the rate limit on the free plan?")
    assert (reply.status, parts_of(reply)[-1]["type"]) == (200, "finish")
    found = await discover(caller, SEARCH, query="rate limits")
    assert found.json[0]["path"] == f"{caller.base_url}/acme-docs/docs/rate-limits"
    assert [call["fault"] for call in await caller.log()] == [fault, fault]


async def test_stream_ends_with_an_error_on_request(caller: Caller) -> None:
    await caller.order_fault(match="answer", fault="error_part")
    parts = parts_of(await ask_assistant(caller, ROTATE))
    assert parts[-1] == {"type": "error", "errorText": "The model is overloaded."}


async def test_the_bots_client_reads_answers_and_their_faults(caller: Caller) -> None:
    client = DiscoveryClient(
        "acme", base_url=f"{caller.base_url}/discovery", api_key=SecretStr(KEY)
    )
    async with client:
        [passage] = await client.search("install the Python SDK", limit=1)
        assert "pip install" in await client.page(passage.path)
        reply = await client.ask("How do I install the Python SDK?", key="1")
        assert "pip install" in reply.text
        assert reply.sources[0].url == passage.path
        again = await client.ask("Really?", key="2", thread_id=reply.thread_id)
        assert again.thread_id == reply.thread_id
        for fault in ("cut_answer", "error_part", "broken_json", "502_html", "lost_answer", "500"):
            await caller.order_fault(match="answer", fault=fault)
            with pytest.raises(Unavailable):
                await client.ask(ROTATE, key="3")


@pytest.mark.parametrize("path", [SEARCH, PAGE, ANSWER])
async def test_discovery_takes_its_own_key_and_domain_only(caller: Caller, path: str) -> None:
    for key in (None, "sandbox_key", "wrong"):
        assert (await discover(caller, path, key)).status == 401
    assert (await caller.with_key(KEY).job("job_1")).status == 401
    other = await discover(caller, path.replace("acme", "other"))
    assert (other.status, list(other.json)) == (404, ["message"])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SEARCH, {"query": ""}),
        (SEARCH, {"query": "keys", "pageSize": 51}),
        (SEARCH, {"query": "keys", "scoreThreshold": 2}),
        (PAGE, {"path": ""}),
        (ANSWER, {"fp": "a", "messages": []}),
        (ANSWER, {"fp": "a", "messages": [{"id": "1", "role": "robot", "parts": []}]}),
        (
            ANSWER,
            {"messages": [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "a"}]}]},
        ),
    ],
)
async def test_wrong_body_is_refused(caller: Caller, path: str, body: dict[str, Any]) -> None:
    refused = await discover(caller, path, **body)
    assert (refused.status, list(refused.json)) == (400, ["error"])


async def test_calls_of_an_hour_are_limited(options: DocsServiceOptions, clock: HeldClock) -> None:
    service = DocsService(replace(options, discovery_calls_an_hour=1), clock)
    async with aiohttp.ClientSession() as session:
        caller = Caller(session, await service.start())
        assert (await discover(caller, SEARCH, query="keys")).status == 200
        refused = await discover(caller, SEARCH, query="keys")
        assert (refused.status, refused.headers["Retry-After"]) == (429, "3600")
        assert (await ask_assistant(caller, ROTATE)).status == 200
    await service.stop()

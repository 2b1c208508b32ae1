"""Askers are told when the page is in the live docs, which comes some time after the merge."""

from __future__ import annotations

import httpx
import pytest

from tests.answers.conftest import QUESTION, asks, drafts, merges
from tests.services import LINK, changed_file
from tests.talk import Talk
from tests.talk_people import Shown

ADDRESS = "https://docs.example/guides/rotate"
PATCH = """@@ -0,0 +1,5 @@
+---
+title: Rotate an API key
+---
+
+Press *Rotate* twice, and store the new [key](/keys)."""
LIVE = "Press Rotate twice, and store the new key."
FOUND = {"content": "Press", "path": ADDRESS, "metadata": {"title": "Rotate an API key"}}
IN_DOCS = f"It's in the docs now: <{ADDRESS}|Rotate an API key>"
NOT_SEEN = f"The change is merged; I can't see it in the docs yet: <{LINK}|Pull request #7>"


@pytest.fixture
async def talk(talk: Talk) -> Talk:
    """Return a conversation in which Ben drafts the page that Ana's question lacks."""
    talk.github.files = [
        changed_file("docs/guides/rotate.mdx", PATCH, status="added"),
        changed_file("docs/docs.json", "@@ -3 +3 @@\n+guides/rotate"),
    ]
    return talk


async def drafted(talk: Talk) -> None:
    """Let Ana ask, and Ben note the gap and draft its page."""
    await talk.ben.presses("Didn't help", await asks(talk))
    await drafts(talk)
    talk.everything()


def publishes(talk: Talk, *, is_searched: bool = True, text: str = LIVE) -> None:
    """Let the page go live, and the search find it."""
    talk.service.pages |= {"guides/rotate": text, ADDRESS: text}
    talk.service.passages = [FOUND] if is_searched else []


def notices(talk: Talk) -> list[Shown]:
    """Return the notices in threads to people whose questions are answered."""
    return [reply for reply in talk.all_replies() if "you asked (" in reply]


async def test_asker_is_told_once_the_page_is_live_and_gets_its_link(talk: Talk) -> None:
    await drafted(talk)
    await merges(talk)
    assert notices(talk) == []
    assert await talk.ana.answer_to("/docs-agent gaps") == "No open questions here."
    publishes(talk)
    await talk.time.passes(hours=1)
    [notice] = notices(talk)
    assert notice.startswith(f"<@{talk.ana.id}> you asked (")
    assert notice.endswith(f"“{QUESTION}” {IN_DOCS}")
    looks = talk.service.calls.count("page")
    await talk.time.passes(days=2)
    assert len(notices(talk)) == 1
    assert talk.service.calls.count("page") == looks


async def test_thread_of_the_question_has_no_other_message_about_the_merge(talk: Talk) -> None:
    await drafted(talk)
    before = len(talk.all_replies())
    publishes(talk)
    await merges(talk)
    assert len(talk.all_replies()) == before + 1
    assert notices(talk)[0].endswith(IN_DOCS)
    assert ":white_check_mark: *Merged*" in talk.everything()


async def test_page_of_before_is_not_taken_for_the_new_one(talk: Talk) -> None:
    talk.github.files = [
        changed_file("docs/guides/rotate.mdx", "@@ -9 +9 @@\n-Press once.\n+Press Rotate twice.")
    ]
    await drafted(talk)
    publishes(talk, text="# Rotate\n\nPress once.")
    await merges(talk)
    await talk.time.passes(hours=3)
    assert notices(talk) == []
    publishes(talk, text="# Rotate\n\nPress Rotate **twice**.")
    await talk.time.passes(hours=2)
    assert notices(talk)[0].endswith(IN_DOCS)


async def test_page_that_no_search_finds_has_its_title_beside_the_pull_request(talk: Talk) -> None:
    await drafted(talk)
    publishes(talk, is_searched=False)
    await merges(talk)
    [notice] = notices(talk)
    assert notice.endswith(f"It's in the docs now: “Rotate an API key” (<{LINK}|Pull request #7>)")


async def test_page_is_found_by_a_search_where_its_path_differs(talk: Talk) -> None:
    await drafted(talk)
    publishes(talk)
    del talk.service.pages["guides/rotate"]
    await merges(talk)
    assert notices(talk)[0].endswith(IN_DOCS)


async def test_page_that_the_assistant_had_cited_is_linked(talk: Talk) -> None:
    [page, _] = talk.github.files
    page["filename"] = "docs/keys.mdx"
    await drafted(talk)
    talk.service.pages |= {"https://docs.example/keys": LIVE}
    await merges(talk)
    assert notices(talk)[0].endswith(
        "It's in the docs now: <https://docs.example/keys|Rotate an API key>"
    )


async def test_other_page_with_the_same_words_is_not_taken_for_it(talk: Talk) -> None:
    await drafted(talk)
    other = {"content": "x", "path": "https://docs.example/other", "metadata": {"title": "Other"}}
    talk.service.passages = [other]
    talk.service.pages |= {"https://docs.example/other": LIVE}
    await merges(talk)
    assert notices(talk) == []
    publishes(talk)
    talk.service.passages = [other, FOUND]
    await talk.time.passes(hours=1)
    assert notices(talk)[0].endswith(IN_DOCS)


async def test_page_that_is_not_seen_for_a_day_is_said_to_be_merged(talk: Talk) -> None:
    await drafted(talk)
    await merges(talk)
    await talk.time.passes(hours=23)
    assert notices(talk) == []
    await talk.time.passes(hours=2)
    [notice] = notices(talk)
    assert notice.endswith(f"“{QUESTION}” {NOT_SEEN}")
    assert talk.service.calls.count("search") < 50
    publishes(talk)
    await talk.time.passes(days=2)
    assert len(notices(talk)) == 1


async def test_deleted_page_is_said_to_be_gone_once_nobody_finds_it(talk: Talk) -> None:
    talk.github.files = [
        changed_file(
            "docs/guides/rotate.mdx", "@@ -1,1 +0,0 @@\n-# Rotate\n-" + LIVE, status="removed"
        )
    ]
    await drafted(talk)
    publishes(talk)
    await merges(talk)
    await talk.time.passes(hours=1)
    assert notices(talk) == []
    talk.service.pages.clear()
    talk.service.passages = []
    await talk.time.passes(hours=2)
    [notice] = notices(talk)
    assert notice.endswith(
        f"Its page is gone from the docs now: “Rotate an API key” (<{LINK}|Pull request #7>)"
    )


@pytest.mark.parametrize("files", [[], [changed_file("docs.json", "@@ -3 +3 @@\n+guides/rotate")]])
async def test_change_without_a_page_is_never_said_to_be_in_the_docs(
    talk: Talk, files: list[dict[str, object]]
) -> None:
    talk.github.files = files
    await drafted(talk)
    publishes(talk)
    await merges(talk)
    [notice] = notices(talk)
    assert notice.endswith(f"It is written now: <{LINK}|Pull request #7>")


async def test_project_without_an_assistant_tells_of_the_merge(talk: Talk) -> None:
    await drafted(talk)
    talk.process.dies()
    await talk.process.starts(assistant_key="", assistant_domain="")
    publishes(talk)
    await merges(talk)
    assert notices(talk)[0].endswith(f"It is written now: <{LINK}|Pull request #7>")
    assert "page" not in talk.service.calls


async def test_key_that_is_taken_away_meanwhile_leaves_the_merge(talk: Talk) -> None:
    await drafted(talk)
    await merges(talk)
    talk.process.dies()
    await talk.process.starts(assistant_key="", assistant_domain="")
    await talk.time.passes(hours=2)
    assert notices(talk)[0].endswith(f"It is written now: <{LINK}|Pull request #7>")


async def test_looks_go_on_after_failures_of_both_services(talk: Talk) -> None:
    await drafted(talk)
    publishes(talk)
    talk.service.says("page", 500, times=2)
    talk.service.says("search", 429)
    read_files = talk.github.reads
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=12)
    assert read_files
    await talk.time.passes(minutes=10)
    assert notices(talk)[0].endswith(IN_DOCS)


async def test_refused_key_is_told_to_admins_and_the_notice_comes_later(talk: Talk) -> None:
    await talk.process.starts(admins=talk.ben.id)
    await drafted(talk)
    publishes(talk)
    talk.service.says("page", 401, times=2)
    await merges(talk)
    refused, accepted = talk.ben.reads()
    assert "refuses the assistant's key" in refused
    assert "accepts the assistant's key" in accepted
    assert notices(talk)[0].endswith(IN_DOCS)
    assert talk.errors() == {"assistants_key_refused"}


async def test_process_that_dies_while_it_looks_tells_once(talk: Talk) -> None:
    await drafted(talk)
    publishes(talk)
    late = talk.service.hangs("page")
    await merges(talk)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=20)
    assert [notice.endswith(IN_DOCS) for notice in notices(talk)] == [True]
    late.answer.set_result(httpx.Response(200, json={"path": "x", "content": LIVE}))
    await talk.time.passes(hours=2)
    assert len(notices(talk)) == 1


async def test_person_who_asked_twice_in_a_thread_is_told_once_there(talk: Talk) -> None:
    answer = await asks(talk)
    await talk.ben.presses("Didn't help", answer)
    await talk.ana.replies(f"@docs-agent {QUESTION}", to=answer.message)
    await talk.time.passes()
    await talk.ben.presses("Didn't help", talk.all_replies()[-1])
    await drafts(talk)
    talk.everything()
    publishes(talk)
    await merges(talk)
    assert len(notices(talk)) == 1


async def test_asker_who_left_before_the_page_is_live_is_told_nothing(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ben.presses("Didn't help", await asks(talk, channel="secret"))
    await drafts(talk)
    await merges(talk)
    talk.room("secret").members.remove(talk.ana.id)
    publishes(talk)
    await talk.time.passes(hours=2)
    assert "in the docs now" not in talk.everything()


async def test_direct_message_names_no_page_of_a_private_channels_job(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.asks(f"ask {QUESTION}", "secret")
    await talk.time.passes()
    await drafts(talk, "Draft a page", by=talk.ana)
    talk.everything()
    publishes(talk)
    await merges(talk)
    [notice] = talk.ana.reads()
    assert notice.endswith(f"“{QUESTION}” It's in the docs now.")
    talk.everything()


async def test_own_gap_says_that_its_asker_is_told(talk: Talk) -> None:
    await talk.ana.presses("Didn't help", await asks(talk))
    assert talk.ana.reads() == ["Noted as a gap. I'll tell you when it's written."]

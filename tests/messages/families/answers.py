"""Answers from the docs, gaps, and the notice that an answer is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.answers import messages
from bot.answers.model import (
    DocsPage,
    Inquiry,
    InquiryId,
    InquiryState,
    Publication,
    PublicationState,
)
from bot.answers.page_changes import PageChange
from bot.ids import JobNumber, MessageTs, RequestKey
from bot.jobs.model.jobs import JobState
from bot.messages.markdown import is_blank, parse
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT
from tests.messages.samples import job

QUESTION = Inquiry(
    *(
        InquiryId(7),
        RequestKey("command:1"),
        PROJECT,
        CHANNEL,
        ANA,
        "How do I <rotate> a *key*?",
        "0" * 16,
    ),
    *(InquiryState.GAP, NOW, NOW),
)
IN_THREAD = replace(QUESTION, thread_ts=MessageTs("1.2"))
PAGES = (
    DocsPage("https://docs.example/keys", "API <keys>", "Open *Settings*"),
    DocsPage("security/expiry", "", "Keys <expire>"),
)


def samples() -> Mapping[str, object]:
    """Each answer, each confirmation, the list of gaps, and the notice."""
    text = "Open **Settings** <!channel> ![x](https://evil.example/x.png)"
    site = messages.site_of(PAGES, None)
    answer = messages.format_answer(QUESTION, parse(text, site), PAGES)
    long = parse("```\n" + "rotate --key\n" * 400, site)
    return {
        "an answer in private": answer,
        "a long answer in a thread": messages.format_answer(IN_THREAD, long, ()).blocks[0]["text"][
            -60:
        ],
        "an answer without a word is none": str(is_blank(parse("\u200b", site))),
        "passages": messages.passages_found(IN_THREAD, PAGES),
        "an answer that finds nothing": messages.format_answer(
            IN_THREAD, parse("I couldn't find anything on that.", site), (), is_gap=True
        ),
        "nothing in the docs": messages.nothing_found(IN_THREAD),
        "the docs cannot be read": messages.pages_unreadable(IN_THREAD),
        "shared": messages.shared(QUESTION, answer),
        "a gap now, for another person": messages.noted(QUESTION, BEN),
        "a gap now, for its asker": messages.noted(QUESTION, ANA),
        "a question that is gone": messages.NOT_HERE,
        "open gaps": messages.gap_list([[QUESTION], [QUESTION, QUESTION]]),
        "a page of gaps": messages.gap_list([[QUESTION]] * 22, 20),
        "no gaps": messages.gap_list([]),
        "too many questions": messages.TOO_MANY,
        "about a topic": messages.passages_found(replace(QUESTION, is_topic=True), PAGES),
        "under a job": messages.passages_found(replace(IN_THREAD, thread_job=JobNumber(7)), PAGES),
        "background of a prompt": messages.conversation(QUESTION),
        "with the reply of a colleague": messages.with_offer(
            QUESTION, messages.nothing_found(QUESTION)
        ),
        "what was said in a form": messages.conversation_lines(QUESTION),
        "written": messages.written_notice(QUESTION, job(JobState.PULL_REQUEST)),
        "written without a pull request": messages.written_notice(
            QUESTION, job(JobState.NO_PULL_REQUEST)
        ),
        "written, of a private channel": messages.written_notice(QUESTION, None),
        **_publications(),
    }


def _publications() -> Mapping[str, object]:
    """The notices about a page that was looked for in the docs."""
    merged = job(JobState.PULL_REQUEST)
    change = PageChange("docs/keys.md", "Rotate an <API> key", " press rotate twice ")
    address = "https://docs.example/keys"
    publication = Publication(
        merged.number, PROJECT, ANA, PublicationState.LIVE, NOW, NOW, 3, change, address, None
    )
    gone = replace(change, is_removed=True)
    shown = {
        "live": publication,
        "live, with the title that the search returned": replace(publication, title="Keys & you"),
        "live, at a path": replace(publication, address="keys"),
        "gone": replace(publication, change=gone),
        "not seen": replace(publication, state=PublicationState.UNSEEN),
        "not recognised": replace(publication, state=PublicationState.UNKNOWN, change=None),
    }
    return {
        f"{what}{where}": messages.written_notice(QUESTION, of, one)
        for what, one in shown.items()
        for where, of in (("", merged), (", of a private channel", None))
    }

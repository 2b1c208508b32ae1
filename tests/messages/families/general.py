"""Projects, replies, denied access and forms."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from bot.access.admit import not_allowed
from bot.access.model import Access
from bot.ids import ChannelId, JobNumber, ProjectId
from bot.jobs.messages import forms, job_answers
from bot.jobs.model.jobs import OmitReason
from bot.messages import blocks as b
from bot.messages import general
from bot.projects import Project, Projects
from tests.builders import ANA, CHANNEL
from tests.messages.samples import PERMALINK, job

ACME, BETA = (
    Project(ProjectId("p-1"), "acme", "Acme <docs>"),
    Project(ProjectId("p-2"), "beta", "beta"),
)
BOTH, ONE = Projects((ACME, BETA)), Projects((ACME,))


def form_samples() -> Mapping[str, object]:
    """Return the dialogues."""
    chosen = {"is_chosen": True, "is_read": True}
    both = {OmitReason.ASIDE: 1, OmitReason.OLDER: 3}
    earlier = forms.earlier_blocks("Ben: Wrong\nAna: Yes", both, **chosen)
    jobs = [job(), job(number=JobNumber(41), text="Explain\n" + "every error " * 20)]
    return {
        "form: the channel is known": forms.ask_form(channel=CHANNEL, private="kept"),
        "form: an open job has the subject": forms.ask_form(
            channel=CHANNEL, private="kept", notes=[forms.job_note(job(), PERMALINK)]
        ),
        "form: a message with a file": forms.ask_form(
            channel=CHANNEL, private="kept", text="Look", left_out=["a.png", "chart: Visits"]
        ),
        "form: all that there is to ask": forms.ask_form(
            channel=None, private="", text="Say \u202eyes", projects=[BETA, ACME], earlier=earlier
        ),
        "earlier messages: not chosen": forms.earlier_blocks(
            "Ben: No", {}, is_chosen=False, is_read=True
        ),
        "earlier messages: not readable": forms.earlier_blocks(
            "", {}, is_chosen=False, is_read=False
        ),
        "earlier messages: none": forms.earlier_blocks("", {}, **chosen),
        **{
            f"earlier messages left out: {reason}, {count}": forms.earlier_blocks(
                "", {reason: count}, **chosen
            )
            for reason, count in product(OmitReason, (1, 2))
        },
        "form: while the thread is read": forms.reading_thread(),
        **{
            f"what was said under an answer{how}": forms.conversation_blocks(
                "Question: How?\nBen: Under <Settings>", left_out, **is_there
            )
            for how, left_out, is_there in (
                ("", {OmitReason.TALK: 2, OmitReason.OTHERS: 1}, chosen),
                (" in private", {}, {"is_chosen": False, "is_read": True}),
                (", unreadable", {}, {"is_chosen": False, "is_read": False}),
            )
        },
        "form: run again": forms.run_again_form(job(), private="kept"),
        "form: run again, too long": forms.run_again_form(job(text="word " * 1_000), private=""),
        "form: follow up": forms.follow_up_form(jobs, private=""),
        "form: follow up on a job": forms.follow_up_form(jobs[1:], private="", is_chosen=True),
        "form: about a question": forms.draft_prompt("How do I rotate keys?"),
        "form: about somebody's message": forms.prompt_about("The limit is 100.\nReally."),
        "form: without a review": forms.review_note(),
        "form: docs that are no longer set up": forms.NOT_SERVED,
    }


def samples() -> Mapping[str, object]:
    """Return the answers to choices for a channel, to denied access, and the forms."""
    return {
        "too long a text": general.too_long(40_000),
        "the channel's docs": general.project_here(ACME, BOTH),
        "there are no others": general.project_here(ACME, ONE),
        "docs chosen": general.chosen(ACME),
        "docs not to choose": general.may_not_choose(ACME, CHANNEL),
        "unknown docs chosen": general.unknown_choice("<gamma>", BOTH),
        "unknown docs in options": general.unknown_in_options("gamma", BOTH),
        "unknown docs before a prompt": general.unknown_project("gamma", BOTH, "Add <it>"),
        **{
            f"replies, {'by mention' if is_mention_only else 'all'}": [
                general.replies_setting(is_mention_only=is_mention_only),
                general.replies_chosen(is_mention_only=is_mention_only),
            ]
            for is_mention_only in (True, False)
        },
        "replies in direct messages": general.REPLIES_IN_DIRECT,
        **{
            f"may not: {kind}": not_allowed(kind, CHANNEL)
            for kind in Access
            if kind is not Access.MEMBER
        },
        "may not, channel not named": not_allowed(Access.GUEST),
        "may not, in direct messages": not_allowed(Access.GUEST, ChannelId("D0ANA")),
        "may not, under the input of a form": b.bare(not_allowed(Access.GUEST, CHANNEL)),
        "not theirs to decide": job_answers.not_yours(JobNumber(7), ANA),
        **form_samples(),
    }

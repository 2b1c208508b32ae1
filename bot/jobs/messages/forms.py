"""The forms about jobs (https://docs.slack.dev/reference/views/modal-views)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.ids import Block, ChannelId
from bot.jobs.messages.status_message import file_names, name
from bot.jobs.model.jobs import OmitReason, TrackedJob
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.general import EXAMPLE
from bot.messages.plain_text import clip, one_line, visible
from bot.messages.quotations import Quotation, QuoteSource
from bot.projects import Project

NOT_SERVED = "These docs are no longer set up here. Close this and try again."


def _build_view(callback_id: str, title: str, private: str, *blocks: Block) -> Block:
    return b.modal(title, *blocks, callback_id=callback_id, private=private, submit="Send")


def _build_input(name: str, label: str, element: Block, hint: str | None = None) -> Block:
    made: Block = {"type": "input", "block_id": name, "label": b.plain_text(label)}
    return (
        made
        | {"element": element | {"action_id": name}}
        | ({"hint": b.plain_text(hint)} if hint else {})
    )


def _build_text_input(placeholder: str, text: str) -> Block:
    made: Block = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": b.MAX_PLAIN_INPUT_CHARACTERS,
    }
    made["placeholder"] = b.plain_text(placeholder)
    if text:
        made["initial_value"] = clip(visible(text), b.MAX_PLAIN_INPUT_CHARACTERS)
    return made


def _build_prompt_input(label: str, placeholder: str, text: str, hint: str) -> Block:
    return _build_input(
        "prompt", label, _build_text_input(placeholder, text) | {"focus_on_load": True}, hint
    )


def _build_menu(options: Sequence[tuple[str, str]]) -> Block:
    """Return a menu of labels and values, of which the first is chosen."""
    made = [b.option(*choice) for choice in options[: b.MAX_OPTIONS]]
    return {"type": "static_select", "options": made, "initial_option": made[0]}


_LEFT_OUT = {
    OmitReason.OTHERS: (
        "from a guest, another organisation or a bot",
        "from guests, other organisations or bots",
    ),
    OmitReason.UNTOLD: ("from somebody Slack didn't describe", "from people Slack didn't describe"),
    OmitReason.ASIDE: ("aside", "asides"),
    OmitReason.WORDLESS: ("without words", "without words"),
    OmitReason.TALK: ("of thanks or talk", "of thanks or talk"),
    OmitReason.OLDER: ("older", "older"),
}


def earlier_blocks(
    messages: str, left_out: Mapping[OmitReason, int], *, is_chosen: bool, is_read: bool
) -> tuple[Block, ...]:
    """Return the part of the form with the earlier messages of a thread, to edit or untick."""
    if not is_read:
        return (
            b.context("Slack didn't let me read the thread's earlier messages, so none go along."),
        )
    parts = _format_left_out(left_out)
    if not messages and not parts:
        return ()
    if not messages:
        return (b.context(f"No earlier messages go along. Left out: {parts}."),)
    option = b.option("Send them to the agent, as background", "yes")
    chosen = {"initial_options": [option]} if is_chosen else {}
    boxes: Block = {"type": "checkboxes", "options": [option], **chosen}
    element = _build_text_input("Empty: nothing goes along", messages)
    hint = f"Left out: {parts}." if parts else None
    return (
        _build_input("take_earlier", "Earlier messages of the thread", boxes) | {"optional": True},
        _build_input("earlier", "What they say", element, hint) | {"optional": True},
    )


def _format_left_out(left_out: Mapping[OmitReason, int]) -> str:
    """Return the counts of the messages that are left out: "1 aside; 3 older"."""
    return "; ".join(
        counted(left_out[key], *nouns) for key, nouns in _LEFT_OUT.items() if left_out.get(key)
    )


def reading_thread() -> Block:
    """Return the window that is open while the thread of the form is read."""
    return b.modal("Draft a page", b.section("Reading the thread…"), callback_id="reading")


def conversation_blocks(
    conversation: str, left_out: Mapping[OmitReason, int], *, is_chosen: bool, is_read: bool
) -> tuple[Block, ...]:
    """Return the part of the form with a question, its answer and the replies, to edit or untick.

    ``is_chosen``: whether it is ticked, which it is except in a private channel.
    """
    option = b.option("Send it along, to be checked against the docs", "yes")
    chosen = {"initial_options": [option]} if is_chosen else {}
    boxes: Block = {"type": "checkboxes", "options": [option], **chosen}
    if not is_read:
        hint = "Slack didn't let me read the replies. What you tick becomes part of a pull request."
    elif is_chosen:
        hint = "It becomes part of a pull request, which others may read."
    else:
        hint = (
            "This channel is private: delete what must stay here, and tick the rest. "
            "It becomes part of a pull request, which others may read."
        )
    parts = _format_left_out(left_out)
    if parts:
        hint += f" Left out: {parts}."
    element = _build_text_input("Empty: nothing goes along", conversation)
    return (
        _build_input("take_answer", "What was said here", boxes) | {"optional": True},
        _build_input("answer", "Question, answer and replies", element, hint) | {"optional": True},
    )


def ask_form(
    *,
    channel: ChannelId | None,
    private: str,
    text: str = "",
    projects: Sequence[Project] = (),
    earlier: Sequence[Block] = (),
    left_out: Sequence[str] = (),
    notes: Sequence[Block] = (),
) -> Block:
    """Return the form for a new job. It also asks for the channel if ``channel`` is None.

    Args:
        projects: The projects to choose from, the suggested one first.
        earlier: See ``earlier_blocks``.
        notes: Shown above the prompt.
        left_out: The names of the parts of a message that do not go along.
    """
    prompt = _build_prompt_input(
        "What should be written or changed?",
        EXAMPLE,
        text,
        "Name the page, who reads it, and what must stay. "
        f"For more than {b.MAX_PLAIN_INPUT_CHARACTERS:,} characters, type the prompt after /docs-agent.",
    )
    chosen: list[Block] = []
    if left_out:
        chosen.append(b.context(f"Only words go along from here, without {file_names(left_out)}."))
    if channel is None:
        element: Block = {"type": "conversations_select", "default_to_current_conversation": True}
        element["filter"] = {"include": ["public", "private"], "exclude_bot_users": True}
        chosen.append(_build_input("channel", "Where should I report?", element))
    if projects:
        options = [
            (one_line(docs.label, b.MAX_OPTION_CHARACTERS) or docs.name, docs.name)
            for docs in projects
        ]
        chosen.append(_build_input("project", "Which docs?", _build_menu(options)))
    return _build_view("ask", "Ask the docs agent", private, *notes, prompt, *chosen, *earlier)


def job_note(job: TrackedJob, permalink: str | None) -> Block:
    """Return the note that an open job has the subject of the form."""
    since = b.moment(job.asked_at, "{date_short_pretty}")
    link = b.link(permalink, name(job.number))
    return b.context(
        f"{link}, open since {since}, is about this. Reply there, or send this for a new one."
    )


def review_note() -> Block:
    """Return the note above readers' words where an agent may publish by itself."""
    return b.context(
        "Jobs of these docs end without a pull request, so a change may go live unreviewed. "
        "Read the quoted words before you send them."
    )


def run_again_form(job: TrackedJob, *, private: str) -> Block:
    """Return the form to run a prompt again.

    It holds the prompt, to edit, unless that is too long.
    """
    if len(visible(job.text)) > b.MAX_PLAIN_INPUT_CHARACTERS:
        text = (
            f"The prompt of {name(job.number)} is too long for a form. *Send* runs it as it was. "
            "To change it, type it after `/docs-agent`."
        )
        return _build_view("run_again", "Run again", private, b.section(text))
    hint = f"It becomes a new job; {name(job.number)} stays as it is."
    prompt = _build_prompt_input(
        "What should be written or changed?", "Add a quickstart", job.text, hint
    )
    return _build_view("run_again", "Run again", private, prompt)


_MAX_QUESTION = 1_500


def draft_prompt(text: str) -> str:
    """Return the suggested prompt about a question."""
    asked = Quotation(QuoteSource.READERS, one_line(text, _MAX_QUESTION))
    return f"{asked}\n\nAnswer that in the docs: improve the page that should, or add one."


def prompt_about(message: str) -> str:
    """Return the suggested prompt about somebody else's message."""
    return str(Quotation(QuoteSource.MESSAGE, message))


def follow_up_form(
    jobs: Sequence[TrackedJob],
    *,
    private: str,
    is_chosen: bool = False,
    text: str = "",
    earlier: Sequence[Block] = (),
) -> Block:
    """Return the form for a follow-up. It also asks for the job unless one was chosen.

    Args:
        jobs: The jobs to choose from, or the chosen one.
        private: The state of the form.
        is_chosen: There is nothing to choose.
        text: The suggested follow-up.
        earlier: See ``earlier_blocks``.
    """
    prompt = _build_prompt_input(
        "What else should change?",
        "Mention Python 3.11 too",
        text,
        "The agent goes on where it stopped, on the same pull request.",
    )
    if is_chosen:
        line = f"*{name(jobs[0].number)}* {b.quoted(jobs[0].text, 150)}"
        return _build_view("follow_up", "Follow up", private, b.section(line), prompt, *earlier)
    titles = [job.pull_request.title if job.pull_request else job.text for job in jobs]
    options = [
        (f"{name(job.number)} {one_line(title, b.MAX_OPTION_CHARACTERS)}", str(job.number))
        for job, title in zip(jobs, titles, strict=True)
    ]
    which = _build_input("job", "Which job?", _build_menu(options))
    return _build_view("follow_up", "Follow up", private, which, prompt, *earlier)

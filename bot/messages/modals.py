"""Modal views (forms). https://docs.slack.dev/reference/views/modal-views"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.messages import blocks as b
from bot.messages.face import name
from bot.messages.plain_text import clip, one_line, visible
from bot.model.ids import ChannelId, JobNumber
from bot.model.jobs import TrackedJob
from bot.model.projects import Project

Part = dict[str, Any]
"""A view, a block or an element of one."""


def _plain(text: str) -> Part:
    return {"type": "plain_text", "text": text, "emoji": True}


def _view(callback_id: str, title: str, private: str, *blocks: Part) -> Part:
    buttons = {"submit": _plain("Send"), "close": _plain("Cancel")}
    made = {"type": "modal", "callback_id": callback_id, "title": _plain(title), **buttons}
    return made | {"private_metadata": private, "blocks": list(blocks)}


def _input(name: str, label: str, element: Part, hint: str | None = None) -> Part:
    made: Part = {"type": "input", "block_id": name, "label": _plain(label)}
    return made | {"element": element | {"action_id": name}} | ({"hint": _plain(hint)} if hint else {})


def _text_input(placeholder: str, text: str) -> Part:
    made: Part = {"type": "plain_text_input", "multiline": True, "max_length": b.PLAIN_INPUT_LENGTH}
    made["placeholder"] = _plain(placeholder)
    return made | {"initial_value": clip(visible(text), b.PLAIN_INPUT_LENGTH)} if text else made


def _prompt_input(label: str, placeholder: str, text: str, hint: str) -> Part:
    return _input("prompt", label, _text_input(placeholder, text) | {"focus_on_load": True}, hint)


def _select(options: Sequence[tuple[str, str]]) -> Part:
    """Return a menu of labels and values, of which the first is chosen."""
    made = [
        {"text": _plain(clip(label, b.OPTION_LENGTH)), "value": value}
        for label, value in options[: b.MOST_OPTIONS]
    ]
    return {"type": "static_select", "options": made, "initial_option": made[0]}


def earlier_blocks(messages: str, left_out: int, *, is_chosen: bool, is_read: bool) -> tuple[Part, ...]:
    """Return the part of the form with the earlier messages of a thread, to edit or untick."""
    if not is_read:
        return (b.context("Slack didn't let me read the thread's earlier messages, so none go along."),)
    if not messages:
        return ()
    option = {"text": _plain("Send them to the agent, as background"), "value": "yes"}
    chosen = {"initial_options": [option]} if is_chosen else {}
    boxes: Part = {"type": "checkboxes", "options": [option], **chosen}
    element = _text_input("Empty: nothing goes along", messages)
    hint = (
        f"{left_out:,} left out: from guests, other organisations and bots, or older." if left_out else None
    )
    return (
        _input("take_earlier", "Earlier messages of the thread", boxes) | {"optional": True},
        _input("earlier", "What they say", element, hint) | {"optional": True},
    )


def ask_form(
    *,
    channel: ChannelId | None,
    private: str,
    text: str = "",
    projects: Sequence[Project] = (),
    earlier: Sequence[Part] = (),
) -> Part:
    """Return the form for a new job. It also asks for the channel if ``channel`` is None.

    ``projects``: those to choose from, the suggested one first. ``earlier``: see ``earlier_blocks``.
    """
    prompt = _prompt_input(
        "What should be written or changed?",
        "Add a quickstart for the Python SDK",
        text,
        "Name the pages, the readers and what must stay as it is. "
        f"More than {b.PLAIN_INPUT_LENGTH:,} characters fit after /docs-agent.",
    )
    chosen: list[Part] = []
    if channel is None:
        element: Part = {"type": "conversations_select", "default_to_current_conversation": True}
        element["filter"] = {"include": ["public", "private"], "exclude_bot_users": True}
        chosen.append(_input("channel", "Where should I report?", element))
    if projects:
        options = [(one_line(each.label, b.OPTION_LENGTH) or each.name, each.name) for each in projects]
        chosen.append(_input("project", "Which docs?", _select(options)))
    return _view("ask", "Ask the docs agent", private, prompt, *chosen, *earlier)


def run_again_form(job: TrackedJob, *, private: str) -> Part:
    """Return the form to run a prompt again; it holds the prompt, to edit, unless that is too long."""
    if len(visible(job.text)) > b.PLAIN_INPUT_LENGTH:
        said = (
            f"The prompt of {name(job.number)} is too long for a form. *Send* runs it as it was. "
            "To change it, type it after `/docs-agent`."
        )
        return _view("run_again", "Run again", private, b.section(said))
    hint = f"It becomes a new job; {name(job.number)} stays as it is."
    prompt = _prompt_input("What should be written or changed?", "Add a quickstart", job.text, hint)
    return _view("run_again", "Run again", private, prompt)


def follow_up_form(
    jobs: Sequence[TrackedJob], *, private: str, chosen: JobNumber | None = None, text: str = ""
) -> Part:
    """Return the form for a follow-up. It also asks for the job unless one was ``chosen``."""
    prompt = _prompt_input(
        "What else should change?",
        "Mention Python 3.11 too",
        text,
        "The agent goes on where it stopped, on the same pull request.",
    )
    if chosen is not None and len(jobs) == 1:
        shown = f"*{name(jobs[0].number)}* {b.quoted(jobs[0].text, 150)}"
        return _view("follow_up", "Follow up", private, b.section(shown), prompt)
    options = [(f"{name(job.number)} {one_line(job.text, b.OPTION_LENGTH)}", str(job.number)) for job in jobs]
    return _view("follow_up", "Follow up", private, _input("job", "Which job?", _select(options)), prompt)

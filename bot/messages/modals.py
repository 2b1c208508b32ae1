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

_OPTION_LENGTH = 75
_MOST_OPTIONS = 100


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}


def _view(callback_id: str, title: str, private: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": callback_id,
        "title": _plain(title),
        "submit": _plain("Send"),
        "close": _plain("Cancel"),
        "private_metadata": private,
        "blocks": blocks,
    }


def _input(name: str, label: str, element: dict[str, Any], hint: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "input",
        "block_id": name,
        "label": _plain(label),
        "element": element | {"action_id": name},
    }
    return made | {"hint": _plain(hint)} if hint else made


def _prompt_input(label: str, placeholder: str, text: str, hint: str) -> dict[str, Any]:
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": b.PLAIN_INPUT_LENGTH,
        "placeholder": _plain(placeholder),
        "focus_on_load": True,
    }
    if text:
        element["initial_value"] = clip(visible(text), b.PLAIN_INPUT_LENGTH)
    return _input("prompt", label, element, hint)


def earlier_blocks(
    messages: str, left_out: int, *, is_chosen: bool, is_read: bool
) -> tuple[dict[str, Any], ...]:
    """Return the part of the form with the earlier messages of a thread, to edit or untick."""
    if not is_read:
        return (dict(b.context("Slack didn't let me read the thread's earlier messages, so none go along.")),)
    if not messages:
        return ()
    option = {"text": _plain("Send them to the agent, as background"), "value": "yes"}
    boxes: dict[str, Any] = {"type": "checkboxes", "options": [option]}
    if is_chosen:
        boxes["initial_options"] = [option]
    element = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": b.PLAIN_INPUT_LENGTH,
        "placeholder": _plain("Empty: nothing goes along"),
        "initial_value": messages,
    }
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
    earlier: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
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
    chosen: list[dict[str, Any]] = []
    if channel is None:
        element = {
            "type": "conversations_select",
            "default_to_current_conversation": True,
            "filter": {"include": ["public", "private"], "exclude_bot_users": True},
        }
        chosen = [_input("channel", "Where should I report?", element)]
    if projects:
        options = [
            {"text": _plain(one_line(each.label, _OPTION_LENGTH) or each.name), "value": each.name}
            for each in projects
        ]
        element = {"type": "static_select", "options": options, "initial_option": options[0]}
        chosen.append(_input("project", "Which docs?", element))
    return _view("ask", "Ask the docs agent", private, [prompt, *chosen, *earlier])


def run_again_form(job: TrackedJob, *, private: str) -> dict[str, Any]:
    """Return the form to run a prompt again; it holds the prompt, to edit, unless that is too long."""
    if len(visible(job.text)) > b.PLAIN_INPUT_LENGTH:
        said = (
            f"The prompt of {name(job.number)} is too long for a form. *Send* runs it as it was. "
            "To change it, type it after `/docs-agent`."
        )
        return _view("run_again", "Run again", private, [dict(b.section(said))])
    hint = f"It becomes a new job; {name(job.number)} stays as it is."
    prompt = _prompt_input("What should be written or changed?", "Add a quickstart", job.text, hint)
    return _view("run_again", "Run again", private, [prompt])


def follow_up_form(
    jobs: Sequence[TrackedJob], *, private: str, chosen: JobNumber | None = None, text: str = ""
) -> dict[str, Any]:
    """Return the form for a follow-up. It also asks for the job unless one was ``chosen``."""
    prompt = _prompt_input(
        "What else should change?",
        "Mention Python 3.11 too",
        text,
        "The agent goes on where it stopped, on the same pull request.",
    )
    if chosen is not None and len(jobs) == 1:
        shown = f"*{name(jobs[0].number)}* {b.quoted(jobs[0].text, 150)}"
        return _view("follow_up", "Follow up", private, [dict(b.section(shown)), prompt])
    options = [_option(job) for job in jobs[:_MOST_OPTIONS]]
    element = {"type": "static_select", "options": options, "initial_option": options[0]}
    return _view("follow_up", "Follow up", private, [_input("job", "Which job?", element), prompt])


def _option(job: TrackedJob) -> dict[str, Any]:
    label = clip(f"{name(job.number)} {one_line(job.text, _OPTION_LENGTH)}", _OPTION_LENGTH)
    return {"text": _plain(label), "value": str(job.number)}

"""Everything that people can do to the bot, as the payloads that Slack sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bot.commands.command import FormState, Word
from bot.features import COMMANDS
from bot.ids import ChannelId, JobNumber, UserId, is_direct_message
from tests.access.door import SAID_AT, url_of
from tests.work.office import BOT

Body = dict[str, Any]
WORDS = "Add Zebras everywhere"
"""A part of everything that people write here, which nothing may hold of those who may not."""
NOW_AT = "1700000900.000001"


@dataclass(frozen=True)
class Scene:
    """Who acts, and where. ``owner``: whose work it is about.

    ``once_saw``: they could see it once. ``by_bot``: Slack shows it as a bot's message.
    """

    user: UserId
    here: ChannelId
    owner: UserId
    once_saw: bool = False
    by_bot: bool = False


@dataclass(frozen=True)
class Act:
    """One thing that people do. ``body`` makes its payload, about the job or question of this number.

    ``about``: that number. ``names``: it tells the number, so that the bot answers about it.
    ``is_message``: others see it, too. ``is_quiet``: nobody who may not do it hears of it.
    ``is_change``: it changes a message, of which only the author's own counts. ``takes_back``: it takes that
    back, which everybody may. ``is_query``: it is stored as what it means, and not as it was typed.
    """

    name: str
    body: Callable[[Scene, int], Body]
    about: int = 1
    names: bool = False
    is_message: bool = False
    is_quiet: bool = False
    is_change: bool = False
    takes_back: bool = False
    is_query: bool = False

    def __str__(self) -> str:
        return self.name


def _about(scene: Scene) -> Body:
    return {"user": {"id": scene.user}, "trigger_id": "1.2", "response_url": url_of(scene.user)}


_JOB_OF = {"send_again": 2, "dismiss": 2, "withdraw": 3, "undo_review": 5}
"""For which of the owner's jobs, prompts or questions a button does something; others are for the first."""
_VALUES: dict[str, Callable[[Scene, int], str]] = {
    "jobs_older": lambda scene, _: f"0 {scene.here}",
    "jobs_newer": lambda scene, _: f"0 {scene.here}",
    "send_with_key": lambda _, number: f"command:9||{number}|{WORDS}",
    "see_reviews": lambda scene, _: f"0 review {scene.here}",
    "run_visitors": lambda *_: "last week",
    "improve_miss": lambda _, number: f"{number}:0",
}
_NAMELESS = frozenset(
    {
        "jobs_older",
        "jobs_newer",
        "see_reviews",
        "run_visitors",
        "help_more",
        "improve",
        "improve_miss",
        "try",
        "hello_ask",
        "hello_ideas",
    }
)


def _press(action: str, value: Callable[[Scene, int], str]) -> Callable[[Scene, int], Body]:
    def body(scene: Scene, number: int) -> Body:
        pressed = {"type": "button", "action_id": action, "value": value(scene, number)}
        container = {"channel_id": scene.here, "message_ts": "1700000800.000001"}
        about = {"type": "block_actions", "channel": {"id": scene.here}, "container": container}
        return {**_about(scene), **about, "actions": [pressed]}

    return body


_ALIKE = {"send_anyway", "hello_fix", "hello_explain", "improve_page", "send_to_job", "cancel"}
"""The first has more cases, two are as ``hello_ask``, one each as ``improve`` and ``send_anyway``. The last
does nothing."""


def _buttons() -> Iterator[Act]:
    for action in sorted({each for command in COMMANDS for each in command.buttons} - _ALIKE):
        value = _VALUES.get(action, lambda _, number: str(number))
        about, names = _JOB_OF.get(action, 1), action not in _NAMELESS
        yield Act(f"press {action}", _press(action, value), about, names)
    yield Act("press send_anyway", _press("send_anyway", _question))


def _question(scene: Scene, _number: int) -> str:
    return f"message:{scene.here}:1700000700.000001|||{WORDS}"


def _forms() -> Iterator[Act]:
    for callback in sorted({each for command in COMMANDS for each in command.forms}):
        yield Act(f"send the form {callback}", _form(callback), names=callback != "ask")


def _form(callback: str) -> Callable[[Scene, int], Body]:
    def body(scene: Scene, number: int) -> Body:
        job = None if callback == "ask" else JobNumber(number)
        state = FormState(scene.here, None, job)
        view = {"type": "modal", "id": "V1", "callback_id": callback, "private_metadata": state.dumps()}
        view |= {"state": {"values": {"prompt": {"prompt": {"value": WORDS}}}}}  # type: ignore[dict-item]
        return {"type": "view_submission", "user": {"id": scene.user}, "trigger_id": "1.2", "view": view}

    return body


def _shortcuts() -> Iterator[Act]:
    for callback in sorted({each for command in COMMANDS for each in command.shortcuts}):
        yield Act(f"use the shortcut {callback}", _shortcut(callback))


def _shortcut(callback: str) -> Callable[[Scene, int], Body]:
    def body(scene: Scene, _number: int) -> Body:
        message = {"ts": NOW_AT, "thread_ts": SAID_AT[1], "text": WORDS, "user": scene.owner}
        about = {"type": "message_action", "callback_id": callback, "channel": {"id": scene.here}}
        return {**_about(scene), **about, "message": message}

    return body


_MEANS = {"42": "{}", "/api": "/Zebras", "acme": "other", "monday": "tuesday"}
"""What stands in the place of a word of a command's usage. Words in capitals are what people write."""


_LIKE_OTHERS = ("feedback", "questions", "pause", "resume")
"""Words that run what another one does: two as ``searches``, two as ``unsubscribe``."""


def _words() -> Iterator[tuple[str, Word, str]]:
    """Every word of a command, with the command's name and a text that means it."""
    for command in COMMANDS:
        for word in command.all_words:
            if word.usage in _LIKE_OTHERS:
                continue
            said = (WORDS if each.isupper() else _MEANS.get(each, each) for each in word.usage.split())
            yield command.name, word, " ".join(said)


def _typed() -> Iterator[Act]:
    for command, word, usage in _words():
        more = ["#{}"] if word.usage == "42 PROMPT" else ["jobs mine"] if word.usage == "jobs" else []
        for text in (usage, *more):
            is_query = command == "/docs-visitors" and word.run.__name__ in ("_ask", "_ask_misses", "_digest")
            body = _command(command, text)
            yield Act(f"type {command} {text}".strip(), body, names="{}" in text, is_query=is_query)


def _command(command: str, text: str) -> Callable[[Scene, int], Body]:
    def body(scene: Scene, number: int) -> Body:
        about = {"command": command, "text": text.format(number), "channel_id": scene.here}
        url = url_of(scene.user)
        return {**about, "user_id": scene.user, "trigger_id": "1.2", "response_url": url}

    return body


def _message(
    text: str, *, thread: bool = False, files: int = 0, mention: bool = True
) -> Callable[[Scene, int], Body]:
    def body(scene: Scene, number: int) -> Body:
        words = f"<@{BOT}> {text}" if mention and not is_direct_message(scene.here) else text
        event: Body = {"type": "app_mention" if mention else "message", "channel": scene.here}
        event |= {"user": scene.user, "ts": NOW_AT, "text": words.format(number)}
        if is_direct_message(scene.here):
            event |= {"type": "message", "channel_type": "im"}
        if thread:
            event |= {"thread_ts": SAID_AT[1], "parent_user_id": scene.owner}
        if scene.by_bot:
            event |= {"bot_id": "B1"}
        event["files"] = [{"name": "a.png", "mimetype": "image/png", "size": 3}] * files
        return _event(event)

    return body


def _event(event: Body) -> Body:
    return {"type": "event_callback", "event_id": "Ev1", "event": event}


def _messages() -> Iterator[Act]:
    means = {text for _, word, text in _words() if word.after_mention == "" and "{}" not in text}
    for text in (WORDS, "", "thanks", "visitors path /Zebras", *sorted(means)):
        yield Act(f"mention: {text}", _message(text), is_message=True, is_quiet=text == "thanks")
    yield Act("mention: #1 …", _message("#{} " + WORDS), names=True, is_message=True)
    yield Act("aside", _message(f"aside {WORDS}"), is_message=True, is_quiet=True)
    for text in (WORDS, "jobs", "thanks", "#1"):
        quiet = text == "thanks"
        body = _message(text, thread=True)
        yield Act(f"mention in the thread: {text}", body, is_message=True, is_quiet=quiet)
    for text, files in ((WORDS, 0), ("", 1), ("thanks", 0), ("merged", 0)):
        body, quiet = _message(text, thread=True, files=files, mention=False), text in ("thanks", "merged")
        yield Act(f"reply: {text or 'a file'}", body, is_message=True, is_quiet=quiet)


def _changed(*, deleted: bool) -> Callable[[Scene, int], Body]:
    def body(scene: Scene, number: int) -> Body:
        before = {"ts": SAID_AT[number], "user": scene.user, "text": f"<@{BOT}> Write page {number}"}
        before |= {"bot_id": "B1"} if scene.by_bot else {}
        event: Body = {"type": "message", "channel": scene.here, "ts": NOW_AT, "previous_message": before}
        if deleted:
            return _event({**event, "subtype": "message_deleted", "deleted_ts": SAID_AT[number]})
        now = {**before, "text": f"<@{BOT}> {WORDS}", "edited": {"user": scene.user, "ts": NOW_AT}}
        return _event({**event, "subtype": "message_changed", "message": now})

    return body


def _changes() -> Iterator[Act]:
    for number, when in ((1, "was sent"), (3, "waits")):
        yield Act(f"edit what {when}", _changed(deleted=False), number, is_message=True, is_change=True)
    yield Act(
        "delete what waits", _changed(deleted=True), 3, is_message=True, is_change=True, takes_back=True
    )


ACTS = (*_buttons(), *_forms(), *_shortcuts(), *_typed(), *_messages(), *_changes())

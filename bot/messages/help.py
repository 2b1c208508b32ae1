"""The short help of a command, and the whole help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.ids import Block, Message
from bot.messages import blocks as b
from bot.messages.general import EXAMPLE, QUESTION_EXAMPLE, format_naming_help
from bot.projects import Projects

_EVERY_REPLY = (
    "*In a job's thread* just reply: what I send to the agent gets :eyes:, and talk among "
    "yourselves I leave alone. In a thread that people had begun before, mention me. "
)
_BY_MENTION = (
    "*In a job's thread* mention me: in this channel only such replies are follow-ups, and they "
    "get :eyes: when I take them. "
)
_IN_THREADS = (
    "Begin with `#7` to name one of several jobs. "
    "What begins with `aside`, `!` or somebody's name after `@` is never for me. "
    "Slack allows no slash commands in threads, so `/docs-followup` names its job."
)
_ELSEWHERE = (
    "*Elsewhere*: mention me in a channel, a group direct message or a thread, or write me a "
    "direct message, to start a job. I answer in the thread. "
    "The words of the commands work after a mention, too: "
    "`jobs`, `status 42`, `limits`, `visitors last week`. "
    "Or choose *Ask the docs agent* from the menu of somebody's message."
)
_COST = (
    "*What it costs*: each new job and each follow-up is one use of the docs service's hourly "
    "limit. "
    "Looking, listing, thanks and replies that aren't meant for me cost nothing."
)


WAYS_ON = (
    b.button("What needs work?", b.Action.HELLO_IDEAS, "1"),
    b.button("My jobs", b.Action.JOBS_OLDER, "0 mine "),
)
"""The buttons of the help and the welcome that start nothing."""


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """The help of one command."""

    name: str
    summary: str
    words: Sequence[tuple[str, str]]
    """Each text to type, with its effect."""
    options: str = ""
    """A paragraph about its options, in mrkdwn."""


@dataclass(frozen=True, slots=True)
class Here:
    """The conversation in which somebody asks for help."""

    bot_name: str
    projects: Projects
    project: str
    """The name of the channel's project."""
    in_thread: bool = False
    """Slack allows no slash commands in threads."""
    is_direct: bool = False
    """It is a direct message with the bot."""
    is_mention_only: bool = False
    """See ``TrackedJob``."""
    can_answer: bool = False
    """The bot answers questions about the docs."""

    def mentioned(self, text: str) -> str:
        """Return a text for the bot, after a mention where needed.

        A direct message needs none.
        """
        return text if self.is_direct else f"@{self.bot_name} {text}"


def _format_example(text: str) -> str:
    return b.code(text, 200)


def about_replies(place: Here) -> str:
    """Return the lines of a command's help about threads and mentions, in mrkdwn."""
    way = "only replies that mention me are follow-ups" if place.is_mention_only else "just reply"
    where = "Here" if place.is_direct else "Anywhere"
    typed = _format_example(place.mentioned(EXAMPLE))
    other_way = f"{typed} starts a job, too."
    if place.can_answer:
        what = "a message" if place.is_direct else "a mention"
        question = _format_example(place.mentioned(QUESTION_EXAMPLE))
        other_way = f"{what} starts a job, too, or asks: {question}"
    return f"*In a job's thread* {way}.\n*{where}* {other_way}"


def short_help(command: CommandHelp, also: str, place: Here) -> Message:
    """Return the main words of a command, with further buttons.

    ``also`` is mrkdwn.
    """
    if place.projects.are_several:
        project = place.projects.named(place.project)
        other = next(
            candidate.name for candidate in place.projects.known if candidate.name != place.project
        )
        also += f"\n*Which docs*: *{b.label(project.label)}* here; begin with "
        also += f"{b.code(f'project:{other}')} for others."
    # In this order the buttons take two rows on a phone; in the welcome's order three.
    buttons = [
        b.button("Ask for a change", b.Action.HELLO_ASK, "1"),
        *reversed(WAYS_ON),
        b.button("More", b.Action.HELP_MORE, command.name),
    ]
    return b.message(b.section(_format_paragraph(command)), b.section(also), *b.actions(buttons))


def _format_paragraph(command: CommandHelp) -> str:
    lines = [f"• {_format_example(typed)} {b.escape(tells)}" for typed, tells in command.words]
    return "\n".join([f"*{b.escape(command.name)}* {b.escape(command.summary)}", *lines])


def full_help(
    commands: Sequence[CommandHelp], projects: Projects, *, is_mention_only: bool = False
) -> Block:
    """Return the view of the whole help.

    It has all commands with examples, and the other ways to use the bot.

    ``is_mention_only``: see ``TrackedJob``.
    """
    in_threads = (_BY_MENTION if is_mention_only else _EVERY_REPLY) + _IN_THREADS
    paragraphs = [_format_paragraph(command) for command in commands]
    paragraphs += [command.options for command in commands if command.options]
    paragraphs += [in_threads, _ELSEWHERE]
    if projects.are_several:
        paragraphs.append(format_naming_help(projects))
    paragraphs.append(_COST)
    return b.modal("Help", *map(b.section, paragraphs), callback_id="help")

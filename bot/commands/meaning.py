"""The meaning of people's texts, by the one decision, for every door."""

from __future__ import annotations

from dataclasses import dataclass

from bot.context import Context
from bot.ids import UserId
from bot.intent.decision import Decision, decide
from bot.intent.kinds import Kind, Place
from bot.messages import slack_text
from bot.projects import Project, UnknownProject, with_project

_SEPARATORS = " \t\n,:;-"
"""Signs between a mention and the text after it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a text, and its part for the bot."""

    decision: Decision
    text: str
    """The part for the bot as Slack's wire text, without mentions of the bot around it."""
    project: Project | None = None
    """The project that the text names, which is no longer in ``text``."""

    @property
    def kind(self) -> Kind:
        return self.decision.kind

    @property
    def full_text(self) -> str:
        """The part for the bot with the name of its project."""
        return with_project(self.project, self.text)


def find_meaning(
    context: Context,
    raw: str,
    place: Place,
    *,
    author: UserId,
    command: str = "",
    has_files: bool = False,
    is_job_unsent: bool = False,
) -> Meaning:
    """Return the meaning of a wire text.

    An unknown project stays in the text: what is done with the text names it as unknown.

    Args:
        context: The words of the bot, and its settings.
        raw: The text as Slack sent it.
        place: The place of the text.
        author: Who said or typed it. Apps are not asked back.
        command: The slash command after which it was typed; empty elsewhere.
        has_files: Files came with it.
        is_job_unsent: The job of the place has not gone to the agent yet.
    """
    text = slack_text.without_leading_mention(raw, context.bot_user)
    addressee = raw[: len(raw) - len(text)]
    project = None
    unknown = None
    try:
        text, project = context.projects.take(text)
    except UnknownProject as error:
        unknown = text
        text = error.text
    mention = f"@{context.bot_user}"
    decision = decide(
        slack_text.to_plain(addressee, {}, {}) + slack_text.to_plain(text, {}, {}),
        place,
        context.vocabulary,
        mention=mention if slack_text.mentions(raw, context.bot_user) else "",
        command=command,
        has_files=has_files,
        is_app=author in context.settings.allowed_bots,
        can_answer=bool(context.discovery),
        is_job_unsent=is_job_unsent,
    )
    part = unknown or _cut_wire_part(context, text, decision.part)
    return Meaning(decision, part, project)


def _cut_wire_part(context: Context, text: str, part: str) -> str:
    """Return the part of a wire text after a mention of the bot, or the whole text."""
    for after in slack_text.after_mentions(text, context.bot_user):
        plain = slack_text.to_plain(after, {}, {}).rstrip()
        between = plain.removesuffix(part)
        if plain.endswith(part) and not between.strip(_SEPARATORS):
            return after[len(between) :].strip()
    return slack_text.without_outer_mentions(text, context.bot_user).strip()

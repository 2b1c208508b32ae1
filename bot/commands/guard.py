"""Before any command, button or dialogue: who may use the bot, and where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from bot.commands.command import (
    Answer,
    Command,
    FormErrors,
    Invocation,
    Press,
    ShortcutUse,
    Submission,
)
from bot.messages import quota as say
from bot.messages.blocks import bare
from bot.model import Access, ChannelId, UserId
from bot.work.access.check import cached_access
from bot.work.context import Context

Done = TypeVar("Done", Invocation, Press, ShortcutUse)


def guarded(command: Command) -> Command:
    """The command for those who may. Somebody unknown is served, but sees nothing until Slack has told.

    What they asked for is stored and looked at again before anything comes of it (``work/prepare.py``,
    ``work/question.py``, ``work/digest.py``), or done after Slack has told (``Answer.then``).
    """
    return replace(
        command,
        run=_answering(command.run),
        buttons={name: _answering(press) for name, press in command.buttons.items()},
        shortcuts={name: _answering(use) for name, use in command.shortcuts.items()},
        forms={name: _submitting(submit) for name, submit in command.forms.items()},
    )


async def once_known(answer: Answer, access: Access) -> Answer:
    """What is shown of an answer that was held, now that it is known who it is for."""
    if access.may:
        return await once_acknowledged(replace(answer, held_for=None))
    # Of what is stored they hear when it is looked at again, also if this process dies before.
    return Answer() if answer.stored else Answer(message=say.not_allowed(access))


async def once_acknowledged(answer: Answer) -> Answer:
    """What is shown of an answer that only Slack can decide, now that Slack may be asked."""
    while answer.later is not None:
        answer = await answer.later()
    return await _carried_out(answer)


async def _carried_out(answer: Answer) -> Answer:
    return answer if answer.then is None else replace(answer, message=await answer.then(), then=None)


def _place(done: Invocation | Press | ShortcutUse) -> ChannelId | None:
    """Where it was done; None for a button of what the bot wrote to somebody alone about a channel."""
    channel = done.origin.channel
    return None if isinstance(done, Press) and channel.startswith("D") else channel


async def _access(context: Context, user: UserId, channel: ChannelId | None) -> Access | None:
    if channel is not None and not context.access_policy.allows_channel(channel):
        return Access.CHANNEL
    return await cached_access(context, user)


def _answering(
    run: Callable[[Context, Done], Awaitable[Answer]],
) -> Callable[[Context, Done], Awaitable[Answer]]:
    async def checked(context: Context, done: Done) -> Answer:
        access = await _access(context, done.origin.user, _place(done))
        if access is not None and not access.may:
            return Answer(message=say.not_allowed(access))
        answer = await run(context, done)
        return replace(answer, held_for=done.origin.user) if access is None else await _carried_out(answer)

    return checked


def _submitting(
    submit: Callable[[Context, Submission], Awaitable[FormErrors | None]],
) -> Callable[[Context, Submission], Awaitable[FormErrors | None]]:
    async def checked(context: Context, sent: Submission) -> FormErrors | None:
        access = await _access(context, sent.origin.user, None)
        if access is not None and not access.may:
            return FormErrors({"prompt": bare(say.not_allowed(access))})
        return await submit(context, sent)

    return checked

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
from bot.model import ChannelId, Standing, UserId
from bot.work.context import Desk

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


async def once_known(answer: Answer, standing: Standing) -> Answer:
    """What is shown of an answer that was held, now that it is known who it is for."""
    if standing.may:
        return await _carried_out(replace(answer, held_for=None))
    # Of what is stored they hear when it is looked at again, also if this process dies before.
    return Answer() if answer.stored else Answer(message=say.not_allowed(standing))


async def _carried_out(answer: Answer) -> Answer:
    return answer if answer.then is None else replace(answer, message=await answer.then(), then=None)


def _place(done: Invocation | Press | ShortcutUse) -> ChannelId | None:
    """Where it was done; None for a button of what the bot wrote to somebody alone about a channel."""
    return None if isinstance(done, Press) and done.channel.startswith("D") else done.channel


async def _standing(desk: Desk, user: UserId, channel: ChannelId | None) -> Standing | None:
    if channel is not None and not desk.admission.allows_channel(channel):
        return Standing.CHANNEL
    return await desk.acquaintances.standing(desk.registry, desk.admission, user, desk.clock())


def _answering(
    run: Callable[[Desk, Done], Awaitable[Answer]],
) -> Callable[[Desk, Done], Awaitable[Answer]]:
    async def checked(desk: Desk, done: Done) -> Answer:
        standing = await _standing(desk, done.user, _place(done))
        if standing is not None and not standing.may:
            return Answer(message=say.not_allowed(standing))
        answer = await run(desk, done)
        return replace(answer, held_for=done.user) if standing is None else await _carried_out(answer)

    return checked


def _submitting(
    submit: Callable[[Desk, Submission], Awaitable[FormErrors | None]],
) -> Callable[[Desk, Submission], Awaitable[FormErrors | None]]:
    async def checked(desk: Desk, sent: Submission) -> FormErrors | None:
        standing = await _standing(desk, sent.user, None)
        if standing is not None and not standing.may:
            return FormErrors({"prompt": bare(say.not_allowed(standing))})
        return await submit(desk, sent)

    return checked

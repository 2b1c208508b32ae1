"""Before any command, button or form: who may, and what waits until Slack has told who they are.

Before a request is acknowledged only our own rows are asked. What they do not decide becomes
``Answer.later``: the listeners call it after the acknowledgement, and nothing is shown before.
"""

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
from bot.messages.blocks import bare
from bot.model import ChannelId, Message, Origin, Prompt, TrackedJob
from bot.work.access.check import decide
from bot.work.access.decision import AskSlack, Decision
from bot.work.access.denied import denial
from bot.work.context import Context

Done = TypeVar("Done", Invocation, Press, ShortcutUse)


def guarded(command: Command) -> Command:
    """Return the command for those who may. Somebody unknown sees nothing until Slack has told who they are.

    What they asked for is stored, and a worker decides before anything comes of it
    (``work/jobs/prepare.py``, ``work/visitors/question.py``, ``work/digests/digest.py``).
    """
    return replace(
        command,
        run=_answering(command.run),
        buttons={name: _answering(press) for name, press in command.buttons.items()},
        shortcuts={name: _answering(use) for name, use in command.shortcuts.items()},
        forms={name: _submitting(submit) for name, submit in command.forms.items()},
    )


async def once_allowed(
    context: Context, origin: Origin, act: Callable[[], Awaitable[Answer]], *, prompt: Prompt | None = None
) -> Answer:
    """Do something for somebody who may, and with ``prompt`` may decide about it: now if that is known."""

    async def go_on(decision: Decision) -> Answer:
        return await act() if decision.may else Answer(message=denial(decision))

    return await _once_decided(lambda ask: decide(context, origin.user, prompt=prompt, ask=ask), go_on)


async def confirmed(context: Context, origin: Origin, message: Message) -> Answer:
    """Confirm what was stored. Whoever may not use the bot is told so by the worker that refuses it."""

    async def go_on(decision: Decision) -> Answer:
        return Answer(message=message) if decision.may else Answer()

    return await _once_decided(lambda ask: decide(context, origin.user, ask=ask), go_on)


async def for_reader(
    context: Context,
    origin: Origin,
    job: TrackedJob | None,
    unknown: Answer,
    do: Callable[[TrackedJob], Awaitable[Answer]],
) -> Answer:
    """Do something with a job for somebody who may see it; for others there is no such job.

    Where our rows show that they may, it is done for somebody unknown too: it only stores and shows. A job
    that does not exist and one that Slack must be asked about are answered alike, after the acknowledgement:
    else its form would tell which numbers are taken.
    """
    if job is not None and await known_to_see(context, origin, job):
        return await do(job)

    async def later() -> Answer:
        here, ask = origin.channel, AskSlack.FINAL
        decision = await decide(context, origin.user, job=job, here=here, ask=ask)
        if decision.denied is not None:
            return Answer(message=denial(decision))
        return await do(job) if job is not None and decision.may else unknown

    return Answer(later=later)


async def known_to_see(context: Context, origin: Origin, job: TrackedJob) -> bool:
    """Whether our own rows let somebody see the job; False also when only Slack can tell."""
    decision = await decide(context, origin.user, job=job, here=origin.channel)
    return bool(decision.sees_job)


async def _once_decided(
    look: Callable[[AskSlack], Awaitable[Decision]], go_on: Callable[[Decision], Awaitable[Answer]]
) -> Answer:
    """Go on with a decision: at once when our rows are enough for it, otherwise when Slack was asked."""
    decision = await look(AskSlack.NEVER)
    if decision.may is not None:
        return await go_on(decision)

    async def later() -> Answer:
        return await go_on(await look(AskSlack.FINAL))

    return Answer(later=later)


def _place(done: Invocation | Press | ShortcutUse) -> ChannelId | None:
    """Where it was done; None for a button of what the bot wrote to somebody alone about a channel."""
    channel = done.origin.channel
    return None if isinstance(done, Press) and channel.startswith("D") else channel


def _answering(
    run: Callable[[Context, Done], Awaitable[Answer]],
) -> Callable[[Context, Done], Awaitable[Answer]]:
    async def checked(context: Context, done: Done) -> Answer:
        decision = await decide(context, done.origin.user, channel=_place(done))
        if decision.may is False:
            return Answer(message=denial(decision))
        answer = await run(context, done)
        return answer if decision.may or not answer.shows else await _held(context, done.origin, answer)

    return checked


async def _held(context: Context, origin: Origin, answer: Answer) -> Answer:
    """Hold what would be shown to somebody unknown. Nothing needs holding of a request that was stored."""

    async def show() -> Answer:
        return answer

    return await once_allowed(context, origin, show)


def _submitting(
    submit: Callable[[Context, Submission], Awaitable[FormErrors | None]],
) -> Callable[[Context, Submission], Awaitable[FormErrors | None]]:
    async def checked(context: Context, sent: Submission) -> FormErrors | None:
        decision = await decide(context, sent.origin.user)
        if decision.may is False:
            return FormErrors({"prompt": bare(denial(decision))})
        return await submit(context, sent)

    return checked

"""Authorization for jobs: proofs that a person may see a job or decide about a prompt.

A use case that shows or steers a job takes a ``Readable``; a use case that decides about a prompt
takes a ``Steerable``. Only this module makes them, so a missing check is a type error.

An admin may take back, send again and dismiss the prompts of any job. A job that Slack does not let
them read stays a ``Manageable``, so that no word of it is shown to them.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Unpack

from bot.access.admit import Allowed, NotAllowed, OriginChange, is_reader, reads_channel
from bot.access.model import Access
from bot.context import Context
from bot.jobs.messages.job_answers import not_yours
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import Prompt


class _Maker:
    """Shows that this module makes an object. Nothing else may create one."""


_MAKER = _Maker()


@dataclass(frozen=True, slots=True)
class Manageable:
    """A job about whose sending somebody may decide.

    They may see its number, state, times and requester, and none of its words.
    """

    allowed: Allowed
    job: TrackedJob
    maker: InitVar[_Maker] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Readable(Manageable):
    """A job that somebody may see, and on which they may follow up."""

    def with_request(self, **change: Unpack[OriginChange]) -> Readable:
        """Return the same job with another request of the same person."""
        return Readable(self.allowed.with_request(**change), self.job, maker=_MAKER)


@dataclass(frozen=True, slots=True)
class Steerable:
    """A prompt about which somebody may decide."""

    allowed: Allowed
    prompt: Prompt
    maker: InitVar[_Maker] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class AdminRequest:
    """A request of an admin of the bot."""

    allowed: Allowed
    maker: InitVar[_Maker] = field(kw_only=True)


def prove_admin(context: Context, allowed: Allowed) -> AdminRequest | None:
    """Return the request of an admin; None for everybody else's."""
    is_admin = allowed.user in context.settings.admins
    return AdminRequest(allowed, maker=_MAKER) if is_admin else None


async def find_visible(
    context: Context, allowed: Allowed, job: TrackedJob | None
) -> Readable | None:
    """Return a job if somebody may see it; else None, as for an unknown job.

    The requester may, and so may everybody who acts in its channel or can read it by Slack's answer.
    """
    if job is None:
        return None
    sees = is_reader(allowed, job.requester, job.channel) or await reads_channel(
        context, allowed.user, job.channel
    )
    return Readable(allowed, job, maker=_MAKER) if sees else None


async def find_manageable(
    context: Context, allowed: Allowed, job: TrackedJob | None
) -> Manageable | None:
    """Return a job that somebody may see, and for admins any job; else None."""
    target = await find_visible(context, allowed, job)
    if target is None and job is not None and prove_admin(context, allowed) is not None:
        return Manageable(allowed, job, maker=_MAKER)
    return target


def steerable(context: Context, target: Manageable, prompt: Prompt) -> Steerable:
    """Return a prompt of a job if somebody may decide about it. Raises NotAllowed.

    Its sender, the job's requester and admins may.
    """
    if not may_steer(context, target, prompt):
        raise NotAllowed(Access.MEMBER, not_yours(target.job.number, prompt.asked_by))
    return Steerable(target.allowed, prompt, maker=_MAKER)


def may_steer(context: Context, target: Manageable, prompt: Prompt) -> bool:
    """Return whether ``steerable`` lets somebody decide."""
    people = {prompt.asked_by, target.job.requester} | context.settings.admins
    return target.allowed.user in people

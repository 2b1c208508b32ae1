"""Keys of the docs service that expire, or that it refuses: admins are told in time.

Keys expire after 90 days by default, and the service does not report their age. So it counts from
the first use of a key by this database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog
from pydantic import SecretStr

from bot.context import Context, WorkerContext
from bot.docs_api import DocsApiError
from bot.ids import ProjectId
from bot.jobs.messages import job_answers as say
from bot.jobs.service_health import tell_admins
from bot.jobs.store.service_keys import ServiceKey, ServiceKeys
from bot.logs import reason_of
from bot.settings import Settings
from bot.store import Transaction

log = structlog.get_logger(__name__)
WARNED_AT_DAYS = (76, 87)
"""The ages at which admins are told: two weeks and three days before the usual end."""
EXPIRES_AFTER_DAYS = 90


@dataclass(frozen=True, slots=True)
class UsedKey:
    """A key that the settings contain."""

    project: ProjectId
    """The first project for which it is used."""
    key: SecretStr
    is_assistants: bool = False

    @property
    def name(self) -> str:
        """The name under which the database knows it."""
        return f"{'assistant' if self.is_assistants else 'docs'}:{self.project}"


def used_keys(settings: Settings) -> Mapping[str, UsedKey]:
    """Return the keys of all projects by their names, each key once."""
    by_key: dict[tuple[bool, str], UsedKey] = {}
    for project in settings.projects:
        used = [UsedKey(ProjectId(project.id), project.key)]
        if project.assistant_key:
            used.append(UsedKey(ProjectId(project.id), project.assistant_key, is_assistants=True))
        for each in used:
            by_key.setdefault((each.is_assistants, each.key.get_secret_value()), each)
    return {used.name: used for used in by_key.values()}


async def check_key_ages(context: WorkerContext) -> None:
    """Store new keys, and tell admins of keys that may expire soon."""
    for used in used_keys(context.settings).values():

        def check(tx: Transaction, used: UsedKey = used) -> None:
            known = _known(context, tx, used)
            age_days = (context.clock() - known.first_used_at).days
            due = [days for days in WARNED_AT_DAYS if known.warned_at_days < days <= age_days]
            if not due or age_days > EXPIRES_AFTER_DAYS:
                return
            ServiceKeys(tx).save(replace(known, warned_at_days=due[-1]))
            log.warning("key_may_expire", key=used.name, days=age_days)
            docs = context.projects.shown(used.project)
            entry = context.projects.entry(used.project)
            message = say.key_may_expire(
                used.project, age_days, is_assistants=used.is_assistants, docs=docs, entry=entry
            )
            occasion = f"key:{used.name}:{known.fingerprint}:{due[-1]}"
            tell_admins(context, tx, occasion, message, context.clock())

        await context.write(check)


def _known(context: Context, tx: Transaction, used: UsedKey) -> ServiceKey:
    """Return the row of a key. It is added at the key's first use."""
    known = ServiceKeys(tx).of(used.name)
    if known is None or not known.is_of(used.key):
        known = ServiceKey.new(used.name, used.key, context.clock())
        ServiceKeys(tx).save(known)
    return known


def assistants_key_refused(
    context: Context, tx: Transaction, project: ProjectId, error: DocsApiError
) -> None:
    """Tell admins that the service refuses the assistant's key, once until it is accepted."""
    used = _assistants_key(context, project)
    log.error("assistants_key_refused", project=project, reason=reason_of(error))
    known = _known(context, tx, used) if used else None
    if used is None or known is None or known.refused_at is not None:
        return
    now = context.clock()
    ServiceKeys(tx).save(replace(known, refused_at=now))
    docs = context.projects.shown(used.project)
    entry = context.projects.entry(used.project)
    message = say.assistants_key_refused(used.project, docs, entry)
    tell_admins(context, tx, f"key:{used.name}:refused:{now.isoformat()}", message, now)


def assistants_key_accepted(context: Context, tx: Transaction, project: ProjectId) -> None:
    """Tell admins that the service accepts the assistant's key again, if it has refused it."""
    used = _assistants_key(context, project)
    known = ServiceKeys(tx).of(used.name) if used else None
    if used is None or known is None or known.refused_at is None:
        return
    now = context.clock()
    ServiceKeys(tx).save(replace(known, refused_at=None))
    message = say.assistants_key_accepted(used.project, context.projects.shown(used.project))
    tell_admins(context, tx, f"key:{used.name}:accepted:{now.isoformat()}", message, now)


def _assistants_key(context: Context, project: ProjectId) -> UsedKey | None:
    """Return the key with which the assistant of a project is asked; None without one."""
    for configured in context.settings.projects:
        if configured.id == project and configured.assistant_key:
            secret = configured.assistant_key.get_secret_value()
            for used in used_keys(context.settings).values():
                if used.is_assistants and used.key.get_secret_value() == secret:
                    return used
    return None

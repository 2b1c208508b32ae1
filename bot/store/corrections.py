"""Corrections: what the rows say about messages that were edited or deleted after they asked."""

from __future__ import annotations

from sqlalchemy import select, update

from bot.model.ids import RequestKey
from bot.model.origin import Origin
from bot.model.projects import Project
from bot.model.prompts import Prompt
from bot.store.columns import Repository
from bot.store.prompts import to_prompt
from bot.store.schema import audit, deliveries, jobs, prompts


class CorrectionRepository(Repository):
    """Corrections of prompts, within one transaction."""

    def prompt_of(self, key: RequestKey) -> Prompt | None:
        """Return the prompt of the request with this key; None when there is none."""
        row = self.connection.execute(select(prompts).where(prompts.c.key == key)).mappings().first()
        return to_prompt(row) if row else None

    def was_answered(self, origin: Origin) -> bool:
        """Return whether anything was said about a message, instead of storing it as a prompt."""
        about_it = deliveries.c.key.startswith(f"{origin.key}:", autoescape=True)
        found = select(deliveries.c.seq).where(deliveries.c.channel == origin.channel, about_it).limit(1)
        return self.connection.execute(found).first() is not None

    def move(self, prompt: Prompt, project: Project) -> None:
        """Move a prompt that has not been sent, and the job that it starts, to another project."""
        mine, its_job = prompts.c.id == prompt.id, jobs.c.number == prompt.job
        self.connection.execute(update(prompts).where(mine).values(project=project.id))
        moved = update(jobs).where(its_job).values(project=project.id, project_label=project.label)
        self.connection.execute(moved)
        its_row = update(audit).where(audit.c.job == prompt.job, audit.c.prompt == prompt.id)
        self.connection.execute(its_row.values(project=project.id))

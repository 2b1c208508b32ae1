"""Corrections: the newest texts of messages that were edited after their prompts went out."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from bot.model import Prompt, PromptId, RequestKey
from bot.store.prompts import to_prompt
from bot.store.schema import prompts


@dataclass(frozen=True, slots=True)
class CorrectionRepository:
    """Corrections of prompts, within one transaction."""

    connection: Connection

    def prompt_of(self, key: RequestKey) -> Prompt | None:
        """Return the prompt of the request with this key; None when there is none."""
        row = self.connection.execute(select(prompts).where(prompts.c.key == key)).mappings().first()
        return to_prompt(row) if row else None

    def put(self, prompt: PromptId, raw: str) -> None:
        """Keep the newest text of a prompt's message."""
        self.connection.execute(update(prompts).where(prompts.c.id == prompt).values(correction=raw))

    def of(self, prompt: PromptId) -> str | None:
        """Return the newest text of a prompt's message, if it was edited after the prompt went out."""
        found = self.connection.execute(select(prompts.c.correction).where(prompts.c.id == prompt))
        return found.scalar_one_or_none()

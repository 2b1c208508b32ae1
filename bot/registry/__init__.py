"""What survives a restart: jobs, prompts, the outbox."""

from __future__ import annotations

from bot.registry.claims import Claimer, LeaseLost
from bot.registry.store import AlreadyStored, DatabaseTrouble, Registry, Tables

__all__ = ["AlreadyStored", "Claimer", "DatabaseTrouble", "LeaseLost", "Registry", "Tables"]

"""What survives a restart: jobs, prompts, the outbox."""

from __future__ import annotations

from bot.store.leases import Claimer, LeaseLost
from bot.store.store import AlreadyStored, DatabaseTrouble, Registry, Tables

__all__ = ["AlreadyStored", "Claimer", "DatabaseTrouble", "LeaseLost", "Registry", "Tables"]

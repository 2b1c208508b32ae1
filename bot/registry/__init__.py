"""What survives a restart: jobs, prompts, the outbox."""

from __future__ import annotations

from bot.registry.claims import Claimer, LeaseLost
from bot.registry.store import AlreadyStored, Registry, Tables

__all__ = ["AlreadyStored", "Claimer", "LeaseLost", "Registry", "Tables"]

"""The store: everything that survives a restart, such as jobs, prompts and the outbox."""

from __future__ import annotations

from bot.store.leases import Claimer, LeaseLost
from bot.store.schema import Transaction
from bot.store.store import DatabaseTrouble, Store

__all__ = ["Claimer", "DatabaseTrouble", "LeaseLost", "Store", "Transaction"]

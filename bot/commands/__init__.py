"""The commands of the bot, one file each."""

from __future__ import annotations

from bot.commands.catalogue import COMMANDS

__all__ = ["COMMANDS"]

"""A Slack workspace for a machine without one: the real protocol, and a page for people."""

from __future__ import annotations

from bot.sandbox.workspace.options import WorkspaceOptions
from bot.sandbox.workspace.server import Workspace

__all__ = ["Workspace", "WorkspaceOptions"]

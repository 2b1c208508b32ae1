"""A Slack workspace for a machine without one: the real protocol, and a page for people."""

from __future__ import annotations

from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.server import Workspace

__all__ = ["Workspace", "WorkspaceOptions"]

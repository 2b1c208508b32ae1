"""A local stand-in for Slack: its real protocol, and a web page for people."""

from __future__ import annotations

from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.server import Workspace

__all__ = ["Workspace", "WorkspaceOptions"]

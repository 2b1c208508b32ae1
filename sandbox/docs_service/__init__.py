"""A complete docs service on this machine: an agent that writes to a real git repository, and real visits."""

from __future__ import annotations

from sandbox.docs_service.options import EXPIRED_KEY, READ_KEY, DocsServiceOptions
from sandbox.docs_service.service import DocsService

__all__ = ["EXPIRED_KEY", "READ_KEY", "DocsService", "DocsServiceOptions"]

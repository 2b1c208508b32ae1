"""A local docs service: an agent that commits to a real git repository, and counts of generated visits."""

from __future__ import annotations

from sandbox.docs_service.options import DocsServiceOptions
from sandbox.docs_service.service import DocsService

__all__ = ["DocsService", "DocsServiceOptions"]

"""The docs' git repository, with several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from sandbox.docs_service.repository import SiteRepository

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
BRANCHES = 6


def test_merges_at_the_same_moment_all_count(tmp_path: Path) -> None:
    repository = SiteRepository(tmp_path / "docs.git")
    repository.seed({"docs/index.md": "# Docs\n"}, NOW)
    base = repository.head(repository.main)
    assert base is not None

    def open_and_merge(number: int) -> bool:
        file = {f"docs/page-{number}.md": f"# Page {number}\n"}
        head = repository.commit(f"branch-{number}", file, "Add a page", NOW, base)
        return repository.merge(base, head, f"Add page {number}", NOW)

    with ThreadPoolExecutor(BRANCHES) as threads:
        assert all(threads.map(open_and_merge, range(BRANCHES)))
    head = repository.head(repository.main)
    assert head is not None
    assert len(repository.files(head)) == 1 + BRANCHES

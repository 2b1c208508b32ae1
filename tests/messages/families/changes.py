"""The view of a pull request's changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.jobs.model.pull_request import Size
from bot.pulls.messages import changes
from bot.pulls.model.changes import ChangedFile
from tests.messages.samples import SEEN, job

PATCH = "\n".join(
    (
        "@@ -1,6 +1,6 @@",
        " ---",
        "-title: Rate limit",
        "+title: Rate limits",
        " ---",
        " ",
        "@@ -20,5 +20,7 @@ See below",
        " This paragraph goes on,",
        "-and says 60 requests a <minute> for *each* key,\r",
        "+and says 100 requests a <minute> for *each* key,\r",
        " in three lines.",
        " ",
        "+A new paragraph with ~marks~ and <!channel>.",
        "+",
        "@@ -40,4 +42,4 @@",
        " ```python",
        "-client.get(60)",
        "+client.get(100)",
        " ```",
        "\\ No newline at end of file",
    )
)
FILES = (
    ChangedFile("docs/rate-limits.md", "modified", 4, 3, None, PATCH),
    ChangedFile(
        "docs/new/index.md", "added", 3, 0, None, "@@ -0,0 +1,3 @@\n+# New <page>\n+\n+Words."
    ),
    ChangedFile("docs/setup.md", "renamed", 0, 0, "docs/install.md"),
    ChangedFile("docs/old.md", "removed", 0, 9, None, "@@ -1 +0,0 @@\n-Gone"),
    ChangedFile("docs/logo.png", "modified", 0, 0),
    ChangedFile("openapi.json", "modified", 9_000, 1, None),
    ChangedFile("docs.json", "modified", 1, 1, None, '@@ -2 +2 @@\n {\n-  "a": 1\n+  "a": 2'),
)
LONG = "@@ -1 +1,40 @@\n" + "\n+\n".join(f"+Paragraph {at}. " + "word " * 40 for at in range(20))


def samples() -> Mapping[str, object]:
    """A view of each kind of file, and one with more than fits."""
    watched = job(pull_request=SEEN)
    many = [
        ChangedFile(f"page-{at}.md", "modified", 20 + at % 2, 0, None, LONG) for at in range(100)
    ]
    crowded = changes.changes_view(
        job(pull_request=replace(SEEN, size=Size(2_000, 0, 1_300))), many
    )
    return {
        "each kind of file": changes.changes_view(watched, FILES),
        "more than fits": [
            str(len(crowded["blocks"])),
            *(str(block)[:160] for block in crowded["blocks"][3:6]),
            *(str(block)[:160] for block in crowded["blocks"][-2:]),
        ],
        "it cannot be read": changes.unreadable(watched),
    }

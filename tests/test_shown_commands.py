"""Every shell command that the papers show is one that its program takes."""

from __future__ import annotations

import pytest

from tests.papers import PAPERS, codes, shown_in
from tests.shown_commands import NotRun, done_by_others, known_options, run_shown

SHOWN = {command: paper.name for paper in PAPERS for command in shown_in(paper.read_text())}
SHELL = sorted(command for command in SHOWN if not command.startswith("/docs-"))


@pytest.mark.parametrize("command", SHELL)
def test_a_command_that_a_paper_shows_runs(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_shown(command)


@pytest.mark.parametrize(
    "command",
    [
        "docs-bot frobnicate",
        "docs-bot jobs --nope",
        "docs-bot jobs --state asleep",
        "docs-bot audit --from yesterday",
        "docs-bot visitors --from 2026-10-01 --to 2026-10-31",
        "docs-bot sandbox --nope",
        ".venv/bin/docs-bot nothing",
        "make nothing",
        "python -m bot nothing",
        ".venv/bin/python -m bench.nothing",
        ".venv/bin/python -m bench.one --nope",
        ".venv/bin/python -m tests.torture --nope 7",
        "python script.py",
        ".venv/bin/python -m pytest tests/nothing/test_it.py",
        "docker ps",
        "curl http://localhost:3000/nothing",
    ],
)
def test_a_command_that_nothing_takes_is_noticed(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotRun):
        run_shown(command)


def test_every_option_that_a_paper_names_belongs_to_a_program() -> None:
    named = {
        code.split()[0]
        for paper in PAPERS
        for code in codes(paper.read_text())
        if code.startswith("--")
    }
    assert named - known_options() == set()


def test_what_no_test_runs_is_still_shown() -> None:
    assert done_by_others() <= {command.partition("  ")[0] for command in SHELL}


def test_commands_are_found_wherever_they_are_shown() -> None:
    paper = """
Type `/docs-agent jobs` or `make test`; `make` and `docs-bot` alone are names. `docs-bot
jobs` is broken over two lines.

```console
$ one   # with a remark
said by it
  $ two
```

```bash
# only a remark
three
```

```text
/docs-visitors 7d
```

```ini
ExecStart=/opt/docs-bot run
```
"""
    assert shown_in(paper) == [
        "one   # with a remark",
        "two",
        "three",
        "/docs-visitors 7d",
        "/opt/docs-bot run",
        "/docs-agent jobs",
        "make test",
        "docs-bot jobs",
    ]

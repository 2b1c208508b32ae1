"""The layers, and how large a module may be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_imports_go_down_the_layers_only() -> None:
    command = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    ran = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_bot_runs_without_the_sandbox() -> None:
    command = "import sys, bot.app; assert not [name for name in sys.modules if 'sandbox' in name]"
    subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=True)


def test_no_module_is_longer_than_four_hundred_lines() -> None:
    longest = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (ROOT / "bot").rglob("*.py")
    }
    assert {path: length for path, length in longest.items() if length > 400} == {}

"""What a process imports, and circles of imports; `make check` has the layers."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from bot.operator.running import BAD_SETTINGS_EXIT_CODE

ROOT = Path(__file__).parents[1]


# rich and pygments are None as where only requirements.txt is installed; httpx and structlog load them where
# they are. click may be there: 0.8 MB and 10 ms, and httpx loads it too, wherever it finds it.
_RUNNING = """
import gc
import json
import sys

sys.modules.update(rich=None, pygments=None)
from bot.__main__ import cli

is_light = "bot.app" not in sys.modules
code = cli(["run"], standalone_mode=False)
unwanted = {"markdown_it", "psycopg", "pygments", "rich"}
loaded = {name for name, module in sys.modules.items() if module is not None}
found = [name for name in loaded if name.split(".")[0] in unwanted or name.startswith("sandbox")]
print(json.dumps({"unwanted": found, "code": code, "collects": gc.isenabled(), "light": is_light}))
"""


def test_running_bot_loads_no_module_of_other_commands_and_collects_garbage(
    tmp_path: Path,
) -> None:
    # Without settings it ends when everything has been imported.
    ran = subprocess.run(
        [sys.executable, "-c", _RUNNING], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    told = json.loads(ran.stdout)
    assert told == {"unwanted": [], "code": BAD_SETTINGS_EXIT_CODE, "collects": True, "light": True}


def test_no_imports_go_in_a_circle() -> None:
    """As each module is executed: functions may import what is above, and types may be known both ways."""
    modules = {
        _dotted(path): ast.parse(path.read_text()).body for path in (ROOT / "bot").rglob("*.py")
    }
    imports: dict[str, set[str]] = {name: set() for name in modules}
    for name, body in modules.items():
        for node in body:
            if isinstance(node, ast.ImportFrom):
                for target in (f"{node.module}.{alias.name}" for alias in node.names):
                    imports[name].add(target if target in modules else str(node.module))
    TopologicalSorter(imports).prepare()


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

"""The databases that tests run on start wherever the tests do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.limits import HANG_SECONDS

_USE_ONE = """
import sys
from pathlib import Path
import psycopg
from tests.databases import PostgresServer
server = PostgresServer(Path(sys.argv[1]))
url = server.new_database().replace("+psycopg", "")
with psycopg.connect(url) as connection:
    print(connection.execute("SELECT 'it answers'").fetchone()[0])
server.stop()
"""


def test_a_postgresql_starts_with_nothing_on_the_path(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _USE_ONE, str(tmp_path)]
    environment = os.environ | {"PATH": "/nowhere"}
    ran = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert ran.stdout == "it answers\n", ran.stderr

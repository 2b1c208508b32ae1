"""The secrets of one sandbox: made at its first start, and kept in its folder for later ones."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

FILE = "secrets.json"


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets that the bot and both services of a sandbox share."""

    bot_token: str
    app_token: str
    signing_secret: str
    api_key: str
    assistant_key: str


def kept_secrets(folder: Path) -> Secrets:
    """Return the folder's secrets; make those that it lacks. Only the owner may read the file."""
    path = folder / FILE
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    made = {
        "bot_token": f"xoxb-{secrets.token_hex(16)}",
        "app_token": f"xapp-{secrets.token_hex(16)}",
        "signing_secret": secrets.token_hex(16),
        "api_key": f"sandbox_{secrets.token_hex(16)}",
        "assistant_key": f"sandbox_dsc_{secrets.token_hex(16)}",
    } | stored
    if made != stored:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            json.dump(made, file)
    return Secrets(**made)

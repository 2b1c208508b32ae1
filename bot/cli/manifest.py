"""``docs-bot manifest``: the manifest of the Slack app, ready to paste."""

from __future__ import annotations

from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import yaml

_PATH = "/slack/events"


def manifest(address: str | None) -> str:
    """Return the manifest for Socket Mode, or for HTTP at the public https address of the bot.

    Raises ValueError, with a text for people, for any other address.
    https://docs.slack.dev/reference/app-manifest
    """
    text = files("bot.cli").joinpath("manifest.yml").read_text("utf-8")
    return text if address is None else _over_http(yaml.safe_load(text), _events_url(address))


def _events_url(address: str) -> str:
    parts = urlsplit(address)
    is_plain = parts.username is None and not parts.query and not parts.fragment
    if parts.scheme != "https" or not parts.hostname or not is_plain or parts.path not in ("", "/", _PATH):
        raise ValueError(f"{address!r} is no address of a bot: write https:// and its host")
    return f"https://{parts.netloc}{_PATH}"


def _over_http(found: dict[str, Any], url: str) -> str:
    for command in found["features"]["slash_commands"]:
        command["url"] = url
    settings = found["settings"]
    settings["event_subscriptions"]["request_url"] = url
    settings["interactivity"]["request_url"] = url
    settings["socket_mode_enabled"] = False
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=1000)

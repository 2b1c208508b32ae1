"""``docs-bot manifest``: the manifest of the Slack app."""

from __future__ import annotations

from importlib.resources import files
from urllib.parse import SplitResult, urlsplit

import yaml

_PATH = "/slack/events"


def format_manifest(address: str | None) -> str:
    """Return the manifest for Socket Mode, or for HTTP at the public https address of the bot.

    Raises ValueError, with a text for people, for any other address.
    https://docs.slack.dev/reference/app-manifest
    """
    text = files("bot.operator").joinpath("manifest.yml").read_text("utf-8")
    if address is None:
        return text
    parts = urlsplit(address)
    if not _can_be_bot(parts):
        raise ValueError(f"{address!r} is no address of a bot: write https:// and its host")
    url = f"https://{parts.netloc}{_PATH}"
    app = yaml.safe_load(text)
    for command in app["features"]["slash_commands"]:
        command["url"] = url
    settings = app["settings"]
    settings["event_subscriptions"]["request_url"] = url
    settings["interactivity"]["request_url"] = url
    settings["socket_mode_enabled"] = False
    return yaml.safe_dump(app, sort_keys=False, allow_unicode=True, width=1000)


def _can_be_bot(parts: SplitResult) -> bool:
    if parts.scheme != "https" or not parts.hostname or parts.username is not None:
        return False
    return not parts.query and not parts.fragment and parts.path in ("", "/", _PATH)

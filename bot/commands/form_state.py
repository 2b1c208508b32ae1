"""What a dialogue carries along and gets back when it is sent (Slack's ``private_metadata``)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import SecretStr

from bot.model import ChannelId, JobNumber


@dataclass(frozen=True, slots=True)
class FormState:
    """Where the dialogue was opened, and for which job if one was chosen."""

    channel: ChannelId | None = None
    response_url: SecretStr | None = None
    job: JobNumber | None = None

    def dumps(self) -> str:
        """As text; Slack allows 3,000 characters, of which this takes a few hundred."""
        url = self.response_url.get_secret_value() if self.response_url else None
        return json.dumps({"channel": self.channel, "response_url": url, "job": self.job})

    @classmethod
    def loads(cls, text: str) -> FormState:
        """Back from the text. Slack signs what it sends, so it is ours unless it is from another version."""
        try:
            values = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(values, dict):
            return cls()
        url, job = values.get("response_url"), values.get("job")
        return cls(
            channel=ChannelId(values["channel"]) if values.get("channel") else None,
            response_url=SecretStr(url) if url else None,
            job=JobNumber(job) if isinstance(job, int) else None,
        )

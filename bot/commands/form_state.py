"""What a dialogue carries along and gets back when it is sent (Slack's ``private_metadata``)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import SecretStr

from bot.model import ChannelId, JobNumber, Origin, UserId


@dataclass(frozen=True, slots=True)
class FormState:
    """Where the dialogue was opened, and for which job if one was chosen.

    ``seen_by``: the person for whom it was opened, once it was known that they may see this job.
    """

    channel: ChannelId | None = None
    response_url: SecretStr | None = None
    job: JobNumber | None = None
    seen_by: UserId | None = None

    @classmethod
    def at(cls, origin: Origin, job: JobNumber | None = None, *, seen_by: UserId | None = None) -> FormState:
        """What a form carries that is opened where something was just typed or pressed."""
        return cls(origin.channel, origin.response_url, job, seen_by)

    def dumps(self) -> str:
        """As text; Slack allows 3,000 characters, of which this takes a few hundred."""
        url = self.response_url.get_secret_value() if self.response_url else None
        kept = {"channel": self.channel, "response_url": url, "job": self.job, "seen_by": self.seen_by}
        return json.dumps(kept)

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
            seen_by=UserId(values["seen_by"]) if isinstance(values.get("seen_by"), str) else None,
        )

"""The state that a form keeps between opening and submission, in Slack's ``private_metadata``."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import SecretStr

from bot.model.ids import ChannelId, JobNumber
from bot.model.origin import Origin


@dataclass(frozen=True, slots=True)
class FormState:
    """Where a form was opened, and for which job if it is for one."""

    channel: ChannelId | None = None
    response_url: SecretStr | None = None
    job: JobNumber | None = None

    @classmethod
    def at(cls, origin: Origin, job: JobNumber | None = None) -> FormState:
        """Return the state of a form that is opened in reply to a request with this origin."""
        return cls(origin.channel, origin.response_url, job)

    def dumps(self) -> str:
        """Return the state as JSON."""
        url = self.response_url.get_secret_value() if self.response_url else None
        kept = {"channel": self.channel, "response_url": url, "job": self.job}
        return json.dumps(kept)

    @classmethod
    def loads(cls, text: str) -> FormState:
        """Return the state from its JSON, or an empty state if it is malformed.

        Slack signs its requests, so the text is the bot's own, but another version may have written it.
        """
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

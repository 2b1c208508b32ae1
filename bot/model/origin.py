"""Where a request came from: what each carries from Slack's payload to its row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import SecretStr

from bot.model.ids import ChannelId, MessageTs, RequestKey, UserId
from bot.model.jobs import ThreadRef


def message_key(channel: ChannelId, ts: str = "") -> RequestKey:
    """Return the key of a message, or without ``ts`` the beginning of the keys of a channel's messages."""
    return RequestKey(f"message:{channel}:{ts}")


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asked for something, where, and how an answer reaches them.

    ``key`` recognises the request when Slack delivers it again. ``channel`` is empty for a button outside
    any channel and for a form that carries none. ``thread`` is set for a reply in a thread. ``message_ts`` is
    the message that the request came from: what somebody wrote, or the message whose button was pressed.
    ``response_url`` takes private answers for 30 minutes.
    """

    key: RequestKey
    user: UserId
    channel: ChannelId
    thread: MessageTs | None = None
    message_ts: MessageTs | None = None
    response_url: SecretStr | None = None

    @property
    def thread_ref(self) -> ThreadRef | None:
        """The thread in which it was said, if it was said in one."""
        return ThreadRef(self.channel, self.thread) if self.thread else None

    def moved_to(self, channel: ChannelId) -> Origin:
        """Return the origin under another id of its channel, which the key of a message contains."""
        key = self.key.replace(message_key(self.channel), message_key(channel), 1)
        return replace(self, key=RequestKey(key), channel=channel)

    @property
    def stored_url(self) -> str | None:
        """The response URL as a row or a form keeps it."""
        return self.response_url.get_secret_value() if self.response_url else None

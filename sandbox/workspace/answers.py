"""What the bot answers outside the Web API: in an acknowledgement, or through a response URL.

https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

from sandbox.workspace import blocks as rules
from sandbox.workspace.state import BOT_ID, BOT_USER, Json, State


class BadAnswer(Exception):
    """Slack would show nothing of this answer; ``complaints`` say why."""

    def __init__(self, complaints: list[str]) -> None:
        super().__init__("invalid_blocks")
        self.complaints = complaints


class Answers:
    """Shows the bot's answers, privately or to the channel."""

    def __init__(self, state: State) -> None:
        self._state = state

    def check(self, answer: Json) -> None:
        """Raises BadAnswer for blocks that Slack refuses."""
        blocks = answer.get("blocks")
        complaints = rules.message_complaints(blocks) if blocks else []
        if not complaints and rules.too_long(blocks):
            complaints = ["msg_blocks_too_long"]
        if complaints:
            raise BadAnswer(complaints)

    def show(self, answer: Json, user: str, channel: str) -> None:
        """A new message, for this person alone unless the answer says ``in_channel``."""
        self.check(answer)
        words = _words(answer) | {"thread_ts": answer.get("thread_ts")}
        if not words["text"] and not words["blocks"]:
            return
        if answer.get("response_type") == "in_channel":
            self._state.add_message(channel, user=BOT_USER, bot_id=BOT_ID, **words)
        else:
            self._state.add_ephemeral(channel, user, **words)

    def respond(self, said: Json, origin: Json) -> None:
        """A post to a response URL; ``origin`` is what the URL was given out for.

        A command's URL has no message to replace, so it always shows a new one:
        https://github.com/slackapi/bolt-js/issues/2287
        """
        self.check(said)
        container: Json = origin["container"]
        if said.get("delete_original"):
            self._delete(container)
        elif not (said.get("replace_original") and self._replace(container, said)):
            self.show(said, origin["user"], origin["channel"])

    def _delete(self, container: Json) -> None:
        if container.get("type") == "ephemeral":
            if self._state.ephemerals.pop(str(container.get("id")), None) is not None:
                self._state.tell("ephemeral_deleted", id=container["id"])
            return
        channel, ts = str(container.get("channel")), str(container.get("ts"))
        if self._state.messages.get(channel, {}).pop(ts, None) is not None:
            self._state.tell("message_deleted", channel=channel, ts=ts)

    def _replace(self, container: Json, said: Json) -> bool:
        """Whether there was something to replace."""
        if container.get("type") == "ephemeral":
            note = self._state.ephemerals.get(str(container.get("id")))
            if note is None:
                return False
            note |= _words(said)
            self._state.tell("ephemeral", ephemeral=note)
            return True
        message = self._state.message(str(container.get("channel")), str(container.get("ts")))
        if message is None:
            return False
        message |= _words(said)
        self._state.tell("message", message=message)
        return True


def _words(answer: Json) -> Json:
    blocks = answer.get("blocks") or None
    for number, block in enumerate(blocks or []):
        block.setdefault("block_id", f"r{number}")
    return {"text": str(answer.get("text") or ""), "blocks": blocks}

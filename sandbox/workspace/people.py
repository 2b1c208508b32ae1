"""The actions of people: messages, commands, buttons, modals and channels."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sandbox.workspace.blocks import BlocksRefused, checked, with_ids
from sandbox.workspace.bot_connection import BotConnection, NotAcknowledged
from sandbox.workspace.messages import EntityEncoder, EventSender, forwarded, pasted_table, share
from sandbox.workspace.options import App, WorkspaceOptions
from sandbox.workspace.responses import Tickets, acting_tab
from sandbox.workspace.state import APP_ID, BOT_ID, BOT_USER, TEAM, Channel, Json, State

_REASONS = {
    "dispatch_failed": "the bot could not be reached",
    "operation_timeout": "the bot did not answer in time",
}


class Refused(Exception):
    """A person's action is not possible; ``code`` is the reason."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


class People:
    """Carries out the actions of people in a workspace and reports them to the bot."""

    def __init__(
        self, state: State, options: WorkspaceOptions, bot_connection: BotConnection, app: App
    ) -> None:
        self.state = state
        self.options = options
        self.bot_connection = bot_connection
        self.app = app
        self.commands = {command["command"]: command for command in app.commands}
        self.tickets = Tickets(state, options)
        self._entities = EntityEncoder(state)
        self._events = EventSender(state, bot_connection, app)

    # Messages

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        files: Sequence[tuple[str, str]] = (),
        forwards: Json | None = None,
        table: Sequence[Sequence[str]] = (),
    ) -> Json:
        """Post a message; bots that are members get the event.

        Args:
            files: The names and texts of files.
            forwards: A message that goes along.
            table: The rows of a table that is pasted into it.
        """
        room = self._room(user, channel)
        if thread_ts and self.state.message(channel, thread_ts) is None:
            raise Refused("thread_not_found")
        attachments = [pasted_table(table)] if table else []
        attachments += [forwarded(self.state, self.tickets.base_url, forwards)] if forwards else []
        if not text.strip() and not files and not attachments:
            raise Refused("no_text")
        url = self.tickets.base_url
        shared = [share(self.state, self.options.folder, url, user, *file) for file in files]
        message = self.state.add_message(
            room.id,
            user=user,
            text=self._entities.as_message(text),
            thread_ts=thread_ts,
            files=shared,
            attachments=attachments,
        )
        self.send_message_event(message)
        return message

    def edit(
        self, user: str, channel: str, ts: str, text: str, table: Sequence[Sequence[str]] = ()
    ) -> None:
        """Change the user's own message and send the bot an event. ``table``: pasted into it."""
        message = self._own_message(user, channel, ts)
        before = dict(message)
        edited = {"user": user, "ts": self.state.new_ts()}
        message |= {"text": self._entities.as_message(text), "edited": edited}
        if table:
            message["attachments"] = [pasted_table(table)]
        self.state.publish("message", message=message)
        self._events.send_change(message, before, {"edited": edited})

    def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete the user's own message; one with replies stays as a tombstone. Send the bot an event."""
        message = self._own_message(user, channel, ts)
        before = dict(message)
        if len(self.state.thread(channel, ts)) > 1:
            message |= {"text": "This message was deleted.", "subtype": "tombstone"}
            message |= {"files": [], "attachments": []}
            self.state.publish("message", message=message)
            self._events.send_change(message, before, {"user": "USLACKBOT", "hidden": True})
            return
        del self.state.messages[channel][ts]
        self.state.publish("message_deleted", channel=channel, ts=ts)
        self._events.send_deletion(before)

    def delete_file(self, file: str) -> None:
        """Delete a file. The messages with it stay, without it."""
        del self.state.files[file]
        self.state.shelf.put("file", file, None)
        for messages in self.state.messages.values():
            for message in messages.values():
                left = [one for one in message["files"] or () if one["id"] != file]
                if len(left) != len(message["files"] or ()):
                    message["files"] = left
                    self.state.publish("message", message=message)

    def react(self, user: str, message: Json, name: str) -> None:
        """Add the user's reaction, or remove it if it is there."""
        reactions: list[Json] = message["reactions"]
        reaction = next((one for one in reactions if one["name"] == name), None)
        if reaction is None:
            reactions.append({"name": name, "users": [user]})
        elif user in reaction["users"]:
            reaction["users"].remove(user)
            message["reactions"] = [one for one in reactions if one["users"]]
        else:
            reaction["users"].append(user)
        self.state.publish("message", message=message)

    def send_message_event(self, message: Json) -> None:
        """Send the bot the events of a message."""
        self._events.send_message(message)

    # Commands

    async def command(self, user: str, channel: str, command: str, text: str) -> Json:
        """Send a slash command and show the bot's response; return ``ok`` or Slack's error."""
        room = self._room(user, channel)
        # Only the organisation that has installed the app has its commands and shortcuts:
        # https://docs.slack.dev/apis/slack-connect
        if command not in self.commands or self.state.users[user].is_external:
            return self._notice(user, f"{command} is not a valid command.", "unknown_command")
        escaped = (
            self._entities.as_command(text) if self.commands[command].get("should_escape") else text
        )
        url = self.tickets.response_url(user, room.id)
        fields = {"channel_id": room.id, "channel_name": room.shown_name}
        payload = fields | {
            "token": "sandbox",
            "command": command,
            "text": escaped,
            "response_url": url,
            "trigger_id": self.tickets.trigger(user),
            "user_id": user,
            "user_name": self.state.users[user].name,
            "team_id": TEAM["id"],
            "team_domain": TEAM["domain"],
            "api_app_id": APP_ID,
            "is_enterprise_install": "false",
        }
        try:
            self._show(await self.bot_connection.deliver("command", payload), user, room.id)
        except NotAcknowledged as error:
            reason = _REASONS.get(str(error), "")
            return self._notice(
                user, f"{command} failed with the error “{error}” ({reason}).", str(error)
            )
        except BlocksRefused as bad:
            # An acknowledgement is not answered: Slack drops a message that it cannot show without a word.
            self.bot_connection.log_unshown(bad.complaints)
        return {"ok": True}

    def _notice(self, user: str, text: str, code: str) -> Json:
        self.state.publish("notice", user=user, tab=acting_tab.get(), text=text)
        return {"ok": False, "error": code, "detail": text}

    # Buttons, menus and shortcuts

    async def press(
        self, user: str, container: Json, action: Json, values: Json | None = None
    ) -> Json:
        """Press a button or choose from a menu, in a message, an ephemeral message or a modal."""
        payload = self._action_payload(user, container)
        timed = {**action, "action_ts": self.state.new_ts()}
        payload |= {
            "type": "block_actions",
            "actions": [timed],
            "trigger_id": self.tickets.trigger(user),
        }
        payload["state"] = {"values": values or {}}
        return await self._send_interaction(user, payload)

    async def _send_interaction(self, user: str, payload: Json) -> Json:
        try:
            await self.bot_connection.deliver("interactive", payload)
        except NotAcknowledged as error:
            return self._notice(
                user, f"That did not work: {_REASONS.get(str(error), error)}.", str(error)
            )
        return {"ok": True}

    def _action_payload(self, user: str, container: Json) -> Json:
        payload, kind = self._user_fields(user), container.get("type")
        if kind == "view":
            homes = {home["id"]: home for home in self.state.homes.values()}
            view = (self.state.views | homes).get(str(container.get("id")))
            if view is None or view["user"] != user:
                raise Refused("view_not_found")
            return payload | {"container": {"type": "view", "view_id": view["id"]}, "view": view}
        room = self._room(user, str(container.get("channel")))
        place: Json = {
            "type": "message",
            "channel_id": room.id,
            "is_ephemeral": kind == "ephemeral",
        }
        if kind == "ephemeral":
            message = self.state.ephemerals.get(str(container.get("id")))
            if message is None or message["user"] != user:
                raise Refused("message_not_found")
        else:
            message = self.message(room.id, container.get("ts"))
            payload["message"] = self._events.message_fields(message)
        place |= {"thread_ts": message["thread_ts"]} if message["thread_ts"] else {}
        url = self.tickets.response_url(user, room.id, container)
        return payload | {
            "container": place | {"message_ts": message["ts"]},
            "channel": {"id": room.id, "name": room.shown_name},
            "response_url": url,
        }

    def _user_fields(self, user: str) -> Json:
        person = self.state.users[user]
        return {
            "user": {"id": user, "username": person.name, "team_id": person.team_id},
            "team": {"id": TEAM["id"], "domain": TEAM["domain"]},
            "api_app_id": APP_ID,
            "token": "sandbox",
            "is_enterprise_install": False,
            "enterprise": None,
        }

    async def shortcut(self, user: str, callback_id: str, channel: str, ts: str) -> Json:
        """Use a shortcut of a message."""
        if self.state.users[user].is_external:
            raise Refused(
                "not_allowed", "People of other organisations have no shortcuts of this app."
            )
        room = self._room(user, channel)
        payload = self._user_fields(user) | {
            "type": "message_action",
            "callback_id": callback_id,
            "trigger_id": self.tickets.trigger(user),
            "action_ts": self.state.new_ts(),
            "message_ts": ts,
            "message": self._events.message_fields(self.message(channel, ts)),
            "channel": {"id": channel, "name": room.shown_name},
            "response_url": self.tickets.response_url(user, channel),
        }
        return await self._send_interaction(user, payload)

    # Modals

    def show_view(self, user: str, view: Json, tab: str = "") -> Json:
        """Open a modal for a person in a tab (empty: in each), and close the one that is open there."""
        views = self.state.views.values()
        for old_view in [v for v in views if (v["user"], v["tab"]) == (user, tab)]:
            self.close_view(user, old_view["id"])
        made: Json = {**self._view_fields(user), "tab": tab, **view}
        with_ids(made["blocks"])
        self.state.views[made["id"]] = made
        self.state.publish("view", user=user, view=made)
        return made

    def change_view(self, shown: Json, view: Json) -> Json:
        """Show a modal in place of one that is open, which keeps its id."""
        made: Json = {**shown, **view, "hash": secrets.token_hex(6)}
        with_ids(made["blocks"])
        self.state.views[shown["id"]] = made
        self.state.publish("view", user=shown["user"], view=made)
        return made

    def open_home(self, user: str) -> None:
        """Open the bot's Home tab, and send the bot the event.

        https://docs.slack.dev/reference/events/app_home_opened
        """
        room, home = self.state.im_of(user), self.state.homes.get(user)
        event: Json = {"type": "app_home_opened", "user": user, "channel": room.id, "tab": "home"}
        event |= {"event_ts": self.state.new_ts()} | ({"view": home} if home else {})
        self._events.send(room.id, event)

    def publish_home(self, user: str, view: Json) -> Json:
        """Show a view in the Home tab of a person."""
        made = {**self._view_fields(user), **view}
        with_ids(made["blocks"])
        self.state.homes[user] = made
        self.state.publish("home", user=user, view=made)
        return made

    def _view_fields(self, user: str) -> Json:
        fields = {"id": self.state.new_id("V"), "hash": secrets.token_hex(6), "team_id": TEAM["id"]}
        return fields | {"user": user, "app_id": APP_ID, "state": {"values": {}}}

    def close_view(self, user: str, view_id: str) -> None:
        """Close a modal."""
        if self.state.views.pop(view_id, None) is not None:
            self.state.publish("view_closed", user=user, view_id=view_id)

    async def submit_view(self, user: str, view_id: str, values: Json) -> Json:
        """Submit a modal; return the errors by block, or update or close it as the bot responds."""
        view = self.state.views.get(view_id)
        if view is None or view["user"] != user:
            raise Refused("view_not_found")
        sent = {**view, "state": {"values": values}}
        payload = self._user_fields(user) | {
            "type": "view_submission",
            "view": sent,
            "trigger_id": self.tickets.trigger(user),
        }
        try:
            answer = await self.bot_connection.deliver("interactive", payload)
        except NotAcknowledged as error:
            reason = _REASONS.get(str(error), str(error))
            return {"ok": False, "error": str(error), "detail": f"Not sent: {reason}."}
        if answer.get("response_action") == "errors":
            return {"ok": False, "errors": answer.get("errors") or {}}
        self.close_view(user, view_id)
        return {"ok": True}

    # The bot's responses

    def respond(self, token: str, response: Json) -> None:
        """Handle a post to a response URL. Raise BadResponseUrl, or BlocksRefused for blocks of the post.

        The URL of a command has no message to replace, so a post to it always adds a message:
        https://github.com/slackapi/bolt-js/issues/2287
        """
        origin = self.tickets.use_response_url(token)
        content, container = self._content(response), origin["container"]
        if not (response.get("replace_original") and self._replace(container, content)):
            self._show(response, origin["user"], origin["channel"])

    def _content(self, answer: Json) -> Json:
        blocks = checked(answer.get("blocks"), self.options)
        return {"text": str(answer.get("text") or ""), "blocks": blocks}

    def _show(self, answer: Json, user: str, channel: str) -> None:
        """Add a message; only this person sees it unless its ``response_type`` is ``in_channel``."""
        content = self._content(answer) | {"thread_ts": answer.get("thread_ts")}
        if not content["text"] and not content["blocks"]:
            return
        if answer.get("response_type") == "in_channel":
            self.state.add_message(channel, user=BOT_USER, bot_id=BOT_ID, **content)
        else:
            self.state.add_ephemeral(channel, user, **content)

    def _replace(self, container: Json, content: Json) -> bool:
        """Replace the original message; return False if it does not exist."""
        kind = "ephemeral" if container.get("type") == "ephemeral" else "message"
        if kind == "ephemeral":
            message = self.state.ephemerals.get(str(container.get("id")))
        else:
            message = self.state.message(str(container.get("channel")), str(container.get("ts")))
        if message is not None:
            message |= content
            self.state.publish(kind, **{kind: message})
        return message is not None

    # Channels

    def join(self, user: str, channel: str) -> None:
        """Join a public channel."""
        room = self.state.channels.get(channel)
        if room is None or room.is_closed:
            raise Refused("channel_not_found")
        if user not in room.members:
            self.add_member(room, user)

    def invite(self, user: str, channel: str, invitee: str) -> None:
        """Add somebody to a channel that the user is in."""
        room = self._room(user, channel)
        name = invitee.strip().lstrip("@")
        if not name:
            raise Refused("no_user", "Say whom: /invite @docs-agent")
        person = next(
            (one for one in self.state.users.values() if name in (one.id, one.name)), None
        )
        if person is None:
            raise Refused("user_not_found", f"There is nobody called {name}.")
        if room.is_im or room.is_mpim:
            raise Refused(
                "method_not_supported_for_channel_type", "Nobody can be added here. Use a channel."
            )
        if person.id in room.members:
            raise Refused("already_in_channel", f"{person.real_name} is here already.")
        self.add_member(room, person.id, inviter=user)
        self.state.add_message(
            room.id,
            user=person.id,
            text=f"<@{person.id}> was added by <@{user}>.",
            subtype="channel_join",
        )

    def add_member(self, room: Channel, user: str, inviter: str = "") -> None:
        """Add somebody to a channel, and send the bot the event if it is there by then.

        https://docs.slack.dev/reference/events/member_joined_channel
        """
        room.members.append(user)
        self.publish_channel(room)
        event: Json = {"type": "member_joined_channel", "user": user, "channel": room.id}
        event |= {"channel_type": room.id[:1], "team": TEAM["id"]}
        event |= {"event_ts": self.state.new_ts()} | ({"inviter": inviter} if inviter else {})
        self._events.send(room.id, event)

    def publish_channel(self, channel: Channel) -> None:
        """Publish that a channel changed; ``PageApi`` decides whose page shows it."""
        self.state.publish("channel", channel_id=channel.id)

    def _room(self, user: str, channel: str) -> Channel:
        room = self.state.channels.get(channel)
        if user not in self.state.users or room is None:
            raise Refused("channel_not_found")
        if user not in room.members:
            raise Refused("not_in_channel", "Join the channel first.")
        return room

    def message(self, channel: str, ts: object) -> Json:
        """Return a message. Raise Refused if there is none."""
        message = self.state.message(channel, str(ts))
        if message is None:
            raise Refused("message_not_found")
        return message

    def _own_message(self, user: str, channel: str, ts: str) -> Json:
        message = self.message(channel, ts)
        if message["user"] != user:
            raise Refused("cant_update_message")
        return message

"""The steps of ``docs-bot doctor --try`` that call Slack."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from bot.ids import DeliveryId, Message
from bot.messages import blocks, general
from bot.operator.trial_step import Step, StepFailed, StepSkipped, Trial
from bot.ports import SlackUnclear
from bot.slack.client import answered, identify
from bot.slack.uses import scopes_of
from bot.visitors.messages.answers import build_chart, build_page_table
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts
from bot.visitors.model.reports import Page

_APP_TOKEN = "SLACK_APP_TOKEN"  # noqa: S105 (the name of a setting)
_REACTION = "eyes"
_FILE_TEXT = "made,up\n1,2\n"
_FILE_TRIES = 10
"""Slack makes the message of a file after the upload is completed, a moment later."""


def native_blocks() -> Mapping[str, Message]:
    """Return a message for each kind of block that some workspaces lack, with made-up numbers."""
    counts = Counts(30, 70, 95)
    days = [Period(date(2026, 11, day), date(2026, 11, day + 1)) for day in range(2, 9)]
    return {
        "charts": blocks.message(build_chart([(day, counts) for day in days])),
        "tables": blocks.message(build_page_table("Pages", [Page("/quickstart", counts)])),
    }


async def _try_identify(trial: Trial) -> str:
    trial.identity = await trial.call(lambda: identify(trial.client))
    return f"Slack knows the bot as {trial.identity.bot_name}"


async def _try_scopes(trial: Trial) -> str:
    answer = await trial.call(lambda: answered(trial.client.auth_test()))
    headers = {name.lower(): value for name, value in answer.headers.items()}
    if "x-oauth-scopes" not in headers:
        raise StepSkipped("Slack does not list the scopes of the token")
    granted = {scope.strip() for scope in headers["x-oauth-scopes"].split(",")}
    missing = sorted(scopes_of() - granted)
    if missing:
        advice = "Update the manifest and reinstall the app."
        raise StepFailed(f"missing: {', '.join(missing)}", advice)
    return "all there"


async def _try_socket(trial: Trial) -> str:
    token = trial.settings.slack_app_token
    if token is None:
        raise StepSkipped("the bot runs in HTTP mode")
    value = token.get_secret_value()
    await trial.call(lambda: answered(trial.client.apps_connections_open(app_token=value)))
    return "an address for a socket, which the trial does not open"


async def _try_channel(trial: Trial) -> str:
    channel = trial.options.channel
    asking = trial.client.conversations_info
    answer = await trial.call(lambda: answered(asking(channel=channel)))
    facts: Mapping[str, object] = answer.get("channel") or {}
    trial.kind = _scope_prefix(facts)
    trial.is_member = facts.get("is_member") is not False
    return f"its scopes begin with {trial.kind}:"


def _scope_prefix(facts: Mapping[str, object]) -> str:
    """Return the prefix of the scopes of a channel's kind."""
    if facts.get("is_im"):
        return "im"
    if facts.get("is_mpim"):
        return "mpim"
    return "channels" if facts.get("is_private") is False else "groups"


async def _try_join(trial: Trial) -> str:
    if trial.kind != "channels":
        raise StepSkipped("the bot joins public channels only")
    await trial.call(lambda: trial.messenger.join(trial.options.channel))
    if trial.is_member:
        return "it was there already"
    trial.by_hand.append("the bot from the channel (/remove)")
    return "joined"


async def _try_begin(trial: Trial) -> str:
    trial.root = await trial.post("root", general.FIRST_POST, None)
    return "posted"


async def _post(trial: Trial, name: str, message: Message) -> str:
    await trial.post(name, message, trial.thread())
    return "posted in the thread"


async def _try_edit(trial: Trial) -> str:
    thread = trial.thread()
    place = trial.options.channel
    await trial.call(lambda: trial.messenger.edit(place, thread, general.EDITED_POST))
    return "the first post edited"


async def _try_react(trial: Trial) -> str:
    thread = trial.thread()
    place = trial.options.channel
    await trial.call(lambda: trial.messenger.react(place, thread, _REACTION))
    removing = trial.client.reactions_remove
    trial.add_remnant(
        "the reaction",
        lambda: removing(channel=place, timestamp=thread, name=_REACTION),
    )
    return "added to the first post"


async def _try_whisper(trial: Trial) -> str:
    user = trial.user()
    thread = trial.thread()
    place = trial.options.channel
    await trial.call(
        lambda: trial.messenger.whisper(place, user, general.PRIVATE_POST, thread=thread)
    )
    return f"shown to {user} only; it stays until they reload Slack"


async def _read_thread(trial: Trial) -> str:
    thread = trial.thread()
    return await _find_root(trial, "the thread", thread=str(thread))


async def _read_channel(trial: Trial) -> str:
    trial.thread()
    return await _find_root(trial, "the channel", thread=None)


async def _find_root(trial: Trial, place: str, *, thread: str | None) -> str:
    """Find the first post by its metadata, as the bot does when Slack's answer is lost."""
    delivery = DeliveryId(f"try-{trial.token}-root")
    root = trial.thread()
    found = await trial.call(
        lambda: trial.messenger.find_posted(
            trial.options.channel,
            deliveries=[delivery],
            thread=root if thread else None,
            since=datetime.now(UTC) - timedelta(minutes=10),
        )
    )
    if delivery not in found:
        raise StepFailed(f"Slack returns {place} without the metadata of the bot's post")
    return "read, with the bot's own post and its metadata"


async def _try_members(trial: Trial) -> str:
    user = trial.user()
    is_there = await trial.call(lambda: trial.messenger.is_member(trial.options.channel, user))
    if not is_there:
        raise StepFailed("you are not in the channel", "Join it, or name another channel.")
    return "read, with you among them"


async def _try_profile(trial: Trial) -> str:
    user = trial.user()
    profile = await trial.call(lambda: trial.messenger.profile(user))
    kinds = {
        "a guest": profile.is_guest,
        "a bot": profile.is_bot,
        "of another organisation": profile.is_stranger,
        "deactivated": profile.is_deleted,
    }
    found = [kind for kind, is_kind in kinds.items() if is_kind]
    return f"you are {' and '.join(found) or 'a member'}"


async def _try_groups(trial: Trial) -> str:
    handles = await trial.call(trial.messenger.group_handles)
    return f"read, {len(handles)} of them"


async def _try_group_members(trial: Trial) -> str:
    handles = await trial.call(trial.messenger.group_handles)
    group = next(iter([*sorted(trial.settings.allowed_user_groups), *handles]), None)
    if group is None:
        raise StepSkipped("the workspace has no user group")
    members = await trial.call(lambda: trial.messenger.group_members(group))
    return f"{len(members)} members of one of them"


async def _try_upload(trial: Trial) -> str:
    """Share a small file, and find the message in which Slack shows it."""
    trial.thread()
    name = f"{trial.token}.csv"
    try:
        trial.file = await trial.call(lambda: _share(trial, name))
    except (SlackUnclear, TimeoutError):
        await _leave_file(trial, name)
        raise
    if not await _leave_file(trial, name):
        file = trial.file
        trial.add_remnant(f"the file {name}", lambda: trial.client.files_delete(file=file))
        trial.by_hand.append(f"the message with the file {name}")
    return "shared in the channel"


async def _share(trial: Trial, name: str) -> str:
    """Upload a small file, and return its id."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        await asyncio.to_thread(path.write_text, _FILE_TEXT)
        return await trial.messenger.upload(
            trial.options.channel, path, name=name, text=general.FILE_POST, confirm=_confirm
        )


def _confirm() -> None:
    """Confirm the upload without a check."""


async def _leave_file(trial: Trial, name: str) -> bool:
    """Find a file and its message, to delete both at the end; return whether they were found."""
    place = trial.options.channel
    reading = trial.client.conversations_history
    for _ in range(_FILE_TRIES):
        answer = await trial.call(lambda: answered(reading(channel=place, limit=20)))
        for message in answer.get("messages") or []:
            for file in message.get("files") or []:
                if file.get("name") == name:
                    deleting = partial(trial.client.files_delete, file=str(file["id"]))
                    trial.add_remnant(f"the file {name}", deleting)
                    ts = str(message["ts"])
                    removing = partial(trial.client.chat_delete, channel=place, ts=ts)
                    trial.add_remnant("the message of the file", removing)
                    return True
        await trial.clock.sleep(0.5)
    return False


async def _try_download(trial: Trial) -> str:
    file = trial.file
    if file is None:
        raise StepSkipped("there is no file")
    shared = await trial.call(lambda: trial.messenger.describe_file(file))
    url = shared.url
    if url is None:
        raise StepFailed("Slack describes the file without an address")
    text = await trial.call(lambda: trial.messenger.read_text(url, most_bytes=1_000))
    if text.replace("\r\n", "\n") != _FILE_TEXT:
        raise StepFailed("Slack returns another content")
    return "described and read again, with the same content"


async def _try_direct(trial: Trial) -> str:
    user = trial.user()
    trial.direct = await trial.call(lambda: trial.messenger.conversation_with(user))
    await trial.post("direct", general.DIRECT_POST, None, trial.direct)
    return "opened, and posted there"


_BLOCK_STEPS = tuple(
    Step(
        name,
        partial(_post, name=name, message=message),
        ("chat.postMessage",),
        f"Nobody gets {name}.",
        f"{name.capitalize()} are refused here: people get the numbers as text.",
        assumptions=("native-blocks",),
    )
    for name, message in native_blocks().items()
)
SLACK_STEPS = (
    Step("token", _try_identify, ("auth.test",)),
    Step(
        "scopes",
        _try_scopes,
        ("auth.test",),
        "What needs a missing scope is refused: the steps below say which.",
        assumptions=("scopes-header",),
    ),
    Step("socket", _try_socket, ("apps.connections.open",), token_name=_APP_TOKEN),
    Step("channel", _try_channel, ("conversations.info",)),
    Step("join", _try_join, ("conversations.join",)),
    Step("post", _try_begin, ("chat.postMessage",)),
    *_BLOCK_STEPS,
    Step("edit", _try_edit, ("chat.update",)),
    Step("reaction", _try_react, ("reactions.add", "reactions.remove")),
    Step("private message", _try_whisper, ("chat.postEphemeral",)),
    Step(
        "read the thread",
        _read_thread,
        ("conversations.replies",),
        assumptions=("metadata-of-replies",),
    ),
    Step(
        "read the channel",
        _read_channel,
        ("conversations.history",),
        assumptions=("metadata-of-history",),
    ),
    Step("members", _try_members, ("conversations.members",)),
    Step("profile", _try_profile, ("users.info",)),
    Step("user groups", _try_groups, ("usergroups.list",)),
    Step("members of a group", _try_group_members, ("usergroups.users.list",)),
    Step(
        "file up",
        _try_upload,
        ("files.getUploadURLExternal", "files.completeUploadExternal", "files.delete"),
        assumptions=("upload",),
    ),
    Step("file down", _try_download, ("files.info",), assumptions=("file-address",)),
    Step("direct message", _try_direct, ("conversations.open", "chat.postMessage")),
)
"""The steps, in this order."""

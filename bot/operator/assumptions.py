"""Assumptions about Slack and the services that nobody has seen confirmed there.

docs/assumptions.md is derived from this list, and ``doctor --try`` says which of it a trial sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.operator.trial import STEPS
from bot.operator.trial_step import StepResult

_SLACK_DOCS_URL = "https://docs.slack.dev"
_MINTLIFY = "https://mintlify.com/docs/api"
_READ_ON = "2026-11-21"
"""The day on which the sources were read, unless a row has another one."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """A statement about Slack or a service that the code relies on."""

    id: str
    statement: str
    source: str
    """A page, a library's file or a report."""
    place: str
    """The code that relies on it: a file, and a name in it."""
    if_wrong: str
    read_on: str = _READ_ON
    seen_on: str = "not yet"
    """The day on which somebody saw it at Slack or at the service itself."""


ASSUMPTIONS = (
    Assumption(
        "native-blocks",
        "A message may have a chart or a table; a workspace without them refuses the message.",
        f"{_SLACK_DOCS_URL}/reference/block-kit/blocks/data-visualization-block",
        "bot/visitors/messages/answers.py:build_chart",
        "People get the numbers as text.",
    ),
    Assumption(
        "scopes-header",
        "Every answer to a bot's token lists its scopes in a header.",
        f"{_SLACK_DOCS_URL}/authentication/installing-with-oauth",
        "bot/operator/doctor_slack.py:check_slack",
        "The doctor does not name missing scopes; the refused step does.",
    ),
    Assumption(
        "metadata-of-replies",
        "A thread that is read again shows the metadata of the bot's own posts.",
        f"{_SLACK_DOCS_URL}/reference/methods/conversations.replies",
        "bot/slack/messenger.py:SlackMessenger.find_posted",
        "After a lost answer of Slack's a message appears twice.",
    ),
    Assumption(
        "metadata-of-history",
        "A channel that is read again shows the metadata of the bot's own posts.",
        f"{_SLACK_DOCS_URL}/reference/methods/conversations.history",
        "bot/slack/messenger.py:SlackMessenger.find_posted",
        "After a lost answer of Slack's a first post appears twice.",
    ),
    Assumption(
        "upload",
        "A file is uploaded in three steps, and visible after the last one only.",
        f"{_SLACK_DOCS_URL}/messaging/working-with-files",
        "bot/slack/messenger.py:SlackMessenger.upload",
        "Nobody gets all pages as a CSV file, or somebody gets it twice.",
    ),
    Assumption(
        "file-address",
        "A file's private address gives its content to the bot's token.",
        f"{_SLACK_DOCS_URL}/messaging/working-with-files",
        "bot/slack/file_download.py:read_text",
        "Text files in a message don't reach the agent.",
    ),
    Assumption(
        "command-text",
        "A command arrives with its text, its channel and an address for the answer.",
        f"{_SLACK_DOCS_URL}/interactivity/implementing-slash-commands",
        "bot/slack/payloads.py:invocation",
        "Slash commands fail.",
    ),
    Assumption(
        "response-url",
        "The address for the answer of a command takes a private message.",
        f"{_SLACK_DOCS_URL}/interactivity/handling-user-interaction",
        "bot/slack/messenger.py:SlackMessenger.answer",
        "Private answers appear in the channel's own way, or not.",
    ),
    Assumption(
        "mention-is-two-events",
        "A mention in a channel arrives twice: as a mention and as a message.",
        f"{_SLACK_DOCS_URL}/reference/events/app_mention",
        "bot/slack/message_events.py:read_message",
        "If it came once, as a message alone, mentions would start nothing.",
    ),
    Assumption(
        "bot-events-of-threads",
        "A reply in a thread arrives without a mention of the bot.",
        f"{_SLACK_DOCS_URL}/reference/events/message",
        "bot/inbox/receive.py:relevance_of",
        "Replies steer no job.",
    ),
    Assumption(
        "edit-has-both-texts",
        "The event of an edit has the message before and after it.",
        f"{_SLACK_DOCS_URL}/reference/events/message/message_changed",
        "bot/slack/message_events.py:read_change",
        "Edits of waiting prompts are not noticed.",
    ),
    Assumption(
        "deletion-has-text",
        "The event of a deletion has the deleted message.",
        f"{_SLACK_DOCS_URL}/reference/events/message/message_deleted",
        "bot/slack/message_events.py:read_change",
        "The bot does not know whose message is gone.",
    ),
    Assumption(
        "trigger",
        "A form can be opened for three seconds after a press.",
        f"{_SLACK_DOCS_URL}/surfaces/modals",
        "bot/slack/listeners.py:_Listeners._open",
        "Forms don't open, and people are told so.",
    ),
    Assumption(
        "home",
        "The opening of the Home tab arrives with the channel of the direct messages.",
        f"{_SLACK_DOCS_URL}/reference/events/app_home_opened",
        "bot/slack/payloads.py:home_opened",
        "The Home tab stays empty.",
    ),
    Assumption(
        "joined",
        "The bot's own joining arrives as an event without an inviter.",
        f"{_SLACK_DOCS_URL}/reference/events/member_joined_channel",
        "bot/slack/listeners.py:_Listeners._joined",
        "Old mentions are offered after the bot joined by itself.",
    ),
    Assumption(
        "loose-reply",
        "A reply to a deleted message is posted outside the thread, without an error.",
        "https://github.com/slack-go/slack/issues/1571",
        "bot/slack/messenger.py:SlackMessenger.post",
        "An error shows that a thread was deleted.",
    ),
    Assumption(
        "whisper-in-thread",
        "A private message lands in a thread if it is posted with the thread's timestamp.",
        f"{_SLACK_DOCS_URL}/reference/methods/chat.postEphemeral",
        "bot/slack/messenger.py:SlackMessenger.whisper",
        "Private answers appear below the channel's messages.",
    ),
    Assumption(
        "edit-length",
        "An edit takes at most 4,000 bytes of text.",
        "a report in a public repository: 3,971 bytes were taken, 4,121 refused",
        "bot/messages/blocks.py:TEXT_BYTES",
        "Edits could be longer.",
    ),
    Assumption(
        "pace",
        "A channel takes one message a second, and a workspace several hundred a minute.",
        f"{_SLACK_DOCS_URL}/apis/web-api/rate-limits",
        "bot/paces.py:Paces",
        "The bot waits longer than it must, or is asked to wait and does.",
    ),
    Assumption(
        "three-tries",
        "An event that is not acknowledged comes again at once, after one and after five minutes.",
        f"{_SLACK_DOCS_URL}/apis/events-api",
        "bot/inbox/store.py:REDELIVERED_FOR",
        "Messages during a longer outage are read again anyway.",
    ),
    Assumption(
        "dead-ticket",
        "Slack's library keeps the address of a socket that has died.",
        "slack_sdk 3.47.0, socket_mode/aiohttp/__init__.py",
        "bot/slack/socket.py:SocketIntake",
        "The bot asks for a new address too early.",
    ),
    Assumption(
        "channel-moves",
        "A channel that is shared may get a new id, and the event has both.",
        f"{_SLACK_DOCS_URL}/reference/events/channel_id_changed",
        "bot/slack/listeners.py:_Listeners._channel_moved",
        "The jobs and digests of that channel stop.",
    ),
    Assumption(
        "job-path",
        "A job is read at the path under which it was created, with its id.",
        f"{_MINTLIFY}/introduction",
        "bot/docs_api/client.py:DocsClient.get_job",
        "Every job counts as lost after an hour.",
    ),
    Assumption(
        "job-states",
        "A job is active, completed, archived or failed; any other state means that it runs.",
        "the interface of the service, docs/jobs.md",
        "bot/docs_api/models.py:Job.is_running",
        "A job is followed for a week, then given up.",
    ),
    Assumption(
        "shared-uses",
        "Jobs and follow-ups share one limit of uses an hour.",
        "not said by the service: the careful reading",
        "bot/jobs/model/quota.py:next_free_at",
        "Prompts wait though they need not.",
    ),
    Assumption(
        "shared-analytics",
        "All analytics calls of a key share one limit of 100 an hour.",
        f"{_MINTLIFY}/introduction",
        "bot/app.py:find_budget_project",
        "Questions about visitors wait though they need not.",
    ),
    Assumption(
        "analytics-visitors",
        "The day of dateTo is left out, and days are those of UTC.",
        f"{_MINTLIFY}/analytics/visitors",
        "bot/docs_api/client.py:DocsClient.visitors",
        "Numbers are those of a window that is some hours off.",
    ),
    Assumption(
        "analytics-views",
        "Views are events, so they may be added up.",
        f"{_MINTLIFY}/analytics/views",
        "bot/docs_api/client.py:DocsClient.views",
        "Sums of views are too high.",
    ),
    Assumption(
        "analytics-searches",
        "Searches come by their hits, and more follow while nextCursor is set.",
        f"{_MINTLIFY}/analytics/searches",
        "bot/docs_api/client.py:DocsClient.searches",
        "The most wanted topics are others.",
    ),
    Assumption(
        "analytics-votes",
        "Votes by page count contextual feedback only.",
        f"{_MINTLIFY}/analytics/feedback-by-page",
        "bot/docs_api/client.py:DocsClient.feedback_by_page",
        "Pages with bad votes are missing.",
    ),
    Assumption(
        "analytics-comments",
        "Comments by other AI agents have the source agent.",
        f"{_MINTLIFY}/analytics/feedback",
        "bot/docs_api/client.py:DocsClient.feedback",
        "Comments of agents count as those of people.",
    ),
    Assumption(
        "analytics-questions",
        "A row is one turn, with the id of its conversation.",
        f"{_MINTLIFY}/analytics/assistant-conversations",
        "bot/docs_api/client.py:DocsClient.assistant",
        "Questions are counted twice.",
    ),
    Assumption(
        "search",
        "A search costs no credits and returns a path that the page call takes.",
        f"{_MINTLIFY}/assistant/search",
        "bot/docs_api/discovery.py:DiscoveryClient.search",
        "Questions get no pages.",
    ),
    Assumption(
        "assistant-stream",
        "The assistant answers with server-sent events of the AI SDK, or with plain text.",
        "https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol",
        "bot/docs_api/discovery.py:read_stream",
        "Questions get pages without an answer.",
    ),
    Assumption(
        "preview-address",
        "The address of a preview leads somewhere only once its build is a success.",
        f"{_MINTLIFY}/preview/trigger",
        "bot/docs_api/client.py:DocsClient.create_preview",
        "Previews are shown later than they could be.",
    ),
    Assumption(
        "key-age",
        "A key of the docs service expires after 90 days unless somebody chose otherwise.",
        f"{_MINTLIFY}/introduction",
        "bot/jobs/service_keys.py:EXPIRES_AFTER_DAYS",
        "Admins are told too early or too late.",
    ),
    Assumption(
        "pull-request",
        "GitHub answers 404 for a pull request that the token may not see.",
        "https://docs.github.com/en/rest/pulls/pulls",
        "bot/github/client.py:GithubClient.pull_request",
        "Threads say that a pull request can't be seen, or nothing.",
    ),
)
"""The assumptions."""


def describe_seen(results: Iterable[StepResult]) -> str:
    """Return a text with the assumptions that a trial has confirmed, and the others."""
    worked = {result.name for result in results if result.state == "ok"}
    seen = [name for step in STEPS if step.name in worked for name in step.assumptions]
    unseen = [assumption.id for assumption in ASSUMPTIONS if assumption.id not in seen]
    return "\n".join(
        (
            f"Assumptions seen to be true: {', '.join(dict.fromkeys(seen)) or 'none'}",
            f"Not seen: {', '.join(unseen) or 'none'} (docs/assumptions.md)",
        )
    )

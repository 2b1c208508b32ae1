"""The tables of all subjects in one place, for tests that write rows of several."""

from bot.access.model import members as members
from bot.answers.publication_store import publications as publications
from bot.answers.store import inquiries as inquiries
from bot.inbox.store import inbox as inbox
from bot.inbox.store import missed_messages as missed_messages
from bot.jobs.store.tables import analytics_calls as analytics_calls
from bot.jobs.store.tables import audit as audit
from bot.jobs.store.tables import back_offs as back_offs
from bot.jobs.store.tables import jobs as jobs
from bot.jobs.store.tables import limits as limits
from bot.jobs.store.tables import prompts as prompts
from bot.outbox.store import deliveries as deliveries
from bot.pulls.store.tables import previews as previews
from bot.pulls.store.tables import pull_requests as pull_requests
from bot.store.channels import channels as channels
from bot.store.schema import metadata as metadata
from bot.store.trials import trials as trials
from bot.visitors.store import questions as questions
from bot.visitors.store import readings as readings
from bot.visitors.store import subscriptions as subscriptions

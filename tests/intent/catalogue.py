"""The vocabulary of the real commands, as the decision gets it."""

from __future__ import annotations

from bot.features import OPTIONAL_FEATURES, list_vocabulary
from bot.ids import ProjectId
from bot.projects import Projects

MENTION = "@docs-agent"
PROJECTS = Projects.only(ProjectId("acme"))
VOCABULARY = list_vocabulary(OPTIONAL_FEATURES, PROJECTS)

"""The vocabulary of the real commands, as the decision gets it."""

from __future__ import annotations

from bot.ids import ProjectId
from bot.projects import Projects
from bot.subjects import FEATURES, list_vocabulary

MENTION = "@docs-agent"
PROJECTS = Projects.only(ProjectId("acme"))
VOCABULARY = list_vocabulary(FEATURES, PROJECTS)

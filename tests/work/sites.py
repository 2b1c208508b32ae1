"""An office that serves two projects, each with a docs service of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.docs_api import DocsClients
from bot.ids import ProjectId
from bot.projects import Project, Projects
from tests.builders import PROJECT
from tests.fakes import FakeDocs
from tests.work.office import Office

ACME = Project(PROJECT, "acme", "Acme docs")
BETA = Project(ProjectId("beta-docs"), "beta", "Beta")


@dataclass
class Sites:
    """The office and the second docs service; the first is the office's own."""

    office: Office
    beta: FakeDocs = field(default_factory=FakeDocs)

    async def serve(self, *projects: Project) -> None:
        """Start anew with these projects, of which the first is the default."""
        services: Mapping[ProjectId, FakeDocs] = {ACME.id: self.office.docs, BETA.id: self.beta}
        await self.office.context.docs.aclose()
        self.office.restart()
        self.office.context = replace(
            self.office.context,
            projects=Projects(projects),
            docs=DocsClients({each.id: services[each.id].client() for each in projects}),
        )

    @property
    def prompts(self) -> tuple[list[str], list[str]]:
        """What the two services were asked, first Acme's."""
        return [text for _, text in self.office.docs.prompts], [text for _, text in self.beta.prompts]


async def open_sites(office: Office) -> Sites:
    """Serve both projects, Acme's by default."""
    sites = Sites(office)
    await sites.serve(ACME, BETA)
    return sites

"""The table of publications: merged pages that are looked for in the docs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, Index, Integer, Table, text, true

from bot.answers.model import Publication, PublicationState
from bot.answers.page_changes import PageChange
from bot.ids import JobNumber
from bot.store import schema
from bot.store.leases import FREE_LEASE, Claimer, Rows
from bot.store.queues import QueueTable
from bot.store.retention import RetentionRule

publications = Table(
    "publications",
    schema.metadata,
    Column("job", Integer, primary_key=True, autoincrement=False),
    Column("project", schema.Id(200), nullable=False),
    Column("requester", schema.Owner(40), nullable=False),
    Column("state", schema.Choice(PublicationState), nullable=False),
    Column("merged_at", schema.UtcDateTime, nullable=False),
    Column("due_at", schema.Due(minutes=65), nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("change", schema.UserJson(PageChange)),
    Column("address", schema.UserText),
    Column("title", schema.UserText),
    *schema.lease(),
    Index("ix_publications_state", "state", "due_at"),
    Index("ix_publications_merged_at", "merged_at"),
)
_PUBLICATION_QUEUE = QueueTable(
    "publications", publications, PublicationState.AWAITED, publications.c.due_at
)
_CLAIM = _PUBLICATION_QUEUE.claiming()
PUBLICATIONS_RULE = RetentionRule(
    "merged pages",
    publications,
    publications.c.state != PublicationState.AWAITED,
    publications.c.merged_at,
    delete_when=true(),
)


class Publications(Rows[Publication]):
    """Publications, within one transaction."""

    table = publications
    read = staticmethod(schema.reader(Publication, publications))

    def begin(self, publication: Publication) -> None:
        """Add a publication. It replaces one of the job's earlier pull request."""
        values = {name: getattr(publication, name) for name in Publication.__dataclass_fields__}
        if not schema.insert_unless_there(self.connection, publications, values | FREE_LEASE):
            self._write(publication.job, None, values | FREE_LEASE)

    def get(self, job: JobNumber) -> Publication | None:
        """Return the publication of a job; None if its page is not looked for."""
        return self._newest(publications.c.job == job)

    def claim_due(self, claimer: Claimer, limit: int) -> Sequence[Publication]:
        """Claim the due publications, the oldest jobs first."""
        return self._claim(_CLAIM, claimer, limit=limit)

    def save(self, publication: Publication, new: Publication, *, owner: str) -> None:
        """Write the changed columns of a publication, and free its lease. Raises LeaseLost."""
        self._write(
            publication.job, owner, schema.diff(publication, new, publications) | FREE_LEASE
        )

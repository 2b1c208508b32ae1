"""The keys of the docs service, as this database knows them: since when, and whether they work."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime

from pydantic import SecretStr
from sqlalchemy import select

from bot.jobs.store.tables import service_keys
from bot.store.schema import Repository, insert_unless_there


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """A key of a service, with the time of its first use."""

    name: str
    """Its kind and the project for which it is set."""
    salt: str
    fingerprint: str
    """A keyed hash of the key; the salt is the hash's own key."""
    first_used_at: datetime
    refused_at: datetime | None = None
    """Since when the service refuses it; None for a key that works."""
    warned_at_days: int = 0
    """The age in days at which admins were last told that it may expire."""

    @classmethod
    def new(cls, name: str, key: SecretStr, now: datetime) -> ServiceKey:
        """Return a key that was not used before."""
        salt = secrets.token_hex(16)
        return cls(name, salt, _make_fingerprint(key, salt), now)

    def is_of(self, key: SecretStr) -> bool:
        """Return whether this record belongs to a key, and not to an earlier key."""
        return secrets.compare_digest(self.fingerprint, _make_fingerprint(key, self.salt))


def _make_fingerprint(key: SecretStr, salt: str) -> str:
    text = key.get_secret_value().encode()
    return hashlib.blake2b(text, key=salt.encode(), digest_size=16).hexdigest()


class ServiceKeys(Repository):
    """The keys of the docs service, within one transaction."""

    def of(self, name: str) -> ServiceKey | None:
        """Return the key with a name; None before its first use."""
        query = select(service_keys).where(service_keys.c.name == name)
        row = self.connection.execute(query).mappings().first()
        return ServiceKey(**row) if row else None

    def save(self, key: ServiceKey) -> None:
        """Write a key."""
        values = asdict(key)
        if not insert_unless_there(self.connection, service_keys, values):
            change = service_keys.update().where(service_keys.c.name == key.name)
            self.connection.execute(change.values(**values))

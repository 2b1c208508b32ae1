"""Databases for tests of the visitors' store, as in tests/store."""

from tests.store.conftest import (  # noqa: F401 - fixtures
    another,
    database,
    database_url,
    is_migrated,
    migrated_databases,
    migrated_file,
    postgres,
    store,
)

"""Databases for tests of the visitors' store, as in tests/store."""

from tests.store.conftest import (  # noqa: F401 - fixtures
    another,
    database,
    database_url,
    is_prepared,
    postgres,
    prepared_databases,
    prepared_file,
    store,
)

"""The revisions of the tables, which Alembic carries out: https://alembic.sqlalchemy.org

``versions`` has one file for each. A released revision stays as it is, and a later one only adds: a
new column may be empty or has a default of the server's, so that the version before can go on with
the upgraded database.
"""

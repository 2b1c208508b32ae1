"""The next simplest alternative: a Bolt app that stores each command with SQLAlchemy and acknowledges it.

`python -m bench.storing_app http 3000` or `… socket 0`; SQLite and all else have default settings.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from bench.bolt_app import new_app, serve


class Base(DeclarativeBase):
    """The base of the mapped classes."""


class Command(Base):
    """A command as somebody typed it."""

    __tablename__ = "commands"

    id: Mapped[int] = mapped_column(primary_key=True)
    trigger_id: Mapped[str] = mapped_column(unique=True)
    user: Mapped[str]
    channel: Mapped[str]
    text: Mapped[str]
    response_url: Mapped[str]
    received_at: Mapped[datetime]


def storing_app(sessions: async_sessionmaker[AsyncSession]) -> AsyncApp:
    """Return an app that commits each command before it acknowledges."""
    app = new_app()

    @app.command("/docs-agent")
    async def store(ack: AsyncAck, command: dict[str, Any]) -> None:
        async with sessions() as session:
            session.add(_row(command))
            await session.commit()
        await ack()

    return app


def _row(command: dict[str, Any]) -> Command:
    return Command(
        trigger_id=command["trigger_id"],
        user=command["user_id"],
        channel=command["channel_id"],
        text=command["text"],
        response_url=command["response_url"],
        received_at=datetime.now(UTC),
    )


async def main(database_url: str, way: str, port: int) -> None:
    """Create the table and serve, until the process is ended."""
    engine = create_async_engine(database_url)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await serve(storing_app(async_sessionmaker(engine)), way, port)


if __name__ == "__main__":
    asyncio.run(main(os.environ["DATABASE_URL"], sys.argv[1], int(sys.argv[2])))

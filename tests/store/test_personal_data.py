"""`docs-bot export` has what `docs-bot forget` takes: both walk the schema by the same rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from bot.ids import UserId
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptKind
from bot.jobs.store.tables import jobs, prompts
from bot.store import Store
from bot.store.personal_data import MASKED, WORDS_OF_OTHERS, PersonalRow, read_personal_data
from bot.store.retention import RULES, RetentionRule, forget_person, parts_of
from bot.store.schema import AnyTable, Json, Owner, People, Person, Secret, emptied_values
from tests.builders import ANA, BEN, NOW, add_prompt, execute, rows_of
from tests.store.test_retention import everything_else, old_job, seen_pull_request


def taken_with_a_person() -> list[RetentionRule]:
    """Return the rules of rows that have an owner, or are parts of such rows."""
    owned = [rule for rule in RULES if rule.owner is not None]
    parts = [part for rule in owned for part, _refers in parts_of(rule)]
    return [rule for rule in RULES if rule in owned or rule in parts]


def mark(table: AnyTable) -> dict[str, object]:
    """Return a value of its own for each column that forgetting empties."""
    values = dict[str, object]()
    for name in emptied_values(table):
        kind = table.c[name].type
        marker = f"{table.name}.{name}"
        if isinstance(kind, Owner | Person):
            values[name] = ANA
        elif isinstance(kind, People):
            values[name] = [BEN, ANA]
        elif isinstance(kind, Json):
            values[name] = {"marker": marker}
        else:
            values[name] = marker
    return values


async def export(store: Store, user: UserId = ANA) -> list[PersonalRow]:
    return [row async for row in read_personal_data(store, user)]


async def full_columns(store: Store) -> set[tuple[str, str]]:
    """Return the columns, by their rule, that hold anything of a person in some row."""
    found = set[tuple[str, str]]()
    for rule in taken_with_a_person():
        for row in await rows_of(store, select(rule.table)):
            names = emptied_values(rule.table)
            found |= {(rule.name, name) for name in names if row[name] not in (None, "", [], {})}
    return found


async def test_export_has_every_column_that_forgetting_empties(store: Store) -> None:
    number = await old_job(store)
    await everything_else(store)
    await seen_pull_request(store, number)
    rules = taken_with_a_person()
    for rule in rules:
        await execute(store, update(rule.table).values(mark(rule.table)))
    everything = {(rule.name, name) for rule in rules for name in emptied_values(rule.table)}
    assert await full_columns(store) == everything, "a table has no row: add it to the test"

    rows = await export(store)
    exported = {(row.kind, name) for row in rows for name in row.values}

    assert exported == everything
    await forget_person(store, ANA)
    assert await full_columns(store) == set()
    assert await export(store) == []


async def test_secrets_are_named_and_not_written(store: Store) -> None:
    await old_job(store)
    await everything_else(store)
    secrets = [
        (rule, column.key)
        for rule in taken_with_a_person()
        for column in rule.table.c
        if isinstance(column.type, Secret)
    ]
    for rule, name in secrets:
        await execute(store, update(rule.table).values({name: "https://hooks.example/key"}))
    rows = await export(store)
    written = {(row.kind, name): value for row in rows for name, value in row.values.items()}
    assert [written[rule.name, name] for rule, name in secrets] == [MASKED] * len(secrets)
    assert "hooks.example" not in str(rows)


async def test_work_under_way_is_exported_and_said_to_be(store: Store) -> None:
    running: dict[str, Any] = {"state": JobState.WORKING, "poll_at": NOW, "ended_at": None}
    await old_job(store, **running)
    rows = await export(store)
    states = {row.kind: row.is_under_way for row in rows}
    assert states["jobs"] is True
    assert states["prompts"] is True
    assert (await forget_person(store, ANA))[0]["jobs"] == 0


async def test_others_words_and_names_stay_theirs(store: Store) -> None:
    mine = await old_job(store)
    await add_prompt(store, mine, key="bens", kind=PromptKind.FOLLOW_UP, asked_by=BEN, raw="Ben's")
    bens = await old_job(store, key="ben", requester=BEN, iteration_requester=ANA)
    await execute(store, update(prompts).where(prompts.c.job == bens).values(asked_by=BEN))
    quoted = {"attachments": "> Ben: Only how to make one"}
    await execute(store, update(prompts).where(prompts.c.job == mine).values(quoted))
    others = {"iteration_requester": BEN}
    await execute(store, update(jobs).where(jobs.c.number == mine).values(others))

    rows = await export(store)

    assert "Ben's" not in str(rows)
    assert "Only how to make one" not in str(rows)
    assert BEN not in str([row.values for row in rows])
    theirs = [row for row in rows if WORDS_OF_OTHERS in row.values.values()]
    assert [row.kind for row in theirs] == ["prompts", "prompts"]
    names = [row for row in rows if row.kind == "jobs" and row.key == bens]
    assert {name for row in names for name in row.values} >= {"iteration_requester"}


async def test_many_rows_come_in_parts(store: Store) -> None:
    for count in range(3):
        await old_job(store, key=f"job {count}", ended_at=NOW - timedelta(days=count))
    rows = [row for row in await export(store) if row.kind == "jobs"]
    assert sorted(row.key for row in rows) == [1, 2, 3]  # type: ignore[type-var]
    assert all(row.values["text"] for row in rows)

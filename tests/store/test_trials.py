"""The trials of the doctor: who may use a token, for how long, and what is stored of events."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from bot.ids import ChannelId, UserId
from bot.store import Store, Transaction
from bot.store.trials import OpenTrial, TrialNote, Trials, new_token, token_in
from tests.builders import ANA, BEN, CHANNEL, NOW

TRIAL = OpenTrial(new_token(), UserId(ANA), ChannelId(CHANNEL))
ENDS_AT = NOW + timedelta(minutes=15)


async def begin(store: Store) -> None:
    await store.write(lambda tx: Trials(tx).begin(TRIAL, NOW, ENDS_AT))


def add_note(note: TrialNote, tx: Transaction) -> None:
    Trials(tx).add_note(TRIAL.token, note)


async def test_token_is_its_persons_alone_and_valid_until_its_end(store: Store) -> None:
    await begin(store)
    last = ENDS_AT - timedelta(seconds=1)
    found = await store.read(lambda tx: Trials(tx).of_token(TRIAL.token, TRIAL.user, last))
    assert found == TRIAL
    others = await store.read(lambda tx: Trials(tx).of_token(TRIAL.token, UserId(BEN), NOW))
    late = await store.read(lambda tx: Trials(tx).of_token(TRIAL.token, TRIAL.user, ENDS_AT))
    unknown = await store.read(lambda tx: Trials(tx).of_token(new_token(), TRIAL.user, NOW))
    assert (others, late, unknown) == (None, None, None)


async def test_trial_is_found_by_its_person_and_its_channel_until_it_is_ended(
    store: Store,
) -> None:
    await begin(store)
    by_user = await store.read(lambda tx: Trials(tx).of_user(TRIAL.user, NOW))
    by_channel = await store.read(lambda tx: Trials(tx).of_channel(TRIAL.channel, NOW))
    assert (by_user, by_channel) == (TRIAL, TRIAL)
    await store.write(lambda tx: Trials(tx).end(TRIAL.token, NOW))
    by_user = await store.read(lambda tx: Trials(tx).of_user(TRIAL.user, NOW))
    by_channel = await store.read(lambda tx: Trials(tx).of_channel(TRIAL.channel, NOW))
    assert (by_user, by_channel) == (None, None)


async def test_notes_are_kept_in_order_and_bounded_and_go_with_the_next_trial(
    store: Store,
) -> None:
    await begin(store)
    notes = [TrialNote(f"event {number}", NOW, "", {"ok": "boolean"}) for number in range(101)]
    for note in notes:
        await store.write(partial(add_note, note))
    kept = await store.read(lambda tx: Trials(tx).notes(TRIAL.token))
    assert list(kept) == notes[:100]
    later = ENDS_AT + timedelta(days=1, seconds=1)
    other = OpenTrial(new_token(), UserId(BEN), ChannelId(CHANNEL))
    await store.write(lambda tx: Trials(tx).begin(other, later, later))
    assert await store.read(lambda tx: Trials(tx).notes(TRIAL.token)) == ()


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("doctor-0123456789ab", "doctor-0123456789ab"),
        ("  doctor-0123456789ab edited", "doctor-0123456789ab"),
        ("Ask the doctor-0123456789ab", None),
        ("doctor-0123456789abc", None),
        ("doctor-0123456789", None),
        ("doctor-who is a page", None),
        ("", None),
    ],
)
def test_token_is_a_text_that_begins_with_one(text: str, token: str | None) -> None:
    assert token_in(text) == token

"""The queue for the shared limit: fair between people, with times that come true."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.model import JobNumber, PromptId, PromptKind, Queued, Use, UserId, fair_order, frees_at, spent_by
from bot.model.quota import QUOTA_PERIOD
from tests.builders import ANA, BEN, NOW

PEOPLE = (ANA, BEN, UserId("U0CHIKA"))
FOLLOW_UP, START = PromptKind.FOLLOW_UP, PromptKind.START


def waiting(number: int, asked_by: UserId, kind: PromptKind = START) -> Queued:
    """A prompt in the queue; lower numbers came first."""
    return Queued(PromptId(number), JobNumber(number), kind, asked_by, NOW, NOW)


queues = st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PromptKind)), max_size=30).map(
    lambda made: [waiting(number, who, kind) for number, (who, kind) in enumerate(made, 1)]
)
histories = st.lists(
    st.builds(
        lambda who, seconds: Use(who, NOW - timedelta(seconds=seconds)),
        st.sampled_from(PEOPLE),
        st.floats(0, 3599),
    ),
    max_size=30,
)


def test_nobodys_second_goes_before_anothers_first() -> None:
    queue = [waiting(1, ANA), waiting(2, ANA), waiting(3, ANA), waiting(4, BEN)]
    assert [each.id for each in fair_order(queue, [])] == [1, 4, 2, 3]


def test_what_somebody_had_within_the_hour_counts() -> None:
    queue = [waiting(1, ANA), waiting(2, BEN)]
    assert [each.id for each in fair_order(queue, [Use(ANA, NOW)])] == [2, 1]


def test_follow_ups_go_before_new_jobs_among_equals() -> None:
    queue = [waiting(1, ANA), waiting(2, BEN, FOLLOW_UP), waiting(3, ANA, FOLLOW_UP)]
    assert [each.id for each in fair_order(queue, [])] == [2, 3, 1]


@given(queues, histories)
def test_each_turn_goes_to_whoever_had_least(queue: list[Queued], uses: list[Use]) -> None:
    had = dict(spent_by(uses))
    left = list(queue)
    for turn in fair_order(queue, uses):
        least = min(had.get(each.asked_by, 0) for each in left)
        assert had.get(turn.asked_by, 0) == least
        had[turn.asked_by] = least + 1
        left.remove(turn)
    assert left == []


@given(queues, histories)
def test_a_persons_own_prompts_keep_their_order_within_a_kind(queue: list[Queued], uses: list[Use]) -> None:
    order = fair_order(queue, uses)
    for who in PEOPLE:
        mine = [(each.kind is START, each.id) for each in order if each.asked_by == who]
        assert mine == sorted(mine)


@given(histories, st.integers(1, 20), st.integers(1, 40))
def test_a_place_is_reached_when_enough_uses_have_run_out(
    uses: list[Use], limit: int, queue_position: int
) -> None:
    """Those before take the uses that free; each of these runs out an hour later in its turn."""
    told = frees_at(uses, limit, queue_position)
    if not uses:
        assert told is None
        return
    assert told is not None
    running, at = sorted(use.at for use in uses), NOW
    for _ in range(queue_position):
        # Over the limit from the start: several have to run out before one is free.
        while len(running) >= max(1, min(limit, len(uses))):
            at = running.pop(0) + QUOTA_PERIOD
        running.append(at)
    assert abs((told - at).total_seconds()) <= 1


def test_without_any_use_only_the_service_knows() -> None:
    assert frees_at([], 100, 1) is None

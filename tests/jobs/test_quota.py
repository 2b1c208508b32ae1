"""The queue for the shared limit: fair between people, with times that come true."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.ids import JobNumber, PromptId, UserId
from bot.jobs.model.prompts import PromptKind
from bot.jobs.model.quota import (
    QueuedPrompt,
    Use,
    frees_at,
    list_counted_uses,
    next_free_at,
    share,
    sort_fairly,
    sort_least_tried_first,
    split_by_turn,
)
from tests.builders import ANA, BEN, NOW

PEOPLE = (ANA, BEN, UserId("U0CHIKA"))
FOLLOW_UP, START = PromptKind.FOLLOW_UP, PromptKind.START


def waiting(number: int, asked_by: UserId, kind: PromptKind = START) -> QueuedPrompt:
    """Return a prompt in the queue; lower numbers are older."""
    return QueuedPrompt(PromptId(number), JobNumber(number), kind, asked_by, NOW, NOW)


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


@given(queues, histories)
def test_next_turn_goes_to_the_person_with_fewest_uses(
    queue: list[QueuedPrompt], uses: list[Use]
) -> None:
    had = Counter(use.asked_by for use in uses)
    remaining = list(queue)
    for turn in sort_fairly(queue, uses):
        least = min(had.get(queued.asked_by, 0) for queued in remaining)
        assert had.get(turn.asked_by, 0) == least
        had[turn.asked_by] = least + 1
        remaining.remove(turn)
    assert remaining == []


@given(queues, histories)
def test_prompts_of_a_person_keep_their_order(queue: list[QueuedPrompt], uses: list[Use]) -> None:
    order = sort_fairly(queue, uses)
    for who in PEOPLE:
        mine = [(queued.kind is START, queued.id) for queued in order if queued.asked_by == who]
        assert mine == sorted(mine)


@given(histories, st.integers(1, 20))
def test_use_is_free_after_an_hour(uses: list[Use], limit: int) -> None:
    free_at = frees_at(uses, limit)
    if not uses:
        assert free_at is None
        return
    assert free_at is not None
    assert len(list_counted_uses(uses, free_at)) < limit
    just_before = list_counted_uses(uses, free_at - timedelta(seconds=1.001))
    assert len(just_before) >= min(limit, len(uses))


limits = st.integers(1, 30)


@given(queues, histories, limits)
def test_nobody_gets_more_than_their_share(
    queue: list[QueuedPrompt], uses: list[Use], limit: int
) -> None:
    order, had = sort_fairly(queue, uses), Counter(use.asked_by for use in uses)
    going, rest = split_by_turn(order, uses, limit, None)
    assert sorted(queued.id for queued in (*going, *rest)) == sorted(queued.id for queued in queue)
    assert split_by_turn(order, uses, limit, NOW)[0] == []
    assert len(uses) + len(going) <= max(limit, len(uses))
    people = {use.asked_by for use in uses} | {queued.asked_by for queued in queue}
    most = share(limit, is_alone=len(people) == 1)
    for who in people:
        own = sum(queued.asked_by == who for queued in going)
        assert own == 0 or had.get(who, 0) + own <= most


@given(st.lists(st.integers(0, 900), max_size=60), st.integers(5, 30))
def test_second_persons_prompt_goes_at_once(gaps: list[int], limit: int) -> None:
    uses: list[Use] = []
    now = NOW
    for number, seconds in enumerate(gaps, 1):
        now += timedelta(seconds=seconds)
        going, _ = split_by_turn([waiting(number, ANA)], list_counted_uses(uses, now), limit, None)
        uses += [Use(queued.asked_by, now) for queued in going]
        [next_goes], _ = split_by_turn(
            [waiting(99, BEN)], list_counted_uses(uses, now), limit, None
        )
        assert next_goes.asked_by == BEN


@given(queues, histories, limits)
def test_nothing_can_go_before_the_next_free_use(
    queue: list[QueuedPrompt], uses: list[Use], limit: int
) -> None:
    """Without new prompts, a check at every returned time sends everything in the end."""
    remaining, spent, now = sort_fairly(queue, uses), list(uses), NOW
    for _ in range(400):
        going, rest = split_by_turn(
            sort_fairly(remaining, spent), list_counted_uses(spent, now), limit, None
        )
        spent += [Use(queued.asked_by, now) for queued in going]
        remaining = list(rest)
        if not remaining:
            break
        counted = list_counted_uses(spent, now)
        next_at = next_free_at(counted, limit, now, None)
        assert next_at > now
        sooner = next_at - timedelta(seconds=1.001)
        assert (
            split_by_turn(
                sort_fairly(remaining, spent), list_counted_uses(counted, sooner), limit, None
            )[0]
            == []
        )
        now = next_at
    assert remaining == []


def test_untried_prompts_go_first_while_a_key_is_refused() -> None:
    tried = [replace(waiting(n, ANA), refused_at=NOW - timedelta(minutes=n)) for n in (1, 3, 2)]
    order = sort_least_tried_first([*tried, waiting(4, BEN), waiting(5, ANA)])
    assert [queued.id for queued in order] == [4, 5, 3, 2, 1]

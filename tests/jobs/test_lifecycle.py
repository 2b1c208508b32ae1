"""The steps of the lifecycles of jobs and prompts; other code takes none."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from bot.ids import PromptId
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.lifecycle import ENDS, JOB_STEPS, PROMPT_STEPS, IllegalStep
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.ports import Content
from tests.builders import ANA, BEN, NOW
from tests.messages.samples import job as sample_job

ROOT = Path(__file__).parents[2]
_ARROW = re.compile(r"^\s+(\w+) --> (\w+):", re.MULTILINE)

TO_JOB_STATE: dict[str, Callable[[TrackedJob], TrackedJob]] = {
    "started": lambda job: lifecycle.iteration_started(
        job, BEN, NOW, poll_at=NOW, has_been_active=True
    ),
    "lost": lambda job: lifecycle.lost(job, NOW),
    "unwatched": lambda job: lifecycle.job_unwatched(job, NOW),
    "refused": lambda job: lifecycle.job_refused(job, "rejected", NOW),
    "withdrawn": lambda job: lifecycle.withdrawn(job, NOW, JobProblem.WITHDRAWN, BEN),
    "dismissed": lambda job: lifecycle.withdrawn(job, NOW, JobProblem.DISMISSED, BEN),
    "unconfirmed": lifecycle.job_unconfirmed,
    "resent": lifecycle.resent,
}
for _end in sorted(ENDS):
    TO_JOB_STATE[f"ended: {_end}"] = lambda job, end=_end: lifecycle.iteration_ended(  # type: ignore[misc]
        job, end, NOW, pr_link=None
    )
TO_PROMPT_STATE: dict[str, Callable[[Prompt], Prompt]] = {
    "prepared": lambda prompt: lifecycle.prompt_prepared(prompt, "text"),
    "edited": lambda prompt: lifecycle.prompt_edited(prompt, Content("text"), NOW, NOW),
    "sent": lifecycle.prompt_sent,
    "postponed": lambda prompt: lifecycle.prompt_postponed(prompt, NOW),
    "unconfirmed": lifecycle.prompt_unconfirmed,
    "refused": lifecycle.prompt_refused,
    "resent": lambda prompt: lifecycle.prompt_resent(prompt, NOW),
    "withdrawn": lambda prompt: lifecycle.prompt_withdrawn(prompt, NOW),
}


def a_job(state: JobState) -> TrackedJob:
    return replace(sample_job(), state=state, ended_at=None)


def a_prompt(state: PromptState) -> Prompt:
    return Prompt(PromptId(1), sample_job().number, PromptKind.START, ANA, "Add", NOW, state)


def test_steps_are_the_arrows_of_the_diagram() -> None:
    diagram = (ROOT / "docs" / "lifecycle.md").read_text().split("```mermaid")[1].split("```")[0]
    drawn = {(JobState(begin), JobState(end)) for begin, end in _ARROW.findall(diagram)}
    for begin, end in product(JobState, JobState):
        assert (end in JOB_STEPS[begin]) is ((begin, end) in drawn), f"{begin} --> {end}"


def reached(begin: JobState | PromptState) -> set[str]:
    """Return the states that the lifecycle's functions lead to from this one."""
    states: set[str] = set()
    if isinstance(begin, JobState):
        for job_step in TO_JOB_STATE.values():
            with suppress(IllegalStep):
                new = job_step(a_job(begin))
                if lifecycle.is_job_step(a_job(begin), new):
                    states.add(new.state)
                    goes_on = new.state.is_open or new.state is JobState.UNCONFIRMED
                    assert goes_on or new.ended_at == NOW, (
                        f"{new.state}: forgotten by the time of its end"
                    )
    else:
        for prompt_step in TO_PROMPT_STATE.values():
            with suppress(IllegalStep):
                prepared = prompt_step(a_prompt(begin))
                lifecycle.check_prompt_step(a_prompt(begin), prepared)
                states.add(prepared.state)
    return states


@pytest.mark.parametrize("begin", [*JobState, *PromptState])
def test_functions_lead_to_the_states_of_the_lifecycle(begin: JobState | PromptState) -> None:
    # A claim marks a prompt as being sent; see ``Prompts.begin_sending``.
    allowed = (
        JOB_STEPS[begin]
        if isinstance(begin, JobState)
        else PROMPT_STEPS[begin] - {PromptState.SENDING}
    )
    assert reached(begin) == set(allowed)


def test_illegal_step_names_both_states() -> None:
    with pytest.raises(IllegalStep, match="job 42: refused to gone"):
        lifecycle.is_job_step(job := a_job(JobState.REFUSED), lifecycle.lost(job, NOW))
    with pytest.raises(IllegalStep, match="prompt 1: sent to refused"):
        lifecycle.check_prompt_step(
            sent := a_prompt(PromptState.SENT), lifecycle.prompt_refused(sent)
        )
    with pytest.raises(IllegalStep):
        lifecycle.iteration_ended(a_job(JobState.WORKING), JobState.WAITING, NOW, pr_link=None)


def test_new_iteration_counts_up_and_forgets_the_end() -> None:
    job = replace(sample_job(), state=JobState.PULL_REQUEST, iteration=3, ended_at=NOW)
    begun = TO_JOB_STATE["started"](job)
    assert (begun.iteration, begun.iteration_requester, begun.ended_at) == (4, BEN, None)
    assert begun.service_id == job.service_id


def test_only_the_lifecycle_and_the_store_write_states() -> None:
    assert not [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in (ROOT / "bot").rglob("*.py")
        if not {"outbox", "store"} & {*path.parts} and path.name != "lifecycle.py"
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and _writes_state(call)
    ]


def _writes_state(call: ast.Call) -> bool:
    states = ("JobState.", "PromptState.", "DeliveryState.")
    return any(
        word.arg == "state"
        and ast.unparse(word.value).startswith(states)
        and "." in ast.unparse(word.value)
        for word in call.keywords
    )

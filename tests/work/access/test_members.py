"""Who may use the bot: members, if no list says otherwise; nobody whom Slack cannot vouch for."""

from __future__ import annotations

from datetime import time, timedelta

import pytest

from bot.commands import COMMANDS
from bot.commands.command import Answer, Submission
from bot.commands.form_state import FormState
from bot.model.access import Access, Profile
from bot.model.ids import UserId
from bot.model.jobs import JobState, Review
from bot.model.weekly_time import Weekday
from bot.slack.errors import refused
from bot.work.ports import SlackUnreachable
from bot.work.visitors.subscriptions import SubscribeRequest, digest_now, subscribe
from tests.builders import ANA, BEN, CHANNEL, origin
from tests.work.office import RESPONSE_URL, Office

GUS = UserId("U0GUS")
MEMBER = Profile(False, False, False, False)
NOT_MEMBERS = {
    Access.GUEST: Profile(True, False, False, False),
    Access.BOT: Profile(False, True, False, False),
    Access.STRANGER: Profile(False, False, True, False),
    Access.GONE: Profile(False, False, False, True),
}


@pytest.mark.parametrize(("access", "profile"), NOT_MEMBERS.items())
async def test_who_is_no_member_is_told_so_and_nothing_is_started(
    office: Office, access: Access, profile: Profile
) -> None:
    office.slack.profiles[GUS] = profile
    await office.started("Add a page", user=GUS)
    assert office.docs.prompts == []
    assert office.slack.posts == []
    assert (await office.job()).problem == f"not_allowed:{access}"
    [told] = office.answers()
    assert "Ask a teammate" in told


async def test_each_reason_for_a_no_has_its_own_words(office: Office) -> None:
    for user, profile in zip("ABCD", NOT_MEMBERS.values(), strict=True):
        office.slack.profiles[UserId(f"U{user}")] = profile
        await office.ask("Add a page", user=UserId(f"U{user}"))
    await office.settle()
    assert len(set(office.answers())) == len(NOT_MEMBERS)


async def test_what_slack_never_tells_is_a_no(office: Office) -> None:
    office.slack.trouble("profile", *[SlackUnreachable("down")] * 500)
    await office.started("Add a page")
    assert office.answers() == []
    await office.pass_time(660)
    assert office.docs.prompts == []
    [told] = office.answers()
    assert "Slack couldn't tell me who you are" in told
    assert (await office.job()).state is JobState.REFUSED


async def test_somebody_whom_slack_refuses_to_tell_of_is_refused_at_once(office: Office) -> None:
    office.slack.trouble("profile", refused("user_not_found"))
    await office.started("Add a page")
    assert "couldn't tell me who you are" in office.answers()[0]
    assert office.docs.prompts == []


async def test_who_is_asked_to_try_again_is_told_each_time(office: Office) -> None:
    office.slack.trouble("profile", *[refused("token_revoked")] * 9)
    for number in range(2):
        await office.started(f"Add page {number}")
        office.clock.pass_seconds(60)
    assert [":no_entry:" in text for text in office.answers()] == [True, True]


async def test_a_short_trouble_of_slack_delays_and_refuses_nothing(office: Office) -> None:
    office.slack.trouble("profile", SlackUnreachable("down"), SlackUnreachable("down"))
    await office.ask("Add a page")
    await office.settle(12)
    assert len(office.docs.prompts) == 1


async def test_slack_is_asked_once_in_six_hours(office: Office) -> None:
    await office.started("Add a page")
    office.slack.profiles[ANA] = NOT_MEMBERS[Access.GUEST]
    await office.started("Add another page")
    assert len(office.docs.prompts) == 2
    office.clock.at += timedelta(hours=6, seconds=1)
    await office.started("And a third")
    assert len(office.docs.prompts) == 2


async def test_a_change_of_the_lists_counts_at_once(office: Office) -> None:
    await office.started("Add a page")
    office.access_policy(users=frozenset({BEN}))
    await office.started("Add another page")
    assert len(office.docs.prompts) == 1
    assert "set up for some people only" in office.answers()[-1]


async def test_lists_let_in_whom_they_name_by_person_or_by_group_and_admins(office: Office) -> None:
    carl, dora = UserId("U0CARL"), UserId("U0DORA")
    office.access_policy(users=frozenset({ANA}), groups=frozenset({"S1", "S2"}), admins=frozenset({dora}))
    office.slack.groups["S2"] = frozenset({BEN})
    for user in (ANA, BEN, carl, dora):
        await office.ask(f"Page of {user}", user=user)
    await office.settle(10)
    assert {text for _, text in office.docs.prompts} == {f"Page of {user}" for user in (ANA, BEN, dora)}


async def test_a_command_that_was_stored_is_given_back_to_who_may_not(office: Office) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    assert (await office.types("/docs-agent", "Add a <#C0DOCS|docs> page", user=GUS)).message is None
    await office.settle()
    [told] = office.answers()
    assert told.startswith(":no_entry: Guests can't start jobs. Ask a teammate to send this for you.")
    assert told.endswith("What you wrote, to copy:\nAdd a #docs page")


async def test_a_message_that_people_see_is_not_given_back(office: Office) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.hears("<@U0BOT> Add a page", user=GUS)
    await office.settle()
    [(_, told, _)] = office.slack.direct
    assert told.text == ":no_entry: Guests can't start jobs. Ask a teammate to send this for you."


async def test_a_guest_who_is_listed_is_still_a_guest(office: Office) -> None:
    office.access_policy(users=frozenset({GUS}))
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.started("Add a page", user=GUS)
    assert office.docs.prompts == []


async def test_in_a_channel_that_is_not_listed_nothing_is_done(office: Office) -> None:
    office.access_policy(channels=frozenset({"C0OTHER"}))
    answer = await office.types("/docs-agent", "Add a page")
    assert answer.message is not None
    assert "isn't set up for this channel" in answer.message.text
    assert answer.message.text.endswith("to copy:\n/docs-agent Add a page")
    await office.started("Said in a mention")
    assert office.docs.prompts == []


async def test_a_guests_reply_steers_nothing_and_the_job_stands(office: Office) -> None:
    await office.started("Add a page")
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.reply("Delete everything", user=GUS)
    await office.settle()
    assert [text for _, text in office.docs.prompts] == ["Add a page"]
    assert (await office.job()).state is JobState.WORKING
    assert "Guests can't start jobs" in office.slack.direct[-1][1].text


async def test_an_unknown_persons_answer_is_held_until_slack_has_told(office: Office) -> None:
    first = await office.acknowledged("/docs-agent", "jobs")
    assert first.later is not None
    assert first.message is None
    await office.started("Add a page")
    known = await office.acknowledged("/docs-agent", "jobs")
    assert known.later is None
    assert known.message is not None


async def test_a_members_act_is_done_before_slack_is_answered_and_an_unknown_persons_after(
    office: Office,
) -> None:
    async def subscriptions() -> int:
        return len(await office.store.read(lambda tx: tx.subscriptions.in_channel(CHANNEL)))

    unknown = await office.acknowledged("/docs-visitors", "subscribe monday 09:00 UTC")
    assert await subscriptions() == 0
    await unknown.decided()
    assert await subscriptions() == 1
    await office.acknowledged("/docs-visitors", "unsubscribe")
    assert await subscriptions() == 0


async def test_a_request_of_somebody_unknown_is_stored_before_slack_is_answered(office: Office) -> None:
    answer = await office.acknowledged("/docs-agent", "Add a page")
    assert answer == Answer()
    assert (await office.job()).requester == ANA


async def test_a_member_is_kept_in_mind_for_minutes_and_then_looked_up_again(office: Office) -> None:
    await office.started("Add a page")
    assert (await office.acknowledged("/docs-agent", "jobs")).later is None
    rule, now = office.context.access_policy.rule, office.clock()
    await office.store.write(lambda tx: tx.members.note(ANA, Access.GUEST, rule, now))
    assert "Guests" not in str((await office.types("/docs-agent", "jobs")).message)
    office.clock.pass_seconds(301)
    assert "Guests" in str((await office.types("/docs-agent", "jobs")).message)


async def test_a_member_is_kept_in_mind_from_the_moment_slack_tells(office: Office) -> None:
    assert "Guests" not in str((await office.types("/docs-agent", "jobs")).message)
    rule, now = office.context.access_policy.rule, office.clock()
    await office.store.write(lambda tx: tx.members.note(ANA, Access.GUEST, rule, now))
    assert "Guests" not in str((await office.acknowledged("/docs-agent", "jobs")).message)


@pytest.mark.parametrize("command", ["/docs-agent", "/docs-followup", "/docs-visitors"])
@pytest.mark.parametrize("text", ["", "help", "jobs", "limits", "subscribe monday 09:00", "1 more"])
async def test_every_command_is_refused_to_a_known_guest(office: Office, command: str, text: str) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.started("Add a page", user=GUS)
    office.clock.pass_seconds(3_600)
    answer = await office.types(command, text, user=GUS)
    assert answer.message is not None
    assert "Guests can't start jobs" in answer.message.text
    assert answer.modal is None


async def test_a_guests_form_says_why_in_plain_words(office: Office) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.started("Add a page", user=GUS)
    for command, form in (("/docs-agent", "ask"), ("/docs-followup", "follow_up")):
        office.clock.pass_seconds(3_600)
        [submit] = [each.forms[form] for each in COMMANDS if each.name == command]
        sent = Submission(origin(form, GUS), form, {"prompt": "Add a page"}, FormState())
        errors = await submit(office.context, sent)
        assert errors is not None
        assert errors.errors["prompt"].startswith("Guests can't start jobs. Ask a teammate")


async def test_a_question_about_visitors_of_a_guest_is_not_read(office: Office) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.types("/docs-visitors", "last week", user=GUS)
    await office.reading(5)
    assert "Guests can't start jobs" in office.answers()[-1]


@pytest.mark.parametrize("text", ["subscribe monday 09:00 UTC", "digest now"])
async def test_a_guest_subscribes_to_nothing_and_gets_no_digest(office: Office, text: str) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    typed = origin("typed", GUS, url=RESPONSE_URL)
    if text == "digest now":
        await digest_now(office.context, typed, None)
    else:
        await subscribe(office.context, SubscribeRequest(typed, Weekday.MONDAY, time(9), "UTC", None))
    await office.reading(20)
    assert office.posted() == []
    assert any("Guests can't start jobs" in each for each in office.answers())


@pytest.mark.parametrize("is_guest", [True, False])
async def test_who_may_not_is_told_so_where_nothing_was_stored_that_a_worker_would_refuse(
    office: Office, is_guest: bool
) -> None:
    await office.visitors("digest now", user=BEN)
    if is_guest:
        office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    else:
        office.slack.trouble("profile", SlackUnreachable("down"))
    answer = await office.types("/docs-visitors", "digest now", user=GUS)
    told = "Guests can't start jobs" if is_guest else "Slack couldn't tell me who you are"
    assert answer.message is not None
    assert told in answer.message.text


async def test_nobody_learns_from_a_digest_that_a_guest_asked_for_it(office: Office) -> None:
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    await office.visitors("digest now", user=GUS)
    await office.reading(5, step_seconds=0.1)
    answer = await office.visitors("digest now", user=BEN)
    assert "on its way" in answer.text


async def test_a_guest_whom_slack_has_not_told_of_yet_decides_nothing(office: Office) -> None:
    office.limit(1)
    await office.ask("One")
    await office.ask("Two")
    await office.settle()
    office.clock.pass_seconds(7 * 3_600)
    office.limit(0)
    office.slack.profiles[ANA] = NOT_MEMBERS[Access.GUEST]
    answer = await office.press("withdraw", "2")
    assert answer.message is not None
    assert "Guests can't start jobs" in answer.message.text
    assert (await office.job(2)).state is JobState.WAITING


@pytest.mark.parametrize("said", Review)
async def test_a_guest_whom_slack_has_not_told_of_yet_reviews_no_pull_request(
    office: Office, said: Review
) -> None:
    await office.finished()
    office.slack.profiles[GUS] = NOT_MEMBERS[Access.GUEST]
    answer = await office.press(said, "1", user=GUS)
    assert "Guests can't start jobs" in str(answer.message)
    assert (await office.job()).awaits_review


async def test_only_who_asked_and_admins_decide_about_a_waiting_prompt(office: Office) -> None:
    office.limit(1)
    office.access_policy(admins=frozenset({BEN}))
    carl = UserId("U0CARL")
    for user in (carl, BEN):
        office.slack.profiles[user] = MEMBER
    await office.ask("One")
    await office.ask("Two")
    await office.settle()
    refused = await office.press("withdraw", "2", user=carl)
    assert refused.message is not None
    assert f"Only <@{ANA}> or an admin of this bot can decide that" in refused.message.text
    assert (await office.job(2)).state is JobState.WAITING
    assert (await office.press("withdraw", "2", user=BEN)).message is None
    assert (await office.job(2)).state is JobState.WITHDRAWN


async def test_what_an_admin_asked_is_not_everybodys_to_withdraw(office: Office) -> None:
    office.limit(1)
    office.access_policy(admins=frozenset({ANA}))
    await office.ask("One")
    await office.ask("Two")
    await office.settle()
    refused = await office.press("withdraw", "2", user=BEN)
    assert refused.message is not None
    assert (await office.job(2)).state is JobState.WAITING


async def test_a_button_that_is_not_true_any_more_says_so(office: Office) -> None:
    await office.started("One")
    for action in ("withdraw", "send_again", "dismiss"):
        answer = await office.press(action, "1")
        assert answer.message is not None
        assert "decided already" in answer.message.text


@pytest.mark.parametrize("value", ["", "0", "-1", "99", "x", "9" * 40, "1; DROP TABLE jobs", "٣"])
@pytest.mark.parametrize(
    "action", ["withdraw", "send_again", "dismiss", "ask_anyway", "follow_up_anyway", "run_again"]
)
async def test_a_button_that_names_nothing_is_answered(office: Office, action: str, value: str) -> None:
    answer = await office.press(action, value)
    assert answer.message is not None
    assert office.docs.prompts == []

"""The decision about a text: cases for each meaning at the places that matter."""

from __future__ import annotations

import pytest

from bot.intent.decision import Decision, decide
from bot.intent.kinds import KINDS_THAT_START_JOBS, UNANSWERED_KINDS, Kind, Place
from tests.intent.catalogue import MENTION, VOCABULARY

CHANNEL = Place.CHANNEL
COMMAND = Place.COMMAND
DIRECT = Place.DIRECT
JOB = Place.JOB
MERGED = Place.MERGED_JOB
FAILED = Place.FAILED_JOB
ANSWER = Place.ANSWER
DIRECT_ANSWER = Place.DIRECT_ANSWER
PEOPLE = Place.PEOPLE


def decided(text: str, place: Place, **options: bool) -> Decision:
    mention = MENTION if MENTION in text else ""
    command = "/docs-agent" if place is COMMAND else ""
    return decide(text, place, VOCABULARY, mention=mention, command=command, **options)


CASES = [
    # One of the bot's own words, by its name or in other words.
    (COMMAND, "jobs", Kind.OWN_WORD),
    (COMMAND, "jobs mine open", Kind.OWN_WORD),
    (COMMAND, "?", Kind.OWN_WORD),
    (COMMAND, "status job 12", Kind.OWN_WORD),
    (DIRECT, "status 12", Kind.OWN_WORD),
    (DIRECT, "ok, any news?", Kind.OWN_WORD),
    (DIRECT, "cancel my request please", Kind.OWN_WORD),
    (DIRECT, "ayuda", Kind.OWN_WORD),
    (CHANNEL, "@docs-agent visitors last month", Kind.OWN_WORD),
    (CHANNEL, "subscribe monday 09:00 @docs-agent", Kind.OWN_WORD),
    (CHANNEL, "@docs-agent how many visitors did the guides have?", Kind.OWN_WORD),
    (CHANNEL, "@docs-agent what needs work?", Kind.OWN_WORD),
    (CHANNEL, "@docs-agent which PRs wait for review?", Kind.OWN_WORD),
    (CHANNEL, "@docs-agent show me the gaps please", Kind.OWN_WORD),
    (JOB, "still running?", Kind.OWN_WORD),
    (JOB, "merge it", Kind.OWN_WORD),
    (JOB, "Thanks! Merged 🎉", Kind.OWN_WORD),
    (JOB, "Wie weit bist du?", Kind.OWN_WORD),
    (PEOPLE, "@docs-agent is there a PR for that bug?", Kind.OWN_WORD),
    (ANSWER, "@docs-agent limits", Kind.OWN_WORD),
    (DIRECT_ANSWER, "status", Kind.OWN_WORD),
    # Almost such a word.
    (COMMAND, "joobs", Kind.MISTYPED_WORD),
    (COMMAND, "staus 12", Kind.MISTYPED_WORD),
    (CHANNEL, "@docs-agent gap", Kind.MISTYPED_WORD),
    (DIRECT, "hlep", Kind.MISTYPED_WORD),
    (DIRECT, "vistors last week", Kind.MISTYPED_WORD),
    # Thanks, praise, emoji.
    (CHANNEL, "thanks @docs-agent!", Kind.THANKS),
    (CHANNEL, "@docs-agent ❤️", Kind.THANKS),
    (CHANNEL, "@docs-agent :tada:", Kind.THANKS),
    (DIRECT, "ok, great, thank you so much", Kind.THANKS),
    (JOB, "🎉", Kind.THANKS),
    (JOB, "lol that was fast", Kind.THANKS),
    (JOB, "super, danke dir", Kind.THANKS),
    (MERGED, "merci !", Kind.THANKS),
    (CHANNEL, "@docs-agent you are great, keep it up", Kind.THANKS),
    (PEOPLE, "@docs-agent danke dir trotzdem", Kind.THANKS),
    (CHANNEL, "@docs-agent thx, du bist super", Kind.THANKS),
    (ANSWER, "@docs-agent that worked!", Kind.THANKS),
    (DIRECT_ANSWER, "ありがとうございます", Kind.THANKS),
    # The mention within a sentence, a quote or code.
    (CHANNEL, "you can ask @docs-agent", Kind.ABOUT_BOT),
    (CHANNEL, "we have @docs-agent here now", Kind.ABOUT_BOT),
    (CHANNEL, "@docs-agent helped me with this", Kind.ABOUT_BOT),
    (CHANNEL, "@docs-agent's answer is right", Kind.ABOUT_BOT),
    (CHANNEL, "type `@docs-agent jobs` for a list", Kind.ABOUT_BOT),
    (PEOPLE, "> @docs-agent add a page\ndid anybody merge this?", Kind.ABOUT_BOT),
    # For a named colleague, or for people.
    (JOB, "@ana can you review this?", Kind.FOR_COLLEAGUE),
    (JOB, "Ben, can you check the numbers?", Kind.FOR_COLLEAGUE),
    (JOB, "Zoë, is this what you meant?", Kind.FOR_COLLEAGUE),
    (JOB, "aside: we should talk about this", Kind.FOR_COLLEAGUE),
    (JOB, "!shorter", Kind.FOR_COLLEAGUE),
    (ANSWER, "nice, I didn't know", Kind.FOR_COLLEAGUE),
    (PEOPLE, "add it to the wiki", Kind.FOR_COLLEAGUE),
    (PEOPLE, "it is under Settings, API keys", Kind.FOR_COLLEAGUE),
    (ANSWER, "it is under Settings, API keys", Kind.COLLEAGUE_ANSWER),
    (ANSWER, "@ana open Settings and press Rotate", Kind.COLLEAGUE_ANSWER),
    (ANSWER, "https://wiki.example/keys", Kind.COLLEAGUE_ANSWER),
    (ANSWER, "@ana under Settings, Keys", Kind.FOR_COLLEAGUE),
    (ANSWER, "is it under Settings, API keys?", Kind.FOR_COLLEAGUE),
    (ANSWER, "aside: it is under Settings, API keys", Kind.FOR_COLLEAGUE),
    # A change, with a verb.
    (COMMAND, "add rate limits to the overview", Kind.CHANGE),
    (COMMAND, "How to verify a signature: write a guide", Kind.CHANGE),
    (COMMAND, 'add "Who can see invoices?" to the FAQ', Kind.CHANGE),
    (COMMAND, "in the CLI guide add a note on proxies", Kind.CHANGE),
    (COMMAND, "explain the new roles on the pricing page", Kind.CHANGE),
    (CHANNEL, "@docs-agent could you please shorten the intro?", Kind.CHANGE),
    (CHANNEL, "@docs-agent could you jazz up the intro?", Kind.CHANGE),
    (CHANNEL, "@docs-agent can the old notice be made shorter?", Kind.CHANGE),
    (CHANNEL, "Could @docs-agent add a page on this?", Kind.CHANGE),
    (CHANNEL, "hey @docs-agent would you mind documenting retries", Kind.CHANGE),
    (CHANNEL, "new flag today. @docs-agent please document it", Kind.CHANGE),
    (CHANNEL, "@docs-agent can you delete the old page?", Kind.CHANGE),
    (CHANNEL, "@docs-agent nothing on SCIM? please write a page on it", Kind.CHANGE),
    (CHANNEL, "@docs-agent does it make sense to split it? if so do it", Kind.CHANGE),
    (CHANNEL, "@docs-agent I've got a new logo, put it on the start page", Kind.CHANGE),
    (DIRECT, "we need a guide to pagination", Kind.CHANGE),
    (DIRECT, "the guide could really use a diagram", Kind.CHANGE),
    (DIRECT, "bitte die Tabelle ergänzen", Kind.CHANGE),
    (DIRECT, "ajoute une page sur SAML stp", Kind.CHANGE),
    (DIRECT, "agrega un ejemplo en Ruby", Kind.CHANGE),
    (DIRECT, "hay que quitar la tabla", Kind.CHANGE),
    (DIRECT, "puoi aggiungere un esempio?", Kind.CHANGE),
    (DIRECT, "タイトルを変更してください", Kind.CHANGE),
    (DIRECT, "请在页面添加一个表格", Kind.CHANGE),
    # A fact without a verb.
    (COMMAND, "rate limits: the free plan has 100 now", Kind.LIKELY_CHANGE),
    (CHANNEL, "@docs-agent the import in the sample is missing", Kind.LIKELY_CHANGE),
    (CHANNEL, "@docs-agent which regions exist is missing", Kind.LIKELY_CHANGE),
    (CHANNEL, "@docs-agent there is a broken image in the guide", Kind.LIKELY_CHANGE),
    (CHANNEL, "@docs-agent everything below the table can go", Kind.LIKELY_CHANGE),
    (DIRECT, "the video on the start page doesn't play", Kind.LIKELY_CHANGE),
    (DIRECT, "die Preise sind veraltet", Kind.LIKELY_CHANGE),
    # A question about the docs.
    (COMMAND, "which plan has audit logs", Kind.QUESTION),
    (COMMAND, "i can't find how to delete a workspace", Kind.QUESTION),
    (COMMAND, "renew a certificate how", Kind.QUESTION),
    (CHANNEL, "is there a limit @docs-agent?", Kind.QUESTION),
    (CHANNEL, "@docs-agent can we use OAuth with the CLI?", Kind.QUESTION),
    (CHANNEL, "@docs-agent can you set a custom domain?", Kind.QUESTION),
    (CHANNEL, "@docs-agent can you point me to the page on SSO?", Kind.QUESTION),
    (CHANNEL, "@docs-agent if I rename it will the links break", Kind.QUESTION),
    (CHANNEL, "@docs-agent we need a way to test hooks, is there one?", Kind.QUESTION),
    (CHANNEL, "@docs-agent how do I pause a hook, delete it?", Kind.QUESTION),
    (CHANNEL, "@docs-agent I ran the setup, set the key, what am I missing?", Kind.QUESTION),
    (CHANNEL, "@docs-agent a customer wonders if we have an SDK", Kind.QUESTION),
    (CHANNEL, "@docs-agent should we use hooks or polling?", Kind.QUESTION),
    (CHANNEL, "@docs-agent how many visitors does the free plan include?", Kind.QUESTION),
    (CHANNEL, "@docs-agent ein Kunde fragt, ob man Exporte löschen kann", Kind.QUESTION),
    (CHANNEL, "how do I use webhooks with Go @docs-agent?", Kind.QUESTION),
    (CHANNEL, "silly question @docs-agent but what is a role?", Kind.QUESTION),
    (DIRECT, "a customer asks whether we support SCIM", Kind.QUESTION),
    (DIRECT, "please explain what a role is", Kind.QUESTION),
    (DIRECT, "¿hay un SDK para Go?", Kind.QUESTION),
    (DIRECT, "有効期限を教えてください", Kind.QUESTION),
    (PEOPLE, "not sure, @docs-agent do we have a limit?", Kind.QUESTION),
    # A question about the bot.
    (CHANNEL, "@docs-agent are you a bot?", Kind.BOT_QUESTION),
    (DIRECT, "which model do you use", Kind.BOT_QUESTION),
    (JOB, "can I still attach a file?", Kind.BOT_QUESTION),
    # One word, a topic.
    (COMMAND, "docs", Kind.TOPIC),
    (CHANNEL, "@docs-agent rate limits page", Kind.TOPIC),
    # A request that does not say what to change.
    (COMMAND, "update the page", Kind.UNCLEAR),
    (COMMAND, "make it better", Kind.UNCLEAR),
    (COMMAND, "I'll look at it tomorrow", Kind.UNCLEAR),
    (CHANNEL, "@docs-agent could you fix it please?", Kind.UNCLEAR),
    (CHANNEL, "@docs-agent should we add a table?", Kind.UNCLEAR),
    (CHANNEL, "@docs-agent would a list be better on the start page?", Kind.UNCLEAR),
    (DIRECT, "I need a change in the docs", Kind.UNCLEAR),
    (DIRECT, "I have a question", Kind.UNCLEAR),
    (DIRECT, "hmm", Kind.UNCLEAR),
    # Hello.
    (CHANNEL, "hi @docs-agent", Kind.GREETING),
    (CHANNEL, "@docs-agent pls dont touch the pricing page anymore", Kind.UNCLEAR),
    (CHANNEL, "@docs-agent don't change the title, just add a table", Kind.CHANGE),
    (PEOPLE, "@docs-agent please don't touch this yet", Kind.THREAD_UNCLEAR),
    (DIRECT, "Guten Morgen!", Kind.GREETING),
    (DIRECT, "how was your weekend?", Kind.GREETING),
    (CHANNEL, "@docs-agent lol did you see the game yesterday", Kind.GREETING),
    (JOB, "did you see the game yesterday?", Kind.TALK),
    # A change, a fact or a fragment in a job's thread.
    (JOB, "make it shorter", Kind.FOLLOW_UP),
    (JOB, "undo", Kind.FOLLOW_UP),
    (JOB, "60 not 30", Kind.FOLLOW_UP),
    (JOB, "should be per minute", Kind.FOLLOW_UP),
    (JOB, "h3 not h2", Kind.FOLLOW_UP),
    (JOB, "it's POST, not PUT", Kind.FOLLOW_UP),
    (JOB, "same for Ruby", Kind.FOLLOW_UP),
    (JOB, "cool mode is missing", Kind.FOLLOW_UP),
    (JOB, "cool-down time is wrong", Kind.FOLLOW_UP),
    (JOB, "great, but drop the last part", Kind.FOLLOW_UP),
    (JOB, "perfect, can you also add a table?", Kind.FOLLOW_UP),
    (JOB, "why is Java first? put Python first", Kind.FOLLOW_UP),
    (JOB, 'what does "soon" mean, give a date', Kind.FOLLOW_UP),
    (JOB, "this contradicts the other page, which says 50", Kind.FOLLOW_UP),
    (JOB, "never mind the table, add a list", Kind.FOLLOW_UP),
    (JOB, "scratch that, use a list", Kind.FOLLOW_UP),
    (JOB, "I expected a table", Kind.FOLLOW_UP),
    (JOB, "can this be a table?", Kind.FOLLOW_UP),
    (JOB, "#4 make it shorter", Kind.FOLLOW_UP),
    (JOB, "@ana is right, it's 60", Kind.FOLLOW_UP),
    (JOB, "> it takes 60 s\n30, not 60", Kind.FOLLOW_UP),
    (JOB, "noch kürzer", Kind.FOLLOW_UP),
    (FAILED, "only do the english page", Kind.FOLLOW_UP),
    # A question about the changes, the state or the reasons.
    (JOB, "what did you change?", Kind.CHANGES_QUESTION),
    (JOB, "show me the changes", Kind.CHANGES_QUESTION),
    (JOB, "¿qué cambiaste?", Kind.CHANGES_QUESTION),
    (JOB, "who reviews this?", Kind.STATE_QUESTION),
    (JOB, "who can merge this?", Kind.STATE_QUESTION),
    (JOB, "has anybody approved it?", Kind.STATE_QUESTION),
    (MERGED, "who merged it?", Kind.STATE_QUESTION),
    (FAILED, "is the docs service down?", Kind.STATE_QUESTION),
    (JOB, "why did you add a new page?", Kind.REASON_QUESTION),
    # A question about the product.
    (JOB, "is 60 even the current limit?", Kind.PRODUCT_QUESTION),
    (JOB, "why do webhooks retry five times?", Kind.PRODUCT_QUESTION),
    (MERGED, "does the limit apply to the EU, too?", Kind.PRODUCT_QUESTION),
    # Half a change.
    (JOB, "please don't touch the title", Kind.FOLLOW_UP),
    (JOB, "what about Go?", Kind.SUGGESTION),
    (JOB, "forget the thing about Go, sorry", Kind.SUGGESTION),
    (JOB, "diagram?", Kind.SUGGESTION),
    (JOB, "maybe add an example?", Kind.SUGGESTION),
    (JOB, "should this be two pages?", Kind.SUGGESTION),
    (JOB, "isn't the title too long?", Kind.SUGGESTION),
    (FAILED, "and now?", Kind.SUGGESTION),
    # A no, disapproval without a fact.
    (JOB, "nope, wrong page", Kind.DISAPPROVAL),
    (JOB, "that isn't what I meant", Kind.DISAPPROVAL),
    (JOB, "that's not the section I meant", Kind.DISAPPROVAL),
    (JOB, "falsche Seite", Kind.DISAPPROVAL),
    (ANSWER, "@docs-agent that didn't help", Kind.DISAPPROVAL),
    (DIRECT, "no", Kind.DISAPPROVAL),
    # Stop, and try again.
    (JOB, "never mind", Kind.STOP),
    (JOB, "false alarm, please stop", Kind.STOP),
    (JOB, "forget it, we won't do this", Kind.STOP),
    (JOB, "forget the whole thing", Kind.STOP),
    (JOB, "ignore the last comment please", Kind.STOP),
    (FAILED, "can you try it again?", Kind.RETRY),
    (FAILED, "nochmal bitte", Kind.RETRY),
    # A change in a merged job's thread.
    (MERGED, "the link in step 2 is dead", Kind.LIKELY_CHANGE_AFTER_MERGE),
    (MERGED, "please add the same to the German page", Kind.CHANGE_AFTER_MERGE),
    # A further question or detail in an answer's thread.
    (ANSWER, "@docs-agent and for Java?", Kind.FURTHER_QUESTION),
    (ANSWER, "@docs-agent no, I mean the EU region", Kind.FURTHER_QUESTION),
    (ANSWER, "@docs-agent link?", Kind.FURTHER_QUESTION),
    (DIRECT_ANSWER, "I'm using the Go SDK", Kind.FURTHER_QUESTION),
    (DIRECT_ANSWER, "same question for the EU", Kind.FURTHER_QUESTION),
    (ANSWER, "@docs-agent never mind, found it", Kind.THANKS),
    (ANSWER, "@docs-agent cool, will try that", Kind.TALK),
    # The answer becomes a page.
    (ANSWER, "@docs-agent add that to the FAQ", Kind.ANSWER_TO_PAGE),
    (DIRECT_ANSWER, "kannst du das in die Doku schreiben?", Kind.ANSWER_TO_PAGE),
    # A thread of people.
    (PEOPLE, "@docs-agent summarize this thread", Kind.THREAD_TO_PAGE),
    (PEOPLE, "@docs-agent fix the docs for this", Kind.THREAD_TO_PAGE),
    (PEOPLE, "@docs-agent thoughts?", Kind.THREAD_UNCLEAR),
    (PEOPLE, "cc @docs-agent", Kind.THREAD_UNCLEAR),
    (PEOPLE, "@docs-agent ^", Kind.THREAD_UNCLEAR),
    # Talk among people.
    (JOB, "I'll review it tomorrow", Kind.TALK),
    (JOB, "I fixed the typo myself", Kind.TALK),
    (JOB, "waiting for the build", Kind.TALK),
    (JOB, "lol it wrote better docs than me", Kind.TALK),
    (JOB, "shall I merge?", Kind.TALK),
    (JOB, "we should announce this", Kind.TALK),
    (JOB, "hello everyone", Kind.TALK),
    (JOB, "ok, je regarde demain", Kind.TALK),
]


@pytest.mark.parametrize(("place", "text", "kind"), CASES)
def test_kind_of_text_at_place(place: Place, text: str, kind: Kind) -> None:
    assert decided(text, place).kind is kind


@pytest.mark.parametrize(("place", "text", "kind"), CASES)
def test_kind_is_alike_with_other_quotes_and_marks(place: Place, text: str, kind: Kind) -> None:
    closing = ("", " ") if text.endswith("?") else ("", ".", "!", " …")
    for variant in (text, text.replace("'", "’")):
        for mark in closing:
            assert decided(variant + mark, place).kind is kind, variant + mark


@pytest.mark.parametrize(
    ("place", "text", "kind"),
    # A name is known by its capital.
    [case for case in CASES if case[2] is not Kind.FOR_COLLEAGUE],
)
def test_kind_is_alike_in_capitals(place: Place, text: str, kind: Kind) -> None:
    shouted = text.upper().replace(MENTION.upper(), MENTION)
    assert decided(shouted, place).kind is kind


@pytest.mark.parametrize(("place", "text", "_kind"), CASES)
def test_part_for_the_bot_stands_in_text(place: Place, text: str, _kind: Kind) -> None:
    assert decided(text, place).part in text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("@docs-agent add a table", "add a table"),
        ("not sure, @docs-agent do we have one?", "do we have one?"),
        ("is there a limit @docs-agent?", "is there a limit @docs-agent?"),
        ("I think it's 10 s but let's ask @docs-agent: is it?", "is it?"),
        ("  @docs-agent: jobs ", "jobs"),
        ("@docs-agent :tada:", ":tada:"),
        ("@docs-agent, :+1:", ":+1:"),
    ],
)
def test_part_for_the_bot_begins_after_its_mention(text: str, part: str) -> None:
    assert decided(text, PEOPLE).part == part


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize(
    "text", ["`@docs-agent add a page`", "```\n@docs-agent fix it\n```", "> @docs-agent jobs"]
)
def test_quoted_mention_starts_nothing_where_mentions_count(text: str, place: Place) -> None:
    quoted = decided(text, place).kind
    without_mention = decide(text, place, VOCABULARY).kind
    assert quoted is Kind.ABOUT_BOT or quoted is without_mention


def test_mention_of_a_longer_name_is_none() -> None:
    assert decided("@docs-agent-2 add a page", CHANNEL).kind is Kind.ABOUT_BOT


def test_files_are_the_object_of_a_request() -> None:
    assert decided("fix this", DIRECT).kind is Kind.UNCLEAR
    assert decided("fix this", DIRECT, has_files=True).kind is Kind.CHANGE
    assert decided("?", DIRECT, has_files=True).kind is Kind.CHANGE
    assert decided("release notes", DIRECT, has_files=True).kind is Kind.CHANGE
    assert decided("what does this error mean?", DIRECT, has_files=True).kind is Kind.QUESTION
    assert decided("", DIRECT, has_files=True).kind is Kind.UNCLEAR
    assert decided("", DIRECT).kind is Kind.OWN_WORD


def test_app_is_not_asked_back() -> None:
    assert decided("@docs-agent release 4.2 page", CHANNEL, is_app=True).kind is Kind.CHANGE
    assert decided("what about Go?", JOB, is_app=True).kind is Kind.FOLLOW_UP
    assert decided("@docs-agent which plan has it?", CHANNEL, is_app=True).kind is Kind.QUESTION
    assert decided("@docs-agent", CHANNEL, is_app=True).kind is Kind.UNCLEAR


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (COMMAND, Kind.UNANSWERABLE),
        (CHANNEL, Kind.UNANSWERABLE),
        (DIRECT, Kind.UNANSWERABLE),
        (PEOPLE, Kind.UNANSWERABLE),
        (ANSWER, Kind.UNANSWERABLE),
        (JOB, Kind.SUGGESTION),
    ],
)
def test_question_is_not_put_to_the_docs_without_answers(place: Place, kind: Kind) -> None:
    assert decided("@docs-agent which plan has audit logs?", place, can_answer=False).kind is kind


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("text", ["", " \n", "\u200b", "?", "@docs-agent", "👍", "…", "#", "!"])
def test_empty_text_starts_nothing(text: str, place: Place) -> None:
    assert decided(text, place).kind not in KINDS_THAT_START_JOBS


def test_command_always_gets_an_answer() -> None:
    texts = [text for place, text, _ in CASES if place is not COMMAND and MENTION not in text]
    assert [text for text in texts if decided(text, COMMAND).kind in UNANSWERED_KINDS] == []


def test_request_at_the_end_of_a_long_text_counts() -> None:
    log = "12:00 GET /v1/orders 200\n" * 2_000
    assert decided(f"{log}please add this error to the guide", DIRECT).kind is Kind.CHANGE
    assert decided(f"please add this error to the guide\n{log}", DIRECT).kind is Kind.CHANGE

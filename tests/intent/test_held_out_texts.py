"""Texts of one kind that no word list was made for: the decision takes few of them for another."""

from __future__ import annotations

import pytest

from bot.intent.decision import decide
from bot.intent.kinds import KINDS_THAT_START_JOBS, UNANSWERED_KINDS, Kind, Place
from tests.intent.catalogue import MENTION, VOCABULARY

QUESTIONS = """
How do I rotate a signing key?
What's the default timeout of the Python client?
Where can I find my workspace id?
Does the CLI work behind a corporate proxy?
Which webhook events fire when an invoice is voided?
Is there a way to export all users as CSV?
Can I use OAuth with a service account?
Why do I get a 403 when I list projects?
How long are audit logs kept?
What happens to running jobs when I pause a workspace?
Do you support SAML on the free plan?
Are there any rate limits on the search endpoint?
How can I verify the signature of a webhook?
What is the difference between a token and a session key?
Who can invite guests to a workspace?
When do trial accounts expire?
Does deleting a project also delete its backups?
How do we migrate from v1 to v2 of the API?
Is the staging environment reset every night?
What regions can we host our data in?
Can I change the owner of an organisation?
Where do failed deliveries show up?
How big may an uploaded file be?
Which Node versions does the SDK run on?
What does error E1042 mean?
Is pagination cursor based or offset based?
How do I turn off email notifications?
Does the mobile app work offline?
Why is my custom domain still pending?
What permissions does a read-only key have?
Can two people edit the same draft at once?
How are unused credits billed at the end of the month?
Do webhooks retry after a 500?
What headers should I send with a multipart upload?
Where is the changelog for the REST API?
Is it possible to restore a deleted page?
How do I test locally without a real account?
Which plan includes single sign-on?
Are sandbox keys allowed in production?
What's the maximum length of a metadata value?
""".strip().splitlines()
"""Questions about the docs."""
INSTRUCTIONS = """
Add a page on rotating API keys
Explain the default timeout in the Python guide
Document the new webhook events for voided invoices
Fix the broken link on the SSO page
Can you add an example for pagination with cursors?
Rewrite the quickstart for Node 22
Please mention the 25 MB upload limit on the files page
Remove the paragraph about the old dashboard
Could you update the screenshots in the billing guide?
Describe how guests are invited to a workspace
Move the changelog to the top of the sidebar
The rate limits page is wrong, it's 120 requests a minute now
Rename "organisation" to "workspace" everywhere
We dropped Python 3.8, please update the docs
Add a troubleshooting section for error E1042
Make the installation page shorter
Translate the welcome page into German
Can you document that trial accounts expire after 14 days?
Split the authentication page into OAuth and API keys
Write a migration guide from v1 to v2
Add a note that sandbox keys don't work in production
The example for multipart uploads misses the boundary header
Deprecate the /v1/search endpoint in the reference
Add alt texts to all images in the tutorials
Please document what happens to running jobs when a workspace is paused
Put a warning on the delete project page
Update the list of supported regions: add Frankfurt and Osaka
Create a glossary with our twenty most used terms
Clarify who can change the owner of an organisation
Use tabs for the curl and Python examples in the quickstart
Would you add a table of all plans and their limits?
Add how to restore a deleted page to the FAQ
Correct the typo "recieve" on the webhooks page
List all headers of the REST API in one table
Merge the two pages about notifications
Document the --dry-run flag of the CLI
Show how to verify a webhook signature in Go
Explain why a custom domain can stay pending and what to do
Link the status page from the troubleshooting guide
Write release notes for version 4.2
""".strip().splitlines()
"""Requests for changes of the docs."""
ABOUT_THE_BOT = """
how many readers last week?
who read the docs last week?
which pages did nobody read?
what did readers search for?
what needs work?
which questions have no answer?
show me the visitors of October
which PRs wait for review?
what's open?
what are you working on?
how many jobs are left this hour?
visitors last week
show visitors
traffic last week
top pages
top searches
the digest please
when is the next digest?
who can use you?
""".strip().splitlines()
"""Questions about the numbers and the jobs of the bot, which only the bot can answer."""
SHORT = """
jobs
gaps
status
limits
help
?
help me please
how do I use this
hello
thanks
ok
yes
cancel
stop
retry
visitors
subscribe
unsubscribe
stats
limit
job
pause
resume
digest
feedback
questions
list jobs
my jobs
show my jobs
reviews
to review
version
projects
subscribe monday 09:00
jobs failed
search webhooks
list
archive 1
merge 1
close 1
approve
what is this
settings
history
ping
test
login
about
config
queue
templates
undo
connect
examples
whoami
who am i
pin 42
""".strip().splitlines()
"""Short texts after a slash command: own words of any command, and topics."""
NEAR_MISSES = ["joobs", "gap", "repllies", "projct", "digset", "limitz"]
OBJECTIONS = ["that isn't what we do", "this is not how it works", "doesn't look right to me"]


def said(text: str) -> Kind:
    """Return the meaning of a text after a mention."""
    return decide(f"{MENTION} {text}", Place.CHANNEL, VOCABULARY, mention=MENTION).kind


def typed(text: str) -> Kind:
    """Return the meaning of a text after a slash command."""
    return decide(text, Place.COMMAND, VOCABULARY, command="/docs-agent").kind


def test_at_most_two_questions_start_a_job() -> None:
    started = [text for text in QUESTIONS if said(text) in KINDS_THAT_START_JOBS]
    assert len(started) <= 2, started


def test_at_most_two_instructions_start_no_job() -> None:
    missed = [text for text in INSTRUCTIONS if said(text) not in KINDS_THAT_START_JOBS]
    assert len(missed) <= 2, missed


@pytest.mark.parametrize("text", ABOUT_THE_BOT)
def test_question_about_the_bot_reaches_neither_agent_nor_assistant(text: str) -> None:
    assert said(text) not in {*KINDS_THAT_START_JOBS, Kind.QUESTION, Kind.TOPIC}


@pytest.mark.parametrize("text", SHORT)
def test_short_text_starts_no_job(text: str) -> None:
    assert typed(text) not in KINDS_THAT_START_JOBS


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_near_miss_of_an_own_word_is_asked_about(text: str) -> None:
    assert typed(text) is Kind.MISTYPED_WORD


@pytest.mark.parametrize("text", OBJECTIONS)
def test_objection_in_the_thread_of_a_job_gets_a_reaction(text: str) -> None:
    assert decide(text, Place.JOB, VOCABULARY).kind not in UNANSWERED_KINDS

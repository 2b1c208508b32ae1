"""Forty questions and forty instructions to a mention that no example holds."""

from __future__ import annotations

from tests.talk import Talk

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


async def test_at_most_two_questions_and_two_instructions_are_mistaken(talk: Talk) -> None:
    for text in QUESTIONS + INSTRUCTIONS:
        await talk.ana.says(f"@docs-agent {text}")
        await talk.time.passes()
    talk.everything()
    answered, begun = {text for text, _ in talk.service.questions}, set(talk.agent_got())
    assert len(QUESTIONS) == len(INSTRUCTIONS) == 40
    assert len(begun.intersection(QUESTIONS)) <= 2
    assert len({*INSTRUCTIONS} - begun) <= 2
    assert answered | begun >= {*QUESTIONS}


async def test_polite_order_has_no_note(talk: Talk) -> None:
    await talk.ana.says("@docs-agent Could you update the screenshots in the billing guide?")
    await talk.time.passes()
    assert talk.ana.reads() == []
    talk.everything()

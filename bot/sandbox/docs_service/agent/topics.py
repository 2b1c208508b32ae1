"""What the agent knows: some facts about the subjects that documentation teams write about."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A subject: how it is recognised, what is true of it, what to do, and the page that has it already."""

    name: str
    pattern: str
    summary: str
    facts: tuple[str, ...]
    steps: tuple[str, ...]
    page: str | None = None
    sample: str = "first"


TOPICS = (
    Topic(
        "rotating keys",
        r"\brotat\w+|\brenew\w*|\bexpir\w+|\brevok\w+",
        "Replace a key before somebody else has it: two can be valid at the same time.",
        (
            "A new key works at once; the old one goes on until you revoke it.",
            "Each key shows when it was last used, so that you see who still has the old one.",
            "A revoked key stops working within a minute and cannot be brought back.",
        ),
        (
            "Create a second key with the same rights.",
            "Put it where your application reads the first one, and deploy.",
            "Wait until the old key has not been used for a day.",
            "Revoke the old key.",
        ),
        "authentication",
    ),
    Topic(
        "single sign-on",
        r"\bsso\b|\bsaml\b|\bsingle sign|\boidc\b|\bokta\b",
        "People sign in with the account they have at work; keys for machines are not affected.",
        (
            "SAML 2.0 and OpenID Connect are supported.",
            "Keep one owner who can sign in with a password, in case the identity provider is down.",
            "People who leave lose access at their next request.",
        ),
        (
            "Create an application at your identity provider.",
            "Copy its metadata address into the account's security settings.",
            "Try it in a private window before you make it required.",
        ),
    ),
    Topic(
        "OAuth",
        r"\boauth\w*|\bscopes?\b",
        "OAuth lets another application act for one of your users without knowing a key of yours.",
        (
            "A token carries scopes such as `shipments:read` and `shipments:write`; ask for few.",
            "Access tokens are good for one hour, refresh tokens for 30 days.",
            "A call without the scope it needs is answered with `403` and the scope's name.",
        ),
        (
            "Register the application and its redirect address.",
            "Send the user to the consent page with the scopes you need.",
            "Exchange the code for a token on your server.",
            "Refresh the token a few minutes before it ends.",
        ),
        "authentication",
    ),
    Topic(
        "authentication",
        r"\bauth\b|\bauthenticat\w+|\bapi keys?\b|\btokens?\b|\bcredentials?\b|\bsecrets?\b|\blog ?in\b",
        "Every request carries a key in the `Authorization` header; the key decides what the request may do.",
        (
            "Keys belong on a server, in an environment variable or a secret store.",
            "Use one key for each application, so that one can be revoked without the others.",
            "Test keys never move a real parcel.",
        ),
        (
            "Create a key with the rights the application needs and no more.",
            "Store it where only the application can read it.",
            "Send it with each request as `Authorization: Bearer …`.",
        ),
        "authentication",
    ),
    Topic(
        "rate limits",
        r"\brate.?limit\w*|\bthrottl\w+|\b429\b|\bquotas?\b",
        "The API answers `429` when an account calls too often, and says in `Retry-After` how long to wait.",
        (
            "Limits are counted for each account, not for each key.",
            "Waiting as long as `Retry-After` says always succeeds; asking sooner starts the wait again.",
            "Spread nightly jobs over the hour instead of starting them all at once.",
        ),
        (
            "Read `Retry-After` of each `429`.",
            "Wait that long, with a little chance added so that workers do not wake together.",
            "Repeat the request with the same `Idempotency-Key`.",
        ),
        "rate-limits",
        "errors",
    ),
    Topic(
        "webhooks",
        r"\bwebhooks?\b|\bcallbacks?\b|\bevents?\b",
        "A webhook tells your server about a change within seconds, so that you need not ask.",
        (
            "Each request is signed; refuse those whose signature does not match.",
            "Answer with `200` within five seconds and do the work afterwards.",
            "An event can come twice and out of order: look at its `id` and its time.",
        ),
        (
            "Add the address of your endpoint to the account.",
            "Verify the signature of each request before you read it.",
            "Store the event, answer `200`, and work on it in the background.",
            "Send yourself a test event and look at its delivery.",
        ),
        "webhooks",
        "webhook",
    ),
    Topic(
        "retries",
        r"\bretr(?:y|ies|ying)\b|\bback.?off\b|\bresilien\w+",
        "Repeat what failed for a passing reason, with growing pauses, and nothing else.",
        (
            "Repeat `429` and `5xx`; never `400`, `401`, `403` or `404`.",
            "Double the pause each time and stop after five attempts.",
            "An `Idempotency-Key` makes it safe to repeat a request whose answer was lost.",
        ),
        (
            "Give each attempt a time limit.",
            "Look at the status before you repeat.",
            "Wait one second, then two, then four.",
        ),
        "errors",
        "errors",
    ),
    Topic(
        "errors",
        r"\berrors?\b|\bexceptions?\b|\bfailures?\b|\bstatus codes?\b|\btroubleshoot\w*",
        "An error has a status for your program, a sentence for you, and a `request_id` for support.",
        (
            "A `400` names the field that is wrong; repeating the same request never helps.",
            "A `5xx` is our fault and passes; repeat with growing pauses.",
            "Log the `request_id` of every error: support asks for it first.",
        ),
        (
            "Read the status and decide: correct, wait, or give up.",
            "Show people what they can do, not the raw error.",
            "Log the `request_id`.",
        ),
        "errors",
        "errors",
    ),
    Topic(
        "pagination",
        r"\bpaginat\w+|\bpaging\b|\bcursors?\b",
        "Long lists come in pages; follow the cursor until there is no next one.",
        (
            "Ask for up to 100 rows at once; fewer calls are quicker than small pages.",
            "A cursor is good for an hour.",
            "Rows created while you read do not move the ones you have not yet seen.",
        ),
        (
            "Ask for the first page with the `limit` you want.",
            "Pass its `next` as `after` for the page that follows.",
            "Stop when `next` is missing.",
        ),
        "pagination",
        "list",
    ),
    Topic(
        "idempotency",
        r"\bidempoten\w+|\bduplicates?\b|\btwice\b",
        "The same `Idempotency-Key` within 24 hours gives the first answer again and creates nothing.",
        (
            "Use something of your own order, such as its number.",
            "The same key with another body is answered with `409`.",
            "Reading needs no key.",
        ),
        (
            "Choose the key before the first attempt.",
            "Send it with each attempt.",
            "Keep it with the order.",
        ),
        "idempotency",
        "errors",
    ),
    Topic(
        "virtual environments",
        r"\bvirtual ?env\w*|\bvenv\b|\bpoetry\b|\bconda\b",
        "Install into a virtual environment, so that projects do not disturb each other's packages.",
        (
            "Create it with `python -m venv .venv`.",
            "Keep the folder `.venv` out of version control.",
        ),
        (
            "Run `python -m venv .venv`.",
            "Activate it: `source .venv/bin/activate`, on Windows `.venv\\Scripts\\activate`.",
            "Install the SDK.",
        ),
        "sdks/python",
    ),
    Topic(
        "asynchronous calls",
        r"\basync\w*|\bconcurren\w+|\bparallel\w*",
        "The asynchronous client has the same methods and lets many calls run at the same time.",
        (
            "Use one client for the whole application; it keeps connections open.",
            "Stay below the number of calls your plan allows at the same time.",
        ),
        (
            "Create the client once, when the application starts.",
            "Limit the calls in flight with a semaphore.",
            "Close the client when the application stops.",
        ),
    ),
    Topic(
        "timeouts",
        r"\btime.?outs?\b",
        "A call that takes too long is given up, so that one slow answer does not stop everything.",
        (
            "The SDKs wait ten seconds for an answer.",
            "After a time-out, repeat with the same `Idempotency-Key`: it may have been carried out.",
        ),
        ("Choose a limit that fits your user.", "Set it for the client.", "Repeat with the same key."),
        "errors",
        "errors",
    ),
    Topic(
        "testing",
        r"\btest(?:s|ing|ed)?\b|\bsandbox\b|\bci\b|\bcontinuous integration\b|\bmock\w*",
        "Test keys play every case without moving a parcel.",
        (
            "The recipient's name decides what happens: `deliver`, `fail` or `slow`.",
            "Test data is deleted after seven days.",
            "Use one test key for each pipeline, so that they do not see each other's shipments.",
        ),
        ("Create a test key.", "Run your flow with each recipient.", "Check that your webhooks were called."),
        "guides/testing",
    ),
    Topic(
        "returns",
        r"\breturns?\b|\brefunds?\b",
        "A return is a second shipment in the other direction, with a label for your customer.",
        (
            "Labels that nobody uses cost nothing.",
            "Refund when the parcel is back, not when the label is printed.",
        ),
        ("Create the return.", "Send the label to the customer.", "Wait for `shipment.delivered`."),
        "guides/returns",
    ),
    Topic(
        "labels",
        r"\blabels?\b|\bprint\w*|\bzpl\b",
        "Each shipment has one label, as PDF for people and as ZPL for label printers.",
        ("Labels can be fetched for 30 days.", "ZPL prints quicker and sharper on label printers."),
        ("Choose the format.", "Fetch the label.", "Print one and scan it before you print a thousand."),
        "api/labels",
    ),
    Topic(
        "tracking",
        r"\btrack\w*",
        "Tracking shows every scan of a parcel, oldest first, in UTC.",
        ("Carriers report with a delay of up to 30 minutes.", "Use webhooks instead of asking each minute."),
        ("Create the shipment.", "Listen for its events.", "Show your customer the last one."),
        "api/tracking",
    ),
    Topic(
        "migration",
        r"\bmigrat\w+|\bupgrad\w+|\bbreaking\b|\bdeprecat\w+",
        "Move in small steps; both versions see the same data, so you can go back at any time.",
        (
            "Move what reads first and what writes second.",
            "Old fields are announced in the changelog at least six months before they go.",
        ),
        (
            "Read the changelog from your version to the new one.",
            "Run your tests against the new version with a test key.",
            "Move one process, watch it for a day, then the others.",
        ),
        "guides/migrate-to-v2",
    ),
    Topic(
        "deployment",
        r"\bdeploy\w*|\bdocker\w*|\bkubernetes\b|\bcontainers?\b|\bproduction\b|\bself.?host\w*",
        "In production the same code runs with a live key, a time limit and an alarm.",
        (
            "Give the key to the container as a secret, never in the image.",
            "Check the health of your own service, not ours, to decide about a restart.",
        ),
        (
            "Build an image without secrets in it.",
            "Pass the live key when the container starts.",
            "Send one real shipment and cancel it.",
        ),
    ),
    Topic(
        "billing",
        r"\bbilling\b|\bpric\w+|\binvoices?\b|\bplans?\b|\bpayments?\b|\bcosts?\b",
        "You pay for labels that are used, once a month; test mode is free.",
        (
            "Invoices are in the account under *Billing*, as PDF and CSV.",
            "A change of plan counts from the next day.",
            "Set a limit for the month and who is told when it is near.",
        ),
        ("Open *Billing* in the account.", "Choose the plan.", "Add who receives the invoices."),
    ),
    Topic(
        "security",
        r"\bsecurity\b|\bsecure\w*|\bencrypt\w+|\bpermissions?\b|\broles?\b|\bgdpr\b|\bprivacy\b",
        "Data is encrypted on its way and at rest, and each person sees only what their role allows.",
        (
            "Roles are owner, developer, support and reader.",
            "Every change is in the audit log for a year.",
            "Personal data of recipients is deleted 90 days after delivery.",
        ),
        ("Give each person the smallest role that fits.", "Require a second factor.", "Read the audit log."),
    ),
    Topic(
        "logging",
        r"\blogg?ing\b|\blogs?\b|\bmonitor\w*|\bobservab\w+|\bmetrics\b|\balert\w*",
        "Log the `request_id`, the status and the time of each call, and never the key.",
        (
            "Alert on the share of errors, not on a single one.",
            "Count `429` separately: it is a question of pace, not a fault.",
        ),
        ("Log one line for each call.", "Draw the share of errors.", "Decide who is woken, and when."),
    ),
    Topic(
        "search and filters",
        r"\bsearch\w*|\bfilter\w*|\bquer(?:y|ies)\b|\bsort\w*",
        "Lists can be narrowed by status, carrier, date and your own reference.",
        (
            "Several filters must all match.",
            "`reference` finds a shipment by your own order number.",
            "Dates are days in UTC; the end is not included.",
        ),
        ("Begin with the narrowest filter.", "Add a range of dates.", "Follow the cursor through the pages."),
        "pagination",
        "list",
    ),
    Topic(
        "many at once",
        r"\bbatch\w*|\bbulk\b|\bimport\w*|\bexport\w*|\bcsv\b",
        "Up to 500 shipments go in one request; each has its own result.",
        (
            "One wrong row does not stop the others.",
            "The answer has the rows in the order in which you sent them.",
        ),
        ("Prepare the rows.", "Send at most 500.", "Read each result and repeat only those that failed."),
        "api/shipments",
        "list",
    ),
)


def find_topics(text: str) -> list[Topic]:
    """The topics a text speaks of, in the order in which they come up."""
    found = []
    for topic in TOPICS:
        match = re.search(topic.pattern, text, re.IGNORECASE)
        if match:
            found.append((match.start(), topic))
    # "rotate API keys" is about rotating: what comes first in the catalogue is the narrower subject.
    return [topic for _, topic in sorted(found, key=lambda entry: (TOPICS.index(entry[1]) > 2, entry[0]))]

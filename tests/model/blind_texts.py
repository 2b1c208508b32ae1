"""Texts as people write them, one a line.

236 were written by people who had not seen the rules (one is shortened), the others by the rules' author.
"""

from __future__ import annotations

FREE = """\
hey hey :wave:
good morning team!
hold on a sec pls
nvm
oh no wrong channel, ignore that
pls stop, dont do anything yet
never mind, Priya already did it
just merged it :tada:
LGTM, shipping it :rocket:
approved!! nice work
all good from my side, Marek will merge after lunch
omg this is so good, thank you!! 🙌
yep makes sense, thx
wow that was quick. really impressed 👏
:+1: :+1:
sounds good to me 👍 cheers
is it still running?
how long does this usualy take
what can you do?
any news on this one? been like 20 min
who are you and who set you up here lol
did the PR get opened yet?
whats the default timeout for webhooks?
why do we have two pages about authentication?
does anyone know where the rate limit is documented
how do I rotate an api key?
webhooks
job open
status of 118
visitors yesterday
reply off
hey hey 👋
morning!! hope everyone had a good weekend
hiya docs bot :wave:
yo
good evening from the berlin office 🌙
pls stop, wrong repo
abort abort
hold on, let me check with Priya first
never mind, Tomas already did this one
pause this for now pls
hang on a sec :hand:
forget it, we'll do it by hand
oops wrong channel sorry
don't do anything yet, waiting for Jens
shipped :ship:
merged it just now, thx!!
looks good to me, Anna approved it too 🎉
LGTM :shipit:
we're done here, closing the PR
all good now
approved + merged, ty
omg this is amazing 😍
thank u so much!! saved me an hour
nice one :tada: :tada:
perfect, exactly what I had in mind
yep agreed with Marco
+1
haha love it
:raised_hands: great work team. really nice
wow that was fast
ok sounds good, tks 🙏
are you still working on this?
hows it going
is this thing stuck? been 20 min
how much does one of these jobs cost
wheres the PR
did the build pass?
any update on this one? Lena is asking
can you see private repos?
why did it fail :sob:
how do i rotate an api key?
whats the default timeout for webhooks
does anyone know if the v2 endpoint is deprecated?
where are the docs for the billing api
hi, quick q: is rate limiting per key or per org?
why does the python client retry 3 times?
test
job mine
status #318
help pls
jobs in review
show me my jobs
Project payments-docs
subscribe friday 8:30
visitors this month
unsubscribe me pls
hows it going w this one
hold on dont do that yet
perfect ty!!
Is this live yet?
status of 118 pls
whats my limit this month
Do we have anything documented about webhook retries?
Morning all :wave:
That's exactly what I needed, thank you so much
Who else can approve your changes?
never mind, I found it
show me open jobs
Good morning together!
Many thanks, this is now very understandable.
Since when are you working on this?
Which version of the API is described in our reference?
Please cancel this job.
Super, danke 👍
🎉🎉 shipped it!
omg you're the best 🙌🔥
happy friday y'all ☀️
wait what can you actually do? 👀
whoa whoa stop please 🛑
visitors this month 📈
sgtm, ship it
eta?
project billing-api
replies off pls
ack, thx
why did it fail?
hey there, hope you're having a good day
chef's kiss
hold your horses
add user
invite ben
ping @here
pricing page
billing webhooks
dont do anything yet
don't change anything yet please
please don't start, I want to talk to Jonas first
I'll add it myself tomorrow
I already fixed it, thanks
Ana will take care of it
we can close this one
lol that's hilarious
you're a lifesaver!!
my boss is going to love this
this made my day
no rush, monday is fine
take your time
that should do it, thanks!
should be fine now
looks fantastic, can't wait to ship it
this is so much better than before
the new page is really clear, thank you
I read the whole page and it's great
our customers will love this
ooo fancy
not bad at all!
yes that works for me
ok let's wait for the legal team
let's merge it tomorrow
please wait until Maria has read it
I'm out of office until Thursday
Joe is on vacation, ask me instead
sorry, that was meant for someone else
wrong repo, sorry
sorry for the noise
test test, please ignore
can we talk about this tomorrow?
can I get access to the repo?
where can I see the diff?
how do I create a project and add a member?
why is the link to the api page broken
is the docs site down?
what's the difference between a workspace and a project
do we support SAML?
which pages are missing examples?
does the install page mention windows?
who wrote the auth guide, do you know?
is anyone else seeing errors on the docs site
when was the pricing page last updated?
can you read slack threads?
can you open pull requests in two repos?
do you need anything else from me?
how come it took so long?
is it still waiting in the queue
did you see my last message?
has anyone reviewed it yet
will it be ready before the demo at 3?
what's taking you so long lol
any luck?
how many jobs can I run a day
are you using claude or gpt?
so, what now?
back in 5
grabbing lunch, will review after
I have approved the pull request on github
reviewed and merged, closing the loop here
we went live this morning 🎉
good stuff folks, onwards
thanks for adding the example so quickly!
thanks for the update
congrats on the launch team
please disregard my previous message
I think we can leave it like that
no changes needed
nothing to change here, thanks
keep up the good work
merci beaucoup
danke schön!
hola
cc @maria
fyi @tomas
@anna can you review this please?
Anna, could you take a look?
Here's the ticket: https://acme.atlassian.net/browse/DOC-12
interesting, did not know that
tbh I'm not sure about this
I wonder who uses this
hmm let me think about it
you can stop now
okay cancel that request please
scrap this, we decided against it
the build is red again
CI is failing
it crashed :(
visitors last 3 months
jobs waiting
status 44 please
projects list
subscribe daily
limits for me
replies on please
how's the weather in berlin today
what does the agent cost per run?
fair point Lukas
is something broken? nothing happened
can I use you in private channels?
do webhooks have signatures
""".splitlines()
"""They cost nothing."""

PROMPTS = """\
add a section on pagination to the REST reference, we get asked about it every week
the install page still says node 14, should be node 20 now
pls fix the typo on the billing page, it says 'recieve'
Write a migration guide from v2 to v3. Cover the new auth flow. Tomasz has the changes in the CHANGELOG
remove the beta label from the exports page
document the new --dry-run flag of the cli
rename 'Workspaces' to 'Projects' everywhere in the docs
could you maybe put a curl example next to the js one?
hey, would you mind updating the sso page? okta changed their menu, its under Applications > Sign On now
can we get a troubleshooting section in the docker guide pls? ppl keep hitting the port 5432 error
thanks!! one more thing: link the glossary from the intro
love it 😍 just drop the last paragraph, its marketing fluff
lgtm except the title, call it 'Getting started with events'
yes but in typescript not plain js
great job 🎉 Now do the same for the Go SDK page
approved by Lena, but she wants the warning box moved to the top of the page
good morning! pls split the api keys page in two, one for creating and one for revoking
wait, the second code block is missing the import. add it
stop using 'simply' and 'just' in the quickstart, it sounds condescending
cancel subscription page needs a note that refunds take 5 days, pls add
merged already, but the sidebar entry is missing. please add it under Guides
status page docs are out of date, replace the old statuspage.io link with status.acme.dev
limits page: change max upload size from 50MB to 200MB
help section in the sidebar should link to the community forum instead of the support email
jobs api reference is missing the retry_count field, add it with a short description (int, default 3)
too long, cut it in half
use the EU endpoint in the examples pls
hmm no, Dana says the header is X-Api-Key not Authorization
why is there still a screenshot of the old dashboard? take it out please
Thanks! One more thing: the curl example needs a content-type header
great work!! just swap step 2 and 3
👍 but shorter intro pls
love it, can we get a typescript tab too?
yes, and do the same for the go page
ok do the java one as well
perfect :tada: now link it from the sidebar
agree w/ Marco, the warning box should go to the top
nice! The title is still a bit long though. Maybe just "Deploying"
thx so much 🙏 could you also mention that the token expires after 24h
lgtm except the last paragraph, cut it
merged the SDK rename today. docs should say acme-client instead of acme-sdk everywhere
done with the api change on our side so please update the reference to v3
legal approved the new wording: put "Data is stored in the EU only" at the bottom of the privacy page
almost done, only the screenshot caption is wrong. should be Settings > Members
stop using the word "simply" everywhere in the tutorials
wait time for the export should say 10 min not 5
hold on, thats the wrong endpoint. It should be /v2/users not /v1/users
nevermind the table, use a bulleted list instead
cancel subscription guide: add the step where you confirm by email
no, use yarn there
undo the change to the sidebar
revert the intro, the old one was better
status codes table is missing 429, pls add
help page for admins should mention the new audit log
jobs endpoint: document the `cursor` param
limits page still says 100 req/min, its 250 now
project setup guide needs a windows section
replies section in the messaging docs is outdated, rewrite it for threads v2
subscribe flow docs: add the double opt-in step
unsubscribe link moved to the footer, fix that in the newsletter guide
visitors are called "sessions" now, rename in the analytics guide
digest auth is gone, remove it from the auth page
Help new users get started faster: write a 5 min tutorial for the CLI
hi! could u add a page on SSO w/ Okta pls 🙏
good morning :sunny: the install page still says node 16, we need 20
hey, Sofia from support says people get lost at the 2fa setup. Please add a troubleshooting section there
why is there no example for pagination? pls add one
would you mind fixing the broken link on the install page?
can somebody write up how retries work? customers keep asking Lena about it
could we have the env vars in a table instead?
any chance you could translate the faq to german?
what does `--force` do? nobody knows, document it in the cli reference
can you pls explain what a workspace is in the glossary
typo: recieve -> receive in webhooks.md
documnet the new /exports endpoint, see PR 812 from Kenji
merge the two install pages into one
the second heading is wrong, should be 'Installing on Linux'
shorten this
less marketing talk pls :sweat_smile:
split the faq by product. billing first, then api, then everything else
changelog entry for 4.2: new dark mode, faster search, fixed login on safari
we renamed teams to spaces last week, docs need to follow
drop the beta badge from the realtime page, its GA 🎉
all code samples in the ruby guide shoud use the new client initializer
write a migration guide from v1 to v2. Ask for nothing, all breaking changes are in CHANGELOG.md
also mention that it needs admin rights
what Priya said, and add a note about EU region
move "Error handling" above "Advanced usage"
create a how-to for rotating api keys, Ahmed needs it for a customer by tmrw
pls update pricing page, pro plan is 49 now not 39
need a changelog entry for the sso launch asap
actually can u move that bit to the top
looks great but drop the last paragraph
the beta label on the exports page has to go, its ga since tues
Rename workspaces to teams everywhere in the admin guide
Customers keep asking how to reset 2FA when they lose their phone. Could we get an article on that?
The link to the import template on /guides/csv-import is a 404, please fix
In the troubleshooting page, mention that error 4012 usually means an expired token
Yes please, and include the steps for Windows too
Step 3 is wrong, the button is called Save changes now
Would you mind splitting the FAQ into billing and technical sections?
Please correct the spelling of "authentification" to "authentication" on all pages.
It would be good if we had also a glossary for the new terms.
The screenshot in chapter 2 is outdated, please remove it.
Very nice, only the headings should be in sentence case.
Please don't use the passive voice in the introduction.
Can you please translate the installation page into German?
Let's add a Python example next to the curl one 🐍
ooh could we get a tutorial on streaming responses? 🙏✨
Love it 😍 now do the same for the Go SDK page
hey hey 👋 the rate limits page still says 100 rpm, should be 250
🚨 v1 endpoints sunset June 30, put a deprecation banner on those pages 🚨
So close! 🎯 Maybe make the intro a little friendlier?
s/timeout_ms/timeout/ in config reference
document --dry-run
nope, default is 30 not 60
rm the beta note
missing: 429 response in errors page
rebase and mention the env var
the auth page is way too long, split it
Can you tidy up the intro?
the term 'node' is ambiguous, use 'machine'
put the warning first
we don't support IE11 anymore, take it out
bump the node version to 22 in all examples
please mention Safari too
mention that webhooks are retried for 3 days
our logo changed, swap the image on the home page
the curl command fails with a 401 because the header is missing
Step 4 doesn't work on Windows
there's a typo in the second paragraph
broken link on /guides/sso
would be great to have a diagram of the flow
could use a short summary at the top
I think the tone is too formal
make the examples copy-pasteable
needs more detail on error handling
nobody understands the permissions page, please rewrite it from scratch
In the API reference, the type of `amount` is string, not int
on the install page add a note about proxies
Hi, could someone please add docs for the new /reports endpoint?
I'd love to see a comparison table of the plans
it'd be nice if the sidebar had an entry for the CLI
new page: how to set up SCIM
Let's document the retry header
thanks Marek! can you also cover the error case
looks good! Small nit: "its" should be "it's"
nit: capitalise GitHub
merge these two sections
close but the title is off, try "Deploy your first app"
yes, go with the shorter one
make it two sentences
explain what a token is before using it
please explain how rate limits work for org keys
Write release notes for 5.1
draft a page about data retention
the docs say 30 days but it's 90
v1 is deprecated, add a banner
deprecate the v1 page
the endpoint moved to /v3/events
max file size is 2GB now
default port is 8080 now, not 3000
sort the FAQ alphabetically
include a Terraform example
apply the style guide to the onboarding page
convert the list to a table
lowercase all headings
hide the enterprise section for now
link to the status page from the footer
please also update the German version
more screenshots in the setup guide please
less jargon
same thing for the Swift page
also for Android
translate the quickstart into Japanese
shorten the intro to 2 sentences
get rid of the beta banner
take out the part about cookies
clean up the wording in the billing faq
can the example use fetch instead of axios?
shouldn't the header be Authorization?
why don't we mention the free tier?
how about adding a video?
what is a tenant? we never explain it, please add a definition
who is this page for? say so in the first sentence
is it ok to use v1? the docs don't say, add a line
hold on, you removed the wrong section
no, keep the old heading
nope, I meant the other table
undo that and try a bulleted list
Don't call it a beta, it's GA
please dont use emojis in headings
stop calling customers users
can we rename the Settings page to Preferences?
is there a way to add anchors to the headings?
pls chk spelling on the contact page and correct it
udpate the pricing table with the new tiers
we switched from Jenkins to GitHub Actions, docs should reflect that
Sarah wants a shorter title
legal wants us to remove the SLA numbers
people keep confusing orgs and teams, clarify this in the glossary
SDK docs lack async examples
I can't find anything about SSO in the docs, please add a page
the code block in step 3 isn't highlighted
align the tables with the new API names
the support email changed to help@acme.com
replace http with https in all links
s/whitelist/allowlist/g
GET /users -> GET /v2/users
add alt text to images
make the diagrams dark mode friendly
remove Heroku, they are not supported any more
turn the tips into a checklist
write something about backups
the section on quotas is out of date
reword the second bullet
swap the order of the tabs
quickstart should work without docker
create an overview page for the integrations
adjust the tone, it's too salesy
wait, that's not right. The limit is per user
the first paragraph repeats itself
almost! the default is false
not quite, the flag is --force-all
hi, in the quickstart replace npm with pnpm please
I'd prefer tabs for the languages
since 3.2 the flag is optional, please note that
the anchor links in the changelog are 404ing
same as above for the Python SDK
approved with one change: title case in headings
lgtm, only change 'utilise' to 'use'
compare plans in one table
the webhook retry interval is 5 minutes since last week
""".splitlines()
"""They are for the agent."""

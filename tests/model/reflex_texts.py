"""Texts that people write to the bot, and what each of them is."""

from __future__ import annotations

from collections.abc import Mapping


def _texts(joined: str) -> tuple[str, ...]:
    return tuple(" ".join(joined.split()).split(" | "))


TEXTS: Mapping[str, tuple[str, ...]] = {
    "stop": _texts("""
        drop job 4 | no need | hold that thought |
        scratch that | forget what I said | can we cancel this? |
        stop | Stop! | STOP. | please stop | cancel | cancel it | cancel 12 | cancel job #12 |
        cancel #3 please | abort | kill it | wait | wait! | hold on | hold on a sec | one moment |
        pause | never mind | nevermind | forget it | stop this job | stop that please |
        stop working on this | please cancel this | scrap that | don't do it | no wait | not now |
        leave it | stop 12 | can you stop? | please cancel job 7 | cancel my last request |
        stop it please, wrong channel | Stop! I made a mistake | abort abort abort |
        never mind, found it | nvm | don't merge yet | hold off for now | stop working on job 12 |
        I changed my mind | can i cancel this? | how do I stop a job? | wait a minute | one sec |
        hold please | give me a second | not yet | never mind then | forget about it |
        stop notifying me | please be quiet | mute this thread | leave this as it is | keep it as is |
        stop job 12 and job 13
    """),
    "status": _texts("""
        give me an update | jobs today |
        how's job 5 doing? | jobs reviewed | how long until it's ready? | update please | open jobs |
        status | status? | status of 12 | what is the status? | what's the status of job 12? |
        any news? | any updates? | any progress on this? | is it done? | is it done yet? |
        is it ready? | are you done yet? | how is it going? | how far are you? |
        how long will it take? | when will it be ready? | where is the pull request? |
        is there a PR yet? | did it work? | what happened? | are you there? |
        are you still working on this? | is anyone working on this? | jobs | list jobs | my jobs |
        show my jobs | jobs failed | jobs review | job 12 | #12 | 12 | queue | what's taking so long? |
        why is it taking so long? | did you finish? | jobs open | status 12 | is job 12 done yet? |
        any news on this? | whats the status of my job | how's it going with the PR? |
        how much longer? | is there an update? | did the job fail? | why did it fail? |
        what went wrong? | has it been merged? | is it merged yet | still running? |
        what are you working on right now? | what is taking so long | when will you be done? |
        where can I find the PR? | show me the status | can you tell me the status of job 12? |
        how long does this usually take? | are we there yet? | ETA? | eta on this? |
        what's happening? | show all jobs | list my open jobs | job 12 status please |
        how do I get started? | job? | 12? | status pls | status 12 please
    """),
    "reviewed": _texts("""
        we merged this yesterday |
        done | done! | all done | merged | Merged it | i merged it | it's merged | ok merging now |
        merging | approved | approved :white_check_mark: | lgtm | LGTM! | lgtm, merged |
        approved and merged | thanks, merged | pr is merged | reviewed | just merged, thanks! |
        merged :tada: | shipped | ship it | looks good, merging | LGTM, will merge after lunch |
        merged #12 | PR merged, thank you! | It's been merged already | I just approved it |
        reviewed and approved :+1: | done and dusted | all good, merged to main | deployed to prod |
        ship it! | done :white_check_mark:
    """),
    "question": _texts("""
        who can review this? | Hi! How's everyone doing today? | is this thing on? |
        why is the sky blue? | what does idempotency mean? | who wrote the webhooks page? |
        why do we have two auth pages? | where is the rate limit documented? |
        what is our refund policy | how does pagination work in v2 |
        does the API support bulk deletes? | is the limits page up to date? |
        when was this page last changed? | which endpoint returns the invoices? |
        do we have a page about SSO? | what's the difference between a job and a task? |
        how many pages do we have? | who owns the billing docs? | anyone here? | anybody home? |
        is anyone there? | what's new? | tell me a joke | what time is it? | what's the weather like? |
        how is the quickstart coming along? | is the quickstart ready? |
        when does the docs deploy run? | can you explain what you did? | is this free?
    """),
    "help": _texts("""
        help | help me | ? | ?? | what can you do? | how does this work? | how do i use this? |
        who are you? | what are you? | what is this? | are you a bot? | commands | usage |
        can you help me? | who made you? | do you speak german? | can you see this thread? |
        what do you know? | /help | what can I ask you? | what are you doing? |
        who are you and what can you do? | what languages do you support? | are you an AI? |
        are you human? | how can I use you? | what commands do you have? | can you help? |
        can someone help me | I need help with this bot | do you work on weekends? |
        can you read images? | ??! | ... | I have a question | quick question | what did you change? |
        did you change anything? | which files did you change? | why did you remove the table? |
        do you understand? | are you sure?
    """),
    "command": _texts("""
        jobs in #docs | limits today |
        rerun it |
        how much does it cost? | which model do you use? | project | projects | project acme |
        project achme | limits | limits? | quota | visitors | visitors last week | visitors october |
        subscribe monday 09:00 | subscribe | unsubscribe | digest | digest now | jobs #docs |
        follow up 12 | settings | config | templates | template | search x | login | logout | ping |
        test | version | retry | retry 12 | rerun 12 | restart | replies off | again 12 | log in |
        show settings | restart 12 | rerun job 12 | retry please | merge it | please review |
        can someone review this? | approve it please | testing 1 2 3 | this is a test | just testing |
        ping? | foo | unsubscribe me | how many uses are left? | what are the limits? |
        subscribe munday 9:00 | visitors last weeek | statuss 12 | vistors october
    """),
    "thanks": _texts("""
        good question | not sure |
        thanks heaps | super helpful, ta | great, thank you Ana | no objections | 👋 | haha nice |
        thanks | Thanks! | thank you | thank you so much! | Nice work, thank you! |
        thanks, looks great! :tada: | looks good | looks good to me | great | great job |
        awesome, thanks | perfect | perfect, thank you :heart: | ok | ok thanks | okay, cool | cool |
        nice | nice one | love it | well done | good work everyone | +1 | :tada: | :+1: :+1: | 🎉🎉 |
        thx | ty | cheers | much appreciated | got it | sounds good | yes | yep | yes please | no |
        no thanks | lol nice one, see you at lunch | great work, really helpful, thanks a lot |
        agreed | makes sense | will do | ok great, thanks so much! | hmm |
        thank you very much for the quick fix | thanks for fixing this | thanks for adding the table |
        this is awesome | I love it, thanks! | the page looks great now | you're the best |
        that was fast! | wow that was quick | exactly what I needed | nicely done, team |
        ok perfect thx | sounds like a plan | closing this | k | nope | sure thing | fine by me |
        i agree | +1 from me | yes! | yep, looks right | hmm ok | got it, thanks | cool cool cool |
        brilliant work as always | :rocket: | <3 | :) | haha good one | no worries | you're welcome |
        good bot | sweet, cheers | let me check first | I'll review it tomorrow | taking a look now |
        will look at it later | that's all, thanks | nothing else, thank you |
        no further changes, thanks | all set | we're good | that's it
    """),
    "greeting": _texts("""
        howdy partner | hello from berlin | greetings earthling |
        hi | hello | Hey! | hi there | good morning | Good morning team | hello bot | hey docs agent |
        yo | hiya | howdy | hi everyone | hello :wave: | bye | see you | good night | how are you? |
        lol | Hi, how are you? | hey everybody | good morning all :sunny: | see you tomorrow |
        have a great weekend everyone | happy friday! | hello? | what's up?
    """),
    "word": _texts("""
        undo | quickstart | webhooks | docs | asdf | oauth | readme | typo | the | heyy | maybe |
        404 page | how-to for webhooks | same | why? | what? | really? | who? | huh? | README.md | TODO | B
    """),
    "prompt": _texts("""
        limits: 100 -> 200 | show users how to sign in | done? the footer still says 2023 |
        is it done? if so, start on the footer page | answer the question "what is SSO?" on the FAQ page |
        can you update it? | can you do this for all SDKs? | which regions are supported is
        missing | the former |
        status codes are missing on the errors page | done is spelled wrong, fix it |
        thanks, but use POST | ok now add a table | stop using the word simply |
        cancel buttons need a page of their own | jobs in the navigation are out of date |
        project setup is missing a step | help pages link to the old site |
        hi is a bad first word of the home page | search does not find webhooks |
        subscribe button is missing | visitors page: add a chart | job 42 is described twice |
        wait times are wrong in the limits page | Add a quickstart |
        Add a quickstart for the Python SDK | fix it | fix the typo | make it shorter |
        shorter please, two paragraphs | can you add a page about webhooks? |
        could you please fix the broken links in the guides? | please update the README of the SDK |
        great, now do the same for Go | looks good, but the second example is wrong |
        lgtm except the title | merged, but the link in the footer is broken |
        approved, please also fix the sidebar | perfect, now translate it to German |
        no, use PUT instead | yes, and add a table with the status codes | yes, do that |
        wait, the endpoint is called /v2/jobs | stop, use the other example instead |
        cancel that and write about retries instead | thanks! one more thing: mention the timeout |
        done is better than perfect should not stand in our docs |
        hello world example does not compile | hi, please add a changelog page |
        hey, the rate limits page is out of date |
        Good morning! Can you add the new region to the list? |
        the status page needs a link in the footer | status 404 is not documented |
        limits are now 200 an hour | quota table is wrong |
        visitors to the pricing page can't find the FAQ | explain what a project is on the first page |
        write a help article about limits | remove the settings page |
        rename templates to blueprints everywhere |
        document the search endpoint | move login instructions to the top |
        add ping to the API reference | describe version 2 | test instructions are missing |
        nice would be a diagram on the overview page | cool down period is missing in the limits page |
        sort the jobs table by date | make the visitors chart bigger | ok, but keep the old anchor |
        +1 to the table, but drop the last column |
        who can use the API? is not answered on the start page, add it | use "status" as the heading |
        s/colour/color/ | add it | do it again but shorter | also mention Windows |
        and for TypeScript | same for the Java page | revert the last change |
        undo the rename of the guide | delete the second paragraph |
        Fix the broken link on the webhooks page | update the job status table |
        update the status page | the webhooks page is missing | there is no page about webhooks |
        no docs for the new endpoint | typo in the quickstart: recieve |
        quickstart: use pip instead of poetry | Shorter intro on the home page | a bit shorter please |
        use a table instead | now in German | translate to French | in French please | only for v2 |
        keep the first example | without the screenshot | and the same for Ruby | same for Python |
        try again with fewer words | try again | please continue with the next page |
        rename it to Getting started | yes, but keep the title | ok do that for all pages |
        ok, change it to POST | great, but the heading is wrong |
        thanks, can you also add an example? | thanks for the page but it lacks an example |
        Nice! Could you add a diagram as well? | merged, now please add the changelog entry |
        done with review: please fix the typo in step 2 | approved, but bump the version first |
        looks good except for the last paragraph | hello, the login page has a typo |
        hi team, please document the new header | hey can you describe how retries work? |
        can you make the intro friendlier? | could we have a section on limits? |
        could you mention rate limits in the FAQ? | would you mind adding a note about timeouts? |
        can someone update the pricing page? | please explain webhooks on the start page |
        I want you to rewrite the intro | I'd like a page about SSO | we need a page about SSO |
        we should mention the new region | let's add a glossary | how about a table here? |
        what about Windows users? Mention them | why not link to the API reference? |
        why don't we add a diagram | is it possible to add dark mode screenshots? |
        What is a webhook? should be the first heading | The page "What is a job?" is outdated |
        Where's the section on retries? It should be on the first page. |
        Who can use it? isn't answered, please add it | stop recommending Python 2 |
        cancel the word "simply" everywhere | wait for it to load is bad advice, remove it |
        hold on is misspelled in step 3 | kill switch docs are missing |
        abort signals are not documented | pause and resume need docs |
        done callbacks are undocumented | merged cells render wrong in tables |
        approved vendors list is outdated | reviewed by line should be removed |
        status badge in README is broken | status 429 needs an example |
        progress bars on the page are misaligned | job queue docs are wrong |
        jobs API: document pagination | project settings page lacks screenshots |
        limits page says 100, should be 200 | visitors chart needs a legend |
        subscribe form docs are outdated | digest emails are described wrong |
        help center link is dead | commands table in the CLI page is incomplete |
        usage section should come first | hello world sample fails with Node 22 |
        thanks page should redirect to home | thank you page: fix the copy |
        great expectations section: cut it | cool-down time is 30s not 60s |
        perfect forwarding is explained wrong | nice-to-have section can go |
        ok button is called Done now | yes/no table is swapped | no longer supported: remove Node 14 |
        not all parameters are documented | test mode is missing from the billing page |
        ping endpoint returns 204, not 200 | version 2 has a new auth header |
        login with SSO must be documented | settings screenshot is old | template variables are wrong |
        search is case-insensitive, say so | retry policy: document exponential backoff |
        restart the numbering at 1 | again and again is used twice, rephrase |
        replies are rate limited now, add that | Document the 12 new endpoints |
        12 endpoints lack examples | #general is mentioned, should be #help | delete it | remove that |
        undo the last change | revert it | add more examples | more examples please |
        less marketing please | move it up | bigger heading | bold the warning | link it |
        cut the second half | split it in two | please redo it with bullets | no, the other one |
        I meant the API page | actually use GET | the second one | wrong link in step 2 |
        wrong order: 3 before 2 | the link is dead | it still says v1 | the example still fails |
        you forgot the Go tab | you missed the footer | this is confusing, simplify it |
        that is not correct: the limit is 50 | it's POST, not PUT | change settings to preferences |
        turn off the sidebar on mobile | open the page with a summary | write about jobs |
        describe jobs | list all status codes | list the limits on one page |
        show the status codes in a table | explain how jobs work | explain the status field |
        document who can approve | say what happens when a job fails |
        mention that jobs can be cancelled | add a stop button example | tell readers how to cancel |
        show readers how to log in | use thanks instead of thank you | say hello in the first line |
        Can the intro say what the product is? | Could the example use curl? |
        Shouldn't it be PUT instead of POST? | ドキュメントを更新してください |
        Please review the docs for typos and fix them | review the quickstart for broken links |
        make sure the examples run | make it live updates instead of polling |
        sync the README with the docs | api.acme.com is now api.acme.dev |
        v2.0 is out, update the docs | s/foo/bar/ | clean up the sidebar | clean it up |
        reorder the steps | proofread it | simplify it | be more specific in step 2 |
        keep it short, max 100 words | leave out the second paragraph |
        ignore the last comment, and use tabs | wait, also add the new error code |
        hold on, use the v2 path | no wait, put it in the FAQ | cancel that, use tabs instead |
        stop, that's the wrong page: edit /api instead | ok go with option B | yes, option 2 |
        option A please | the first variant please | project setup broken |
        visitors are confused by this page | status codes missing | unsubscribe link missing |
        subscribe form: add a note | replies to the forum are slow
    """),
}
"""By the kinds of ``Reflex``; ``prompt`` is for the agent. Signs between texts: ``|``."""

"""The words by which a text is known: of each kind of ``reflexes``, and of an order for ``signals``."""

from __future__ import annotations

from collections.abc import Sequence


def words(joined: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(joined.split())


def phrases(joined: str) -> frozenset[tuple[str, ...]]:
    """Return the phrases of a text that has ``|`` between them, each as its words."""
    return frozenset(tuple(phrase.split()) for phrase in joined.split("|"))


POLITE = words("please pls plz kindly")


def longest(said: Sequence[str], place: int, known: frozenset[tuple[str, ...]]) -> int:
    """Return how many words from a place on are one of the phrases; 0 if none."""
    return next((each for each in range(4, 0, -1) if tuple(said[place : place + each]) in known), 0)


SMALL = POLITE | words("""
    a an the this that these those it its it's that's thats of for to on in at and so just now then here there
    with i you u we me us my your our all everyone everybody team folks guys both bot agent docs-agent is are
    was were be been am i'm im i've ive we're we've you're youre has have had oh ooh ah well too
""")
"""Words that stand beside those of any kind and say nothing alone."""
DAYS = words("""
    today yesterday tomorrow tonight later soon monday tuesday wednesday thursday friday saturday sunday
    lunch weekend
""")
JOB = words("""
    job jobs 0 pr prs pull request requests task run build work update change changes
""")
GREETING = phrases("""
    hi|hello|hey|hiya|heya|hallo|yo|howdy|sup|morning|good morning|good afternoon|good evening|good night|
    goodnight|bye|goodbye|cya|ciao|see you|see ya|talk later|talk to you|how are you|how are you doing|
    how's it going|what's up|whats up|nice to meet you|have a good|have a nice|have a great|happy|lol|haha|
    hahaha|lmao|rofl|heh|cheerio|welcome|farewell|brb|afk|gm|greetings
""")
THANKS = phrases("""
    good question|not sure|idk|much obliged|awesome sauce|thanks|thank|thanx|thx|thnx|tnx|ty|tysm|tyvm|
    cheers|appreciated|appreciate|grateful|kudos|congrats|congratulations|bravo|+1|1+|good|great|nice|
    nicely|awesome|cool|perfect|perfectly|excellent|amazing|brilliant|fantastic|wonderful|lovely|beautiful|
    superb|neat|sweet|fine|wow|woohoo|yay|impressive|impressed|helpful|fast|quick|the best|love|loved|liked|
    i like|we like|you rock|it rocks|this rocks|it works|works for me|works great|works well|happy with|
    solid|splendid|stellar|outstanding|incredible|magic|legend|star|genius|well done|nicely done|
    much better|way better|even better|what i wanted|exactly|all set|all good|that's all|that's it|
    nothing else|nothing more|no further changes|no more changes|sounds like a plan|i'll look|will look|
    spot on|way to go|so far so good|ok|okay|okey|okie|k|kk|yes|yep|yup|yeah|yea|ya|aye|sure|right|alright|
    agreed|i agree|no|nope|nah|noted|ack|roger|understood|gotcha|got it|i get it|i see|definitely|
    absolutely|indeed|true|correct|interesting|fair enough|fair|make sense|makes sense|sounds good|will do|
    good to know|np|no problem|no worries|no prob|my pleasure|anytime|you're welcome|of course|same here|
    me too|hm|hmm|hmmm|aha|deal|as expected|i'll take a look|will take a look|taking a look|having a look|
    looking into it|i'll check|will check|checking|i'll review|will review|reviewing|i'll merge|will merge|
    let me check|let me see|let me look|on it|i'm on it|closing|closed|fair point|
    good call|good point|no objections|
    no objection|nailed it|good catch|sgtm|ta|cool beans
""")
COURTESY = DAYS | words("""
    news heaps much very really truly quite pretty super lot lots bunch million ton many as always again work
    working job effort help helping stuff thing one looks look sounds seems works way day time ever such real
    what how bit minute after before first speed turnaround by up did from life huge big better mate man buddy
    friend friends world week long doing back around wanted needed hoped looking asked mind docs
""")
REVIEWED = phrases("""
    merged|merging|approved|approving|reviewed|lgtm|shipped|shipping|ship it|done|deployed|deploying|landed|
    released|published|live|completed|finished|signed off|good to go|good to merge|ready to merge
""")
REVIEWED_MORE = JOB - words("jobs") | words("""
    review already also checked looked gone through main prod production everything into finally dusted
""")
STOP = phrases("""
    drop job|drop the job|stop|no need|nothing to do|stopped|stopping|cancel|cancelled|canceled|cancelling|
    canceling|abort|aborted|kill|halt|pause|paused|wait|hold|hang on|one moment|one second|one sec|one minute|
    moment please|a sec|a moment|a second|a minute|nevermind|never mind|nvm|withdraw|withdrawn|forget|quit|
    terminate|disregard|ignore|oops|my mistake|my bad|made a mistake|by mistake|by accident|false alarm|mute|
    scrap it|scrap that|scratch that|scrap this|leave it|leave that|leave this|leave me alone|not now|not yet|
    don't|dont|do not|don't bother|shut up|be quiet|quiet|go away|enough|changed my mind|change my mind|
    no longer needed|not needed|wrong channel|wrong thread|wrong chat|wrong window|wrong bot|wrong job|
    wrong person|keep it|keep as is|keep that|close job|close the job|close the pr|delete job|delete the job|
    remove job|end job|end the job|archive job
""")
STOP_MORE = DAYS | words("""
    myself thought said wrote noise working watching doing do not anymore any more longer if possible
    immediately once away everything yet still running current last latest previous next ping pinging
    posting messaging notifying spamming replying talking answering messages message reminders
    notifications as alone about what how can could would like want need needed i'd until till second
    minute moment sec while bit sorry merge merging start send process deployment prompt follow-up thing
    right up above comment by from mistake again thread channel off give found figured out i'll let check
""")
STATUS = phrases("""
    status|state|progress|news|update|updates|eta|done|ready|finished|finish|complete|completed|merged|
    reviewed|stuck|queue|queued|started|working|running|far|going|taking|happened|happening|wrong|failed|fail|
    failing|failure|worked|job|jobs|0|there yet|pr|pull request|left|opened|waiting|awake|alive|online|
    still there|you there|history|how long|how much longer|did it work|slow|live|deployed|published
""")
STATUS_MORE = words("""
    today what what's whats how how's hows when when's where where's why who who's which will would does do
    did any anyone anybody somebody someone anything something not take took about get gotten got time much
    longer more soon long come came coming along result results next go went think expect already can could
    see show list tell give latest last current mine review open moment minutes hours being made find out up
    word still yet happen happens back doing until hold new everything usually home
""")
HELP = phrases("""
    help|commands|command|usage|menu|instructions|manual|man|what can you|what do you do|what do you know|
    who are you|who made you|how does this work|how does it work|how do you work|what is this|what's this|
    what can i do|what can i ask|what should i ask|are you|a question|quick question|questions|how
""")
HELP_MORE = words("""
    need some can could do does use anyone somebody someone what list show get where human real robot ai alive
    question tell person slack
""")
COMMAND = phrases("""
    set up|sign up|setting|settings|config|configure|configuration|preferences|options|setup|template|
    templates|login|log in|sign in|logout|log out|sign out|connect|admin|admins|version|whoami|info|ping|
    test|testing|debug|logs|reset|clear|export|import|retry|rerun|re-run|restart|resend|merge|approve|
    review|deploy|redeploy|reopen|archive|assign|notifications|reminders|replies|projects|limits|quota|
    subscriptions|again 0|follow up 0|followup 0|follow-up 0|foo|search|invite|add user|add me|
    how much does|what model|which model|
    go ahead|proceed|turn off|turn on|test message|just checking|check this|read this|how many uses
""")
COMMAND_MORE = words("""
    today list show see off only ignore can could may should someone somebody anyone open get view many much
    does do bar baz check cost limit what's what how which model already uses left use job jobs 0 pr prs pull
    request run
""")
SOFT = GREETING | THANKS
"""What people begin and end anything else with."""
AUX = words("""
    is are was were do does did can could should would will has have isn't aren't don't doesn't didn't am
    much many often long far come else
""")
"""What follows "what", "how" and their like in a question."""
ASKING = AUX | words("what which who whom whose where when why how")
PEOPLE = words("you we they i u")
SUBJECTS = PEOPLE | words("""
    something anything everything nothing these those his her its it there my your anyone someone anybody
    somebody he she the this that our
""")
BOT = words("you your yourself bot agent docs-agent u")
SET_OFF = words("""
    and so but also well now then please pls plz kindly wait hold bot docs-agent agent team all there again
    sorry oh ooh actually just maybe perhaps btw fyi ps first next finally additionally ideally or because
    besides otherwise anyway only alone omg ah um uh to
""")
"""What stands before a clause without a meaning of its own."""
STRONG = words("""
    use add fix correct change write
    rewrite remove delete rename move document describe explain mention replace
    translate make create put split shorten expand clarify include drop revert undo reword rephrase improve
    insert swap sort convert extend cut combine reorder reorganize reorganise restructure format highlight
    introduce bump align apply adjust rebase redo rm lowercase uppercase capitalize capitalise bold
    italicize hide simplify clean tidy polish proofread summarize summarise condense trim tighten elaborate
    detail illustrate annotate deprecate link continue
    localize localise paraphrase normalize normalise standardize
    standardise unify consolidate collapse group merge-in draft append prepend attach embed emphasize
    emphasise refactor migrate sync synchronize switch spell define say specify outline enumerate amend
    revise modify edit substitute try soften strengthen update-all backport crosslink regenerate redraft
    refresh restore rearrange compare contrast rework redesign restyle reduce
    increase strip renumber dedupe deduplicate inline wrap underline alphabetize alphabetise flesh beef tone
    spice jazz tag relabel retitle call
    füge ergänze ändere ersetze lösche korrigiere entferne übersetze ajoute
    corrige remplace supprime traduis agrega añade elimina
""")
"""Verbs of an instruction, also with "it" behind them."""
DROPS = words("cancel ignore skip scrap kill forget")
WRITING = words("add use write describe explain document mention define clarify say cover")
"""What also jobs may be the object of: "describe jobs"."""
WEAK = words("""
    answer fail update cover turn keep list show give set state mark note open close merge start finish build
    work run check review restart leave tell do test look reference number indent quote order limit pin enable
    disable return stick allow provide support follow bring
""")
"""Verbs of an instruction where they name more than a job or a time behind them."""
DOCS = words("""
    page doc documentation text intro introduction heading headline header title section chapter paragraph
    table example snippet sample link sidebar footer menu navigation nav readme guide tutorial reference faq
    glossary changelog step screenshot image diagram chart caption box banner badge label sentence word
    wording tone spelling bullet column row field endpoint param parameter flag webhook search api cli sdk url
    article note list summary overview quickstart forum tab legend entry entries appendix footnote anchor
    template code command config permalink logo icon video comparison explanation description definition
    how-to checklist subheading instructions release markdown content toc index described explained documented
    part term copy button syntax typescript python
""")
"""Parts of docs."""
LANGUAGES = words("""
    german french spanish italian portuguese dutch polish japanese chinese korean english russian typescript
    javascript python java kotlin swift go golang rust ruby php bullets markdown yaml json lowercase uppercase
""")
FACTS = words("""
    default flag limit interval timeout option setting value type variable version port token endpoint param
    parameter field header method name button menu size price plan region argument key file command
""")
"""What a fact about the docs' matter is said of: "the default is 30"."""
PLAIN = words("add replace remove delete rename rewrite mention insert include explain describe clarify")
"""Verbs that are no noun."""
PLACES = words("in on at under below above for after before inside within")
ARTICLES = tuple((word,) for word in ("a", "an", "the", "that", "this", "another", "more", "some"))
BEFORE_NOUN = words("a an the your my our this that quick to will can i we you they she he")
"""Before these, a verb of an instruction is a noun, or somebody else's."""
COPULAS = words("is are it's its that's has have was were")
PRAISE = words(
    "looks great good perfect fine awesome amazing ok okay clear ready live better very so much really way"
)
HARMLESS = (
    SMALL
    | COURTESY
    | JOB
    | REVIEWED_MORE
    | STOP_MORE
    | STATUS_MORE
    | HELP_MORE
    | words("repo repos github question questions two three some more user users admin channel")
    | {words[0] for words in REVIEWED | STOP | STATUS | SOFT if len(words) == 1}
) - words(
    "news model doc docs comment prompt process production reminders notifications message messages wrong"
)
"""What an order names where it is about a job, a time or a person."""

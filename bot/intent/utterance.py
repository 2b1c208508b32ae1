"""An utterance: the part of a text for the bot, folded and split into sentences and clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from bot.intent.folding import (
    drop_quoted_lines,
    fold,
    hide_addresses,
    hide_quotations,
    replace_code,
)
from bot.intent.kinds import Place
from bot.intent.lexicon import Lexicon

MAX_READ_CHARACTERS = 3_000
"""A longer text is judged by its beginning and its end, where a request may stand."""
MAX_END_CHARACTERS = 1_000
MAX_CLAUSES = 80
"""Of more clauses the first and the last ones count."""
MAX_END_CLAUSES = 20

_QUOTED = '"quoted"'
_JOB_NAME_PATTERN = re.compile(r"#\d{1,9}(?:[,:]| (?=\S))\s*")
"""The name of a job before a follow-up: ``#4 make it shorter``."""
_NAME_GOES_ON_PATTERN = re.compile(r"[\w-]")
"""After a mention: "@docs-agent-2" is somebody else."""
_CLAUSE_END_PATTERN = re.compile(r", |(?<=\)) |(?<=[\u3040-\u30ff\u4e00-\u9fff]),")
_SENTENCE_END_PATTERN = re.compile(
    r"(?<=[.!?;:…]) |\n| (?:-|–|—) "
    r"|[。？！\u2600-\u27bf\U0001f300-\U0001faff]"
)


@dataclass(frozen=True)
class Utterance:
    """The part of a text for the bot, prepared for the steps."""

    text: str
    """Folded, without mentions and quoted lines. Code and quotations read ``"quoted"``,
    web addresses ``url``."""
    sentences: Sequence[Sequence[str]]
    """The clauses of each sentence."""
    plain: str
    """As it was written, on one line, without mentions."""
    place: Place
    has_files: bool
    lexicon: Lexicon
    """The words of its languages."""
    is_job_unsent: bool = False
    """The job of the place has not gone to the agent, so nothing of its result can be missing."""

    @property
    def clauses(self) -> Iterator[str]:
        for sentence in self.sentences:
            yield from sentence


def find_mention(text: str, mention: str) -> int | None:
    """Return the start of the first mention of the bot; None if there is none."""
    start = text.find(mention) if mention else -1
    while start >= 0:
        if not _NAME_GOES_ON_PATTERN.match(text, start + len(mention)):
            return start
        start = text.find(mention, start + 1)
    return None


def split_at_mentions(text: str, mention: str) -> list[str]:
    """Return the parts of a text before, between and after mentions of the bot."""
    parts = []
    start = find_mention(text, mention)
    while start is not None:
        parts.append(text[:start])
        text = text[start + len(mention) :]
        start = find_mention(text, mention)
    return [*parts, text]


def drop_mentions(text: str, mention: str) -> str:
    return " ".join(split_at_mentions(text, mention))


def prepare(
    part: str,
    place: Place,
    *,
    mention: str,
    has_files: bool,
    lexicon: Lexicon,
    is_job_unsent: bool = False,
) -> Utterance:
    """Return the utterance of a text's part for the bot."""
    folded = fold(clip_middle(drop_quoted_lines(part)))[:MAX_READ_CHARACTERS]
    folded = hide_quotations(replace_code(folded, _QUOTED), _QUOTED)
    folded = hide_addresses(folded, "url")
    if mention:
        folded = _replace_mention(folded, fold(mention), lexicon)
    lines = [" ".join(line.split()) for line in folded.splitlines()]
    text = "\n".join(line for line in lines if line)[:MAX_READ_CHARACTERS]
    text = _JOB_NAME_PATTERN.sub("", text, count=1) if _JOB_NAME_PATTERN.match(text) else text
    return Utterance(
        text=text,
        sentences=split_sentences(text, lexicon),
        plain=" ".join(drop_mentions(part[:MAX_READ_CHARACTERS], mention).split()),
        place=place,
        has_files=has_files,
        lexicon=lexicon,
        is_job_unsent=is_job_unsent,
    )


def _replace_mention(folded: str, mention: str, lexicon: Lexicon) -> str:
    """Return a folded text without mentions.

    "Could @docs-agent add it" reads "could you add it".
    """
    before, *rest = split_at_mentions(folded, mention)
    for after in rest:
        words = before.rsplit(maxsplit=1)
        is_subject = bool(words) and lexicon.question_verbs.is_whole(words[-1])
        before = before + (" you " if is_subject and before.endswith(" ") else " ") + after
    return before


def clip_middle(text: str) -> str:
    """Return a long text without its middle."""
    if len(text) <= MAX_READ_CHARACTERS:
        return text
    return text[: MAX_READ_CHARACTERS - MAX_END_CHARACTERS] + "\n" + text[-MAX_END_CHARACTERS:]


def split_sentences(text: str, lexicon: Lexicon) -> list[list[str]]:
    """Return the clauses of each sentence of a folded text."""
    sentences = [split_clauses(sentence, lexicon) for sentence in _SENTENCE_END_PATTERN.split(text)]
    sentences = [clauses for clauses in sentences if clauses]
    if sum(map(len, sentences)) <= MAX_CLAUSES:
        return sentences
    clauses = list(chain.from_iterable(sentences))
    kept = clauses[: MAX_CLAUSES - MAX_END_CLAUSES] + clauses[-MAX_END_CLAUSES:]
    return [[clause] for clause in kept]


def split_clauses(sentence: str, lexicon: Lexicon) -> list[str]:
    """Return the clauses of a sentence, which end at a comma or before "but"."""
    clauses = []
    for part in _CLAUSE_END_PATTERN.split(sentence):
        starts = [start for start, _ in lexicon.clause_openers.spans(part)]
        for start, end in pairwise((0, *starts, len(part))):
            clauses.append(drop_intensifiers(part[start:end].strip(" .!…"), lexicon))
    return [clause for clause in clauses if clause]


def drop_intensifiers(clause: str, lexicon: Lexicon) -> str:
    """Return a clause without "really" and the like: "could really use a table"."""
    if not lexicon.intensifiers.search(clause):
        return clause
    words = clause.split(" ")
    kept = [word for word in words if not lexicon.intensifiers.is_whole(word)]
    return " ".join(kept or words)


@lru_cache(maxsize=512)
def skip_fillers(text: str, lexicon: Lexicon) -> str:
    """Return a folded text from its first word that counts: "ok, maybe add it" from "add"."""
    while True:
        text = skip_marks(text)
        filler = lexicon.fillers.match(text)
        if not filler:
            return text
        text = text[len(filler) :]


def skip_requests(text: str, lexicon: Lexicon) -> str:
    """Return a folded text from the verb of its request: "could you please add it" from "add"."""
    while True:
        request = lexicon.requests.match(text)
        if not request:
            return text
        text = skip_fillers(text[len(request) :], lexicon)


def strip_ending(text: str, lexicon: Lexicon) -> str:
    """Return a text without the polite words at its end: "the gaps please"."""
    start = lexicon.polite_endings.find_ending(text)
    return text if start is None else text[:start].rstrip(" ,")


def skip_marks(text: str) -> str:
    return text.lstrip(" \t\n,:;.!?…-–—¿¡(")

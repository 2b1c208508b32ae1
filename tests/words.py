"""``make words``: the accuracy of intents, by ten-fold cross-validation over their examples."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence

from bot.jobs.model.intents import DEEDS, LEARNED, Deed, Door, Intent, classify, learn, read_texts

FOLDS = 10
_DOORS = {
    "a reply in a job's thread": (Door.REPLY, Deed.SEND),
    "a first prompt": (Door.FIRST, Deed.SEND),
}
Counts = Mapping[Intent, tuple[int, int]]
"""Of each learned kind how many texts were sent, and how many there are."""


def measure(seed: int = 1) -> tuple[Mapping[str, Counts], Sequence[str]]:
    """Return the sent texts of each door in cross-validation, and the errors in threads."""
    examples = list(read_texts().examples)
    random.Random(seed).shuffle(examples)
    sent: dict[str, dict[Intent, list[bool]]] = {door: defaultdict(list) for door in _DOORS}
    wrong = []
    for fold in range(FOLDS):
        learned = learn([example for at, example in enumerate(examples) if at % FOLDS != fold])
        for text, kind in examples[fold::FOLDS]:
            for name, (door, send) in _DOORS.items():
                is_sent = DEEDS[door][classify(text, door, learned=learned)] is send
                sent[name][kind].append(is_sent)
                if door is Door.REPLY and is_sent == (kind is Intent.TALK):
                    wrong.append(f"{'paid' if is_sent else 'kept back'}: {text}")
    counts = {
        name: {kind: (sum(of[kind]), len(of[kind])) for kind in LEARNED}
        for name, of in sent.items()
    }
    return counts, sorted(wrong)


def main() -> None:
    """Print a table. With ``-v``, print the errors, too."""
    counts, wrong = measure()
    print(
        f"{'sent to the agent':<28}"
        + "".join(f"{kind + 's' if kind != 'talk' else kind:>16}" for kind in LEARNED)
    )
    for name, of in counts.items():
        shares = (
            f"{many} of {every}, {100 * many / every:.1f} %"
            for many, every in (of[kind] for kind in LEARNED)
        )
        print(f"{name:<28}" + "".join(f"{share:>24}" for share in shares))
    if "-v" in sys.argv:
        print(*wrong, sep="\n")


if __name__ == "__main__":
    main()

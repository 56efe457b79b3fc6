"""Keeps the test and development sentences out of the training data, and proves it."""

import hashlib
import re

from clean import normalise, words

# Shorter sentences ("Thank you.") are common property: only the pair as a whole is kept out.
MIN_WORDS = 4
DEV_PAIRS = 500
DEV_TEST_SET = "newstest2013"
DEV_SOURCES = ("tatoeba", "mlqe-pe")

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


def key(text):
    """A sentence without case, spaces and punctuation."""
    return _NOT_ALPHANUMERIC.sub("", text.casefold())


def fingerprint(text):
    """A stable 64-bit number for a text (Python's own hash changes with every run)."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def read_tsv(path):
    with open(path, encoding="utf-8") as lines:
        return [tuple(line.rstrip("\n").split("\t")[:2]) for line in lines]


class HeldOut:
    """The set of sentences no training pair may contain."""

    def __init__(self, pairs):
        self.sources, self.targets, self.pairs = set(), set(), set()
        for source, target in pairs:
            self.add(source, target)

    def add(self, source, target):
        source_key, target_key = key(source), key(target)
        if len(words(source)) >= MIN_WORDS:
            self.sources.add(source_key)
        if len(words(target)) >= MIN_WORDS:
            self.targets.add(target_key)
        self.pairs.add((source_key, target_key))

    def contains(self, source, target):
        source_key, target_key = key(source), key(target)
        return (
            source_key in self.sources
            or target_key in self.targets
            or (source_key, target_key) in self.pairs
        )


def read_test_sets(folder, pair):
    return {path.name.removesuffix(f".{pair}.tsv"): read_tsv(path) for path in sorted(folder.glob(f"*.{pair}.tsv"))}


def choose_dev(test_sets, sources, is_clean):
    """Development pairs: the head of a news set and as many everyday sentences kept from training.

    `sources` maps a name to its raw pairs; the choice depends on the text alone, not on its order.
    """
    dev = test_sets.get(DEV_TEST_SET, [])[:DEV_PAIRS]
    tested = HeldOut(pair for pairs in test_sets.values() for pair in pairs)
    everyday = next((sources[name] for name in DEV_SOURCES if name in sources), [])
    candidates = {}
    for source, target in everyday:
        long_enough = min(len(words(source)), len(words(target))) >= MIN_WORDS
        if long_enough and not tested.contains(source, target) and is_clean(source, target):
            candidates.setdefault(key(source), (normalise(source), normalise(target)))
    chosen = sorted(candidates, key=lambda source_key: fingerprint("dev " + source_key))
    return dev + [candidates[source_key] for source_key in chosen[:DEV_PAIRS]]


def count_matches(pairs, held_out_pairs):
    """The independent proof: how many of the finished training pairs meet a held-out sentence.

    It shares nothing with HeldOut but the definition of a key.
    """
    long_sources = {key(source) for source, _ in held_out_pairs if len(source.split()) >= MIN_WORDS}
    long_targets = {key(target) for _, target in held_out_pairs if len(target.split()) >= MIN_WORDS}
    whole = {f"{key(source)}\t{key(target)}" for source, target in held_out_pairs}
    matches = 0
    for source, target in pairs:
        source, target = key(source), key(target)
        matches += source in long_sources or target in long_targets or f"{source}\t{target}" in whole
    return matches

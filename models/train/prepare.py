#!/usr/bin/env python3
"""From corpora to training data: clean, keep the tests out, augment, train the vocabulary, encode.

    python3 models/train/prepare.py --pair en-de

Reads DATA/train/PAIR/*.tsv.xz (English<TAB>other language) and DATA/test/*.PAIR.tsv. Writes to OUT:
one NAME.npz per domain, mix.json (their weights), spm.model, dev.npz and dev.tsv, report.json, and
samples.tsv: examples of what was kept, rejected and made, for reading.
"""

import argparse
import json
import lzma
import multiprocessing
import random
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import numpy as np

import heldout
import mixture
import vocabulary
from augment import Augmenter
from cache import CACHE
from clean import Cleaner, words

ROOT = Path(__file__).resolve().parents[2]
CORES = multiprocessing.cpu_count()
CHUNK = 20_000
MAX_TRANSLATIONS = 3          # of one source sentence
VOCABULARY_SENTENCES = 1_000_000
SAMPLES = 25

_started = time.monotonic()


def say(text):
    minutes, seconds = divmod(int(time.monotonic() - _started), 60)
    print(f"[{minutes:2}:{seconds:02}] {text}", flush=True)


def read_sources(folder):
    sources = {}
    # Heavier domains first: a pair found in several of them counts for the first.
    for path in sorted(folder.glob("*.tsv.xz"), key=lambda path: (-mixture.weight(path.name[:-7]), path.name)):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            rows = (line.rstrip("\n").split("\t") for line in lines)
            sources[path.name.removesuffix(".tsv.xz")] = [(row[0], row[1]) for row in rows if len(row) == 2]
    return sources


_cleaner = _held_out = None  # set before the worker processes start, which inherit them


def clean_chunk(job):
    name, pairs = job
    results = []
    for pair in pairs:
        source, target, fault = _cleaner.clean(*pair)
        if not fault and _held_out.contains(source, target):
            fault = "held out"
        identity = None if fault else tuple(heldout.fingerprint(heldout.key(text)) for text in (source, target))
        results.append((source, target, fault, identity))
    return name, results


def chunks(sources):
    for name, pairs in sources.items():
        for start in range(0, len(pairs), CHUNK):
            yield name, pairs[start : start + CHUNK]


class Report:
    """Counts pairs and English words at every step, and keeps a few examples."""

    def __init__(self):
        self.steps = defaultdict(lambda: defaultdict(Counter))
        self.samples = defaultdict(list)
        self._rng = random.Random(1)

    def count(self, name, step, source, target):
        counts = self.steps[name][step]
        counts["pairs"] += 1
        counts["words"] += len(words(source))
        # Reservoir sampling: every pair has the same chance to become an example.
        kept = self.samples[name, step]
        if len(kept) < SAMPLES:
            kept.append((source, target))
        elif (place := self._rng.randrange(counts["pairs"])) < SAMPLES:
            kept[place] = source, target

    def write(self, folder, mix):
        facts = {}
        for name, steps in self.steps.items():
            total = {unit: sum(counts[unit] for counts in steps.values()) for unit in ("pairs", "words")}
            rejected = {step: dict(counts) for step, counts in steps.items() if step != "kept"}
            facts[name] = {"read": total, "rejected": rejected, "kept": dict(steps["kept"]), **mix.get(name, {})}
        (folder / "report.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        with open(folder / "samples.tsv", "w", encoding="utf-8") as lines:
            for (name, step), pairs in self.samples.items():
                lines.writelines(f"{name}\t{step}\t{source}\t{target}\n" for source, target in pairs)
        return facts


def clean_all(sources, report):
    """The clean, unique pairs of every source, and the texts that had been left untranslated."""
    domains, copies = {name: [] for name in sources}, set()
    seen, translations = set(), Counter()
    with multiprocessing.get_context("fork").Pool(CORES) as pool:
        for name, results in pool.imap(clean_chunk, chunks(sources)):
            for source, target, fault, identity in results:
                if fault == "copy":
                    copies.add(source)
                if not fault:
                    if identity in seen:
                        fault = "duplicate"
                    elif translations[identity[0]] == MAX_TRANSLATIONS:
                        fault = "many translations"
                    else:
                        seen.add(identity)
                        translations[identity[0]] += 1
                        domains[name].append((source, target))
                report.count(name, fault or "kept", source, target)
    return {name: pairs for name, pairs in domains.items() if pairs}, copies


def vocabulary_sample(domains):
    """Sentences of both languages in the proportions of the mix; capitals too, for headlines."""
    rng = random.Random("vocabulary")
    weights = {name: mixture.weight(name) for name in domains if not name.startswith("aug-")}
    weights["aug-capitals"] = 0.5
    scale = VOCABULARY_SENTENCES / (2 * sum(weight * len(domains[name]) for name, weight in weights.items()))
    for name, weight in weights.items():
        pairs = domains[name]
        for pair in rng.sample(pairs, int(min(1, scale * weight) * len(pairs))):
            yield from pair


def count_matches(folder, test_pairs, name):
    processor = vocabulary.load(folder / "spm.model")
    with np.load(folder / f"{name}.npz") as arrays:
        return heldout.count_matches(vocabulary.decode(processor, dict(arrays)), test_pairs)


def prove_absence(folder, names, test_pairs):
    """Reads the finished files back as text and counts test sentences in them."""
    with multiprocessing.get_context("spawn").Pool(CORES) as pool:
        matches = sum(pool.imap_unordered(partial(count_matches, folder, test_pairs), names))
    say(f"test and development sentences in the finished training data: {matches}")
    if matches:
        raise SystemExit("the training data is contaminated")


def prepare(pair, data, out, keep_vocabulary=False):
    global _cleaner, _held_out
    out.mkdir(parents=True, exist_ok=True)
    languages = pair.split("-")
    _cleaner = Cleaner(*languages)

    test_sets = heldout.read_test_sets(data / "test", pair)
    if not test_sets:
        raise SystemExit(f"no test sets *.{pair}.tsv in {data / 'test'}")
    sources = read_sources(data / "train" / pair)
    say(f"read {sum(map(len, sources.values())):,} pairs of {len(sources)} sources")

    dev = heldout.choose_dev(test_sets, sources, lambda *texts: _cleaner.clean(*texts)[2] is None)
    held_out_pairs = [each for pairs in test_sets.values() for each in pairs] + dev
    _held_out = heldout.HeldOut(held_out_pairs)

    report = Report()
    domains, copies = clean_all(sources, report)
    del sources
    say(f"kept {sum(map(len, domains.values())):,} clean, unique pairs")

    for name, pairs in Augmenter(domains, mixture.weight, languages).run(copies).items():
        domains[name] = []
        for source, target in pairs:
            # Joined or altered sentences may form a test sentence by chance.
            fault = "held out" if _held_out.contains(source, target) else "kept"
            report.count(name, fault, source, target)
            if fault == "kept":
                domains[name].append((source, target))
    say(f"augmented to {sum(map(len, domains.values())):,} pairs")

    if keep_vocabulary:
        vocabulary.normalise(out / "spm.model")
        processor = vocabulary.load(out / "spm.model")
    else:
        processor = vocabulary.train(vocabulary_sample(domains), out / "spm", CORES)
    say(f"the vocabulary has {processor.get_piece_size()} pieces")

    # mix.json comes last: where it is, the data is complete and proved clean.
    (out / "mix.json").unlink(missing_ok=True)
    encoded = {name: vocabulary.encode(processor, pairs, CORES) for name, pairs in domains.items()}
    for name, arrays in encoded.items():
        np.savez(out / f"{name}.npz", **arrays)
    np.savez(out / "dev.npz", **vocabulary.encode(processor, dev, CORES))
    (out / "dev.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in dev), encoding="utf-8")
    say("encoded every domain")
    prove_absence(out, encoded, held_out_pairs)

    augmented = mixture.augmented_weights({name: int(arrays["tgt_off"][-1]) for name, arrays in encoded.items()})
    mix = vocabulary.write_mix(
        out / "mix.json",
        {name: (arrays, augmented.get(name, mixture.weight(name))) for name, arrays in encoded.items()},
    )
    summarise(report.write(out, mix), mix)


def summarise(facts, mix):
    total = sum(domain["tgt_tokens"] * domain["weight"] for domain in mix.values())
    print(f"{'domain':20}{'read':>10}{'kept':>10}{'weight':>8}{'share':>8}  rejected")
    for name, fact in facts.items():
        domain = mix.get(name, {"tgt_tokens": 0, "weight": 0})
        share = domain["tgt_tokens"] * domain["weight"] / total
        reasons = sorted(((counts["pairs"], step) for step, counts in fact["rejected"].items()), reverse=True)
        why = ", ".join(f"{step} {pairs:,}" for pairs, step in reasons[:4])
        kept = fact["kept"].get("pairs", 0)
        print(f"{name:20}{fact['read']['pairs']:>10,}{kept:>10,}{domain['weight']:>8.2f}{share:>8.1%}  {why}")
    say(f"one pass over the mix is {total / 1e6:.1f} M target tokens")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", required=True, help="languages of source and target, such as en-de")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder with train/ and test/")
    parser.add_argument("--out", type=Path, help="default: ~/.cache/octavo/train/PAIR")
    parser.add_argument(
        "--keep-vocabulary", action="store_true", help="encode with OUT/spm.model, which a trained model depends on"
    )
    arguments = parser.parse_args()
    out = arguments.out or CACHE / arguments.pair
    prepare(arguments.pair, arguments.data, out, arguments.keep_vocabulary)


if __name__ == "__main__":
    main()

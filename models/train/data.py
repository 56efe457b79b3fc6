"""Batches from prepared corpora: random sentence pairs of the weighted mix, packed to a number of target tokens.

Batches are ragged (flat tokens plus offsets), so nothing is padded and no length bucketing is needed to be fast.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch

EOS = 1  # ends a sentence, and starts the decoder


@dataclass
class Batch:
    source: torch.Tensor  # (S,) tokens of all source sentences, each ended by EOS
    source_off: torch.Tensor  # (sentences + 1,)
    inputs: torch.Tensor  # (T,) EOS followed by the target
    targets: torch.Tensor  # (T,) the target followed by EOS
    target_off: torch.Tensor  # (sentences + 1,)


class Corpus:
    """One domain: flat piece ids and offsets of both sides."""

    def __init__(self, path):
        arrays = numpy.load(path)
        self.src, self.src_off = arrays["src"], arrays["src_off"]
        self.tgt, self.tgt_off = arrays["tgt"], arrays["tgt_off"]

    def __len__(self):
        return len(self.src_off) - 1

    def pair(self, i):
        return self.src[self.src_off[i] : self.src_off[i + 1]], self.tgt[self.tgt_off[i] : self.tgt_off[i + 1]]


def collate(pairs):
    def flat(sequences, first=None, last=None):
        edge = [numpy.array([e], dtype=numpy.int64) for e in (first, last) if e is not None]
        parts = [p for s in sequences for p in ((edge[0], s) if first is not None else (s, edge[0]))]
        return torch.from_numpy(numpy.concatenate(parts).astype(numpy.int64))

    def offsets(sequences):
        return torch.from_numpy(numpy.cumsum([0] + [len(s) + 1 for s in sequences]).astype(numpy.int64))

    src, tgt = zip(*pairs)
    return Batch(flat(src, last=EOS), offsets(src), flat(tgt, first=EOS), flat(tgt, last=EOS), offsets(tgt))


def batches(pairs, tokens):
    """Groups an iterable of pairs into batches of at most `tokens` target tokens."""
    group, size = [], 0
    for source, target in pairs:
        if group and size + len(target) + 1 > tokens:
            yield collate(group)
            group, size = [], 0
        group.append((source, target))
        size += len(target) + 1
    if group:
        yield collate(group)


class Mix:
    """An endless, reproducible stream over the weighted domains: one permutation per pass, split between workers."""

    def __init__(self, folder):
        folder = Path(folder)
        domains = json.loads((folder / "mix.json").read_text())["domains"]
        self.corpora = [Corpus(folder / f"{name}.npz") for name in domains]
        self.weights = [d["weight"] for d in domains.values()]

    def order(self, epoch):
        """(domain, index) of every pair of one pass: each occurs weight times on average."""
        random = numpy.random.default_rng(epoch)
        parts = []
        for number, (corpus, weight) in enumerate(zip(self.corpora, self.weights)):
            copies = int(weight) + (random.random(len(corpus)) < weight - int(weight))
            index = numpy.repeat(numpy.arange(len(corpus), dtype=numpy.int64), copies)
            parts.append(numpy.stack([numpy.full_like(index, number), index], axis=1))
        order = numpy.concatenate(parts)
        random.shuffle(order)
        return order

    def place(self, tokens):
        """(epoch, position) after so many target tokens, so that a seeded run goes on with pairs that its seed has not seen."""
        epoch = 0
        while True:
            order = self.order(epoch)
            lengths = numpy.empty(len(order), dtype=numpy.int64)
            for number, corpus in enumerate(self.corpora):
                mine = order[:, 0] == number
                lengths[mine] = numpy.diff(corpus.tgt_off)[order[mine, 1]] + 1
            total = numpy.cumsum(lengths)
            if tokens < total[-1]:
                return epoch, int(numpy.searchsorted(total, tokens))
            epoch, tokens = epoch + 1, tokens - int(total[-1])

    def stream(self, tokens, epoch, position, rank, workers):
        """Yields (batch, epoch, position after it) for this worker, resuming at a pair number of an epoch."""
        while True:
            order = self.order(epoch)
            mine = range(position + rank, len(order), workers)
            group, size = [], 0
            for place in mine:
                domain, index = order[place]
                source, target = self.corpora[domain].pair(index)
                if group and size + len(target) + 1 > tokens:
                    yield collate(group), epoch, place - rank
                    group, size = [], 0
                group.append((source, target))
                size += len(target) + 1
            epoch, position = epoch + 1, 0

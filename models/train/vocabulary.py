"""The joint vocabulary: training it, and turning pairs of sentences into arrays of piece ids."""

import itertools
import json

import numpy as np
import sentencepiece

SIZE = 8000
PAD, EOS, UNK = 0, 1, 2
# One-piece place-holders: what must not be translated is masked with them and copied by the model.
MASKS = [f"⟦{digit}⟧" for digit in range(10)]
MAX_PIECES = 200

# Characters of everyday text in any European language, however rare the corpora make them.
REQUIRED_CHARACTERS = (
    "".join(map(chr, range(0x21, 0x7F)))
    + "„“”‚‘’«»‹›–—…€£°§©®™²³½×·•→−"
    + "äöüÄÖÜßàáâãåæçèéêëìíîïñòóôõøœùúûýÀÁÂÅÆÇÈÉÊÍÎÑÓÔØÚ"
    + "ăâîșțĂÂÎȘȚčšžćđłńśźżęąřěőűğışŠŽČŁ"
)


def train(sentences, prefix, threads):
    """Trains PREFIX.model and PREFIX.vocab on an iterable of sentences of both languages."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_prefix=str(prefix),
        model_type="unigram",
        vocab_size=SIZE,
        hard_vocab_limit=True,
        byte_fallback=True,
        split_digits=True,
        # Rarer characters than this go through bytes.
        character_coverage=0.9998,
        required_chars="".join(dict.fromkeys(REQUIRED_CHARACTERS)),
        # The text is normalised when it is cleaned, so that the engine needs no tables for it.
        normalization_rule_name="identity",
        remove_extra_whitespaces=True,
        pad_id=PAD,
        eos_id=EOS,
        unk_id=UNK,
        bos_id=-1,
        user_defined_symbols=MASKS,
        num_threads=threads,
        minloglevel=1,
    )
    return load(f"{prefix}.model")


def load(path):
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def encode(processor, pairs, threads, chunk=20_000):
    """Piece ids of all pairs that fit: flat arrays and offsets, without any special symbol."""
    flat = {"src": [], "tgt": []}
    lengths = {"src": [], "tgt": []}
    pairs = iter(pairs)
    while part := list(itertools.islice(pairs, chunk)):
        sources = processor.encode([source for source, _ in part], num_threads=threads)
        targets = processor.encode([target for _, target in part], num_threads=threads)
        fitting = [
            (source, target)
            for source, target in zip(sources, targets)
            if 0 < len(source) <= MAX_PIECES and 0 < len(target) <= MAX_PIECES
        ]
        for side, sequences in zip(("src", "tgt"), zip(*fitting)):
            lengths[side] += map(len, sequences)
            flat[side].append(np.fromiter(itertools.chain.from_iterable(sequences), np.uint16))
    arrays = {}
    for side in ("src", "tgt"):
        arrays[side] = np.concatenate(flat[side] or [np.zeros(0, np.uint16)])
        arrays[f"{side}_off"] = np.concatenate([[0], np.cumsum(lengths[side])]).astype(np.int64)
    return arrays


def decode(processor, arrays, chunk=20_000):
    """The pairs of an encoded domain as text again."""
    count = len(arrays["src_off"]) - 1
    for start in range(0, count, chunk):
        stop = min(start + chunk, count)
        yield from zip(*(_decode_side(processor, arrays, side, start, stop) for side in ("src", "tgt")))


def _decode_side(processor, arrays, side, start, stop):
    offsets = arrays[f"{side}_off"][start : stop + 1].tolist()
    ids = arrays[side][offsets[0] : offsets[-1]].tolist()
    first = offsets[0]
    return processor.decode([ids[a - first : b - first] for a, b in zip(offsets, offsets[1:])])


def write_mix(path, domains):
    """mix.json: what the training script reads; domains = {name: (arrays, weight)}."""
    mix = {
        name: {
            "pairs": len(arrays["src_off"]) - 1,
            "src_tokens": int(arrays["src_off"][-1]),
            "tgt_tokens": int(arrays["tgt_off"][-1]),
            "weight": round(weight, 4),
        }
        for name, (arrays, weight) in domains.items()
    }
    path.write_text(json.dumps({"vocab": "spm.model", "domains": mix}, indent=1) + "\n")
    return mix

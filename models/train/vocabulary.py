"""The joint vocabulary: training it, and turning pairs of sentences into arrays of piece ids."""

import itertools
import json
import tempfile
import unicodedata
from pathlib import Path

import numpy as np
import sentencepiece

from clean import INVISIBLE, SPACES

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
        # The text was normalised when it was cleaned.
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
    normalise(Path(f"{prefix}.model"))
    return load(f"{prefix}.model")


def load(path):
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


# What word processors and PDF files write for the letters that the corpora have.
LETTERS = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u2010": "-", "\u2011": "-"}


def normalisation_rules():
    """{text as people paste it: text as the model has seen it}: what clean.normalise does, and LETTERS."""
    rules = dict.fromkeys(SPACES.replace(" ", ""), " ") | dict.fromkeys(INVISIBLE, "") | LETTERS
    # Letters and their accents, apart: NFD, as some systems write it. Two accents on one letter may be half composed.
    for letter in map(chr, range(0xC0, 0x250)):
        parts = unicodedata.normalize("NFD", letter)
        for cut in range(2, len(parts) + 1):
            rules[unicodedata.normalize("NFC", parts[: cut - 1]) + parts[cut - 1 :]] = letter
    return rules


def normalise(path):
    """Puts the rules into a vocabulary, so that the engine reads any text as the training data was cleaned."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        codes = lambda text: " ".join(f"{ord(character):X}" for character in text)
        rules.write_text("".join(f"{codes(a)}\t{codes(b)}\n" for a, b in normalisation_rules().items()))
        # Only sentencepiece's trainer compiles rules: they are taken from a vocabulary of nothing.
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a"]),
            model_prefix=f"{folder}/nothing",
            model_type="char",
            hard_vocab_limit=False,
            normalization_rule_tsv=str(rules),
            minloglevel=2,
        )
        compiled = Path(f"{folder}/nothing.model").read_bytes()
    spec = _field(compiled, NORMALIZER_SPEC)
    charsmap = _message(NORMALIZER_SPEC, _message(PRECOMPILED_CHARSMAP, _field(spec, PRECOMPILED_CHARSMAP)))
    model = path.read_bytes()
    # Of protocol buffers that are joined, the later fields win.
    if not model.endswith(charsmap):
        path.write_bytes(model + charsmap)


# Field numbers in sentencepiece_model.proto. (Debian's package comes without the protobuf module to read it with.)
NORMALIZER_SPEC, PRECOMPILED_CHARSMAP = 3, 2


def _varint(value):
    head = bytes([value & 127 | (128 if value > 127 else 0)])
    return head + _varint(value >> 7) if value > 127 else head


def _message(number, content):
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _field(message, wanted):
    """The content of the last field of this number."""
    content, at = b"", 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 2:
            length = varint()
            at += length
            if tag >> 3 == wanted:
                content = message[at - length : at]
        elif tag & 7 == 0:
            varint()
        else:
            at += {1: 8, 5: 4}[tag & 7]
    return content


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

"""Makes the tiny models that the engine's tests run: random weights, and what PyTorch computes with them.

    python3 models/train/tiny.py [--output tests/data]

Three networks of width 32: `tiny` (the Integer Transformer), `tiny-vanilla` (softmax attention, L2 norm) and `tiny-lm`
(decoder only). Weights are stored as F16, and the expected numbers come from the rounded weights.
"""

import argparse
import json
from pathlib import Path

import torch

from export import load_safetensors, save_safetensors
from model import IntegerTransformer, Shape

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = 8  # numbers kept of each row


def vocabulary(path):
    """(pieces rounded up to a multiple of 16, id of the end mark) of a sentencepiece model: field 1 of its protobuf is a piece."""
    if not path.exists():
        return 400, 1
    data, at, pieces = path.read_bytes(), 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key, size = varint(), varint()
        if key & 7 != 2:
            raise ValueError(f"{path} is not a sentencepiece model")
        if key >> 3 == 1:
            pieces.append(data[at : at + size])
        at += size
    return (len(pieces) + 15) // 16 * 16, next(i for i, piece in enumerate(pieces) if b"</s>" in piece)


def randomise(model, seed):
    """Magnitudes as training leaves them: gains around one, small biases, a different b and δ for every head, a few outliers."""
    generator = torch.Generator().manual_seed(seed)

    def normal(shape, std):
        return torch.randn(shape, generator=generator) * std

    with torch.no_grad():
        for name, p in model.named_parameters():
            field = name.rsplit(".", 1)[-1]
            if p.dim() == 2:
                p.copy_(normal(p.shape, p.shape[1] ** -0.5))
                p.mul_(1 + (torch.rand(p.shape, generator=generator) < 0.005) * 2.0)
            elif field == "g":
                p.copy_(1 + normal(p.shape, 0.2))
            elif field == "delta":
                p.copy_(normal(p.shape, 0.05))  # its sign must not matter
            elif field == "b" and name.split(".")[-2].endswith("_attn"):
                p.copy_(1 + normal(p.shape, 0.3))
            else:
                p.copy_(normal(p.shape, 0.1))


def sequences(size, lengths, eos, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(3, size - 16, (n,), generator=generator).tolist() + [eos] for n in lengths]


def rounded(row):
    """Evenly spaced samples of a row, so that a mistake in any part of it shows."""
    step = len(row) // SAMPLES
    return [round(x, 6) for x in row[::step][:SAMPLES].tolist()]


def expected(model, eos):
    """Per sentence: tokens, samples of each encoder row, decoder hidden row and logits row, and the arg max of the logits."""
    shape, cases = model.shape, []
    sources = sequences(shape.vocabulary, (0, 5, 12, 23), eos, seed=11)
    targets = sequences(shape.vocabulary, (0, 7, 9, 20), eos, seed=12)
    for source, target in zip(sources, targets):
        inputs = [eos] + target[:-1]
        case = {"inputs": inputs}
        memory = memory_off = None
        offsets = torch.tensor([0, len(inputs)])
        if shape.encoder_layers:
            memory_off = torch.tensor([0, len(source)])
            memory = model.encode(torch.tensor(source), memory_off)
            case |= {"source": source, "encoder": [rounded(row) for row in memory]}
        hidden = model.decode(torch.tensor(inputs), offsets, memory, memory_off)
        logits = hidden @ model.embedding.weight.t()
        case |= {"hidden": [rounded(row) for row in hidden], "logits": [rounded(row) for row in logits],
                 "best": logits.argmax(1).tolist()}
        # Σ -log p of each next input: what a language model's perplexity is made of.
        log_p = logits.log_softmax(1)
        case["cross_entropy"] = round(-sum(log_p[i, t].item() for i, t in enumerate(target)), 5)
        cases.append(case)
    return {"samples": SAMPLES, "cases": cases}


def make(name, shape, eos, folder, seed):
    model = IntegerTransformer(shape)
    randomise(model, seed)
    weights = folder / f"{name}.safetensors"
    save_safetensors(weights, dict(model.named_parameters()), half=True)
    model.load_state_dict(load_safetensors(weights))
    config = {"name": name, "source": "en", "target": "de", "max_length": 128, "eos": eos, **json.loads(shape.json())}
    (folder / f"{name}.json").write_text(json.dumps(config, indent=1) + "\n")
    with torch.no_grad():
        (folder / f"{name}.expected.json").write_text(json.dumps(expected(model, eos), separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "tests" / "data")
    folder = parser.parse_args().output
    size, eos = vocabulary(folder / "tiny.spm")
    small = {"vocabulary": size, "width": 32, "ffn": 64, "heads": 4}
    make("tiny", Shape(**small, encoder_layers=2, decoder_layers=2), eos, folder, seed=1)
    make("tiny-vanilla", Shape(**small, encoder_layers=1, decoder_layers=1, attention="softmax", norm="l2"), eos, folder, seed=2)
    make("tiny-lm", Shape(**small, encoder_layers=0, decoder_layers=1), eos, folder, seed=3)
    print(f"{sum(f.stat().st_size for f in folder.glob('tiny*')) / 1000:.0f} kB in {folder}")


if __name__ == "__main__":
    main()

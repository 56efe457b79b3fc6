"""Writes a checkpoint as safetensors, with the network's shape and a card beside it: what `octavo quantize` reads.

    python3 models/train/export.py --run DIR [-o OUT.safetensors] [--half] [--source en --target de] [--card CARD.json]

Also reads safetensors and model files back, so that a committed model can seed a training run.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy
import torch

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def save_safetensors(path, tensors, half=False, card=None):
    """tensors: name → torch tensor; stored as F32, or F16 with `half`. The card goes in as the format's metadata."""
    header, blobs, start = {}, [], 0
    if card:
        header["__metadata__"] = {"card": json.dumps(card)}
    for name, tensor in tensors.items():
        blob = tensor.detach().numpy().astype("<f2" if half else "<f4").tobytes()
        header[name] = {"dtype": "F16" if half else "F32", "shape": list(tensor.shape), "data_offsets": [start, start + len(blob)]}
        blobs.append(blob)
        start += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def safetensors_header(data, path="the file"):
    """(name → entry, where the tensors begin) of the bytes of a safetensors file."""
    (size,) = struct.unpack_from("<Q", data.ljust(8, b"\xff"))
    if size > len(data) - 8:
        raise ValueError(f"{path} is not a safetensors file, or a truncated one")
    return json.loads(data[8 : 8 + size]), 8 + size


def load_safetensors(path):
    """name → float32 tensor, from safetensors or from a model file."""
    data = Path(path).read_bytes()
    if data.startswith(MAGIC):
        return load_octavo(path)
    header, start = safetensors_header(data, path)
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            values = (numpy.frombuffer(data[begin:end], "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = numpy.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).astype("<f4")
        tensors[name] = torch.from_numpy(values.reshape(entry["shape"]).copy())
    return tensors


# The layout of a model file is documented in engine/src/model_file.h.
MAGIC = b"OCTAVO\r\n"
SHAPE = ("vocabulary", "width", "ffn", "heads", "encoder_layers", "decoder_layers", "degree", "attention", "norm", "max_length",
         "eos")
HEADER = struct.Struct("<8sII11I5I4Q16x")
TABLE = numpy.dtype([("name", "S48"), ("type", "<u4"), ("rows", "<u4"), ("cols", "<u4"), ("scale", "<f4"), ("offset", "<u8"),
                     ("bytes", "<u8")])
PANEL7, MULTIPLIER, INT16, FLOAT32, PANEL_FLOAT, FLOAT64 = range(1, 7)
ELEMENT = {PANEL7: "u1", MULTIPLIER: "<u2", INT16: "<i2", FLOAT32: "<f4", PANEL_FLOAT: "<f4", FLOAT64: "<f8"}


def octavo_header(data, path="the file"):
    """(version, flavour, shape, tensor count, offsets…) of the bytes of a model file, as a dictionary."""
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        raise ValueError(f"{path} is not an Octavo model")
    fields = HEADER.unpack_from(data)
    names = ("magic", "version", "flavour", *SHAPE, "bits", "tensor_count", "description_bytes", "vocabulary_bytes", "checksum",
             "file_bytes", "description_offset", "vocabulary_offset", "table_offset")
    header = dict(zip(names, fields))
    if header["version"] != 1 or header["file_bytes"] != len(data):
        raise ValueError(f"{path} is truncated or has an unknown version")
    return header


def load_octavo(path):
    """The weights of a model file (INT8 or FP32) by the names of the training code, as float32 tensors."""
    data = Path(path).read_bytes()
    header = octavo_header(data, path)
    table = numpy.frombuffer(data, TABLE, header["tensor_count"], header["table_offset"])
    entries = {entry["name"].decode(): entry for entry in table}

    def read(name):
        e = entries[name]
        values = numpy.frombuffer(data, ELEMENT[int(e["type"])], int(e["rows"]) * int(e["cols"]), int(e["offset"]))
        return values, int(e["type"]), int(e["rows"]), int(e["cols"]), float(e["scale"])

    weights = {}
    for name in entries:
        values, kind, rows, cols, scale = read(name)
        if kind == PANEL7:  # [rows/8][cols/4][8][4], offset by 64
            column = read(name.replace(".weight", ".column"))[0].astype(numpy.float64)
            w = values.reshape(rows // 8, cols // 4, 8, 4).transpose(0, 2, 1, 3).reshape(rows, cols).astype(numpy.float64) - 64
            weights[name] = w * (column / (32768 * scale))[:, None]
        elif kind == PANEL_FLOAT:  # [rows/8][cols][8]
            weights[name] = values.reshape(rows // 8, cols, 8).transpose(0, 2, 1).reshape(rows, cols)
        elif kind in (INT16, FLOAT32):
            weights[name] = values / numpy.float64(scale)
    return stack({name: torch.from_numpy(w.astype("<f4")) for name, w in weights.items()})


def stack(weights):
    """The file keeps queries, keys and values apart; training stacks them: qkv, or q and kv in a cross-attention."""
    stacked = {}
    for name, w in weights.items():
        module, _, field = name.rpartition(".")
        owner, _, part = module.rpartition(".")
        if not owner.endswith("_attn") or part not in ("q", "k", "v") or (part == "q" and owner.endswith("cross_attn")):
            stacked[name] = w
        elif part == "v":
            parts = ("k", "v") if owner.endswith("cross_attn") else ("q", "k", "v")
            stacked[f"{owner}.{''.join(parts)}.{field}"] = torch.cat([weights[f"{owner}.{p}.{field}"] for p in parts])
    return stacked


def checkpoint_weights(run, latest=False):
    """(shape, name → tensor) of the averaged weights of a training run, or of the latest ones."""
    from model import IntegerTransformer, Shape  # compiles the training kernels: only needed here
    from optimizer import Flat

    state = load_checkpoint(run)
    shape = Shape(**state["shape"])
    model = IntegerTransformer(shape)
    slices, values = Flat(model).slices, state["values" if latest else "average"]
    return shape, {name: values[slice(*slices[name])].view(p.shape) for name, p in model.named_parameters()}


def load_checkpoint(run):
    return torch.load(Path(run) / "checkpoint.pt", map_location="cpu")


def trained(run):
    """How long a run has been trained: what a run that is seeded with it goes on from."""
    progress = load_checkpoint(run)["progress"].tolist()  # see Shared in train.py
    return {"target_tokens": int(progress[2]), "hours": round(progress[3] / 3600, 2)}


def card_of(path):
    """The training card inside a model file, or inside safetensors that export.py wrote."""
    data = Path(path).read_bytes()
    if not data.startswith(MAGIC):
        return json.loads(safetensors_header(data, path)[0].get("__metadata__", {}).get("card", "{}"))
    header = octavo_header(data, path)
    start = header["description_offset"]
    return json.loads(data[start : start + header["description_bytes"]]).get("card", {})


def octavo_vocabulary(path):
    """The sentencepiece model inside a model file: what prepare.py --keep-vocabulary needs to go on from a committed model."""
    data = Path(path).read_bytes()
    header = octavo_header(data, path)
    return data[header["vocabulary_offset"] : header["vocabulary_offset"] + header["vocabulary_bytes"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="checkpoint folder of train.py")
    parser.add_argument("--vocabulary-of", type=Path, help="only write the vocabulary of this model file to --output")
    parser.add_argument("-o", "--output", type=Path, help="default: RUN/model.safetensors; config.json goes beside it")
    parser.add_argument("--half", action="store_true", help="store as F16")
    parser.add_argument("--latest", action="store_true", help="the latest weights instead of their moving average")
    for name in ("name", "source", "target"):
        parser.add_argument(f"--{name}", help="for the model's description")
    parser.add_argument("--card", type=Path, help="facts for the model's card (JSON), beside how long it was trained")
    parser.add_argument("--max-length", type=int, help="longest segment in pieces")
    args = parser.parse_args()
    if args.vocabulary_of:
        args.output.write_bytes(octavo_vocabulary(args.vocabulary_of))
        return
    if not args.run:
        parser.error("--run says which training run to export")
    output = args.output or args.run / "model.safetensors"
    shape, weights = checkpoint_weights(args.run, args.latest)
    card = {**(json.loads(args.card.read_text()) if args.card else {}), "trained": trained(args.run)}
    save_safetensors(output, weights, args.half, card)
    config = {key: value for key in ("name", "source", "target", "max_length") if (value := getattr(args, key)) is not None}
    config.update(json.loads(shape.json()))
    output.with_name("config.json").write_text(json.dumps(config, indent=1) + "\n")
    output.with_name("card.json").write_text(json.dumps(card, indent=1) + "\n")
    print(f"{output}: {sum(w.numel() for w in weights.values()) / 1e6:.2f} M parameters; {output.with_name('config.json')}")


if __name__ == "__main__":
    main()

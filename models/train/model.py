"""The Integer Transformer in PyTorch: exactly the network that the engine runs, on ragged batches without padding.

A batch is a flat row of tokens per side plus sentence offsets, so every matrix product works on real tokens only.
`attention="softmax", norm="l2"` builds the vanilla Transformer, the paper's baseline.
"""

import json
import math
from dataclasses import asdict, dataclass

import torch
from torch import nn
from torch.nn import functional

from fused import Affine, Attention, L1Norm, SmoothedCrossEntropy, int7, int8


@dataclass
class Shape:
    vocabulary: int = 8000
    width: int = 256
    ffn: int = 1024
    heads: int = 8
    encoder_layers: int = 6  # 0: decoder-only, a language model
    decoder_layers: int = 3
    degree: int = 3
    attention: str = "polynomial"  # or "softmax"
    norm: str = "l1"  # or "l2"

    def json(self):
        return json.dumps(asdict(self))


class Linear(nn.Linear):
    def forward(self, x):
        return Affine.apply(x, int7(self.weight), self.bias)


class Norm(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.l1 = shape.norm == "l1"
        self.g = nn.Parameter(torch.ones(shape.width))
        self.b = nn.Parameter(torch.zeros(shape.width))

    def forward(self, x):  # (tokens, width)
        return int8(L1Norm.apply(x, self.g, self.b) if self.l1 else functional.layer_norm(x, x.shape[1:], self.g, self.b))


class MultiHead(nn.Module):
    """Self-attention projects one fused qkv; cross-attention q from the decoder and kv from the encoder."""

    def __init__(self, shape, cross=False):
        super().__init__()
        self.heads, self.cross = shape.heads, cross
        self.degree = shape.degree if shape.attention == "polynomial" else 0
        w = shape.width
        if cross:
            self.q, self.kv = Linear(w, w), Linear(w, 2 * w)
        else:
            self.qkv = Linear(w, 3 * w)
        self.out = Linear(w, w)
        self.b = nn.Parameter(torch.ones(shape.heads))
        self.delta = nn.Parameter(torch.full((shape.heads,), 0.01))

    def forward(self, x, q_off, memory=None, k_off=None, causal=False):
        def parts(projected):  # queries, keys and values have scales of their own
            return int8(projected.view(-1, x.shape[1])).view_as(projected)

        if self.cross:
            y = Attention.apply(parts(self.q(x)), parts(self.kv(memory)), q_off, k_off, self.heads, False, self.degree, self.b, self.delta)
        else:
            y = Attention.apply(parts(self.qkv(x)), None, q_off, q_off, self.heads, causal, self.degree, self.b, self.delta)
        return self.out(int8(y))


class FeedForward(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.w1, self.w2 = Linear(shape.width, shape.ffn), Linear(shape.ffn, shape.width)

    def forward(self, x):
        return self.w2(int8(self.w1(x).relu_()))


class EncoderLayer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.self_norm, self.self_attn = Norm(shape), MultiHead(shape)
        self.ffn_norm, self.ffn = Norm(shape), FeedForward(shape)

    def forward(self, x, off):
        x = int8(x + self.self_attn(self.self_norm(x), off))
        return int8(x + self.ffn(self.ffn_norm(x)))


class DecoderLayer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.self_norm, self.self_attn = Norm(shape), MultiHead(shape)
        if shape.encoder_layers:
            self.cross_norm, self.cross_attn = Norm(shape), MultiHead(shape, cross=True)
        self.ffn_norm, self.ffn = Norm(shape), FeedForward(shape)

    def forward(self, y, off, memory=None, memory_off=None):
        y = int8(y + self.self_attn(self.self_norm(y), off, causal=True))
        if memory is not None:
            y = int8(y + self.cross_attn(self.cross_norm(y), off, memory, memory_off))
        return int8(y + self.ffn(self.ffn_norm(y)))


class IntegerTransformer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.encoder = nn.ModuleList(EncoderLayer(shape) for _ in range(shape.encoder_layers))
        if shape.encoder_layers:
            self.encoder_norm = Norm(shape)
        self.decoder = nn.ModuleList(DecoderLayer(shape) for _ in range(shape.decoder_layers))
        self.decoder_norm = Norm(shape)
        self.register_buffer("positions", sinusoids(1024, shape.width), persistent=False)
        self.initialise()

    def initialise(self):
        nn.init.normal_(self.embedding.weight, std=self.shape.width**-0.5)
        depth = 2 * len(self.encoder) + 3 * len(self.decoder)
        for name, p in self.named_parameters():
            if p.dim() == 2 and "embedding" not in name:
                nn.init.xavier_uniform_(p)
                if name.endswith(("out.weight", "w2.weight")):  # keep the residual stream at unit size however deep
                    p.data.mul_(2 * depth**-0.5)
            elif name.endswith("bias"):
                nn.init.zeros_(p)

    def embed(self, tokens, off):  # (tokens,) → (tokens, width)
        place = torch.arange(len(tokens)) - torch.repeat_interleave(off[:-1], off[1:] - off[:-1])
        rows = functional.embedding(tokens, int7(self.embedding.weight))
        return int8(rows * math.sqrt(self.shape.width) + self.positions[place])

    def encode(self, tokens, off):
        x = self.embed(tokens, off)
        for layer in self.encoder:
            x = layer(x, off)
        return self.encoder_norm(x)

    def decode(self, tokens, off, memory=None, memory_off=None):
        y = self.embed(tokens, off)
        for layer in self.decoder:
            y = layer(y, off, memory, memory_off)
        return self.decoder_norm(y)

    def loss(self, batch, smoothing=0.1):
        """Sums over target tokens: (label-smoothed loss, plain cross-entropy)."""
        memory = self.encode(batch.source, batch.source_off) if len(self.encoder) else None
        hidden = self.decode(batch.inputs, batch.target_off, memory, batch.source_off)
        return SmoothedCrossEntropy.apply(hidden, int7(self.embedding.weight), batch.targets, smoothing)


def sinusoids(length, width):
    """First half sines, second half cosines, wavelengths from 2π to 10000·2π."""
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(width // 2)[None] / (width // 2))
    return torch.cat([angle.sin(), angle.cos()], dim=1)

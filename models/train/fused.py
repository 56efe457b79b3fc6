"""Autograd functions over fused.cc and product.cc, compiled on first use with the machine's g++."""

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

import torch

from cache import CACHE

CPU = next((line for line in open("/proc/cpuinfo") if line.startswith(("flags", "Features"))), "")
AVX2 = " avx2 " in CPU
SOURCES = [Path(__file__).with_name(name) for name in (("fused.cc", "product.cc", "product8.cc") if AVX2 else ("fused.cc",))]
FLAGS = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-std=c++20"]


def _load():
    CACHE.mkdir(parents=True, exist_ok=True)
    made_of = [source.read_bytes() for source in [*SOURCES, Path(__file__).with_name("product.h")]] + [" ".join(FLAGS).encode(), CPU.encode()]
    library = CACHE / f"fused-{hashlib.sha256(b''.join(made_of)).hexdigest()[:16]}.so"
    if not library.exists():
        partial = library.with_suffix(f".{os.getpid()}")
        subprocess.run(["g++", *FLAGS, *map(str, SOURCES), "-o", str(partial)], check=True)
        partial.replace(library)
    return ctypes.CDLL(str(library))


lib = _load()
lib.smoothed_cross_entropy.restype = ctypes.c_double
P, L, F, I = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_int


def ptr(tensor):
    return P(tensor.data_ptr())


class Quantization:
    """Whether the forward pass imitates the engine's INT8 rounding (finetune.py switches it on)."""

    enabled = False


class FakeQuantize(torch.autograd.Function):
    """Rounds each row to ±limit steps of its maximum; the gradient passes straight through."""

    @staticmethod
    def forward(ctx, x, limit):
        x = x.contiguous()
        y = torch.empty_like(x)
        lib.fake_quantize(ptr(x), ptr(y), L(x.numel() // x.shape[-1]), L(x.shape[-1]), F(limit))
        return y

    @staticmethod
    def backward(ctx, dy):
        return dy, None


def int8(x):
    """An activation as the engine stores it: INT8, one scale per row."""
    return FakeQuantize.apply(x, 127.0) if Quantization.enabled else x


def int7(weight):
    """A weight matrix as the engine stores it: seven bits, one scale per output."""
    return FakeQuantize.apply(weight, 63.0) if Quantization.enabled else weight


def multiply(a, b, out, start=None, product="product"):
    """out = a @ b, plus `start` (a row for all, or out itself); in integers of 12 bits where the CPU can (product.cc), which is
    faster than FP32."""
    if not AVX2:
        return torch.matmul(a, b, out=out) if start is None else torch.addmm(start, a, b, out=out)
    (m, k), n = a.shape, b.shape[1]
    more = (None, L(0)) if start is None else (ptr(start), L(start.stride(0) if start.dim() == 2 else 0))
    lib[product](ptr(a), L(a.stride(0)), L(a.stride(1)), ptr(b), L(b.stride(1)), L(b.stride(0)), ptr(out), L(m), L(n), L(k), *more)
    return out


def multiply8(a, b, out, start=None):
    """The same in integers of seven or eight bits (product8.cc), which is faster still."""
    return multiply(a, b, out, start, "product8")


def multiply_forward(a, b, out, start=None):
    """Seven or eight bits, but not where the engine's own rounding is imitated."""
    return (multiply if Quantization.enabled else multiply8)(a, b, out, start)


class Affine(torch.autograd.Function):
    """x @ weightᵀ + bias."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return multiply_forward(x, weight.t(), x.new_empty(len(x), len(weight)), bias)

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        dy = dy.contiguous()
        return multiply8(dy, weight, torch.empty_like(x)), multiply8(dy.t(), x, torch.empty_like(weight)), dy.sum(0)


class L1Norm(torch.autograd.Function):
    """g ⊙ (x-μ) / (C·mean|x-μ|) + b over the last dimension of x (rows, width)."""

    @staticmethod
    def forward(ctx, x, g, b):
        x = x.contiguous()
        rows, n = x.shape
        y, mu, r = torch.empty_like(x), x.new_empty(rows), x.new_empty(rows)
        lib.l1_norm_forward(ptr(x), ptr(g), ptr(b), ptr(y), ptr(mu), ptr(r), L(rows), L(n))
        ctx.save_for_backward(x, g, mu, r)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, g, mu, r = ctx.saved_tensors
        dy = dy.contiguous()
        dx, dg, db = torch.empty_like(x), torch.zeros_like(g), torch.zeros_like(g)
        lib.l1_norm_backward(ptr(x), ptr(g), ptr(mu), ptr(r), ptr(dy), ptr(dx), ptr(dg), ptr(db), L(x.shape[0]), L(x.shape[1]))
        return dx, dg, db


class Attention(torch.autograd.Function):
    """Ragged multi-head attention. `kv` holds keys then values side by side; self-attention passes one qkv matrix as both.

    degree n ≥ 1: polynomial attention with per-head b, δ; degree 0: softmax. Sentence s owns rows off[s]..off[s+1].
    """

    @staticmethod
    def forward(ctx, q, kv, q_off, k_off, heads, causal, degree, b, delta):
        fused = kv is None
        width = q.shape[1] // 3 if fused else q.shape[1]
        source = q if fused else kv
        first = width if fused else 0
        args = Attention._args(q, source, first, width, q_off, k_off, heads, causal, degree, b, delta)
        y = q.new_empty(q.shape[0], width)
        lib.attention_forward(*args, ptr(y))
        ctx.save_for_backward(q, source, q_off, k_off, b, delta, y)
        ctx.setup = (fused, first, width, heads, causal, degree)
        return y

    @staticmethod
    def backward(ctx, dy):
        q, source, q_off, k_off, b, delta, y = ctx.saved_tensors
        fused, first, width, heads, causal, degree = ctx.setup
        dy = dy.contiguous()
        dq = torch.empty_like(q)
        dsource = dq if fused else torch.empty_like(source)
        db, ddelta = torch.zeros_like(b), torch.zeros_like(delta)
        args = Attention._args(q, source, first, width, q_off, k_off, heads, causal, degree, b, delta)
        lib.attention_backward(*args, ptr(y), ptr(dy), ptr(dq), *Attention._columns(dsource, first, width), ptr(db), ptr(ddelta))
        return dq, None if fused else dsource, None, None, None, None, None, db, ddelta

    @staticmethod
    def _columns(matrix, first, width):
        return P(matrix.data_ptr() + 4 * first), P(matrix.data_ptr() + 4 * (first + width))

    @staticmethod
    def _args(q, source, first, width, q_off, k_off, heads, causal, degree, b, delta):
        k, v = Attention._columns(source, first, width)
        return (ptr(q), L(q.shape[1]), k, v, L(source.shape[1]), ptr(q_off), ptr(k_off), L(len(q_off) - 1), L(heads),
                L(width // heads), I(causal), I(degree), I(Quantization.enabled), ptr(b), ptr(delta))


class SmoothedCrossEntropy(torch.autograd.Function):
    """Σ over rows of the label-smoothed loss of hidden @ embeddingᵀ, with its gradients computed at once, chunk by chunk,
    so that the (rows × vocabulary) logits never leave the cache. Returns (loss sum, plain cross-entropy sum)."""

    CHUNK = 384

    @staticmethod
    def forward(ctx, hidden, embedding, target, smoothing):
        dh, de = torch.empty_like(hidden), torch.zeros_like(embedding)
        plain = ctypes.c_double(0)
        total = 0.0
        for start in range(0, hidden.shape[0], SmoothedCrossEntropy.CHUNK):
            h = hidden[start : start + SmoothedCrossEntropy.CHUNK]
            t = target[start : start + SmoothedCrossEntropy.CHUNK]
            logits = multiply_forward(h, embedding.t(), hidden.new_empty(h.shape[0], embedding.shape[0]))
            total += lib.smoothed_cross_entropy(ptr(logits), ptr(t), L(h.shape[0]), L(embedding.shape[0]), F(smoothing), F(1.0),
                                                ctypes.byref(plain))
            multiply_forward(logits, embedding, dh[start : start + h.shape[0]])
            # With seven bits the many small probabilities beside a few large ones would vanish, always to the same side.
            multiply(logits.t(), h, de, start=de)
        ctx.save_for_backward(dh, de)
        return hidden.new_tensor(total), hidden.new_tensor(plain.value)

    @staticmethod
    def backward(ctx, dtotal, _):
        dh, de = ctx.saved_tensors
        return dh.mul_(dtotal), de.mul_(dtotal), None, None

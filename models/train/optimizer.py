"""Muon for the weight matrices, Adam for everything else, both on flat buffers that the worker processes share.

Each worker computes gradients of its own batch into its own buffer; after a barrier it updates its share of the parameters
with the average of all gradients. Muon orthogonalises the momentum of a matrix, which makes every direction of the update
equally large: it needs far fewer tokens than Adam for the same loss, and leaves weights without outliers (good for INT8).
"""

import torch

from fused import F, L, lib, multiply, ptr


class Flat:
    """All parameters of a model as views of one shared buffer, in order; `slices` maps name → (start, end)."""

    def __init__(self, model):
        self.slices, start = {}, 0
        for name, p in model.named_parameters():
            self.slices[name] = (start, start + p.numel())
            start += (p.numel() + 15) // 16 * 16
        self.size = start

    def buffer(self):
        return torch.zeros(self.size).share_memory_()

    def bind(self, model, values, gradients):
        """Makes the model's parameters and gradients views of the buffers."""
        for name, p in model.named_parameters():
            a, b = self.slices[name]
            p.data = values[a:b].view(p.shape)
            p.grad = gradients[a:b].view(p.shape)


def newton_schulz(g, steps=5):
    """The nearest semi-orthogonal matrix to g, approximately (a quintic iteration on its singular values)."""
    tall = g.shape[0] > g.shape[1]
    x = g.t().contiguous() if tall else g.clone()
    x /= x.norm() + 1e-7
    a, square, product = x.new_empty(len(x), len(x)), x.new_empty(len(x), len(x)), torch.empty_like(x)
    for _ in range(steps):
        multiply(x, x.t(), a)
        multiply(a, a, square).mul_(2.0315).add_(a, alpha=-4.7750)
        x, product = multiply(square, x, product).add_(x, alpha=3.4445), x
    return x.t() if tall else x


class Optimizer:
    """The share of one worker. State lives in shared buffers so that the first worker can checkpoint all of it."""

    BETAS, MOMENTUM, DECAY = (0.9, 0.98), 0.95, 0.05

    def __init__(self, model, flat, state, rank, workers, muon=True):
        self.state, self.rank = state, rank
        matrices, rest = [], []
        for name, p in model.named_parameters():
            a, b = flat.slices[name]
            if muon and p.dim() == 2 and "embedding" not in name:
                width = p.shape[1]
                # A fused qkv or kv holds several square maps: orthogonalise each on its own.
                rows = width if name.endswith(("qkv.weight", "kv.weight")) else p.shape[0]
                matrices += [(s, rows, width) for s in range(a, b, rows * width)]
            else:
                rest.append((a, b))
        share = sorted(matrices, key=lambda m: -m[1] * m[2])
        self.matrices = share[rank::workers]
        self.rest = [(a + (b - a) * rank // workers, a + (b - a) * (rank + 1) // workers) for a, b in rest]

    def step(self, values, gradients, average, step, lr, clip, average_decay):
        """gradients: the averaged flat gradient. Only this worker's share is touched."""
        g, m, v = gradients, self.state["m"], self.state["v"]
        for a, b in self.rest:
            lib.adam(ptr(values[a:b]), ptr(g[a:b]), ptr(m[a:b]), ptr(v[a:b]), ptr(average[a:b]), L(b - a), F(lr), F(self.BETAS[0]),
                     F(self.BETAS[1]), F(1e-9), F(clip), L(step), F(average_decay))
        for a, rows, width in self.matrices:
            b = a + rows * width
            w, grad, momentum = (t[a:b].view(rows, width) for t in (values, g, m))
            momentum.mul_(self.MOMENTUM).add_(grad, alpha=clip)
            update = newton_schulz(momentum.mul(self.MOMENTUM).add_(grad, alpha=clip))
            # 0.2·√(longest side) gives the update the root mean square that Adam's would have, so one learning rate serves both.
            w.mul_(1 - lr * self.DECAY).add_(update, alpha=-lr * 0.2 * max(rows, width) ** 0.5)
            average[a:b].lerp_(values[a:b], 1 - average_decay)

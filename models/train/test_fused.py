"""The hand-written half of a training step against plain PyTorch: `python3 -m unittest discover models/train`."""

import unittest
from unittest import mock

import torch
from torch.nn import functional

from fused import Affine, Attention, L1Norm, Quantization, SmoothedCrossEntropy, multiply, multiply8
from optimizer import newton_schulz


def gradients(function, inputs, dy):
    """The function's value and its gradients with respect to the inputs that have one."""
    wanted = [x for x in inputs if getattr(x, "requires_grad", False)]
    y = function(*inputs)
    return [y, *torch.autograd.grad(y, wanted, dy, allow_unused=True)]


def plain_attention(q, kv, q_off, k_off, heads, causal, degree, b, delta):
    width = q.shape[1] // 3 if kv is None else q.shape[1]
    keys, values = (q[:, width:] if kv is None else kv).split(width, 1)
    rows = []
    for s in range(len(q_off) - 1):
        parts = ((q[:, :width], q_off), (keys, k_off), (values, k_off))
        qs, ks, vs = (x[off[s] : off[s + 1]].unflatten(1, (heads, -1)).transpose(0, 1) for x, off in parts)
        scores = qs @ ks.transpose(1, 2) / (width // heads) ** 0.5
        if degree:
            p = (scores + b[:, None, None]).relu() ** degree + delta.abs()[:, None, None]
        else:
            p = (scores - scores.amax(-1, keepdim=True)).exp()
        p = p.tril() if causal else p
        rows.append((p @ vs / p.sum(-1, keepdim=True)).transpose(0, 1).flatten(1))
    return torch.cat(rows)


class Fused(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def close(self, got, expected, tolerance):
        for g, e in zip(got, expected):
            if e is not None:
                self.assertLess(((g - e).abs().max() / e.abs().max()).item(), tolerance)

    def test_multiply(self):
        """Any shape, rows or columns contiguous, stored or added to a row or to what is there: as exact as 12 or seven bits are."""
        for m, k, n in [(1, 1, 1), (5, 7, 3), (13, 300, 33), (100, 515, 50), (385, 256, 17), (6, 1024, 16)]:
            for a in (torch.randn(m, k), torch.randn(k, m).t()):
                for b in (torch.randn(k, n), torch.randn(n, k).t()):
                    for product, error in ((multiply, 2e-3), (multiply8, 3e-2)):
                        out, row = torch.ones(m, n), torch.randn(n)
                        for start, base in ((None, 0), (row, row), (out, torch.ones(m, n))):
                            got = product(a, b, out.fill_(1), start)
                            self.assertLess((got - base - a @ b).std(unbiased=False) / k**0.5, error)

    def test_multiply_extremes(self):
        """The largest sums that a block can have do not overflow; zeros stay zeros, and no block spoils another."""
        ones = torch.ones(7, 512)
        wide = torch.cat([torch.full((1, 256), 1e-6), torch.full((1, 256), 1e6)], 1)
        for product in (multiply, multiply8):
            self.close([product(ones, -ones.t(), torch.empty(7, 7))], [torch.full((7, 7), -512.0)], 1e-6)
            self.close([product(-ones, -ones.t(), torch.empty(7, 7))], [torch.full((7, 7), 512.0)], 1e-6)
            self.assertEqual(product(torch.zeros(3, 9), torch.randn(9, 4), torch.empty(3, 4)).abs().max(), 0)
            self.close([product(wide, (1 / wide).t().contiguous(), torch.empty(1, 1))], [torch.full((1, 1), 512.0)], 1e-5)

    def test_newton_schulz(self):
        """Singular values between 0.03 and 1 of the largest all come near 1; wide, tall and square."""
        for shape in [(64, 256), (256, 64), (96, 96)]:
            u, s, v = torch.linalg.svd(torch.randn(shape), full_matrices=False)
            values = torch.linalg.svdvals(newton_schulz(u * torch.logspace(0, -1.5, len(s)) @ v))
            self.assertTrue(0.6 < values.min() and values.max() < 1.25, values)

    def test_affine(self):
        x, w, b = (torch.randn(*shape, requires_grad=True) for shape in [(50, 64), (32, 64), (32,)])
        dy = torch.randn(50, 32)
        self.close(gradients(Affine.apply, (x, w, b), dy), gradients(functional.linear, (x, w, b), dy), 5e-2)

    def test_attention(self):
        for width, heads in [(256, 8), (32, 4), (48, 2), (20, 2)]:
            for degree in (0, 1, 3, 5):
                for cross in (False, True):
                    q_off = torch.tensor([0, 5, 6, 60])
                    k_off = torch.tensor([0, 9, 17, 20]) if cross else q_off
                    q = torch.randn(60, width if cross else 3 * width, requires_grad=True)
                    kv = torch.randn(20, 2 * width, requires_grad=True) if cross else None
                    b, delta = torch.rand(heads, requires_grad=True), (torch.rand(heads) - 0.5).requires_grad_()
                    inputs = (q, kv, q_off, k_off, heads, not cross, degree, b, delta)
                    dy = torch.randn(60, width)
                    self.close(gradients(Attention.apply, inputs, dy), gradients(plain_attention, inputs, dy), 1e-4)

    def test_l1_norm(self):
        def plain(x, g, b):
            centred = x - x.mean(1, keepdim=True)
            return g * centred / ((torch.pi / 2) ** 0.5 * centred.abs().mean(1, keepdim=True)) + b

        inputs = [torch.randn(*shape, requires_grad=True) for shape in [(9, 64), (64,), (64,)]]
        dy = torch.randn(9, 64)
        self.close(gradients(L1Norm.apply, inputs, dy), gradients(plain, inputs, dy), 1e-4)

    def test_smoothed_cross_entropy(self):
        """More rows than one chunk."""
        hidden, embedding = torch.randn(500, 16, requires_grad=True), torch.randn(40, 16, requires_grad=True)
        target = torch.randint(40, (500,))

        def plain(h, e):
            return functional.cross_entropy(h @ e.t(), target, label_smoothing=0.1, reduction="sum")

        for quantized, error in ((False, 5e-2), (True, 5e-3)):  # seven bits or 12, see multiply8
            with mock.patch.object(Quantization, "enabled", quantized):
                got = gradients(lambda h, e: SmoothedCrossEntropy.apply(h, e, target, 0.1)[0], (hidden, embedding), torch.tensor(1.0))
            self.close(got, gradients(plain, (hidden, embedding), torch.tensor(1.0)), error)


if __name__ == "__main__":
    unittest.main()

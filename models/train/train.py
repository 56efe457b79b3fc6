"""Trains an Integer Transformer: `python3 models/train/train.py --pair en-de`. Resumes by default; stop it at any time.

One single-threaded process per core works on its own batch; gradients are averaged in shared memory. Everything that a later
run needs is in the checkpoint folder: weights, their moving average, optimiser state, position in the data, log.
"""

import argparse
import ctypes
import json
import os
import signal
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before torch is imported: one thread per process
    os.environ[variable] = "1"

import torch
import torch.multiprocessing as mp

from cache import CACHE
from data import Corpus, Mix, batches
from fused import Quantization
from model import IntegerTransformer, Shape
from optimizer import Flat, Optimizer
from progress import dev_bleu, plot


def arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--pair", default="en-de", help="prepared language pair")
    parser.add_argument("--data", type=Path, help="folder written by prepare.py (default: the cache folder of the pair)")
    parser.add_argument("--run", type=Path, help="checkpoint folder (default: <data>/run)")
    parser.add_argument("--seed-model", type=Path, help="model file or safetensors to start from when there is no checkpoint")
    parser.add_argument("--seed-run", type=Path, help="run whose averaged weights to start from when there is no checkpoint")
    parser.add_argument("--quantized", type=float, default=0.0, help="last share of the run, which imitates the engine's INT8 rounding")
    parser.add_argument("--fresh", action="store_true", help="ignore an existing checkpoint")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--batch-tokens", type=int, default=6144, help="target tokens of one update, over all workers")
    parser.add_argument("--tokens", type=float, default=150e6, help="target tokens to train on in all")
    parser.add_argument("--lr", type=float, default=2e-3, help="peak learning rate")
    parser.add_argument("--warmup", type=int, default=300, help="updates of linear warm-up")
    parser.add_argument("--cooldown", type=float, default=0.2, help="last share of the run, with the rate falling to zero")
    parser.add_argument("--smoothing", type=float, default=0.1, help="label smoothing")
    parser.add_argument("--adam", action="store_true", help="Adam for the weight matrices too, instead of Muon")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--save-minutes", type=float, default=10, help="between checkpoints")
    parser.add_argument("--dev-minutes", type=float, default=30, help="between measurements on held-out sentences")
    for name, value in vars(Shape()).items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    args = parser.parse_args(argv)
    args.data = args.data or CACHE / args.pair
    args.run = args.run or args.data / "run"
    args.shape = Shape(**{name: getattr(args, name) for name in vars(Shape())})
    return args


def learning_rate(args, step, tokens):
    """Warm-up, then inverse square root (flat for the first warm-up ×10), then linear to zero over the cool-down."""
    rate = args.lr * min(step / args.warmup, 1, (10 * args.warmup / step) ** 0.5)
    return rate * max(0.0, min(1.0, (args.tokens - tokens) / (args.cooldown * args.tokens)))


def average_decay(batch, tokens):
    """The moving average of the weights reaches back over a fixed share of the run so far: long enough to take out the noise of
    a high learning rate, short enough not to lag behind a model that still improves fast."""
    return 1 - batch / (0.08 * tokens + batch)


class Shared:
    """Buffers in shared memory: parameters, their average, optimiser moments, one gradient per worker, progress."""

    def __init__(self, flat, workers):
        self.values, self.average = flat.buffer(), flat.buffer()
        self.state = {"m": flat.buffer(), "v": flat.buffer()}
        self.gradients = [flat.buffer() for _ in range(workers)]
        self.sums = torch.zeros(workers, 3, dtype=torch.float64).share_memory_()  # loss, cross-entropy, target tokens
        self.norms = torch.zeros(workers, dtype=torch.float64).share_memory_()
        # step, epoch, tokens seen, seconds trained, stop flag, then the data position of each worker
        self.progress = torch.zeros(5 + workers, dtype=torch.float64).share_memory_()


STEP, EPOCH, TOKENS, SECONDS, STOP, POSITION = range(6)


def save(args, shared):
    args.run.mkdir(parents=True, exist_ok=True)
    state = {"values": shared.values, "average": shared.average, "progress": shared.progress, **shared.state,
             "shape": vars(args.shape)}
    torch.save(state, args.run / "checkpoint.partial")
    (args.run / "checkpoint.partial").replace(args.run / "checkpoint.pt")


def restore(args, model, flat, shared):
    checkpoint = args.run / "checkpoint.pt"
    if checkpoint.exists() and not args.fresh:
        state = torch.load(checkpoint)
        if state["shape"] != vars(args.shape):
            raise SystemExit(f"{checkpoint} has another shape ({state['shape']}): pass it, or choose another --run, or --fresh")
        shared.values.copy_(state["values"])
        shared.average.copy_(state["average"])
        for key in shared.state:
            shared.state[key].copy_(state[key])
        progress = state["progress"]
        shared.progress[:POSITION] = progress[:POSITION]
        shared.progress[POSITION:] = progress[POSITION:].min()  # a changed number of workers repeats a few pairs at most
        shared.progress[STOP] = 0
        return f"resumed at step {int(progress[STEP])}, {progress[TOKENS] / 1e6:.1f} M tokens"
    if args.seed_model:
        from export import card_of, load_safetensors

        model.load_state_dict(load_safetensors(args.seed_model), strict=False)
        before = card_of(args.seed_model).get("trained", {})  # goes on counting where the model was
        shared.progress[TOKENS], shared.progress[SECONDS] = before.get("target_tokens", 0), 3600 * before.get("hours", 0)
        shared.progress[EPOCH], shared.progress[POSITION:] = Mix(args.data).place(before.get("target_tokens", 0))
    for name, p in model.named_parameters():
        a, b = flat.slices[name]
        shared.values[a:b] = p.data.flatten()
    if args.seed_run:
        shared.values.copy_(torch.load(args.seed_run / "checkpoint.pt")["average"])
    shared.average.copy_(shared.values)
    if args.seed_run:
        return f"seeded with the averaged weights of {args.seed_run}"
    return f"seeded from {args.seed_model}" if args.seed_model else "new model"


def dev_loss(args, model, corpus, limit=16384):
    """Plain cross-entropy per target token on held-out sentences."""
    total = tokens = 0
    with torch.no_grad():
        for batch in batches((corpus.pair(i) for i in range(0, len(corpus), 2)), 2048):
            total += model.loss(batch, 0.0)[1].item()
            tokens += len(batch.targets)
            if tokens > limit:
                break
    return total / tokens


def log(args, record):
    args.run.mkdir(parents=True, exist_ok=True)
    with open(args.run / "log.jsonl", "a") as file:
        file.write(json.dumps(record) + "\n")


def keep_memory():
    """Every step asks for the same large tensors: memory that goes back to the system is cleared again each time."""
    trim_threshold, mmap_max = -1, -4  # of malloc.h
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(trim_threshold, 2**31 - 1)
        libc.mallopt(mmap_max, 0)


def work(rank, args, flat, shared, barrier):
    keep_memory()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = IntegerTransformer(args.shape)
    flat.bind(model, shared.values, shared.gradients[rank])
    optimizer = Optimizer(model, flat, shared.state, rank, args.workers, muon=not args.adam)
    progress, mine = shared.progress, shared.gradients[rank]
    stream = Mix(args.data).stream(args.batch_tokens // args.workers, int(progress[EPOCH]), int(progress[POSITION + rank]), rank,
                                   args.workers)
    if rank == 0:
        signal.signal(signal.SIGTERM, lambda *_: progress[STOP].fill_(1))
        signal.signal(signal.SIGINT, lambda *_: progress[STOP].fill_(1))
        averaged = IntegerTransformer(args.shape)
        flat.bind(averaged, shared.average, flat.buffer())
        dev = Corpus(args.data / "dev.npz")
        started = last_save = last_dev = last_log = time.time()
        window = torch.zeros(3, dtype=torch.float64)
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for batch, epoch, position in stream:
        Quantization.enabled = progress[TOKENS].item() >= (1 - args.quantized) * args.tokens
        mine.zero_()
        loss, plain = model.loss(batch, args.smoothing)
        loss.backward()
        shared.sums[rank] = torch.tensor([loss.item(), plain.item(), len(batch.targets)], dtype=torch.float64)
        barrier.wait()
        # Every worker averages its slice of all gradients into the first buffer.
        a, b = flat.size * rank // args.workers, flat.size * (rank + 1) // args.workers
        tokens = shared.sums[:, 2].sum().item()
        total = shared.gradients[0][a:b]
        for other in shared.gradients[1:]:
            total += other[a:b]
        total /= tokens
        shared.norms[rank] = total.double().pow(2).sum()
        progress[POSITION + rank] = position
        barrier.wait()
        step = int(progress[STEP]) + 1
        norm = shared.norms.sum().sqrt().item()
        lr = learning_rate(args, step, progress[TOKENS].item())
        optimizer.step(shared.values, shared.gradients[0], shared.average, step, lr, min(1.0, 1.0 / (norm + 1e-9)),
                       average_decay(tokens, progress[TOKENS].item()))
        barrier.wait()
        if rank == 0:
            progress[STEP], progress[EPOCH] = step, epoch
            progress[TOKENS] += tokens
            window += shared.sums.sum(0)
            now = time.time()
            if now - last_log > 60 or step % 100 == 0:
                speed = window[2].item() / (now - last_log)
                left = max(0.0, args.tokens - progress[TOKENS].item()) / speed / 3600
                progress[SECONDS] += now - last_log
                record = {"step": step, "tokens": int(progress[TOKENS]), "loss": (window[0] / window[2]).item(),
                          "ce": (window[1] / window[2]).item(), "lr": lr, "norm": norm, "speed": speed,
                          "hours": progress[SECONDS].item() / 3600}
                print(f"step {step}  {record['tokens'] / 1e6:.2f} M tokens (epoch {epoch})  loss {record['loss']:.3f}  "
                      f"ce {record['ce']:.3f}  |g| {norm:.2f}  lr {lr:.2e}  {speed:.0f} tokens/s  {left:.1f} h left", flush=True)
                log(args, record)
                window.zero_()
                last_log = now
            finished = progress[TOKENS] >= args.tokens or now - started > args.minutes * 60
            if finished:
                progress[STOP] = 1
            if progress[STOP] or now - last_save > args.save_minutes * 60:
                save(args, shared)
                last_save = now
            if progress[STOP] or now - last_dev > args.dev_minutes * 60:
                record = {"step": step, "tokens": int(progress[TOKENS]), "dev_ce": dev_loss(args, averaged, dev),
                          "dev_bleu": dev_bleu(args.data, args.run, args.shape, dict(averaged.named_parameters()))}
                print(f"dev cross-entropy {record['dev_ce']:.3f}, BLEU of INT8 {record['dev_bleu']}", flush=True)
                log(args, record)
                try:
                    plot(args.run)
                except ImportError:
                    pass  # the log is there all the same; progress.py draws it once python3-matplotlib is installed
                last_dev = last_log = time.time()
                window.zero_()
        barrier.wait()
        if progress[STOP]:
            break


def main(argv=None):
    args = arguments(argv)
    torch.manual_seed(1)
    model = IntegerTransformer(args.shape)
    flat = Flat(model)
    shared = Shared(flat, args.workers)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters, {restore(args, model, flat, shared)}", flush=True)
    barrier = mp.get_context("fork").Barrier(args.workers)
    signal.signal(signal.SIGTERM, lambda *_: shared.progress[STOP].fill_(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    mp.start_processes(work, (args, flat, shared, barrier), nprocs=args.workers, start_method="fork")


if __name__ == "__main__":
    main()

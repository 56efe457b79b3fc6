"""How a training run is doing: BLEU of the INT8 model on held-out sentences, and a plot of the log.

    python3 models/train/progress.py ~/.cache/octavo/train/en-de/run      # writes progress.png beside log.jsonl
"""

import json
import subprocess
import sys
from pathlib import Path

OCTAVO = Path(__file__).resolve().parents[2] / "build" / "native" / "octavo"


def dev_bleu(data, run, shape, weights, sentences=200):
    """BLEU of the quantised weights on every fifth held-out sentence, by the engine itself; None if it is not built."""
    from export import save_safetensors

    if not OCTAVO.exists():
        return None
    lines = (data / "dev.tsv").read_text().splitlines()
    test, fp32, model = run / "dev.tsv", run / "dev.safetensors", run / "dev.octavo"
    test.write_text("\n".join(lines[:: max(1, len(lines) // sentences)]) + "\n")
    save_safetensors(fp32, weights)
    (run / "config.json").write_text(shape.json())
    quantize = [OCTAVO, "quantize", fp32, "-o", model, "--config", run / "config.json", "--vocabulary", data / "spm.model"]
    try:
        subprocess.run(quantize, check=True, capture_output=True)
        result = subprocess.run([OCTAVO, "evaluate", model, "--test", test, "--json"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:  # a rebuild in progress must not end the training
        print(f"no dev BLEU this time: {problem}", flush=True)
        return None
    return json.loads(result.stdout)["bleu"]["int8"]


def plot(run):
    """Loss and dev BLEU against target tokens, as run/progress.png. Needs python3-matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    records = [json.loads(line) for line in open(run / "log.jsonl")]

    def series(key):
        points = [(r["tokens"] / 1e6, r[key]) for r in records if r.get(key) is not None]
        return zip(*points) if points else ((), ())

    figure, loss = pyplot.subplots(figsize=(9, 5))
    loss.plot(*series("ce"), color="#9db4c0", linewidth=1, label="training cross-entropy")
    loss.plot(*series("dev_ce"), color="#253237", marker="o", markersize=3, label="dev cross-entropy (averaged weights)")
    loss.set_xlabel("target tokens, millions")
    loss.set_ylabel("cross-entropy per token")
    bleu = loss.twinx()
    bleu.plot(*series("dev_bleu"), color="#c1440e", marker="s", markersize=3, label="dev BLEU (INT8)")
    bleu.set_ylabel("BLEU")
    handles = [h for axis in (loss, bleu) for h in axis.get_legend_handles_labels()[0]]
    loss.legend(handles, [h.get_label() for h in handles], loc="center right", frameon=False)
    figure.tight_layout()
    figure.savefig(run / "progress.png", dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    plot(Path(sys.argv[1]))

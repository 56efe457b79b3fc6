"""Quantisation-aware fine-tuning of a run that is over: `python3 models/train/finetune.py --pair en-de`.

Starts from the averaged weights of the training run and trains on with the engine's rounding imitated in the forward pass
(seven-bit weights, INT8 activations and attention weights; gradients pass straight through), the learning rate falling to zero.
Takes all arguments of train.py; its checkpoints are in <data>/finetune.
"""

import sys

from cache import CACHE
from train import arguments, main

if __name__ == "__main__":
    given = arguments(sys.argv[1:])
    data = given.data or CACHE / given.pair
    defaults = ["--run", str(data / "finetune"), "--seed-run", str(data / "run"), "--quantized", "1", "--tokens", "6e6", "--lr", "4e-4",
                "--warmup", "50", "--cooldown", "1"]
    main(defaults + sys.argv[1:])

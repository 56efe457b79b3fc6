"""Where prepared data, checkpoints and compiled helpers are kept: outside the checkout."""

import os
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "octavo" / "train"

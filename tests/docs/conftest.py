"""Makes this folder's helpers and the modules of the documentation importable by name."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "docs"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

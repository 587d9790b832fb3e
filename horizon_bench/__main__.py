"""The `horizon-bench` command, also as `python -m horizon_bench`.

It lies here and not in `studies`, because importing this package makes sure that `studies` is ours.
"""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> int:
    """Run the command line and return the exit status."""
    # By name: no module of this package may depend on what is built on it, and this one only hands over.
    status: int = import_module("studies.cli").main()
    return status


if __name__ == "__main__":
    sys.exit(main())

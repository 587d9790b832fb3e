"""Makes the documentation's worked puzzle importable, as a user's own package would be."""

import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
if str(DOCS) not in sys.path:
    sys.path.insert(0, str(DOCS))

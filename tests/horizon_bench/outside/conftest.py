"""Makes the small world of this folder importable by name, as an import string needs it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

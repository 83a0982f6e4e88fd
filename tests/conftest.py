"""Import paths of the tests: this folder (oracles.py) and the repository's root (golden, hipkernels)."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

"""Import paths of the tests: this folder (oracles.py) and the repository's root (golden, hipkernels); hypothesis."""

import os
import sys
from pathlib import Path

from hypothesis import settings

# Machines differ in speed, so no deadline; CI draws the same examples every time, a developer new ones.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

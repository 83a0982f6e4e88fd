"""A HIP runtime without a GPU: a ``libamdhip64.so`` backed by the simulator, for programs in C++ and in Python.

``python -m mfmasim.hiprt program.py`` and ``mfmasim hiprt -- COMMAND`` start programs with it.
"""

from __future__ import annotations

__all__ = ["environment", "start"]

from mfmasim.hiprt.start import environment, start

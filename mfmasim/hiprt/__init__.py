"""A HIP runtime without a GPU: ``libamdhip64.so`` whose calls the simulator serves, for programs that use hip-python.

``python -m mfmasim.hiprt program.py`` and ``mfmasim hiprt -- COMMAND`` start programs that find it.
"""

from __future__ import annotations

__all__ = ["environment", "start"]

from mfmasim.hiprt.start import environment, start

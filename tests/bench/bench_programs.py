"""Compiled programs: CPU time of a launch of an empty kernel, and of a copy to the device against memcpy.

Goals with the default checks: a launch within 2 ms, a copy of 64 MiB within 3 times memcpy.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from mfmasim.hiprt import environment
from mfmasim.hiprt.hipcc import run_compiler

SOURCE = Path(__file__).parents[1] / "hiprt" / "programs" / "bench.hip"


def main():
    """Build the program and run it with the default checks, with all, and with none."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "bench")  # noqa: PTH118
        assert run_compiler([str(SOURCE), "-o", program]) == 0
        for checks in ("none", "bounds", "all"):
            print(f"checks {checks}:")
            made = environment({"MFMASIM_HIPRT_CHECKS": checks})
            print(subprocess.run([program], env=made, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()

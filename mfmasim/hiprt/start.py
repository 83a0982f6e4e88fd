"""Starting programs with the simulated runtime."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from mfmasim.devices.workers import follow_parent
from mfmasim.errors import MfmasimError
from mfmasim.hiprt.build import LIBRARY, library
from mfmasim.hiprt.faults import COUNTS, UNWRITTEN
from mfmasim.hiprt.root import DEVICES, root
from mfmasim.hiprt.settings import PACKAGE, REPORT, Settings


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which hip-python loads the simulated runtime; child processes inherit it.

    Args:
        changes: further variables, such as those of `mfmasim.hiprt.settings`.

    Returns:
        This process's environment with these changes, with the library's folder first in the search path, and with
        ``ROCM_PATH`` the folder that is shaped as a ROCm installation, unless it names one without a HIP runtime; last
        in ``PATH`` stand the programs that list the devices.

    Raises:
        MfmasimError: the library cannot be built, or a setting is invalid.
    """
    made = {**os.environ, **(changes or {})}
    report = Settings.read(made).report
    if report:
        made[REPORT] = report
    folder = library().parent
    others = made.get("LD_LIBRARY_PATH", "")
    made["LD_LIBRARY_PATH"] = f"{folder}:{others}" if others else str(folder)
    # Compilers of kernels look here for ROCm's linker. hip-python 10 searches its lib first, so that of the user's own
    # folders one with another HIP runtime is not kept.
    made["PATH"] = os.pathsep.join(filter(None, [made.get("PATH", os.defpath), str(root() / DEVICES)]))
    own = made.get("ROCM_PATH")
    if not own or (Path(own) / "lib" / LIBRARY).exists():
        made["ROCM_PATH"] = made["ROCM_HOME"] = str(root())
    made[PACKAGE] = str(Path(__file__).resolve().parents[2])
    return made


def start(command: Sequence[str], changes: Mapping[str, str] | None = None) -> int:
    """Run a command on the simulated runtime.

    Args:
        command: program and arguments.
        changes: see `environment`.

    Returns:
        The command's exit code, or 128 plus the number of the signal that ended it; 2 instead of 0 where the report
        could not be written.

    Raises:
        MfmasimError: the command cannot be started.
    """
    if sys.platform != "linux":
        raise MfmasimError(
            f"hiprt needs Linux, and this is {sys.platform}: programs find its runtime as the shared library of ROCm; "
            "mfmasim.device('sim').launch and mfmasim verify run kernels here"
        )
    if not command:
        raise MfmasimError("hiprt: a command is expected, such as: mfmasim hiprt -- python program.py")
    try:
        with tempfile.TemporaryDirectory(prefix="mfmasim-calls-") as folder:
            counts = Path(folder) / "counts"
            counts.touch()
            code = subprocess.run(
                list(command),
                env={**environment(changes), COUNTS: str(counts)},
                check=False,
                # No other thread runs in this process.
                preexec_fn=lambda: follow_parent(signal.SIGTERM),
            ).returncode
            if not code and counts.with_name(f"{counts.name}{UNWRITTEN}").exists():
                code = 2
    except OSError as error:
        raise MfmasimError(f"hiprt: cannot start {command[0]}: {error.strerror or error}") from None
    return code if code >= 0 else 128 - code

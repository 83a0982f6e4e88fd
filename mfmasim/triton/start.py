"""Starting a program whose Triton kernels run on the simulator."""

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
from mfmasim.triton.records import Records, read
from mfmasim.triton.settings import RECORDS, Settings

STARTER = Path(__file__).with_name("starter")
"""Folder of the module that Python imports at its start."""
PYTHONS = ("python", "python3")


def environment(settings: Settings, records: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables of the environment in which Triton's kernels run on the simulator; child processes inherit it.

    Args:
        settings: of the session.
        records: folder for the records of launches.
        more: further variables.
    """
    more = more or {}
    others = more.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    return {
        **more,
        **settings.environment,
        RECORDS: str(records),
        "PYTHONPATH": f"{STARTER}{os.pathsep}{others}" if others else str(STARTER),
    }


def start(command: Sequence[str], settings: Settings, more: Mapping[str, str] | None = None) -> tuple[int, Records]:
    """Run a command.

    Args:
        command: program and arguments; ``python`` means the Python that runs mfmasim, as does a file ``*.py``.
        settings: of the session.
        more: further variables of the environment.

    Returns:
        The command's exit code, or 128 plus the number of the signal that ended it; and what it launched.

    Raises:
        MfmasimError: the command cannot be started.
    """
    if not command:
        raise MfmasimError("triton: a command is expected, such as: mfmasim triton -- python program.py")
    parts = list(command)
    if parts[0] in PYTHONS:
        parts[0] = sys.executable
    elif parts[0].endswith(".py"):
        parts.insert(0, sys.executable)
    script = parts[1] if parts[0] == sys.executable and parts[1:] else ""
    if script.endswith(".py") and not Path(script).is_file():
        raise MfmasimError(f"triton: cannot start {script}: No such file or directory")
    with tempfile.TemporaryDirectory(prefix="mfmasim-triton-") as name:
        folder = Path(name)
        try:
            code = subprocess.run(
                parts,
                env={**os.environ, **environment(settings, folder, more)},
                check=False,
                # No other thread runs in this process.
                preexec_fn=lambda: follow_parent(signal.SIGTERM),
            ).returncode
        except OSError as error:
            raise MfmasimError(f"triton: cannot start {parts[0]}: {error.strerror or error}") from None
        return (code if code >= 0 else 128 - code), read(folder)

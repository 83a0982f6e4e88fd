"""The process that holds a GPU for `mfmasim.devices.isolated`, which starts and ends it.

On hardware a faulting kernel ends its process, or causes an error that every later call returns; a kernel that hangs
blocks its process inside of C. Both happen to this process only. It takes requests from a socket and answers each.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.devices.hip import HipDevice
from mfmasim.devices.hip_arguments import Place, replaced
from mfmasim.devices.hip_library import HipError, trouble
from mfmasim.devices.report import Report
from mfmasim.devices.workers import follow
from mfmasim.errors import DeviceError, MfmasimError, TimeOutError, one_line
from mfmasim.kernels import Code

CODES = 16
"""Code objects that are kept."""
STICKY = frozenset({6, 100, 101, 201, 214, 700, 709, 710, 716, 717, 718, 719, 999})
"""Errors after which a process can do nothing with the device any more: the context is lost."""


def serve(connection: Connection, number: int) -> None:
    """Answer requests until the other side closes; each answer is its kind and its content.

    Args:
        connection: to the owner.
        number: of the GPU.
    """
    shown = ("name", "product", "target", "clock_khz", "arch", "simulated", "unit")
    try:
        device = HipDevice(number)
        opened = {name: getattr(device, name) for name in shown}
    except Exception as error:  # noqa: BLE001  (hip-python or the runtime may lack whatever is called)
        connection.send(("error", error if isinstance(error, MfmasimError) else _unfit(number, error), False))
        return
    connection.send(("opened", opened))
    codes: dict[str, Code] = {}
    while True:
        try:
            what, content = connection.recv()
        except EOFError:
            with suppress(MfmasimError):  # a lost device cannot free anything
                device.close()
            return
        try:
            answer: Any = _launched(device, codes, content) if what == "launch" else getattr(device, what)(*content)
        except TimeOutError as error:
            connection.send(("error", error, True))
            os._exit(1)  # any further call would block
        except MfmasimError as error:
            lost = isinstance(error, HipError) and (error.code in STICKY or not device.healthy())
            connection.send(("error", error, lost))
        except Exception as error:  # noqa: BLE001  (the owner reports it; this process goes on)
            connection.send(("error", DeviceError(f"internal error: {one_line(error)}"), True))
        else:
            connection.send(("done", answer))


def _unfit(number: int, error: Exception) -> DeviceError:
    what, mend = trouble(one_line(error))
    return DeviceError(f"device {f'hip:{number}' if number else 'hip'}: {what}; {mend}")


def _launched(
    device: HipDevice, codes: dict[str, Code], content: dict[str, Any]
) -> tuple[Report, list[NDArray[Any] | None]]:
    """Launch; the report, and the arrays that may have changed."""
    sha256, data, arch = content["code"]
    if sha256 not in codes:
        if len(codes) >= CODES:
            codes.clear()
        codes[sha256] = Code.load(data, arch)
    every = [np.array(array) for array in content["arrays"]]  # received arrays are not always writeable
    for array, writeable in zip(every, content["writeable"], strict=True):
        array.flags.writeable = writeable
    args, buffers = replaced(content["args"], lambda one: one.view(every) if isinstance(one, Place) else one)
    device.timeout = content["timeout"]
    report = device.launch(
        codes[sha256][content["kernel"]],
        content["grid"],
        content["block"],
        args,
        content["shared"],
        content["checks"],
        buffers=buffers,
        poison=content["poison"],
    )
    report.program = None  # the owner has it
    return report, [array if array.flags.writeable else None for array in every]


def main() -> None:
    """Serve the socket whose number is the first argument; the second is the GPU's, the third the owner's."""
    handle, number, owner = map(int, sys.argv[1:4])
    if sys.platform != "win32":
        import resource

        # A kernel that faults would leave a core file in the folder of the program that launched it.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the owner, who ends this process
    follow(owner)
    serve(Connection(handle), number)


if __name__ == "__main__":
    main()

"""hip-python: finding, opening and calling it, with a message for every way in which it can fail.

Importing it succeeds without ROCm; only a call shows whether there is a runtime and a GPU.
"""

from __future__ import annotations

from typing import Any

from mfmasim.errors import DeviceError, one_line

NO_DEVICE = 100
"""hipErrorNoDevice."""
SIMULATED = "mfmasim"
"""The first word of the name of a device of `mfmasim.hiprt`."""


def trouble(error: str) -> tuple[str, str]:
    """The cause of a failure of hip-python, and its remedy.

    Args:
        error: the exception's line: its type's name and its text.
    """
    if error.startswith("ModuleNotFoundError"):
        return "hip-python is not installed", "pip install hip-python"
    if "libamdhip64" in error:
        mend = "install ROCm's HIP runtime, or set ROCM_PATH or LD_LIBRARY_PATH to the folder of libamdhip64.so; "
        mend += "without a GPU: mfmasim hiprt -- COMMAND"
        return "hip-python is installed, the HIP runtime (libamdhip64.so) is not", mend
    mend = "install the hip-python of ROCm's version (its major and minor numbers are the same)"
    return f"hip-python does not work: {error}", mend


def no_gpu(code: int, name: str) -> tuple[str, str]:
    """The cause and remedy if the runtime works but finds no device."""
    mend = "is the kernel driver loaded, and may this user open /dev/kfd and /dev/dri (groups render, video)?"
    if code in {0, NO_DEVICE}:
        return "the HIP runtime works but sees no GPU", mend
    return f"hipGetDeviceCount failed: {name} ({code})", mend


def text_of(value: str | bytes) -> str:
    """A text of HIP, in either type that hip-python returns."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


class HipError(DeviceError):
    """A call of HIP failed."""

    def __init__(self, message: str, code: int) -> None:
        """An error with HIP's error number."""
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[HipError], tuple[str, int]]:
        """The process that holds a GPU sends it to the owner."""
        return HipError, (str(self), self.code)


class Hip:
    """The module, with calls that raise. Handles and addresses are hip-python's objects."""

    def __init__(self, name: str) -> None:
        """Open the library for the device called `name`.

        Raises:
            MfmasimError: the package or the runtime is missing; the message says which, and how to get it.
        """
        self.name = name
        try:
            from hip import hip
        except Exception as error:  # noqa: BLE001  (a broken wheel can raise anything)
            raise self._trouble(error) from None
        self.module: Any = hip

    def _trouble(self, error: Exception) -> DeviceError:
        what, mend = trouble(one_line(error))
        return DeviceError(f"device {self.name}: {what}; {mend}")

    def ask(self, call: str, *args: Any) -> tuple[int, str, tuple[Any, ...]]:
        """Call, and return the code, its name, and the call's further results.

        Raises:
            MfmasimError: the library cannot be opened, or lacks the call.
        """
        try:
            answer = getattr(self.module, call)(*args)
        except (RuntimeError, AttributeError, ImportError, OSError) as error:
            raise self._trouble(error) from None
        return int(answer[0]), getattr(answer[0], "name", "error"), answer[1:]

    def call(self, call: str, *args: Any, what: str = "") -> Any:
        """Call and return its result; several results as a tuple, no result as None.

        Args:
            call: a function of hip-python.
            args: its arguments.
            what: purpose of the call, for the message.

        Raises:
            MfmasimError: the call failed; the message has HIP's name, number and text.
        """
        code, name, results = self.ask(call, *args)
        if code:
            self.ask("hipGetLastError")  # clears the last error
            words = self.words(code)
            raise HipError(f"{self.name}: {call}{f' ({what})' if what else ''} failed: {name} ({code}), {words}", code)
        return results[0] if len(results) == 1 else results or None

    def words(self, code: int) -> str:
        """HIP's text for an error."""
        answer = self.module.hipGetErrorString(self.module.hipError_t(code))
        return text_of(answer[-1] if isinstance(answer, tuple) else answer)  # hip-python 7 gives the text alone

    def properties(self, number: int) -> Any:
        """Properties of a device; hip-python 10 returns them, 7 fills them in."""
        try:
            return self.call("hipGetDeviceProperties", number)
        except TypeError:
            found = self.module.hipDeviceProp_t()
            self.call("hipGetDeviceProperties", found, number)
            return found

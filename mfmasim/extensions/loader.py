"""``torch.utils.cpp_extension`` for the simulated devices: PyTorch's own module, which takes itself for one of ROCm.

Its functions ``load`` and ``load_inline`` stay as they are, as does its translation of ``cuda`` names; what compiles
and links is `mfmasim.extensions.building`.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.extensions.activation import begin, is_cpu_build
from mfmasim.extensions.building import Wanted, build
from mfmasim.hiprt.root import root
from mfmasim.hiprt.settings import Settings
from mfmasim.resources import cache_folder

FOLDER = "TORCH_EXTENSIONS_DIR"
"""Environment variable of PyTorch: folder of what it builds."""


class Baton:
    """The lock of a folder while it is built, as PyTorch's; it ends with the process that has it, however that ends."""

    def __init__(self, lock_file_path: str, wait_seconds: float = 0.1, warn_after_seconds: float | None = None) -> None:
        """Lock nothing yet; the file stays.

        Args:
            lock_file_path: the file.
            wait_seconds: unused, as the system wakes who waits.
            warn_after_seconds: unused.
        """
        del wait_seconds, warn_after_seconds
        self.lock_file_path = f"{lock_file_path}.mfmasim"
        self._file = -1

    def _lock(self, more: int) -> None:
        self._file = os.open(self.lock_file_path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | more)

    def try_acquire(self) -> bool:
        """Whether the folder is locked now for this process."""
        try:
            self._lock(fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            return False
        return True

    def wait(self) -> None:
        """Wait until no process has it."""
        self._lock(0)
        self.release()

    def release(self) -> None:
        """Give it back."""
        os.close(self._file)
        self._file = -1


def prepare(module: Any) -> None:
    """Change the module after its import.

    Args:
        module: ``torch.utils.cpp_extension``.
    """
    if not is_cpu_build(module.torch):
        return
    archs = list(dict.fromkeys(arch.name for arch in Settings.read().archs))  # several devices may have one
    # What is built for one architecture is of no use to another.
    os.environ.setdefault(FOLDER, str(cache_folder() / "torch-extensions" / "-".join(archs)))
    home = str(root())
    version = tuple(int(part) for part in (module.torch.version.hip or "7.2").split(".")[:2])
    own = {"ROCM_HOME": home, "HIP_HOME": home, "IS_HIP_EXTENSION": True, "ROCM_VERSION": version}
    for name, value in own.items():
        setattr(module, name, value)
    module.FileBaton = Baton
    module.verify_ninja_availability = lambda: None
    module.is_ninja_available = lambda: True

    def compile_and_link(
        name: str,
        sources: list[str],
        extra_cflags: list[str],
        extra_cuda_cflags: list[str],
        *positional: Any,
        **options: Any,
    ) -> None:
        if positional or options.get("is_standalone"):
            raise MfmasimError("torch.utils.cpp_extension: only modules and libraries are built, no programs")
        begin()
        wanted = Wanted(
            name,
            tuple(sorted(Path(one).absolute() for one in sources)),  # PyTorch has them as a set
            tuple(extra_cflags),
            (*extra_cflags, *extra_cuda_cflags),
            tuple(options.get("extra_ldflags") or ()),
            tuple(Path(one).absolute() for one in options.get("extra_include_paths") or ()),
            Path(options["build_directory"]),
            bool(options.get("with_cuda")),
            (*module.COMMON_HIP_FLAGS, *module.COMMON_HIPCC_FLAGS),
            tuple(archs),
        )
        build(wanted, verbose=bool(options.get("verbose")))

    module._write_ninja_file_and_build_library = compile_and_link  # noqa: SLF001

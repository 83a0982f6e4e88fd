"""The process that fuzzes: ``python -m tests.fuzz.target SURFACE FINDS LIBFUZZER-OPTIONS``, started by `tests.fuzz`.

An input that breaks the property is stored in the folder FINDS, once for each place where it was raised, and fuzzing
goes on.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import sys
import traceback
import warnings
from pathlib import Path

import mfmasim
from tests.fuzz.limits import SECONDS, bounded_memory, bounded_time
from tests.fuzz.surfaces import SURFACES


def place(error: BaseException) -> str:
    """Name of the place that raised: the innermost frame of the package, or of all."""
    frames = traceback.extract_tb(error.__traceback__)
    package = Path(mfmasim.__file__).parent
    own = [frame for frame in frames if package in Path(frame.filename).parents] or frames
    return f"{type(error).__name__}-{Path(own[-1].filename).stem}-{own[-1].lineno}"


def main(name: str, finds: Path, options: list[str]) -> None:
    """Fuzz until libFuzzer ends the process."""
    import atheris

    surface = SURFACES[name]
    with atheris.instrument_imports(include=list(surface.packages)):
        run = surface.runner()
        for package in map(importlib.import_module, surface.packages):  # also what is imported when it is needed
            for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
    warnings.simplefilter("error")

    def one(data: bytes) -> None:
        try:
            with bounded_time():
                run(data)
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is a find
            path = finds / place(error)
            if not path.exists():
                path.write_bytes(data)
                digest = hashlib.sha256(data).hexdigest()[:12]
                print(f"FIND {path.name} {digest}", file=sys.stderr, flush=True)
                traceback.print_exc()

    with bounded_memory():
        limits = [f"-max_len={surface.longest}", f"-timeout={2 * SECONDS}", "-rss_limit_mb=0", "-use_counters=0"]
        # libFuzzer merges corpora in processes of its own, which it starts by the first word.
        again = f"{sys.executable} -m tests.fuzz.target {name} {finds}"
        atheris.Setup([again, *limits, *options], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])

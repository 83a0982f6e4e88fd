"""One question, answered in a process of its own: ``python -m mfmasim.agents.worker`` reads it from standard input.

The process limits itself before it reads, so that what it starts is limited as well. It writes lines of JSON: what it
is doing, then the answer.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from mfmasim.agents.answers import refused

__all__ = ["limit", "main"]

MEMORY = 6 << 30
"""Bytes of address space of each process."""
FILE = 256 << 20
"""Bytes of a file that is written."""
FILES = 256
"""Open files."""


def limit(seconds: float) -> None:
    """Limit memory, files and time of this process and of those that it starts.

    Args:
        seconds: of a CPU, for each process.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(seconds) + 5),
    ):
        with suppress(ValueError, OSError):  # a lower limit is there already
            resource.setrlimit(kind, (most, most))


def main() -> int:
    """Read a question, write its answer."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what else is printed does not go among the answers

    def write(line: dict[str, Any]) -> None:
        out.write(json.dumps(line) + "\n")
        out.flush()

    asked = json.loads(sys.stdin.readline())
    limit(asked["seconds"])
    tool = str(asked["tool"])
    try:
        from mfmasim.agents.asking import answer
        from mfmasim.errors import MfmasimError, one_line
    except MemoryError:
        write({"answer": refused(tool, "out of memory").record()})
        return 0
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(one) for one in asked["roots"]]
        try:
            found = answer(
                tool, asked["arguments"], Path(folder), roots, asked["seconds"], lambda text: write({"doing": text})
            )
        except MfmasimError as error:
            found = refused(tool, str(error))
        except MemoryError:
            found = refused(tool, f"more memory is needed than the {MEMORY >> 30} GiB that a question may take")
        except RecursionError:
            found = refused(tool, "what was sent is nested too deeply")
        except Exception as error:  # noqa: BLE001  (an answer in any case; the defect is in its text)
            found = refused(tool, f"internal error: {one_line(error)}")
        # The folder was this question's alone.
        write(json.loads(json.dumps({"answer": found.record()}).replace(f"{folder}/", "")))
    return 0


if __name__ == "__main__":
    sys.exit(main())

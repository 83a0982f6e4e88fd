"""``python -m mfmasim.hiprt program.py``: run a Python program on the simulated runtime."""

from __future__ import annotations

import sys

from mfmasim.errors import MfmasimError
from mfmasim.hiprt.start import start


def main() -> int:
    """Run the program given on the command line."""
    if not sys.argv[1:]:
        raise MfmasimError("python -m mfmasim.hiprt: a program is expected, such as program.py")
    return start([sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MfmasimError as problem:
        print(f"mfmasim: {problem}", file=sys.stderr)  # noqa: T201
        sys.exit(2)

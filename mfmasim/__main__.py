"""``python -m mfmasim``."""

from mfmasim.cli import main

if __name__ == "__main__":  # ranks of MPI import it as well
    raise SystemExit(main())

"""Speed of the matrix arithmetic: python -m tests.bench.bench_matrix (or `python -m mfmasim.cli.bench`)."""

import sys

from mfmasim.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", "matrix", *sys.argv[1:]]))

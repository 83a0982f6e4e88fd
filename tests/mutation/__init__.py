"""The mutation score: how many small wrong changes of the operations and checks the quick tests notice."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STATE = ROOT / ".mutation"
"""What recorded runs and trials leave behind; not part of the repository."""

PACKAGES = {
    "machine/ops": ("tests/machine",),
    "matrix": ("tests/matrix", "mfmasim/matrix"),
    "lds": ("tests/lds", "mfmasim/lds"),
    "formats": ("tests/formats", "mfmasim/formats"),
    "isa": ("tests/isa", "mfmasim/isa", "tests/codeobject"),
    "verify": ("tests/verify", "mfmasim/verify", "tests/covering"),
    "observe": (
        "tests/observe",
        "mfmasim/observe",
        *(f"tests/machine/test_{name}.py" for name in ("debugger", "findings", "waiting")),
        *(f"tests/verify/test_{name}.py" for name in ("mapping_halves", "roles", "user_case")),
    ),
}
"""The packages under mfmasim that are mutated, and the quick tests that each is tried with."""

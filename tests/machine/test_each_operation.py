"""Each operation by its name, ``pytest -k v_bfrev_b32 tests/machine``: registered or excluded, and equal bits."""

from __future__ import annotations

import pytest

from mfmasim.machine.opcodes.refusal import EXCLUDED
from mfmasim.machine.opcodes.registry import OPERATIONS
from tests.machine import harness, one
from tests.slow.machine import interpreter

NAMES = sorted({name for arch in one.TARGETS for name in harness.rows(arch)})
"""Names of all opcodes of the tables: what the machine lacks is asked for as well."""


def test_every_opcode_is_executed_or_says_why_not():
    """An operation that was deleted, or that a new table decodes, is named here."""
    excluded = {name for row in EXCLUDED for name in row.names}
    missing = [name for name in NAMES if name not in OPERATIONS and name not in excluded]
    assert not missing, f"neither registered in mfmasim/machine/ops nor in opcodes/refusal.py: {', '.join(missing)}"
    unmodelled = [name for name in NAMES if not one.unjudged(name) and not interpreter.models(name)]
    assert not unmodelled, f"no slow model in tests/slow/machine: {', '.join(unmodelled)}"
    assert len(NAMES) > 2000


@pytest.mark.oracle
@pytest.mark.parametrize("name", [name for name in NAMES if not one.unjudged(name)])
def test_equal_bits_of(name):
    """A line of each encoding on the newest CDNA and RDNA; the quick tier has a share, and any that -k names."""
    assert one.targets(name), "not registered in mfmasim/machine/ops"
    verdicts = [one.compared(name, arch) for arch in one.targets(name)]
    assert not [line for verdict in verdicts for line in (*verdict.differences, *verdict.refused.values())]
    assert sum(verdict.compared for verdict in verdicts) > 0


def test_the_command_says_that_a_decoded_operation_has_no_body(capsys, monkeypatch):
    monkeypatch.setattr(one, "targets", lambda name: [])
    assert one.main(["v_bfrev_b32"]) == 1
    assert "no body in mfmasim/machine/ops" in capsys.readouterr().out
    assert one.main([]) == 2

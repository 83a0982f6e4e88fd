"""Wait counters: which of them an instruction raises until it is done, and to which values a wait brings them down.

Sources: ISA manuals, "Manually Inserted Wait States and Dependencies" and S_WAITCNT (CDNA3 4.4, RDNA3 4.4 and 16.5,
RDNA4 5.6); what counts in doubtful cases is LLVM's insertion of waits, which compilers rely on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mfmasim.isa.family import family
from mfmasim.isa.immediates import waitcnt

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.isa.instruction import Instruction

__all__ = ["SPELLING", "Raised", "raised", "waited", "waiting_for"]

# Waits of one counter each, and the two of gfx12 that wait for two: mnemonic to counters and their (lowest bit, width).
_SINGLE: dict[str, dict[str, tuple[int, int]]] = {
    "s_waitcnt_vscnt": {"vscnt": (0, 6)}, "s_waitcnt_vmcnt": {"vmcnt": (0, 6)},
    "s_waitcnt_lgkmcnt": {"lgkmcnt": (0, 6)}, "s_waitcnt_expcnt": {"expcnt": (0, 3)},
    "s_wait_loadcnt": {"loadcnt": (0, 6)}, "s_wait_storecnt": {"storecnt": (0, 6)}, "s_wait_dscnt": {"dscnt": (0, 6)},
    "s_wait_kmcnt": {"kmcnt": (0, 5)}, "s_wait_samplecnt": {"samplecnt": (0, 6)}, "s_wait_bvhcnt": {"bvhcnt": (0, 3)},
    "s_wait_expcnt": {"expcnt": (0, 3)},
    "s_wait_loadcnt_dscnt": {"dscnt": (0, 6), "loadcnt": (8, 6)},
    "s_wait_storecnt_dscnt": {"dscnt": (0, 6), "storecnt": (8, 6)},
}  # fmt: skip
SPELLING = {
    "vmcnt": "s_waitcnt vmcnt({})", "lgkmcnt": "s_waitcnt lgkmcnt({})", "vscnt": "s_waitcnt_vscnt null, {}",
    "loadcnt": "s_wait_loadcnt {}", "storecnt": "s_wait_storecnt {}", "dscnt": "s_wait_dscnt {}",
    "kmcnt": "s_wait_kmcnt {}",
}  # fmt: skip
"""How a wait for a counter is written."""
_NOT_COUNTED = ("buffer_inv", "buffer_gl0_inv", "buffer_gl1_inv", "ds_nop")
_LOADS_AND_STORES = ("buffer_", "tbuffer_", "global_", "scratch_", "flat_")
_SCALAR = ("s_load_", "s_buffer_load_", "s_memtime", "s_memrealtime", "s_dcache_", "s_sendmsg", "s_atc_probe")


@dataclass(frozen=True)
class Raised:
    """A counter that an instruction raises by one until it is done."""

    counter: str
    order: str
    """Instructions of one counter with the same `order` are done in the order of the program; with an empty one, in
    any order."""
    limit: int
    """The counter's largest value."""


@lru_cache(maxsize=65536)
def raised(arch: Arch, name: str, returns: bool) -> tuple[Raised, ...]:
    """Counters that an instruction raises.

    Args:
        arch: architecture.
        name: base mnemonic.
        returns: whether it writes a register.

    Returns:
        None, one, or for FLAT two of them: it may go to memory and to the LDS.
    """
    counters = arch.counters
    loads, stores, lds, scalar, limit = counters.loads, counters.stores, counters.lds, counters.scalar, counters.limits
    if name.startswith(_NOT_COUNTED):
        return ()
    if name.startswith("ds_"):
        return (Raised(lds, "lds", limit[lds]),)
    if name.startswith(_SCALAR):
        return (Raised(scalar, "", limit[scalar]),)
    if not name.startswith(_LOADS_AND_STORES):
        return ()
    to_lds = "_lds_" in name
    store = not returns and not to_lds and not name.startswith(("global_inv", "buffer_load"))
    counter = stores if store else loads
    order = "memory" if counter == loads else "scratch" if name.startswith("scratch_") else "store"
    if name.startswith("flat_"):
        orders = (order, "lds") if counters.flat_in_order else ("", "")
        return (Raised(counter, orders[0], limit[counter]), Raised(lds, orders[1], limit[lds]))
    return (Raised(counter, order, limit[counter]),)


@lru_cache(maxsize=4096)
def _waited(arch: Arch, name: str, bits: int) -> tuple[tuple[str, int], ...]:
    if name in _SINGLE:
        fields = _SINGLE[name]
        return tuple((c, bits >> low & ((1 << width) - 1)) for c, (low, width) in fields.items())
    if name in ("s_wait_idle", "s_endpgm"):
        return tuple((counter, 0) for counter in arch.counters.limits)
    if name != "s_waitcnt":
        return ()
    return tuple((counter, value) for counter, (value, full) in waitcnt(bits, arch.name).items() if value < full)


def waited(arch: Arch, instruction: Instruction) -> tuple[tuple[str, int], ...]:
    """(counter, value) pairs that a wait instruction waits for; nothing for any other, or where a field is all ones."""
    if not instruction.name.startswith(("s_wait", "s_endpgm")):
        return ()
    bits = next((o.bits for o in instruction.src if o.kind == "imm"), 0)
    return _waited(arch, instruction.name, bits)


def waiting_for(arch: Arch, instruction: Instruction, counter: str, value: int) -> int | None:
    """SIMM16 of a wait instruction with another value for one of its counters.

    Args:
        arch: architecture.
        instruction: the wait.
        counter: name of the counter.
        value: what it shall wait for.

    Returns:
        The immediate; None where the instruction has no such counter, or its field is too small.
    """
    bits = next((o.bits for o in instruction.src if o.kind == "imm"), 0) & 0xFFFF
    if instruction.name == "s_waitcnt":
        parts = family(arch).dialect.waitcnt.get(counter)
    else:
        field = _SINGLE.get(instruction.name, {}).get(counter)
        parts = None if field is None else (field,)
    if parts is None:
        return None
    for low, width in parts:
        mask = (1 << width) - 1
        bits = bits & ~(mask << low) | (value & mask) << low
        value >>= width
    return None if value else bits

"""Fields of hardware registers that S_GETREG reads, writing the MODE register, and priorities.

Where a wave runs is simulated: workgroup by workgroup, over XCCs, then shader engines, shader arrays and compute units,
and round again. It depends on the workgroup's number alone, so that a launch gives the same values however it is cut
into batches, and no two waves in flight are at one place.

Source: CDNA3 ISA manual, SOPK S_SETREG; table 4 of 3.5. CDNA5 ISA manual, 3.3.2.3 and SOPP.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.isa import Instruction
from mfmasim.isa.high_registers import MODE_BITS, as_mode
from mfmasim.isa.immediates import MODE, register_field
from mfmasim.machine.binding.operands import scalar_reader, scalar_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.launch.clusters import IDENTIFIERS
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.state.memory import PRIVATE_BASE, SHARED_BASE
from mfmasim.machine.state.waves import CSP, EXEC, VCC, Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.architectures.internal import HardwareRegister
    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group

    Quantity = Callable[[Group, Machine, Instruction], Any]

LDS_UNIT = 256
"""Bytes of a unit of LDS_ALLOC."""
VGPR_UNIT = 4
"""VGPRs of a unit of GPR_ALLOC."""


def register_of(instruction: Instruction, machine: Machine) -> HardwareRegister:
    """The register that an instruction names.

    Raises:
        MfmasimError: the architecture has none of that number.
    """
    number = register_field(instruction)[0]
    found = machine.arch.hardware_registers.by_number.get(number)
    if found is None:
        raise unsupported(instruction, f"hardware register {number}, which {machine.arch.name} does not have")
    return found


def _is_zero(code: int) -> Quantity:
    return lambda g, m, _: (g.s(code) | (g.s(code + 1) if m.kernel.wave == 64 else np.uint32(0))) == 0


def _places(g: Group, machine: Machine) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each wave: its compute unit among all, how many workgroups there are before its own, its slot in the unit.

    Raises:
        MfmasimError: more workgroups are in flight than the device has places for.
    """
    registers, per = machine.arch.hardware_registers, machine.launch.waves_per_workgroup
    units = int(np.prod(registers.units))
    rounds = registers.slots * registers.simds // per
    flying = int(machine.waves.workgroup[-1]) + 1
    if flying > units * rounds:
        raise MfmasimError(
            f"{flying} workgroups are in flight, {machine.arch.name} has places for {units * rounds}; "
            f"pass max_waves={units * rounds * per}"
        )
    group = g.workgroup + machine.first_workgroup
    before = group // units % rounds
    return group % units, before, before * per + g.indices() % per


def _unit(place: int) -> Quantity:
    """One coordinate of the compute unit; consecutive workgroups differ in the first."""

    def coordinate(g: Group, machine: Machine, _: Instruction) -> NDArray[np.int64]:
        sizes = machine.arch.hardware_registers.units
        unit: NDArray[np.int64] = _places(g, machine)[0] // int(np.prod(sizes[:place])) % sizes[place]
        return unit

    return coordinate


def _cluster_number(g: Group, machine: Machine, _: Instruction) -> Any:
    """Number of the cluster, 1 to `IDENTIFIERS`; 0 outside one."""
    together = machine.launch.clusters.workgroups
    number = (g.workgroup + machine.first_workgroup) // together
    return number % IDENTIFIERS + 1 if together > 1 else 0


def _vgprs(_: Group, machine: Machine, instruction: Instruction) -> int:
    """The size in units, less one, of at most 256: the manual's field ends there."""
    units = machine.kernel.info.descriptor.vgpr_count // VGPR_UNIT - 1
    if units > 63:
        raise unsupported(instruction, f"VGPR_SIZE of {4 * units + 4} registers, which has no room in its field,")
    return units


def _scratch_base(_: Group, machine: Machine, instruction: Instruction) -> int:
    """0 without scratch."""
    if machine.launch.scratch_bytes:
        raise unsupported(instruction, "the address of a wave's scratch, which has none here,")
    return 0


QUANTITIES: dict[str, Quantity] = {
    "mode": lambda g, _m, _i: g.mode,
    "scc": lambda g, _m, _i: g.scc,
    "execz": _is_zero(EXEC),
    "vccz": _is_zero(VCC),
    "priority": lambda g, _m, _i: g.priority,
    "in_group": lambda _g, m, _i: m.launch.waves_per_workgroup > 1,
    "scratch": lambda _g, m, _i: m.launch.scratch_bytes > 0,
    "scratch_base": _scratch_base,
    "wave64": lambda _g, m, _i: m.kernel.wave == 64,
    "slot": lambda g, m, _i: _places(g, m)[2] // m.arch.hardware_registers.simds,
    "simd": lambda g, m, _i: _places(g, m)[2] % m.arch.hardware_registers.simds,
    "group": lambda g, m, _i: _places(g, m)[1],
    "xcc": _unit(0),
    "engine": _unit(1),
    "array": _unit(2),
    "unit": _unit(3),
    "cluster": _cluster_number,
    "workgroup_in_cluster": lambda g, m, _i: (g.workgroup + m.first_workgroup) % m.launch.clusters.workgroups,
    "vgprs": _vgprs,
    "accum_offset": lambda g, _m, _i: g.waves.accum_offset // VGPR_UNIT,
    "lds": lambda _g, m, _i: -(-m.launch.lds_bytes // m.arch.lds_granule) * m.arch.lds_granule // LDS_UNIT,
    "private_base": lambda _g, _m, _i: PRIVATE_BASE >> 48,
    "shared_base": lambda _g, _m, _i: SHARED_BASE >> 48,
    "clock": lambda g, m, i: m.ticks(g, i.pc),
    "clock_high": lambda g, m, i: m.ticks(g, i.pc) >> np.uint64(32),
}
"""What fields hold: a number, or an array (1 or waves of the group,)."""
PLACE = {"slot", "simd", "group", "xcc", "engine", "array", "unit", "cluster"}
"""Quantities of the simulated placement."""


def s_getreg_b32(instruction: Instruction, machine: Machine) -> Bound:
    """A field of a hardware register, at bit 0."""
    _, offset, mask = register_field(instruction)
    register = register_of(instruction, machine)
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    parts, placed = [], False
    for name, first, bits, holds in register.fields:
        if not ((1 << bits) - 1) << first & mask << offset:
            continue
        if holds == "?":
            raise unsupported(instruction, f"{name} of {register.name}, which the simulator does not know,")
        placed |= holds in PLACE
        parts.append((first, (1 << bits) - 1, QUANTITIES.get(holds), int(holds) if holds.isdigit() else 0))

    def read(g: Group) -> None:
        if placed:
            machine.outcome.fidelity[instruction.name] = "assumed"
        total = np.zeros(1, np.uint64)
        for first, width, quantity, fixed in parts:
            value = fixed if quantity is None else quantity(g, machine, instruction)
            total = total | (np.asarray(value).astype(np.uint64) & np.uint64(width)) << np.uint64(first)
        write(g, np.atleast_1d(total >> np.uint64(offset) & np.uint64(mask)).astype(np.uint32))

    return read


direct("s_getreg_b32")(s_getreg_b32)


# FP_ROUND and FP_DENORM; DX10_CLAMP and IEEE; EXCP_EN; FP16_OVFL. The other fields have no effect here.
NUMBERS, RULES, EXCEPTIONS, OVERFLOW = 0xFF, 3 << 8, 0x7F << 12, 1 << 23


def written_mode(instruction: Instruction) -> int:
    """Bits of MODE that S_SETREG writes."""
    number, offset, mask = register_field(instruction)
    return mask << offset if number == MODE else 0


def writable_mode(arch: Arch) -> int:
    """Bits of MODE that have a meaning here; others, such as how faults are replayed (gfx1250: 25), do nothing."""
    rules = (RULES if arch.floats.mode_bits else 0) | (EXCEPTIONS if arch.floats.mode_exceptions else 0)
    return NUMBERS | OVERFLOW | rules | arch.vector_mode | (CSP if arch.path_stack else 0)


def s_setreg_b32(instruction: Instruction, machine: Machine) -> Bound:
    """Write a field of MODE from a scalar register or a literal; bits that have no meaning here stay.

    Writes to other registers have no effect: a program may not write them, or they hold what nothing here depends on.
    """
    number, offset, mask = register_field(instruction)
    register_of(instruction, machine)
    if number != MODE:
        return lambda g: None  # noqa: ARG005
    field = np.uint32(mask << offset & writable_mode(machine.arch))
    read = scalar_reader(next(x for x in instruction.src if x.type != "hwreg"), "u32", instruction)
    return lambda g: g.write_mode(g.mode & ~field | read(g) << np.uint32(offset) & field)


direct("s_setreg_b32 s_setreg_imm32_b32")(s_setreg_b32)


def _immediate_mode(shift: int, instruction: Instruction, _machine: Machine) -> Bound:
    """FP_ROUND or FP_DENORM from an immediate of four bits (RDNA3 and RDNA4 ISA manuals, SOPP)."""
    field, value = np.uint32(15 << shift), np.uint32((instruction.src[0].bits & 15) << shift)
    return lambda g: g.write_mode(g.mode & ~field | value)


direct("s_round_mode")(partial(_immediate_mode, 0))
direct("s_denorm_mode")(partial(_immediate_mode, 4))


def _priority(instruction: Instruction, _machine: Machine) -> Bound:
    value = np.array([instruction.src[0].bits & 3], np.uint32)
    return lambda g: g.write_priority(value)


direct("s_setprio")(_priority)


def _group_priority(instruction: Instruction, _machine: Machine) -> Bound:
    """Add to the priority of every wave of the workgroup, modulo 4; each wave that executes it adds once."""
    step = instruction.src[0].bits & 3

    def run(g: Group) -> None:
        waves = g.waves
        times = np.bincount(g.workgroup, minlength=int(waves.workgroup[-1]) + 1)[waves.workgroup]
        waves.priority = (waves.priority + np.uint32(step) * times.astype(np.uint32)) & np.uint32(3)

    return run


direct("s_setprio_inc_wg")(_group_priority)


def _register_bits(instruction: Instruction, _machine: Machine) -> Bound:
    """The bits of MODE above the register fields of vector instructions; blocks are bound for them."""
    keep, value = np.uint32(~MODE_BITS & 0xFFFFFFFF), np.uint32(as_mode(instruction.src[0].bits))
    return lambda g: g.write_mode(g.mode & keep | value)


direct("s_set_vgpr_msb")(_register_bits)

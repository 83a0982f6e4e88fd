"""replays: no register may be overwritten that an access still needs, should it be executed again.

On gfx1250 an access whose address has no translation yet is executed again once it has one, and then reads its
registers again. XCNT counts the accesses that this may still happen to. Sources: LLVM's insertion of S_WAIT_XCNT
(llvm/llvm-project#145566), the instructions that drain the counter (#198823), MODE.REPLAY_MODE, which compilers set
at the entry of a kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mfmasim.isa.counters import SPELLING, raised, waited
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind
from mfmasim.observe.flights import Register, accessed, registers
from mfmasim.observe.paths import Paths

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

REPLAYED = Kind(
    "replays-overwritten",
    "warning",
    "Register overwritten while an access that reads it may be replayed",
    "An access whose address has no translation yet is executed again, and then reads the new value: the store goes "
    "elsewhere, or the load comes from elsewhere. It does not happen where the pages are mapped and translated.",
    "global_store_b32 v[2:3], v4, off; v_mov_b32 v2, 0  // gfx1250",
    "Place the wait that the message names before the instruction that overwrites the register.",
    place="wave",
)
XCNT = "xcnt"
MODE, REPLAY = 1, 25
"""Number of the hardware register MODE, and its bit REPLAY_MODE."""


class Access(NamedTuple):
    """An access that may be replayed."""

    pc: int
    name: str
    scalar: bool
    """Whether it is one of SMEM, whose translations come in any order; those of vector memory come in order."""
    reads: frozenset[Register]
    counters: tuple[tuple[str, str], ...]
    """Counters that it raises, with the order of each: what is complete is translated."""


class State(NamedTuple):
    """What a wave carries."""

    on: bool = False
    """Whether MODE.REPLAY_MODE is set."""
    open: tuple[Access, ...] = ()


class Missed(NamedTuple):
    """A register that is overwritten too early."""

    register: Register
    access: Access
    value: int
    """What XCNT may be at most."""
    place: Place
    first: tuple[int, int]


class Replays(Paths[State], Check):
    """Follows the counter of every wave."""

    name = "replays"
    about = "gfx1250: registers that are overwritten while an access that reads them may be replayed"
    kinds = (REPLAYED,)

    def __init__(self, launch: Launch) -> None:
        """Start with nothing that may be replayed."""
        Check.__init__(self, launch)
        Paths.__init__(self, State(), self.kernel)
        self.arch = self.kernel.arch
        self._m0: Register = ("s", self.arch.m0)
        self._counts = XCNT in self.arch.counters.limits
        self._missed: dict[tuple[int, int], Missed] = {}

    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """What may be replayed after a block.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """
        if not self._counts:
            return state
        on, left = state
        for instruction in event.instructions:
            on = _mode(instruction, on)
            left = self._translated(left, instruction)
            if left:
                left = self._overwritten(left, instruction, event, index, on=on)
            left = self._issued(left, instruction)
        return State(on, left)

    def _translated(self, left: tuple[Access, ...], instruction: Instruction) -> tuple[Access, ...]:
        """What is left after waits, and after what waits for all of them by itself."""
        opcode = instruction.opcode
        if opcode.flow or opcode.barrier or opcode.kind == "message":
            return ()
        for counter, value in waited(self.arch, instruction):
            left = _waited(left, counter, value)
        return left

    def _overwritten(
        self, left: tuple[Access, ...], instruction: Instruction, event: BlockEvent, index: int, *, on: bool
    ) -> tuple[Access, ...]:
        """Report an access whose registers an instruction writes, and leave it out from then on."""
        written = accessed(instruction)[1]
        if not written:
            return left
        if _replayed(instruction) and not instruction.opcode.scalar:
            # Its own addresses are translated after those of earlier accesses of vector memory: LLVM counts these, up
            # to the last one whose registers it writes, as translated.
            last = max((n for n, one in enumerate(left) if not one.scalar and one.reads & written), default=-1)
            left = tuple(one for n, one in enumerate(left) if one.scalar or n > last)
        kept = []
        for place, access in enumerate(left):
            over = access.reads & written
            if over and on:
                behind = 0 if access.scalar else sum(not other.scalar for other in left[place + 1 :])
                self._report(instruction, min(over), access, behind, event, index)
            kept.append(access._replace(reads=frozenset()) if over else access)
        return tuple(kept)

    def _report(
        self, instruction: Instruction, register: Register, access: Access, value: int, event: BlockEvent, index: int
    ) -> None:
        self.reported = True
        key = instruction.pc, access.pc
        had = self._missed.get(key)
        if had is None or had.first > self.first:
            self._missed[key] = Missed(register, access, value, event.place(index, None), self.first)

    def _issued(self, left: tuple[Access, ...], instruction: Instruction) -> tuple[Access, ...]:
        """An access is issued; the hardware lets none of the other kind be open beside it."""
        if not _replayed(instruction):
            return left
        scalar = instruction.opcode.scalar
        reads = frozenset(registers(instruction.src)) | ({self._m0} if instruction.opcode.reads_m0 else frozenset())
        up = raised(self.arch, instruction.opcode, bool(instruction.dst), instruction.space)
        made = Access(instruction.pc, instruction.name, scalar, reads, tuple((one.counter, one.order) for one in up))
        return (*(one for one in left if one.scalar == scalar), made)

    def merge(self, other: Replays) -> None:
        """Add what another part of the same launch found; parts come in the order of the grid."""
        for key, missed in other._missed.items():
            self._missed.setdefault(key, missed)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        found = []
        for (pc, _), missed in sorted(self._missed.items(), key=lambda item: item[0]):
            file, number = missed.register
            name = "m0" if missed.register == self._m0 else f"{file}{number}"
            at = self.kernel.line_at(missed.access.pc)
            text = (
                f"{name} is overwritten while {missed.access.name} at {at} may still be replayed: "
                f"{SPELLING[XCNT].format(missed.value)}{' or less' if missed.value else ''} is missing before it"
            )
            there = self.kernel.source_at(missed.access.pc)
            found.append(self.finding(REPLAYED, text, pc, missed.place, register=name, other=there))
        return found


def _replayed(instruction: Instruction) -> bool:
    """Whether an access keeps its registers until its addresses are translated.

    A tensor's descriptor is copied first (ROCm/rocm-systems#10202); LLVM 22 inserts no wait behind asynchronous copies
    and accesses to scratch.
    """
    opcode = instruction.opcode
    replays = opcode.access in ("load", "store", "atomic") and opcode.counter not in ("async", "tensor")
    return replays and opcode.unit in ("VMEM", "SMEM") and opcode.space != "scratch"


def _mode(instruction: Instruction, on: bool) -> bool:
    """Whether MODE.REPLAY_MODE is set after an instruction."""
    if instruction.opcode.kind != "setreg":
        return on
    immediate = next((operand.bits for operand in instruction.src if operand.kind == "imm"), 0)
    number, first, size = immediate & 63, immediate >> 6 & 31, (immediate >> 11 & 31) + 1
    if number != MODE or not first <= REPLAY < first + size:
        return on
    value = next((operand.bits for operand in instruction.src if operand.kind == "const"), None)
    return value is not None and bool(value >> (REPLAY - first) & 1)


def _waited(left: tuple[Access, ...], counter: str, value: int) -> tuple[Access, ...]:
    """What may still be replayed once a counter has a value at most."""
    behind: dict[str, int] = {}
    done = -1
    keep = []
    for place in range(len(left) - 1, -1, -1):
        access = left[place]
        raises = ((XCNT, "" if access.scalar else "vector"), *access.counters)
        translated = False
        for order in (order for name, order in raises if name == counter):
            behind[order] = behind.get(order, 0) + 1
            translated |= behind[order] > value if order else value == 0
        if translated and not access.scalar:
            done = max(done, place)
        if not translated:
            keep.append(place)
    return tuple(left[place] for place in sorted(keep) if left[place].scalar or place > done)

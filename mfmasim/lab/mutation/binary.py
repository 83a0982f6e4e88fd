"""Mutants of compiled code: one instruction changed by each operator that fits it, and the check that reports it.

A mutant is the code object with a few changed bytes. The counters identify waits that cannot matter: no operation that
they wait for was in flight, or only stores before the end of the program, or another wait has the same effect.
Other changes are compared by their effect: a mutant that is never executed, or that leaves the same bytes in memory on
all data of the case, is no evidence about the checks, only about the case.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from elftools.elf.elffile import ELFFile

from mfmasim import program
from mfmasim.devices.ways import Ways
from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import raised, waited
from mfmasim.kernels import Code, Kernel
from mfmasim.lab.mutation.covered import Sizes
from mfmasim.lab.mutation.operators import OPERATORS, is_lds_write
from mfmasim.lab.mutation.outcome import Outcome, same_bytes, within_tolerance
from mfmasim.machine.events import AccessEvent, BlockEvent
from mfmasim.observe.flights import Flight, execute, remaining
from mfmasim.observe.paths import Paths
from mfmasim.observe.tools.behaviour import Behaviour
from mfmasim.verify.cases import Case
from mfmasim.verify.result import Result
from mfmasim.verify.runner import verify_case

ROUNDING = "rounding toward zero"
TOWARD_ZERO = 0xF << 12
"""FLOAT_ROUND_MODE_32 and _16_64 of COMPUTE_PGM_RSRC1, both 3 (LLVM's AMDGPU usage guide, kernel descriptor)."""
RSRC1 = 48
"""Byte of COMPUTE_PGM_RSRC1 in the descriptor."""
KINDS = (*(operator.kind for operator in OPERATORS), ROUNDING)
"""Kinds of mutants that `mutants_in` makes."""
ORDER = frozenset(operator.kind for operator in OPERATORS if operator.order)


@dataclass(frozen=True)
class BinaryMutant:
    """A few changed bytes."""

    pc: int
    kind: str
    """One of `KINDS`."""
    text: str
    """The instruction before and after the change."""
    source: str
    code: bytes
    counter: str = ""
    """For a weakened wait: the counter whose value is one larger."""

    @property
    def place(self) -> str:
        """Source line, or the address where there is none."""
        return self.source or f"{self.pc:#x}"

    @property
    def change(self) -> str:
        """The instruction before and after the change."""
        return self.text


class InFlight(Paths[tuple[Flight, ...]]):
    """Operations for which each wait waits, by counter."""

    name = "in flight"

    def __init__(self, kernel: Kernel) -> None:
        """Follow launches of a kernel."""
        super().__init__(())
        self.arch = kernel.arch
        self.ended: dict[tuple[int, str, int], set[Flight]] = {}
        """(address, counter, 0 for its removal or 1 for weakening it by one) to operations that are then not ended."""
        self.last_wave = 0
        self.seen: set[Flight] = set()
        """Operations in flight at points that synchronise with other waves: a barrier, a store or an atomic."""
        self.shared: set[int] = set()
        """Addresses of the instructions by which a lane accessed memory that others reach: not its scratch."""

    def on_access(self, event: AccessEvent) -> None:
        """Record instructions that other waves could observe."""
        if event.space != "scratch" and (event.active is None or event.active.any()):
            self.shared.add(event.instruction.pc)

    def on_block(self, event: BlockEvent) -> None:
        """Follow the counters."""
        if not self.last_wave:
            self.last_wave = max(event.place(index, None).wave for index in range(len(event.waves)))
        super().on_block(event)

    def after(self, state: tuple[Flight, ...], event: BlockEvent, index: int) -> tuple[Flight, ...]:  # noqa: ARG002
        """Operations in flight after a block.

        Args:
            state: operations in flight before the block.
            event: the block.
            index: number of the wave in it.
        """
        flights = list(state)
        for instruction in event.instructions:
            for counter, value in waited(self.arch, instruction):
                left = remaining(flights, counter, value)
                weaker = remaining(flights, counter, value + 1)
                self.ended.setdefault((instruction.pc, counter, 0), set()).update(f for f in flights if f not in left)
                self.ended.setdefault((instruction.pc, counter, 1), set()).update(f for f in weaker if f not in left)
            opcode = instruction.opcode
            if opcode.barrier or (instruction.space not in ("", "lds", "gds") and opcode.access in ("store", "atomic")):
                self.seen.update(flights)
            flights = execute(self.arch, flights, instruction)
        return tuple(flights)


def patched(code: bytes, pc: int, change: bytes) -> bytes:
    """The code object with the bytes at a virtual address replaced.

    Args:
        code: the code object.
        pc: virtual address of the first byte.
        change: the new bytes.

    Raises:
        MfmasimError: no part of the file is loaded at the address.
    """
    for segment in ELFFile(io.BytesIO(code)).iter_segments("PT_LOAD"):
        first, offset, size = segment["p_vaddr"], segment["p_offset"], segment["p_filesz"]
        if first <= pc and pc + len(change) <= first + size:
            at = offset + pc - first
            return code[:at] + change + code[at + len(change) :]
    raise MfmasimError(f"address {pc:#x}: the code object loads nothing there")


def mutants_in(kernel: Kernel) -> list[BinaryMutant]:
    """Mutants of a kernel, in address order; that of the descriptor comes last."""
    found = [
        BinaryMutant(ins.pc, operator.kind, change.text, kernel.source_at(ins.pc), change.code, change.counter)
        for ins in kernel.decodable
        for operator in OPERATORS
        for change in operator.changes(kernel, ins)
    ]
    address = kernel.info.descriptor_address + RSRC1
    word = int.from_bytes(kernel.code.object.read_bytes(address, 4), "little")
    rounded = (word | TOWARD_ZERO).to_bytes(4, "little")
    return [*found, BinaryMutant(address, ROUNDING, "FLOAT_ROUND_MODE 3", kernel.name, rounded)]


def run_binary(
    case: Case,
    arch: str,
    limit: int | None = None,
    kinds: Sequence[str] = (),
    code: Code | None = None,
    *,
    covers: bool = False,
) -> Iterator[Outcome]:
    """Run the mutants of a case's compiled kernel, with all checks.

    Args:
        case: the case.
        arch: architecture.
        limit: at most so many, spread evenly over what the case executes.
        kinds: only these kinds.
        code: code object; else the case's own.
        covers: also at the sizes at which loops turn three times (`mfmasim.lab.covering`).

    Returns:
        Verdicts, one by one.

    Raises:
        MfmasimError: the unchanged kernel fails, so that its mutants have no verdict.
    """
    if arch in case.skip:
        return
    kernel = case.compiled(arch) if code is None else code[case.kernel_name()]
    flown, before, ways = InFlight(kernel), Behaviour(), Ways()
    right = verify_case(case, arch, kernel=kernel, observers=[flown, before, ways])
    if right.status != "pass":
        raise MfmasimError(f"{case.title} on {arch}: the unchanged kernel fails: {right.findings[0].message}")
    sizes = Sizes(case, kernel, ways, covers=covers)
    budget = 2 * sum(right.executed.values()) + 1000
    chosen = [mutant for mutant in mutants_in(kernel) if not kinds or mutant.kind in kinds]
    if limit is not None and limit < len(chosen):
        chosen = [mutant for mutant in chosen if mutant.kind == ROUNDING or mutant.pc in before.executed]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[number * len(chosen) // limit] for number in range(limit)]
    for mutant in chosen:
        caught, after, changed, result = _caught(mutant, case, arch, kernel, budget)
        equivalent, note = ("", "") if caught else _judge(mutant, kernel, flown, changed.seen)
        at = ""
        if covers and not caught and not equivalent:
            caught, at = sizes.caught(kernel_of(mutant, kernel))
        same = "" if caught or equivalent else _alike(mutant, before, after, same_bytes(right, result))
        if not (caught or equivalent or same or note):
            note = within_tolerance(result) or sizes.unseen
        yield Outcome(mutant, case.title, arch, caught, equivalent, note, same, right.trust, at)


def kernel_of(mutant: BinaryMutant, kernel: Kernel) -> Kernel:
    """The kernel with a mutant's bytes."""
    return program.load(patched(kernel.code.object.data, mutant.pc, mutant.code), kernel.arch)[kernel.name]


def _alike(mutant: BinaryMutant, before: Behaviour, after: Behaviour, same: str) -> str:
    """Why a mutant makes no difference on the data of its case; empty if it does."""
    if mutant.kind != ROUNDING and mutant.pc not in before.executed:
        return "never executed in this case"
    if mutant.kind not in ORDER and mutant.kind != "LDS write removed" and after.digest == before.digest:
        return same
    return ""


def _caught(
    mutant: BinaryMutant, case: Case, arch: str, kernel: Kernel, budget: int
) -> tuple[tuple[str, ...], Behaviour, InFlight, Result | None]:
    """Checks that report an error about a mutant, and its behaviour."""
    after, flown = Behaviour(), InFlight(kernel)
    changed = kernel_of(mutant, kernel)
    try:
        result = verify_case(case, arch, kernel=changed, budget=budget, observers=[after, flown])
    except MfmasimError:
        return ("refused",), after, flown, None  # an instruction at which the machine stops
    return tuple(sorted({f.check for f in result.findings if f.severity == "error"})), after, flown, result


def _judge(mutant: BinaryMutant, kernel: Kernel, flown: InFlight, seen: Collection[Flight]) -> tuple[str, str]:
    """Why a mutant that no check reports is equivalent; otherwise the order that it removes.

    `seen` are the operations in flight, when the mutant runs, at points that synchronise with other waves.
    """
    if mutant.kind == "barrier removed":
        return ("a workgroup has one wave", "") if not flown.last_wave else ("", "")
    if not mutant.kind.startswith("wait"):
        return "", ""
    weakened = int(mutant.kind == "wait weakened")
    open_ = {
        flight
        for (pc, counter, how), flights in flown.ended.items()
        if pc == mutant.pc and how == weakened and mutant.counter in ("", counter)
        for flight in flights
    }
    if not any(pc == mutant.pc for pc, _, _ in flown.ended):
        return "", "never executed"
    if not open_:
        return "nothing that it would wait for is in flight", ""
    names = ", ".join(sorted({flight.name for flight in open_}))
    opcodes = {flight: kernel.code.instruction_at(flight.pc, kernel.wave).opcode for flight in open_}
    if all(not flight.writes and opcode.unit != "LDS" for flight, opcode in opcodes.items()) and _ends(
        kernel, mutant.pc
    ):
        return f"only stores are in flight ({names}), and the program ends", ""
    if all(opcode.access == "store" and flight.pc not in flown.shared for flight, opcode in opcodes.items()):
        return f"only stores of no lane, or to a lane's own scratch, are in flight ({names})", ""
    if not flown.last_wave and all(is_lds_write(opcode) for opcode in opcodes.values()):
        return f"one wave's LDS accesses are done in order ({names}), and the workgroup has no other wave", ""
    if all(flight.writes and opcode.access != "atomic" for flight, opcode in opcodes.items()):
        return f"another wait comes before every use of what is loaded ({names})", ""
    if not any(flight.writes for flight in open_) and not open_ & set(seen):
        return f"complete before any barrier, store or atomic that another wave could observe ({names})", ""
    return "", f"in flight: {names}"


def _ends(kernel: Kernel, pc: int) -> bool:
    """Whether the program ends after an address without a memory access, a branch or a barrier."""
    for ins in kernel.decodable:
        if ins.pc <= pc:
            continue
        if ins.opcode.flow == "end":
            return True
        busy = raised(kernel.arch, ins.opcode, bool(ins.dst), ins.space)
        if busy or ins.target is not None or ins.opcode.barrier or ins.opcode.flow:
            return False
    return False

"""Mutants of compiled code: waits and barriers taken out or weakened, LDS offsets shifted, one at a time.

Each is the code object with one dword changed. Waits that cannot matter are recognised on the unchanged kernel, by the
counters: nothing that they would wait for was in flight, or nothing but stores before the end of the program.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile

from mfmasim import program
from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import raised, waited, waiting_for
from mfmasim.observe.waits import Flight, Waits, settled
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.runner import verify_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent
    from mfmasim.program import Code, Kernel
    from mfmasim.verify.cases import Case

__all__ = ["BinaryMutant", "BinaryVerdict", "mutants_in", "patched", "run_binary"]

NOP = 0xBF800000
"""S_NOP 0: SOPP's opcode 0 on every architecture (ISA manuals, SOPP)."""
LDS = ("ds_read", "ds_write", "ds_load", "ds_store")


@dataclass(frozen=True)
class BinaryMutant:
    """One changed dword."""

    pc: int
    kind: str
    """``wait removed``, ``wait weakened``, ``barrier removed`` or ``LDS offset shifted``."""
    text: str
    """The instruction, and what it became."""
    source: str
    dword: int
    counter: str = ""
    """Of a weakened wait: the counter whose value is one larger."""


@dataclass(frozen=True)
class BinaryVerdict:
    """What happened to a mutant."""

    mutant: BinaryMutant
    case: str
    arch: str
    caught: tuple[str, ...]
    """Checks that reported an error."""
    equivalent: str = ""
    """Why nothing can report it."""
    note: str = ""
    """Of one that survives: what it leaves unordered."""

    @property
    def survived(self) -> bool:
        """Whether it should have been caught and was not."""
        return not self.caught and not self.equivalent


class InFlight(Waits):
    """What each wait waits for, by counter; and how far waves of a workgroup are numbered."""

    name = "in flight"

    def __init__(self, kernel: Kernel) -> None:
        """Listen to launches of a kernel."""
        super().__init__(kernel.name, kernel.arch, kernel.source_at)
        self.ended: dict[tuple[int, str, int], set[Flight]] = {}
        """(address, counter, 0 for its removal or 1 for weakening it by one) to operations that are then not ended."""
        self.last_wave = 0

    def on_block(self, event: BlockEvent) -> None:
        """Follow the counters."""
        if not self.last_wave:
            self.last_wave = max(event.place(index, None).wave for index in range(len(event.waves)))
        super().on_block(event)

    def _step(self, flights: list[Flight], instruction: Instruction, event: BlockEvent, index: int) -> list[Flight]:
        for counter, value in waited(self.arch, instruction):
            left = settled(flights, counter, value)
            weaker = settled(flights, counter, value + 1)
            self.ended.setdefault((instruction.pc, counter, 0), set()).update(f for f in flights if f not in left)
            self.ended.setdefault((instruction.pc, counter, 1), set()).update(f for f in weaker if f not in left)
        return super()._step(flights, instruction, event, index)


def patched(code: bytes, pc: int, dword: int) -> bytes:
    """The code object with the dword at a virtual address replaced.

    Raises:
        MfmasimError: nothing of the file is loaded there.
    """
    for segment in ELFFile(io.BytesIO(code)).iter_segments("PT_LOAD"):
        first, offset, size = segment["p_vaddr"], segment["p_offset"], segment["p_filesz"]
        if first <= pc and pc + 4 <= first + size:
            at = offset + pc - first
            return code[:at] + dword.to_bytes(4, "little") + code[at + 4 :]
    raise MfmasimError(f"address {pc:#x}: the code object loads nothing there")


def mutants_in(kernel: Kernel) -> list[BinaryMutant]:
    """Mutants of a kernel, in address order."""
    return [mutant for instruction in kernel.decodable for mutant in _of(kernel, instruction)]


def _of(kernel: Kernel, ins: Instruction) -> Iterator[BinaryMutant]:
    source = kernel.source_at(ins.pc)
    dword = int.from_bytes(kernel.code.object.read_bytes(ins.pc, 4), "little")
    waits = waited(kernel.arch, ins)
    if waits and ins.name != "s_endpgm":
        yield BinaryMutant(ins.pc, "wait removed", ins.text, source, NOP)
        for counter, value in waits:
            bits = waiting_for(kernel.arch, ins, counter, value + 1)
            if bits is not None:
                text = f"{ins.text}, {counter} {value + 1}"
                yield BinaryMutant(ins.pc, "wait weakened", text, source, dword & ~0xFFFF | bits, counter)
    elif ins.name.startswith("s_barrier"):
        yield BinaryMutant(ins.pc, "barrier removed", ins.text, source, NOP)
    elif ins.name.startswith(LDS) and "offset" in ins.modifiers and (offset := int(ins.modifiers["offset"])) < 0xFFFC:
        text = f"{ins.text}, offset {offset + 4}"
        yield BinaryMutant(ins.pc, "LDS offset shifted", text, source, dword + 4)
    elif ins.name.startswith(LDS) and int(ins.modifiers.get("offset0", 0xFF)) < 0xFF:
        text = f"{ins.text}, offset0 {int(ins.modifiers['offset0']) + 1}"
        yield BinaryMutant(ins.pc, "LDS offset shifted", text, source, dword + 1)


def run_binary(
    case: Case, arch: str, limit: int | None = None, kinds: Sequence[str] = (), code: Code | None = None
) -> Iterator[BinaryVerdict]:
    """Run the mutants of a case's compiled kernel, with all checks.

    Args:
        case: the case.
        arch: architecture.
        limit: at most so many, spread evenly over the kernel.
        kinds: only these kinds.
        code: code object; else the case's own.

    Returns:
        Verdicts, one by one.

    Raises:
        MfmasimError: the unchanged kernel fails, so that nothing can be said of its mutants.
    """
    code = code or code_for(case.source, arch, None, case.flags)
    kernel = code[case.kernel_name()]
    flown = InFlight(kernel)
    right = verify_case(case, arch, kernel=kernel, observers=[flown])
    if right.status == "skipped":
        return
    if right.status != "pass":
        raise MfmasimError(f"{case.title} on {arch}: the unchanged kernel fails: {right.findings[0].message}")
    budget = 2 * sum(right.executed.values()) + 1000
    chosen = [mutant for mutant in mutants_in(kernel) if not kinds or mutant.kind in kinds]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[number * len(chosen) // limit] for number in range(limit)]
    ran = _executed(kernel, flown)
    for mutant in chosen:
        changed = program.load(patched(code.object.data, mutant.pc, mutant.dword), kernel.arch)[kernel.name]
        equivalent, note = _judge(mutant, kernel, flown, ran)
        result = verify_case(case, arch, kernel=changed, budget=budget)
        caught = tuple(sorted({f.check for f in result.findings if f.severity == "error"}))
        yield BinaryVerdict(mutant, case.title, arch, caught, "" if caught else equivalent, "" if caught else note)


def _executed(kernel: Kernel, flown: InFlight) -> set[int]:
    """Addresses of the waits that were executed."""
    return {pc for pc, _, _ in flown.ended if pc} & {ins.pc for ins in kernel.decodable}


def _judge(mutant: BinaryMutant, kernel: Kernel, flown: InFlight, ran: set[int]) -> tuple[str, str]:
    """Why a mutant is equivalent, and else what it leaves unordered."""
    if mutant.kind == "barrier removed":
        return ("a workgroup has one wave", "") if not flown.last_wave else ("", "")
    if not mutant.kind.startswith("wait"):
        return "", ""
    if mutant.pc not in ran:
        return "", "never executed"
    weakened = int(mutant.kind == "wait weakened")
    open_ = {
        flight
        for (pc, counter, how), flights in flown.ended.items()
        if pc == mutant.pc and how == weakened and mutant.counter in ("", counter)
        for flight in flights
    }
    if not open_:
        return "nothing that it would wait for is in flight", ""
    names = ", ".join(sorted({flight.name for flight in open_}))
    if all(not f.writes and not f.name.startswith("ds_") for f in open_) and _ends(kernel, mutant.pc):
        return f"only stores are in flight ({names}), and the program ends", ""
    return "", f"in flight: {names}"


def _ends(kernel: Kernel, pc: int) -> bool:
    """Whether the program ends after an address without touching memory, branching or meeting a barrier."""
    for ins in kernel.decodable:
        if ins.pc <= pc:
            continue
        if ins.name == "s_endpgm":
            return True
        busy: Any = raised(kernel.arch, ins.name, bool(ins.dst))
        if busy or ins.target is not None or ins.name.startswith(("s_barrier", "s_setpc", "s_swappc")):
            return False
    return False

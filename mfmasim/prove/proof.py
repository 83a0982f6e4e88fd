"""The proof of a case: its obligations and their verdicts for all sizes that its contract admits."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.prove.bounds import outside
from mfmasim.prove.conflicts import degrees
from mfmasim.prove.contract import contracts_of
from mfmasim.prove.execution import Execution
from mfmasim.prove.fragments import RESTS_ON, at_the_only_size
from mfmasim.prove.global_races import shared_bytes
from mfmasim.prove.lds_races import races
from mfmasim.prove.memos import forget
from mfmasim.prove.outputs import unproved
from mfmasim.prove.paths import Stopped
from mfmasim.prove.replay import refuted
from mfmasim.prove.sampling import check_contract
from mfmasim.prove.trace import accesses
from mfmasim.verify.runner import set_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mfmasim.kernels import Kernel
    from mfmasim.prove.contract import Contract
    from mfmasim.prove.state import State
    from mfmasim.verify import Case

__all__ = ["KINDS", "Obligation", "Proof", "Reason", "followed", "prove_case"]

KINDS = {
    "bounds": "no access outside of its argument, of the LDS, of the scratch",
    "lds races": "no two waves touch a byte of the LDS, one of them writing, without a barrier between",
    "waits": "no register is touched while a load may still write it",
    "global races": "no byte of memory that a wave writes is touched by another one, of its workgroup or of others",
    "bank conflicts": "the largest degree of an LDS access is known",
    "fragments": "each operand of a matrix instruction holds the elements that it should",
}
"""Obligations, each with its statement."""


@dataclass(frozen=True)
class Reason:
    """An instruction for which an obligation is not proved."""

    pc: int
    text: str
    why: str
    source: str = ""


@dataclass(frozen=True)
class Obligation:
    """One obligation and its verdict."""

    kind: str
    verdict: str
    """``proved``, ``refuted`` or ``unknown``."""
    count: int = 0
    """Number of instructions (for bounds: pairs of instruction and space) that it covers."""
    reasons: tuple[Reason, ...] = ()
    note: str = ""
    """The largest degree of bank conflicts, or the finding of a replay."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """For a refutation: the parameters that the simulator replayed."""


@dataclass
class Proof:
    """The proof of one case on one architecture."""

    group: str
    case: str
    kernel: str
    arch: str
    obligations: list[Obligation] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    """Parameters for whose values, all of them, the proof holds."""
    seconds: float = 0.0
    """CPU time."""
    source: str = ""
    """File of the kernel's source, or of its code object."""

    @property
    def verdicts(self) -> Counter[str]:
        """Number of obligations with each verdict."""
        return Counter(one.verdict for one in self.obligations)

    def record(self) -> dict[str, Any]:
        """The proof as a dictionary that JSON can represent."""
        return {
            "group": self.group,
            "case": self.case,
            "kernel": self.kernel,
            "arch": self.arch,
            "source": self.source,
            "for_all": self.symbols,
            "assumptions": self.assumptions,
            "obligations": [
                {
                    "kind": one.kind,
                    "verdict": one.verdict,
                    "instructions": one.count,
                    "note": one.note,
                    "parameters": one.parameters,
                    "reasons": [
                        {"pc": r.pc, "instruction": r.text, "source": r.source, "why": r.why} for r in one.reasons
                    ],
                }
                for one in self.obligations
            ],
        }


def prove_case(
    case: Case,
    arch: str,
    *,
    group: str = "",
    seconds: float = 60.0,
    compiler: str | None = None,
    kernel: Kernel | None = None,
    replays: bool = True,
) -> Proof:
    """Prove the obligations of a case's kernel for all sizes that the case's contract admits.

    Args:
        case: the case.
        arch: architecture.
        group: the case's family, for the report.
        seconds: CPU time of the symbolic execution; obligations that need more are unknown.
        compiler: the compiler to use.
        kernel: replaces the case's own kernel, by a mutant for example.
        replays: whether the simulator runs sizes to refute unproved obligations.

    Returns:
        Every obligation with its verdict.

    Raises:
        MfmasimError: the kernel cannot be compiled.
    """
    start = time.process_time()
    target = find_arch(arch)
    case = set_parameters(case, arch=target.name)
    kernel = case.compiled(target.name, compiler) if kernel is None else kernel
    case = set_parameters(case, wave=kernel.wave)
    proof = Proof(group, case.title, kernel.name, target.name, source=str(case.source))
    contracts: list[Contract] = []
    try:
        contracts = contracts_of(case, target)
        for contract in contracts:
            check_contract(case, contract, target)
        proof.assumptions = list(dict.fromkeys(text for contract in contracts for text in contract.assumptions))
        proof.symbols = sorted({*contracts[0].parameters, *contracts[0].fixed})
        each: list[list[Obligation]] = []
        for number, contract in enumerate(contracts):
            left = start + seconds - time.process_time()
            own = case.with_parameters(contract.fixed)
            each.append(followed(kernel, contract, left / (len(contracts) - number), own))
        proof.obligations = _joined([one for way in each for one in way])
    except (MfmasimError, ArithmeticError) as stop:
        proof.obligations = _unknown(kernel, kernel.info.entry, str(stop))
    finally:
        forget()
    if replays:
        open_ones = [one.kind for one in proof.obligations if one.verdict == "unknown"]
        found = refuted(case, kernel, contracts, open_ones) if open_ones else {}
        proof.obligations = [
            replace(one, verdict="refuted", note=found[one.kind][0], parameters=found[one.kind][1])
            if one.kind in found
            else one
            for one in proof.obligations
        ]
    proof.seconds = time.process_time() - start
    return proof


def _unknown(kernel: Kernel, pc: int, why: str, kinds: Iterable[str] = KINDS) -> list[Obligation]:
    return [Obligation(kind, "unknown", 0, (_reason(kernel, pc, why),)) for kind in kinds]


def _joined(every: Sequence[Obligation]) -> list[Obligation]:
    """The obligations of all paths of a case's function, each once."""
    found = []
    for kind in dict.fromkeys(one.kind for one in every):
        ways = [one for one in every if one.kind == kind]
        verdict = "proved" if all(one.verdict == "proved" for one in ways) else "unknown"
        reasons = tuple({(r.pc, r.why): r for one in ways for r in one.reasons}.values())
        note = "; ".join(dict.fromkeys(one.note for one in ways if one.note))
        found.append(Obligation(kind, verdict, max(one.count for one in ways), reasons, note))
    return found


def followed(kernel: Kernel, contract: Contract, seconds: float, case: Case | None = None) -> list[Obligation]:
    """The obligations of a kernel under one contract.

    Fragments are an obligation of kernels with matrix instructions whose case declares matrices: plain arrays
    have no declared elements.

    Args:
        kernel: the kernel.
        contract: its launches.
        seconds: CPU time.
        case: declares the fragments.
    """
    kinds = KINDS if case is not None else ("lds bounds", *KINDS)[:-1]
    try:
        execution = Execution(kernel, contract, seconds=seconds)
        paths = execution.run()
        found = _judged(kernel, contract, execution, paths)
        if execution.matrix and case is not None and any(region.tensor for region in contract.regions):
            found.append(_fragments(case, kernel, contract, execution, paths, found))
    except Stopped as stop:
        found = _unknown(kernel, kernel.info.entry if stop.pc is None else stop.pc, stop.why, kinds)
    except (MfmasimError, ArithmeticError, RecursionError) as stop:
        found = _unknown(kernel, kernel.info.entry, str(stop), kinds)
    return found


def _fragments(
    case: Case,
    kernel: Kernel,
    contract: Contract,
    execution: Execution,
    paths: list[State],
    others: Sequence[Obligation],
) -> Obligation:
    """Obligations that matrix instructions and stores have the right elements."""
    entry, rests, problems = min(execution.matrix), "", {}
    if not contract.parameters:
        why, rests = at_the_only_size(case, kernel)
        problems = {entry: why} if why else {}
    elif execution.modes:
        problems = dict.fromkeys(execution.modes, "it changes how numbers are computed")
    else:
        open_ones = [one.kind for one in others if one.kind in RESTS_ON and one.verdict != "proved"]
        try:
            problems = unproved(paths, contract, execution.segment.data, execution.tick) or execution.turned
        except Stopped as stop:
            problems = {entry: stop.why}
        if open_ones and not problems:
            problems = {entry: f"it rests on {', '.join(open_ones)}"}
    reasons = tuple(_reason(kernel, pc, why) for pc, why in sorted(problems.items()))
    return Obligation("fragments", "unknown" if reasons else "proved", len(execution.matrix), reasons, rests)


def _reason(kernel: Kernel, pc: int, why: str) -> Reason:
    try:
        text = kernel.code.instruction_at(pc, kernel.wave).text
    except MfmasimError:
        text = ""
    return Reason(pc, text, why, kernel.source_at(pc))


def _judged(kernel: Kernel, contract: Contract, execution: Execution, paths: list[State]) -> list[Obligation]:
    found = {id(access): access for path in paths for access in accesses(path.trace)}
    every = list(found.values())
    info = kernel.info.metadata
    lds = info.group_segment_fixed_size + contract.shared
    late: dict[str, Stopped] = {}

    def timed(kind: str, judge: Callable[[], dict[int, str]]) -> dict[int, str]:
        try:
            return judge()
        except Stopped as stop:
            late[kind] = stop
            return {kernel.info.entry if stop.pc is None else stop.pc: stop.why}

    undeclared = {region.pointer: region.name for region in contract.regions if not region.declared}

    beyond: dict[int, str] = {}  # LDS accesses: a load that writes the LDS has a global access, too

    def bounds() -> dict[int, str]:
        problems: dict[int, str] = {}
        for access in every:
            execution.tick(access.instruction.pc)
            begins = [undeclared[s] for s in undeclared if access.address is not None and s in access.address.symbols]
            if begins:
                why = f"the length of {begins[0]} is not declared"
            else:
                why = outside(access, contract.regions, lds, info.private_segment_fixed_size)
            if why:
                problems.setdefault(access.instruction.pc, why)
                if access.space == "lds":
                    beyond.setdefault(access.instruction.pc, why)
        return problems

    def ordered() -> dict[int, str]:
        problems, turned = races(paths, kernel.arch, lds, execution.tick)
        execution.turned = _first(sorted(turned))
        return _first(sorted(problems))

    unproved = timed("bounds", bounds)
    shared = [a for a in every if a.space == "lds"]
    if "bounds" in late:
        beyond |= unproved
    open_bounds = set(unproved) if "bounds" not in late else {a.instruction.pc for a in every}
    anywhere = {a.instruction.pc: "a FLAT address may be of any memory" for a in every if a.space == "flat"}
    inside = anywhere if lds else {}
    racy = timed("lds races", ordered) | beyond | inside
    split = timed("global races", lambda: _first(shared_bytes(every, contract, open_bounds, execution.tick))) | anywhere
    early = {pc: why for (pc, _), why in execution.early.items()}
    worst, lost = degrees(kernel.arch, shared)

    def one(kind: str, count: int, problems: dict[int, str], note: str = "") -> Obligation:
        reasons = tuple(_reason(kernel, pc, why) for pc, why in sorted(problems.items()))
        return Obligation(kind, "unknown" if reasons else "proved", count, reasons, note)

    places = {(a.instruction.pc, a.space) for a in every}
    lds_places, memory = ({pc for pc, space in places if space == wanted} for wanted in ("lds", "global"))
    found_bounds = [one("bounds", len(places), unproved)]
    if undeclared:
        # Bounds of LDS and scratch need no lengths of arrays: they are an obligation of their own.
        own = {a.instruction.pc for a in every if a.space != "global"}
        inner = {pc: why for pc, why in unproved.items() if pc in own and "is not declared" not in why}
        found_bounds.insert(0, one("lds bounds", len(own), unproved if "bounds" in late else inner))
    return [
        *found_bounds,
        one("lds races", len(lds_places), racy),
        one("waits", execution.loads, early),
        one("global races", len(memory), split),
        one("bank conflicts", len(lds_places), lost | inside, f"degree at most {worst}" if worst else ""),
    ]


def _first(problems: Iterable[tuple[int, str]]) -> dict[int, str]:
    """One reason for each instruction that has one."""
    found: dict[int, str] = {}
    for pc, why in problems:
        if why:
            found.setdefault(pc, why)
    return found

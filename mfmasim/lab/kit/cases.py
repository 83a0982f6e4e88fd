"""The cases of the families on the GPU, each launch three times, as ``golden record`` without the inputs.

A case whose outputs equal the reference is one line. Differing outputs are kept, up to a limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement.poisoned import run_recorded
from mfmasim.lab.kit.verdict import Verdict, missing
from mfmasim.toolchain import find_compiler
from mfmasim.verify.files import WRONG, families, load_file
from mfmasim.verify.prebuilt import is_prebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mfmasim.devices import Device
    from mfmasim.lab.kit.records import Record
    from mfmasim.verify.cases import Case

    Result = tuple[dict[str, Any], dict[str, NDArray[Any]]]

KEPT = 1 << 16
"""Most bytes of a buffer that is kept because outputs differ."""


def case_probes(arch: str, *, quick: bool) -> dict[str, Callable[[Device], Result]]:
    """Functions that run each case of an architecture, by family and title.

    Args:
        arch: its name.
        quick: only cases whose code objects are prebuilt; else also the others, where there is a compiler.
    """
    compiles = not quick and _has_compiler()
    return {
        f"{family} {case.title}": _case(family, case, arch)
        for family, case in _cases(arch)
        if compiles or (not case.flags and is_prebuilt(case.source, arch))
    }


def _cases(arch: str) -> Iterator[tuple[str, Case]]:
    for family, path in families().items():
        for case in load_file(path) if family not in WRONG else ():
            if arch in case.arch and arch not in case.skip:
                yield family, case


def _has_compiler() -> bool:
    try:
        find_compiler()
    except MfmasimError:
        return False
    return True


def _case(family: str, case: Case, arch: str) -> Callable[[Device], Result]:
    def run(device: Device) -> Result:
        result, recorder = run_recorded(case, arch, family, device)
        about = {
            "status": result.status,
            "code": recorder.kernel.code.sha256 if recorder.kernel else "",
            "launches": len(recorder.launches),
            "elements": result.outputs["elements"],
            "mismatches": result.outputs["mismatches"],
            "found": [f"{one.id}: {one.message}"[:200] for one in result.findings if one.severity == "error"][:4],
        }
        kept = {}
        if result.status == "fail":
            for number, launch in enumerate(recorder.launches[:4]):
                for place, (before, after) in enumerate(zip(launch.before, launch.after, strict=True)):
                    if after.nbytes <= KEPT and not np.array_equal(before, after):
                        kept[f"launch{number}_buffer{place}_after"] = after
        return about, kept

    return run


def judge_case(record: Record | None) -> Verdict:
    """Whether a case's outputs are the reference's.

    Args:
        record: of its probe.
    """
    none = missing(record)
    if none is not None or record is None:
        return none or Verdict("undecided", "its probe was not run")
    about = record.about
    if about.get("status") == "pass":
        return Verdict("settled", f"{about.get('elements')} elements are the reference's, in each of three runs")
    found = about.get("found")
    why = "; ".join(str(one)[:200] for one in found[:2]) if isinstance(found, list) and found else "no reason is given"
    return Verdict("contradicted", f"{about.get('mismatches')} of {about.get('elements')} elements differ: {why}")

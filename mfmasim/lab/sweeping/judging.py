"""The verdict on a code object without a case: decoding, execution, and obligations for every launch."""

from __future__ import annotations

import time
from typing import Any

from mfmasim.errors import MfmasimError, one_line
from mfmasim.lab.sweeping.finding import Found, bytes_at
from mfmasim.program import Code, Kernel, load

__all__ = ["DECISIVE", "SCHEMA_VERSION", "judged"]

SCHEMA_VERSION = 1
"""Of a record; its JSON Schema is mfmasim/schemas/sweep.json."""
DECISIVE = ("lds races", "waits")
"""Obligations that need no lengths of arrays: without a proof of them there is no ``pass``."""
MOST = 5
"""Instructions that are named as a reason."""


def judged(found: Found, seconds: float) -> dict[str, Any]:
    """The record of a code object.

    Args:
        found: where it is.
        seconds: CPU time; kernels beyond it are unknown.

    Returns:
        The record, whose verdict is ``pass`` only if every kernel decodes, can be executed, requests no more resources
        than the architecture has, and has its decisive obligations proved; an exception gives ``error``.
    """
    import mfmasim

    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "mfmasim": mfmasim.__version__,
        "seconds": seconds,
        "sha256": found.sha256,
        "target": found.target,
        "arch": "",
        "size": found.size,
        "files": sorted(set(found.files)),
        "verdict": "error",
        "why": found.why,
        "kernels": [],
    }
    if found.why:
        return record
    try:
        code = load(bytes_at(found.place), None)
        record |= {"arch": code.arch.name, "target": found.target or code.object.target_id}
        record["kernels"] = _kernels(code, found, seconds)
    except MfmasimError as error:
        return record | {"why": one_line(error)}
    except Exception as error:  # noqa: BLE001  (a sweep goes on, and what was not judged does not pass)
        return record | {"why": f"internal error: {one_line(error)}", "kernels": []}
    verdicts = [kernel["verdict"] for kernel in record["kernels"]]
    if not verdicts:
        return record | {"verdict": "pass", "why": "it holds no kernel"}
    worst = next(word for word in ("error", "fail", "unknown", "pass") if word in verdicts)
    why = next(f"{kernel['kernel']}: {kernel['why']}" for kernel in record["kernels"] if kernel["verdict"] == worst)
    return record | {"verdict": worst, "why": "" if worst == "pass" else why}


def _kernels(code: Code, found: Found, seconds: float) -> list[dict[str, Any]]:
    end = time.process_time() + seconds
    return [_kernel(kernel, found, end - time.process_time()) for kernel in code]


def _kernel(kernel: Kernel, found: Found, left: float) -> dict[str, Any]:
    from mfmasim.prove import prove_kernel

    metadata = kernel.info.metadata
    required = metadata.reqd_workgroup_size
    block: tuple[int, ...] = required or (found.block or metadata.max_flat_workgroup_size,)
    origin = "required" if required else "Triton" if found.block else "largest"
    record: dict[str, Any] = {
        "kernel": kernel.name,
        "workgroup": list(block),
        "workgroup_is": origin,
        "dynamic_lds": found.shared,
        "verdict": "unknown",
        "why": "",
        "unsupported": [
            {"pc": i.pc, "text": i.text.strip(), "source": kernel.source_at(i.pc), "why": why}
            for i, why in kernel.refusals[:MOST]
        ],
        "obligations": [],
    }
    # LDS that is static in Triton's code is dynamic in its JSON: only one of the two counts.
    static = metadata.group_segment_fixed_size
    shared = max(0, found.shared - static)
    most = kernel.arch.lds_bytes
    if static + shared > most:
        return record | {"verdict": "fail", "why": f"{static + shared:,} bytes of LDS, {kernel.arch.name} has {most:,}"}
    if record["unsupported"]:
        first = record["unsupported"][0]
        return record | {"why": f"{first['text']} at {first['pc']:#x} cannot be executed: {first['why']}"}
    if left <= 0:
        return record | {"why": "the time of the object was over"}
    proof = prove_kernel(kernel, block, shared, seconds=left)
    record["obligations"] = [
        {
            "kind": one.kind,
            "verdict": one.verdict,
            "instructions": one.count,
            "note": one.note,
            "reasons": [{"pc": r.pc, "text": r.text, "source": r.source, "why": r.why} for r in one.reasons[:MOST]],
        }
        for one in proof.obligations
    ]
    refuted = [one for one in proof.obligations if one.verdict == "refuted"]
    open_ = [one for one in proof.obligations if one.kind in DECISIVE and one.verdict != "proved"]
    for verdict, ones in (("fail", refuted), ("unknown", open_)):
        if ones:
            why = ones[0].reasons[0].why if ones[0].reasons else ones[0].note
            return record | {"verdict": verdict, "why": f"{ones[0].kind}: {why}"}
    return record | {"verdict": "pass"}

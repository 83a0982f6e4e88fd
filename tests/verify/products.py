"""One matrix product through a device: the kit's kernel of a golden case's instruction, on any architecture."""

from functools import cache

import numpy as np

from golden.cases import FAMILY_OF
from golden.reference import models
from mfmasim.lab.kit.code import probe_code
from mfmasim.lab.kit.kernels import matrix_kernels, matrix_name, matrix_operations

SCALED = ("mfma_scale", "wmma_scale")


@cache
def operation(case, arch):
    """The instruction that computes D = A B of a case."""
    formats = tuple("xf32" if case.kind == "xf32" else name for name in case.formats(arch))
    (found,) = [
        op
        for op in matrix_operations(arch)
        if ((op.m, op.n, op.k), op.blocks, op.d) == (case.shape, 1, "f32")
        and (op.a, op.b) == formats
        and not op.sparse
        and (op.row.a == "f8f6f4") == (case.kind == "f8f6f4")
        and (op.kind in SCALED if case.block else "scale" not in op.kind)
    ]
    return found


def launch(device, case, arch, a, b, scale_a=None, scale_b=None):
    """D (M, N) in f32 codes, as a device computes it from codes of A and B and one scale for each block."""
    op = operation(case, arch)
    kernel = matrix_kernels(arch)[matrix_name(op)]
    c = np.zeros((op.m, op.n), np.uint32)
    given = {"A": a, "B": b, "C": c, "scale_A": scale_a, "scale_B": None if scale_b is None else scale_b.T}
    rows = np.concatenate([op.operands[name].pack(given[name]).astype(np.uint32) for name, _ in kernel.sources])
    assert rows.shape == (kernel.rows, op.wave)
    out = np.zeros((kernel.results, op.wave), np.uint32)
    code = probe_code(arch)[kernel.name]
    report = device.launch(code, 1, op.wave, [np.ascontiguousarray(rows), out, np.uint32(op.wave)], checks="all")
    assert report.ok, report.findings
    return np.asarray(op.D.unpack(out), np.uint32)


def canonical(codes):
    """F32 codes with one NaN, as golden's reference writes it."""
    return np.where((codes & 0x7FFFFFFF) > 0x7F800000, np.uint32(0x7FC00000), codes)


def reference(case, arch, a, b, **scales):
    """Golden's D."""
    return models.matmul(a, b, *case.formats(arch), models.RULES[FAMILY_OF[arch], case.kind], **scales)

"""Bad input: a small kernel for each kind, the exact finding about it, and what comes then."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.isa.family import family
from tests.machine import harness

BAD = Path(__file__).with_name("bad.hip")
POISON = 0xA5A5A5A5


def decoded(arch):
    """Whether the decoder has tables for an architecture."""
    try:
        family(arch)
    except MfmasimError:
        return False
    return True


RDNA = [arch for arch in ("gfx1151", "gfx1201") if decoded(arch)]
ARCHITECTURES = [*harness.ARCHITECTURES, *RDNA]
BARRIER = {"gfx1201": "s_barrier_signal -1\\ns_barrier_wait -1"}


@functools.cache
def compiled(arch):
    """The kernels of bad.hip."""
    # Dual instructions are a matter of their own.
    flags = [] if arch in harness.ARCHITECTURES else ["-mllvm", "-amdgpu-enable-vopd=0"]
    return mfmasim.compile(BAD, arch, flags=[f'-DBARRIER="{BARRIER.get(arch, "s_barrier")}"', *flags])


def line_of(mark):
    """Source line with a mark, as findings name it."""
    (number,) = [n for n, text in enumerate(BAD.read_text().splitlines(), 1) if text.endswith(f"// bad: {mark}")]
    return f"bad.hip:{number}"


def run(kernel, *, arch, n, out=None, grid=1, block=64, **options):
    """Launch a kernel; (report, output)."""
    out = None if out is None else np.zeros(out, np.uint32)
    given = np.arange(64, dtype=np.uint32)
    report = mfmasim.device("sim").launch(
        compiled(arch)[kernel], grid=grid, block=block, args=[out, given, np.int32(n)], **options
    )
    return report, out


NEW = 64
"""Elements of the output."""
WAVES = "waves"
"""A count: the waves of 64 work-items."""
# kernel: launch options; check, severity, workgroup, work-item of the workgroup, whether a lane is named, count;
# message; the output afterwards.
EXPECTED = {
    "read_outside": (
        {"n": 10, "out": NEW},
        ("bounds", "error", (0, 0, 0), 54, True, 10),
        (
            "read of 4 bytes outside every buffer: in[64] at address 0x7f0000*, 0 bytes past the end of argument 1 "
            "(in) (256 bytes); 10 lanes in all, the load returned poison"
        ),
        np.r_[np.arange(10, 64), [POISON] * 10],
    ),
    "write_outside": (
        {"n": 5, "out": NEW, "grid": 2},
        ("bounds", "error", (0, 0, 0), 0, True, 5 + 59),
        (
            "write of 4 bytes outside every buffer: out[-5] at address 0x7f0000*, 20 bytes before argument 0 (out) "
            "(256 bytes); 64 lanes in all, the store was dropped"
        ),
        np.full(64, 7),
    ),
    "null_pointer": (
        {"n": 5, "out": None},
        ("bounds", "error", (0, 0, 0), 0, True, 64),
        (
            "write of 4 bytes outside every buffer: address 0x0, a null pointer plus 0 bytes; 64 lanes in "
            "all, the store was dropped"
        ),
        None,
    ),
    "misaligned_atomic": (
        {"n": 2, "out": NEW},
        ("alignment", "error", (0, 0, 0), 0, True, WAVES),
        (
            "atomic of 4 bytes at address 0x7f0000*, which is not a multiple of its size; {lanes} in all, the "
            "hardware reports a memory violation and changes nothing"
        ),
        np.zeros(64),
    ),
    "misaligned_lds": (
        {"n": 4, "out": NEW},
        ("alignment", "info", (0, 0, 0), 0, True, 64),
        (
            "write of 16 bytes at LDS address 0x4 (space[0] byte 4), which is not a multiple of 16; 64 lanes in all, "
            "correct in the unaligned mode that drivers enable, but slower"
        ),
        np.r_[0, np.resize([1, 2, 3, 4], 63)],
    ),
    "misaligned_global": (
        {"n": 3, "out": NEW},
        ("alignment", "info", (0, 0, 0), 1, True, 48),
        (
            "read of 4 bytes at address 0x7f0000*3 (in[0] byte 3), which is not a multiple of 4; 48 lanes in all, "
            "correct in the unaligned mode that drivers enable"
        ),
        [int.from_bytes(np.arange(64, dtype=np.uint32).tobytes()[3 * k : 3 * k + 4], "little") for k in range(64)],
    ),
    "misaligned_scalar": (
        {"n": 6, "out": NEW},
        ("alignment", "warning", (0, 0, 0), 0, True, WAVES),
        (
            "scalar read of 4 bytes at address 0x7f0000*6 (in[1] byte 2), which is not a multiple of 4; {lanes} in "
            "all, the two low bits were ignored"
        ),
        np.full(64, 1),
    ),
    "lds_outside": (
        {"n": 16, "out": NEW},
        ("bounds", "error", (0, 0, 0), 48, True, 16),
        (
            "read of 4 bytes outside every buffer: LDS address 256, space[64] where the last variable is int space[64];"
            " 16 lanes in all, the load returned 0"
        ),
        np.r_[[1] * 48, [0] * 16],
    ),
    "jump_to_data": (
        {"n": 4, "out": NEW},
        ("fetch", "error", (0, 0, 0), 0, False, 1),
        "jump to 0x7f0000*, which is outside the code: in argument 0 (out); stopped at 0x*",
        np.full(64, 1),
    ),
    "stack_overflow": (
        {"n": 1000, "out": NEW},
        ("bounds", "error", (0, 0, 0), 0, True, 64),
        (
            "write of 4 bytes beyond the private segment (stack overflow): scratch address 4000 of 80 bytes "
            "per work-item; 64 lanes in all, the store was dropped"
        ),
        np.full(64, 8),
    ),
    "recursion": (
        {"n": 100, "out": NEW},
        ("bounds", "error", (0, 0, 0), 0, True, None),
        (
            "write of 4 bytes beyond the private segment (stack overflow): scratch address * of * bytes per "
            "work-item; * in all, the store was dropped"
        ),
        None,
    ),
    "endless": (
        {"n": 1, "out": NEW},
        ("endless", "error", (0, 0, 0), 0, False, 1),
        (
            "an endless loop: the waves repeat the same instructions on the same registers and write no memory; "
            "stopped at 0x*"
        ),
        np.zeros(64),
    ),
    "two_barriers": (
        {"n": 1, "out": 128, "block": 128},
        ("barrier", "warning", (0, 0, 0), 64, False, WAVES),
        (
            "this wave waits here while others of its workgroup wait at 0x* (*bad.hip:*); {waves} in all, the"
            " hardware counts arrivals and lets them continue"
        ),
        np.full(128, 1),
    ),
    "never_arrives": (
        {"n": 1, "out": 192, "block": 192},
        ("endless", "error", (0, 0, 0), 0, False, 1),
        (
            "an endless loop: the waves repeat the same instructions on the same registers and write no memory "
            "while {twice} waves wait at a barrier; stopped at 0x*"
        ),
        np.zeros(192),
    ),
    "traps": (
        {"n": 1, "out": NEW, "grid": 3},
        ("trap", "error", (1, 0, 0), 0, False, 1),
        "the kernel trapped (s_trap 2); stopped at 0x*",
        None,
    ),
    "read_only": (
        {"n": 99, "out": NEW},
        ("bounds", "error", (0, 0, 0), 0, True, 64),
        (
            "write of 4 bytes to read-only memory: address 0x7f0000*, in code object segment *, which may "
            "not be written; 64 lanes in all, the store was dropped"
        ),
        np.r_[np.arange(1, 9), [0] * 56],
    ),
}


def matches(text, pattern):
    """Whether a text is a pattern, in which * stands for anything."""
    import re

    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("kernel", EXPECTED)
def test_the_finding_is_exact(kernel, arch):
    options, (check, severity, workgroup, item, has_lane, count), message, expected = EXPECTED[kernel]
    lanes = compiled(arch)[kernel].wave
    waves = 64 // lanes
    plural = "s" * (waves > 1)
    message = message.format(lanes=f"{waves} lane{plural}", waves=f"{waves} wave{plural}", twice=2 * waves)
    report, out = run(kernel, arch=arch, **options)
    assert report.findings, kernel
    finding = next(f for f in report.findings if f.check == check)
    assert (finding.check, finding.severity, finding.kernel) == (check, severity, kernel), finding
    assert finding.source.endswith(line_of(kernel)), finding
    assert (finding.workgroup, finding.wave) == (workgroup, item // lanes), finding
    assert finding.lane == (item % lanes if has_lane else None), finding
    if count is not None:
        assert finding.count == (waves if count == WAVES else count), finding
    assert matches(finding.message, message + "*" * (not message.endswith("*"))), finding.message
    assert compiled(arch)[kernel].code.instruction_at(finding.pc)
    assert report.ok == (severity != "error")
    if expected is not None:
        assert (out == expected).all(), out
    # Nothing else is reported; but who recurses beyond the stack loses the address to return to.
    others = {f.check for f in report.findings} - {check, "conflicts", *(["fetch"] if kernel == "recursion" else [])}
    assert not others, report.findings


def stopped(body, arch="gfx942", **options):
    """The finding with which an assembly body is stopped."""
    program = harness.kernel(body, arch, "")
    report = mfmasim.device("sim").launch(program, grid=1, block=64, args=[], **options)
    assert report.stopped
    assert not report.ok
    (finding,) = report.findings
    return finding, program


@pytest.mark.oracle
@pytest.mark.parametrize("arch", harness.ARCHITECTURES)
@pytest.mark.parametrize(
    ("body", "culprit", "message"),
    [
        (
            (
                "s_getpc_b64 s[20:21]\n s_add_u32 s20, s20, 0x100000\n s_addc_u32 s21, s21, 0\n s_setpc_b64 "
                "s[20:21]\ns_endpgm"
            ),
            "s_setpc_b64",
            "jump to 0x7f*, which is outside the code: *; stopped at 0x*",
        ),
        ("s_mov_b64 s[20:21], 0\n s_setpc_b64 s[20:21]\n s_endpgm", "s_setpc_b64", "jump to 0x0, *null pointer*"),
        (
            "s_getpc_b64 s[20:21]\n s_add_u32 s20, s20, 2\n s_swappc_b64 s[30:31], s[20:21]\n s_endpgm",
            "s_swappc_b64",
            "jump to 0x7f*, which is not a multiple of 4; *",
        ),
        ("s_nop 0\n s_branch 0x7000\n s_endpgm", "s_branch", "jump to 0x7f*, which is outside the code: *"),
        (
            "s_cmp_eq_u32 s0, s0\n s_cbranch_scc1 0x7fff\n s_endpgm",
            "s_cbranch_scc1",
            "jump to 0x7f*, which is outside the code: *",
        ),
        ("s_call_b64 s[30:31], 0x7fff\n s_endpgm", "s_call_b64", "jump to 0x7f*, which is outside the code: *"),
        ("s_nop 0\n v_mov_b32_e32 v1, 0", "v_mov_b32", "execution runs past the end of test: no s_endpgm ends it; *"),
    ],
)
def test_leaving_the_code(body, culprit, message, arch):
    finding, program = stopped(body, arch)
    assert (finding.check, finding.severity) == ("fetch", "error")
    assert finding.pc == next(ins.pc for ins in program.instructions if ins.name == culprit)
    assert (finding.workgroup, finding.wave) == ((0, 0, 0), 0)
    assert matches(finding.message, message), finding.message


@pytest.mark.oracle
def test_a_branch_astray_that_is_not_taken_is_none():
    program = harness.kernel("s_cmp_lg_u32 s0, s0\n s_cbranch_scc1 0x7fff\n s_endpgm", "gfx942", "")
    assert mfmasim.device("sim").launch(program, grid=1, block=64, args=[]).ok


PART = """
#include <hip/hip_runtime.h>
typedef int four __attribute__((ext_vector_type(4)));
extern "C" __global__ void part(four* out, int n) {
    __shared__ four space[63];
    four* place = space + threadIdx.x;
    asm volatile("" : "+v"(place));
    *(volatile four*)((char*)place + n) = four{1, 2, 3, 4};
    out[threadIdx.x] = *(volatile four*)((char*)place + n);
}
"""


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_an_lds_access_that_is_partly_outside(arch, tmp_path):
    """The last lanes straddle the end: RDNA4 looks at dwords and bytes, the others at the access."""
    path = tmp_path / "part.hip"
    path.write_text(PART)
    flags = [] if arch in harness.ARCHITECTURES else ["-mllvm", "-amdgpu-enable-vopd=0"]
    kernel = mfmasim.compile(path, arch, flags=flags)["part"]
    out = np.zeros((64, 4), np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[out, np.int32(8)], checks="bounds")
    assert [finding.count for finding in report.findings] == [2, 2]
    assert (out[:62] == [1, 2, 3, 4]).all()
    assert out[62].tolist() == ([1, 2, 0, 0] if mfmasim.arch(arch).lds_parts else [0, 0, 0, 0])
    assert not out[63].any()


@pytest.mark.parametrize("arch", [arch for arch in RDNA if arch in BARRIER])
def test_waiting_for_a_signal_that_never_comes(arch, tmp_path):
    """gfx12: a wave that waits without every wave having signalled waits for ever."""
    path = tmp_path / "deadlock.hip"
    path.write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void deadlock(int* out) {\n'
        '    if (threadIdx.x < 32) asm volatile("s_barrier_signal -1");\n'
        '    asm volatile("s_barrier_wait -1");\n'
        "    out[threadIdx.x] = 1;\n}\n"
    )
    kernel = mfmasim.compile(path, arch, flags=["-mllvm", "-amdgpu-enable-vopd=0"])["deadlock"]
    out = np.zeros(64, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[out])
    (finding,) = report.findings
    assert (finding.check, finding.severity) == ("barrier", "error")
    assert finding.source.endswith("deadlock.hip:4")
    assert "deadlock: 2 waves wait at a barrier" in finding.message
    assert not out.any()
    # One that ends instead of signalling is not waited for.
    report = mfmasim.device("sim").launch(kernel, grid=1, block=32, args=[out])
    assert report.ok


@pytest.mark.oracle
def test_checks_have_names():
    """Each check can be asked for alone; one that does not exist is one clear line."""
    report, _ = run("misaligned_lds", arch="gfx942", n=4, out=NEW, checks="bounds")
    assert report.findings == []
    report, _ = run("misaligned_lds", arch="gfx942", n=4, out=NEW, checks="alignment")
    assert [f.check for f in report.findings] == ["alignment"]
    with pytest.raises(MfmasimError, match="did you mean 'alignment'"):
        run("misaligned_lds", arch="gfx942", n=4, out=NEW, checks="aligment")

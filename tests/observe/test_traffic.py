"""Traffic: counts of lines against sets of bytes, and reports of cast kernels against what their addresses say."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.cli import main
from mfmasim.lab.reports.profile import profile_case
from mfmasim.lab.reports.profile_page import profile_page
from mfmasim.observe.tools.traffic import LINES, Traffic, count_access
from mfmasim.verify import find, select, verify_case

((_, CASES),) = find("cast")


def slow(addresses, active, size):
    """One wave, byte by byte."""
    touched = [{a + k for k in range(size)} for a, on in zip(addresses, active, strict=True) if on]
    every = set().union(*touched)
    return {"lanes": len(touched), "distinct": len(every), **{str(n): len({b // n for b in every}) for n in LINES}}


@given(
    st.sampled_from([1, 2, 4, 8, 12, 16, 64]),
    st.lists(st.lists(st.tuples(st.integers(0, 700), st.booleans()), min_size=8, max_size=8), min_size=1, max_size=4),
)
@settings(max_examples=200)
def test_lines_are_those_of_the_bytes(size, waves):
    addresses = np.array([[a for a, _ in wave] for wave in waves], np.int64)
    active = np.array([[on for _, on in wave] for wave in waves])
    assert addresses.shape == active.shape == (len(waves), 8)
    for mask in (active, None):
        counted = count_access(addresses, mask, size)
        for number, row in enumerate(addresses):
            want = slow(row.tolist(), [True] * 8 if mask is None else mask[number].tolist(), size)
            assert {name: int(values[number]) for name, values in counted.items()} == want


class Slow:
    """Every access to global memory as Python sets, by address in the code."""

    name = "slow"

    def __init__(self):
        self.found, self.read, self.written = {}, {}, {}

    def on_access(self, event):
        if event.space != "global":
            return
        addresses = np.broadcast_to(event.addresses, (event.waves, event.addresses.shape[1]))
        active = np.broadcast_to(True if event.active is None else event.active, addresses.shape)
        for row, mask in zip(addresses.tolist(), active.tolist(), strict=True):
            counted = slow(row, mask, event.size)
            into = self.found.setdefault(event.instruction.pc, dict.fromkeys(counted, 0))
            for name, value in counted.items():
                into[name] += value
            bytes_of = self.read if event.kind == "read" else self.written
            for address, on in zip(row, mask, strict=True):
                for byte in range(address, address + event.size) if on else ():
                    bytes_of[byte] = bytes_of.get(byte, 0) + 1


@pytest.mark.parametrize(
    ("title", "arch"),
    [
        ("cast_count[n=4097,given=bf16]", "gfx1201"),
        ("transpose_rest[given=f32,target=e4m3]", "gfx942"),
        ("transpose[given=bf16,load=2,store=2]", "gfx950"),
    ],
)
def test_sums_are_those_of_a_slow_count(title, arch):
    ((case, _),) = select(CASES, arch, title)
    fast, other = Traffic(), Slow()
    assert verify_case(case, arch, observers=[fast, other]).status == "pass"
    sites = {site.pc: site for site in fast.sites if not site.instruction.startswith("s_")}
    assert len(sites) == len(fast.sites) - sum(site.instruction.startswith("s_") for site in fast.sites)
    assert {
        pc: {"lanes": s.lanes, "distinct": s.distinct, "64": s.lines[64], "128": s.lines[128]}
        for pc, s in sites.items()
    } == other.found
    assert sum(used.written for used in fast.buffers) == sum(other.written.values())
    assert sum(used.touched_written for used in fast.buffers) == len(other.written)
    vectors = sum(site.bytes for site in sites.values() if site.kind == "read")
    assert vectors == sum(other.read.values())
    assert sum(used.read for used in fast.buffers) == vectors + sum(
        site.bytes for site in fast.sites if site.instruction.startswith("s_")
    )


def profiled(title, arch="gfx950"):
    ((case, _),) = select(CASES, arch, title)
    return profile_case(case, arch)


def test_the_scattered_output_as_numbers():
    """One element a thread, 43 rows: neighbours of a wave store one byte each, 43 bytes apart, into 25 lines, not 1."""
    found = profiled("transpose_rest[given=f32,target=e4m3]")
    rowwise, across = (site for site in found.traffic.sites if site.instruction == "global_store_byte")
    waves = -(-43 * 37 // 64)
    columns = [np.arange(w * 64, min(w * 64 + 64, 43 * 37)) for w in range(waves)]
    lines = sum(len({(i % 37 * 43 + i // 37) // 64 for i in wave.tolist()}) for wave in columns)
    assert (rowwise.accesses, rowwise.lines[64]) == (waves, waves)
    assert (across.accesses, across.lines[64], across.fewest[64]) == (waves, lines, waves)
    assert lines > 20 * waves


def test_tiles_store_whole_lines_across():
    """STORE bytes of 32 rows: a wave stores two columns, each 32 * STORE bytes long."""
    for store in (8, 4, 2):
        found = profiled(f"transpose[given=f32,load=16,store={store}]")
        across = [site for site in found.traffic.sites if site.buffer == "across"]
        assert {site.bytes // site.accesses for site in across} == {64 * store}
        assert {site.lines[64] // site.accesses for site in across} == {max(2, 64 * store // 64)}
        assert {site.use[128] for site in across} == {min(1.0, 32 * store / 128)}


def test_each_byte_of_a_cast_is_read_and_written_once():
    used = {buffer.name: buffer for buffer in profiled("cast[given=bf16,target=e5m2,overflow=plain").traffic.buffers}
    x, out = used["in"], used["out"]
    assert (x.read, x.written, x.element) == (2 * 5011, 0, 2)
    assert (out.read, out.written, out.touched_written) == (0, 5011, 5011)


def test_launches_of_a_case_are_summed():
    ((_, cases),) = find("intro")
    (pair,) = select(cases, "gfx942", "f32_32x32x2")
    found = profile_case(*pair)
    launches = next(site.accesses for site in found.traffic.sites)  # one wave each, which loads A once
    assert launches > 1
    assert [(used.name, used.elements) for used in found.traffic.buffers] == [
        ("A", 64 * launches),
        ("B", 64 * launches),
        ("C", 1024 * launches),
    ]
    assert [(used.read // used.size, used.written // used.size) for used in found.traffic.buffers] == [
        (1, 0),
        (1, 0),
        (0, 1),
    ]


def test_matrices_have_elements_of_their_own_format():
    ((_, cases),) = find("intro")
    (pair,) = select(cases, "gfx950", "scaled_fp4_32x32x64[opsel=0]")
    buffers = {buffer.name: buffer for buffer in profile_case(*pair).traffic.buffers}
    assert {buffer.element for buffer in buffers.values()} >= {0.5, 4}
    assert all(buffer.touched_read == buffer.size for buffer in buffers.values() if buffer.element == 0.5)


def test_page_terminal_and_json(tmp_path, capsys):
    target = ["report", "cast", "--arch", "gfx950", "--case", "transpose_rest[given=f32,target=e4m3]"]
    assert main([*target, "--html", str(tmp_path / "report.html")]) == 0
    text = capsys.readouterr().out
    assert "128 B" in text
    assert "bandwidth" not in text.lower()
    assert "<h3>Bytes and lines of an access of a wave</h3>" in (tmp_path / "report.html").read_text()
    found = profiled("transpose_rest[given=f32,target=e4m3]")
    record = json.loads(json.dumps(found.record()))["traffic"]
    assert {access["buffer"] for access in record["accesses"]} == {"in", "out", "across", "scale", "amax", "scale_inv"}
    assert "B lines" in profile_page([found], "0")

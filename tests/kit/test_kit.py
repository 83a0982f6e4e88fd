"""The kit: its kernels follow from the tables, its file survives damage, and planted differences are found."""

import json
from contextlib import ExitStack

import numpy as np
import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli import main
from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.lab.kit import running
from mfmasim.lab.kit.assumed import assumed_rows, opcode_rows
from mfmasim.lab.kit.code import probe_code, probe_source
from mfmasim.lab.kit.judging import judge
from mfmasim.lab.kit.kernels import matrix_kernels, operation_kernels, source
from mfmasim.lab.kit.records import Record, append, read
from mfmasim.lab.kit.running import run_kit
from mfmasim.machine.execution import variations
from mfmasim.machine.opcodes.registry import OPERATIONS


class Gpu(SimDevice):
    """The simulator in the place of a GPU."""

    name, simulated = "hip", True

    def __init__(self, arch, breaks=()):
        self.arch, self.target, self.product = arch, arch, f"mfmasim {arch}"
        self.breaks = breaks

    def launch(self, kernel, *args, **options):
        if kernel.name in self.breaks:
            raise MfmasimError(f"hip: {kernel.name} failed: hipErrorIllegalAddress (700)")
        report = super().launch(kernel, *args, **options)
        if kernel.name == "answer_guard":  # a GPU has guard zones; here it is the check of bounds that finds the write
            for finding in report.findings:
                object.__setattr__(finding, "id", "guard-overwritten")
        return report


@pytest.fixture
def few(monkeypatch):
    """Keep only some probes."""

    def keep(*titles):
        every = running.kit_probes
        monkeypatch.setattr(
            running,
            "kit_probes",
            lambda *args, **options: tuple(
                one for one in every(*args, **options) if one.part == "answers" or one.title in titles
            ),
        )

    return keep


def verdicts(path):
    return {one.row.title: one.verdict for one in judge(read(path))}


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_are_those_of_the_tables(arch):
    assert probe_source(arch).read_text() == source(arch), "python -m mfmasim.lab.rebuild"
    names = {one.name for one in (*operation_kernels(arch).values(), *matrix_kernels(arch).values())}
    assert set(probe_code(arch).kernels) == names | {"answer_product", "answer_guard"}
    assert "prebuilt" in probe_code(arch).made_by


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_assumed_operation_has_a_row(arch):
    rows = {row.name for row in assumed_rows(arch) if row.kind == "operation"}
    assert rows == set(opcode_rows(arch))
    assert {name for name in rows if OPERATIONS[name].level(ARCHITECTURES[arch], name) != "assumed"} == set()
    unprobed = rows - set(operation_kernels(arch))
    apart = ("s_dcache", "s_mem", "s_sendmsg", "s_subvector", "s_get_", "s_add_pc", "ds_atomic_")
    assert all(name.startswith(apart) for name in unprobed)


def test_planted_operations_are_found_and_nothing_else(tmp_path, few):
    names = ["v_rcp_f32", "v_div_scale_f32", "v_div_scale_f64", "v_sqrt_f16", "global_atomic_add_f32", "ds_append"]
    few(*(f"operations {name}" for name in names))
    planted = {
        "v_rcp_f32": ("result", "last_bit"),
        "v_div_scale_f64": ("far", 769),
        "ds_append": ("result", "inverted"),
    }
    kept = {name: dict(probe_code("gfx942")[f"op_{name}"].memos) for name in names}
    with ExitStack() as stack:
        for name, (parameter, value) in planted.items():
            stack.enter_context(variations.applied(name, parameter, value))
        for name in names:
            probe_code("gfx942")[f"op_{name}"].memos.clear()
        run_kit(Gpu("gfx942"), tmp_path / "kit", quick=True, say=lambda text: None)
    for name in names:
        probe_code("gfx942")[f"op_{name}"].memos.clear()
        probe_code("gfx942")[f"op_{name}"].memos.update(kept[name])
    found = verdicts(tmp_path / "kit")
    for name in names:
        verdict = found[f"operation {name}"]
        if name not in planted:
            assert verdict.status == "settled", name
            continue
        parameter, value = planted[name]
        assert verdict.status == "contradicted", name
        assert list(verdict.parameters) == [parameter]
        assert verdict.parameters[parameter][1] == value
    assert found["operation v_exp_f32"].status == "undecided"


def test_a_run_is_continued_and_failures_are_results(tmp_path, few):
    few("operations v_sin_f32", "operations v_cos_f32")
    path = tmp_path / "kit"
    first = run_kit(Gpu("gfx1201", breaks=("op_v_sin_f32",)), path, quick=True, say=lambda text: None)
    assert (first.done, first.failed, first.kept) == (3, 1, 0)
    assert "700" in verdicts(path)["operation v_sin_f32"].why
    with path.open("ab") as file:
        file.write(b'{"probe":"operations v_cos_f32","sta')  # the machine went down
    second = run_kit(Gpu("gfx1201"), path, quick=True, say=lambda text: None)
    assert (second.done, second.failed, second.kept) == (3, 0, 1)
    found = read(path)
    assert [note for note in found.notes if "damaged" in note]
    assert found.records["operations v_sin_f32"].status == "done"
    with pytest.raises(MfmasimError, match="another --out"):
        run_kit(Gpu("gfx1200"), path, quick=True, say=lambda text: None)


def test_a_wrong_answer_stops_the_run(tmp_path, few):
    few("operations v_rcp_f32")
    with pytest.raises(MfmasimError, match="nothing else was measured"):
        run_kit(Gpu("gfx942", breaks=("answer_product",)), tmp_path / "kit", quick=True, say=lambda text: None)
    assert list(read(tmp_path / "kit").records) == ["answers guard_write", "answers integer_product"][1:]


def test_damage_is_noted_and_the_rest_counts(tmp_path):
    path = tmp_path / "kit"
    append(path, {"kit": 1, "arch": "gfx942", "device": {"product": "p", "target": "t", "simulated": True}})
    for name in ("one", "two", "three"):
        append(path, Record(name, "done", {"items": 3}, {"out": np.arange(12, dtype=np.uint32).reshape(3, 4)}))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"items":3', b'"items":4')
    path.write_bytes(b"".join(lines))
    found = read(path)
    assert sorted(found.records) == ["one", "three"]
    assert found.notes == ["line 3 is damaged or incomplete, and left out"]
    assert np.array_equal(found.records["three"].arrays["out"], np.arange(12).reshape(3, 4))


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\n", b'{"kit":1}\n', b"PK\x03\x04"])
def test_another_file_is_one_line(tmp_path, capsys, content):
    path = tmp_path / "kit"
    path.write_bytes(content)
    assert main(["gpu", "kit", "check", str(path)]) == 2
    assert "not a kit file" in capsys.readouterr().err


def test_a_file_that_judges_nothing_is_no_success(tmp_path, capsys):
    path = tmp_path / "kit"
    append(path, {"kit": 1, "arch": "gfx942", "device": {"product": "p", "target": "t", "simulated": True}})
    assert main(["gpu", "kit", "check", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["counts"]["settled"] == 0
    assert err == f"mfmasim: {path}: nothing was judged: none of its 0 probes decides a row\n"


def test_check_writes_json(tmp_path, few, capsys):
    few("operations v_sin_f32")
    run_kit(Gpu("gfx1100"), tmp_path / "kit", quick=True, say=lambda text: None)
    assert main(["gpu", "kit", "check", str(tmp_path / "kit"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["arch"] == "gfx1100"
    assert sum(found["counts"].values()) == len(assumed_rows("gfx1100"))
    row = next(row for row in found["rows"] if row["name"] == "v_sin_f32")
    assert (row["status"], row["place"]) == ("settled", "mfmasim/machine/ops/vector_approximate.py")


def test_a_device_without_a_gpu_is_refused(capsys):
    assert main(["gpu", "kit", "--out", "x", "--device", "sim"]) == 2
    assert "the kit probes a GPU" in capsys.readouterr().err
    assert main(["gpu", "kit"]) == 2
    assert "--out FILE is expected" in capsys.readouterr().err
